// Runs every kernel of the registry that this CPU can run against the scalar reference:
//
//     $ kernel-selftest --quick
//     host level avx2: avx2 fma f16c bmi2
//     gemv_f32_s8t_u2c_r16_avx2                 36 cases OK
//
// Exit code 0 where all agree, 1 where one does not, 2 for a bad argument, 4 for a level that this
// CPU lacks. `--level NAME` runs one level, `--quick` little enough for an emulator.

import KernelChecks

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

exit(SelfTest.main(arguments: Array(CommandLine.arguments.dropFirst())))

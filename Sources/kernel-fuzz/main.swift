// Runs the C library's kernels on packed memory that is damaged, between pages that must not be
// touched, at every level of this CPU:
//
//     $ kernel-fuzz --cases 100000
//     portable u2c: 100000 memories, 37310 whole, seed 1, 12.1 s
//     ...
//     every call ended inside of its memory
//
// The bytes of a memory are random, or those of a packed matrix with some bits or bytes changed;
// activations are quantized, or any bytes. Every memory is checked, multiplied with 1 to 9 tokens,
// whole and in part, and a row of it is dequantized. Where `afm_check_matrix` accepts a memory,
// every level must give the bits of the portable one, all of them finite.
//
// `--library PATH` takes the functions of a shared library instead of the ones linked in,
// `--level`, `--format` and `--seed` choose, `--first` begins with a later case: a case depends on
// its number and the seed alone. Exit code 0 where everything held, 1 where it did not, 2 for a bad
// argument, 4 for a level or library that is not there. A fault, or a call of more than 10 s, ends
// the process with the case's number.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

exit(KernelFuzz.main(arguments: Array(CommandLine.arguments.dropFirst())))

/// Executes the VEX-coded `vpdpbusd` of AVX-VNNI on CPUs that have AVX2 and lack it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// From now on the process does what the instruction would have done where the CPU calls it illegal;
/// any other illegal instruction ends the process as before. False where the system is not x86-64
/// Linux with the GNU C library.
bool ve_install(void);

/// How many instructions have been executed so.
uint64_t ve_count(void);

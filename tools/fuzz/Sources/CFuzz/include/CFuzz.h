#pragma once

#include <stddef.h>

/// Counts heap memory from now on, through the hooks of the address sanitizer.
void allocations_start(void);

/// The most bytes that were held at once since the start, beyond those held at the start.
size_t allocations_peak(void);

/// A descriptor of a file that has no disk, or -1.
int memory_file(void);

/// Counts the allocations of a process, for tests that promise none.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Whether this system's allocations can be counted: with the GNU C library.
bool ac_is_available(void);

/// Begins to count from 0, on all threads.
void ac_start(void);

/// Ends counting; returns how often memory was allocated since `ac_start`.
uint64_t ac_stop(void);

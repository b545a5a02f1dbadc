/// Counts what the program that links this asks the heap for, on any thread.
#pragma once

#include <stdint.h>

/// Calls so far that returned memory which was not there before: malloc, calloc, realloc and those
/// with an alignment.
uint64_t allocation_count(void);

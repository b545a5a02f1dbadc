#pragma once

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's own change of an input, byte by byte: returns the new count.
size_t LLVMFuzzerMutate(uint8_t *data, size_t count, size_t capacity);

/// Counts heap memory from now on, through the hooks of the address sanitizer.
void allocations_start(void);

/// The most bytes that were held at once since the start, beyond those held at the start.
size_t allocations_peak(void);

/// Whether the address sanitizer is part of the program.
int has_address_sanitizer(void);

/// Processor time of the calling thread.
double processor_seconds(void);

/// A descriptor of a file that has no disk, or -1.
int memory_file(void);

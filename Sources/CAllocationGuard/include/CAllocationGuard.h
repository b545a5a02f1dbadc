/// Ends the program in one line where the C library's allocator finds no memory.
///
/// Swift has no way to report a failed allocation: its runtime aborts. This target defines malloc
/// and its relatives over glibc's own, so that every allocation of the process, of whatever library,
/// that fails ends in cpr_end_out_of_memory. It is linked into programs alone, never into a library;
/// with another C library, or a sanitizer, it defines nothing.
#pragma once

/// Whether failed allocations end the program in one line.
_Bool cag_is_active(void);

/// Ends a child process in one of several ways, for tests of what it leaves behind.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum {
  CF_NULL_POINTER,
  CF_TRAP,
  CF_ABORT,
  CF_DIVISION,
  CF_STACK_OVERFLOW,
  CF_SHORTENED_FILE,
  CF_OUT_OF_MEMORY,
  CF_SIGNAL_OF_ANOTHER,
  CF_TERMINATION,
  CF_QUIT,
  CF_TIME_LIMIT,
  CF_FAULT_OF_A_THREAD,
} cf_way;

/// Forks a child that installs the handlers, notes `partial` and ends that way; `mapped` is a file
/// of a page that CF_SHORTENED_FILE maps and shortens. Fills `text` with what the child wrote to
/// standard error, and returns what waitpid said: an exit code, or the signal's negative number.
int32_t cf_end_child(
    cf_way way, const char *_Nonnull partial, const char *_Nonnull mapped, char *_Nonnull text,
    size_t capacity);

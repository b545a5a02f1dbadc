#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

// Everything below cpr_install's own body runs in signal handlers, or with unknown locks held: it
// calls nothing but what POSIX allows there (open, read, write, unlink, rmdir, sigaction, raise,
// _exit).

static const char *program_name = "";
static atomic_bool is_installed;
static _Bool is_terminal;

_Bool cpr_is_installed(void) { return atomic_load(&is_installed); }

// MARK: - Partial files

enum { PARTIAL_LIMIT = 256, PATH_LIMIT = 4096 };
enum { SLOT_FREE, SLOT_TAKEN, SLOT_NOTED };

static struct {
  atomic_int state;
  char path[PATH_LIMIT];
} partials[PARTIAL_LIMIT];

int32_t cpr_note_partial(const char *path) {
  const size_t length = strlen(path);
  if (length >= PATH_LIMIT) return -1;
  for (int32_t number = 0; number < PARTIAL_LIMIT; number += 1) {
    int expected = SLOT_FREE;
    if (!atomic_compare_exchange_strong(&partials[number].state, &expected, SLOT_TAKEN)) continue;
    memcpy(partials[number].path, path, length + 1);
    atomic_store(&partials[number].state, SLOT_NOTED);
    return number;
  }
  return -1;
}

void cpr_forget_partial(int32_t number) {
  if (number >= 0 && number < PARTIAL_LIMIT) atomic_store(&partials[number].state, SLOT_FREE);
}

static void remove_partials(void) {
  for (int32_t number = 0; number < PARTIAL_LIMIT; number += 1) {
    if (atomic_load(&partials[number].state) == SLOT_NOTED) unlink(partials[number].path);
  }
  // Folders are empty now, if all that they held was noted.
  for (int32_t number = 0; number < PARTIAL_LIMIT; number += 1) {
    if (atomic_load(&partials[number].state) == SLOT_NOTED) rmdir(partials[number].path);
  }
}

_Bool cpr_exchange(const char *first, const char *second) {
  return renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE) == 0;
}

// MARK: - One line

typedef struct {
  char text[768];
  size_t length;
} line;

static void append_byte(line *line, char byte) {
  // One byte is left for the line end.
  if (line->length + 1 < sizeof line->text) line->text[line->length++] = byte;
}

static void append(line *line, const char *text) {
  for (; *text != 0; text += 1) append_byte(line, *text);
}

static void append_number(line *line, uint64_t value, unsigned base) {
  char digits[24];
  int count = 0;
  do {
    digits[count++] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value > 0);
  while (count > 0) append_byte(line, digits[--count]);
}

/// A path; control characters become question marks, and the end is left out where it is long.
static void append_path(line *line, const char *path) {
  for (int count = 0; *path != 0; path += 1, count += 1) {
    if (count == 400) return append(line, "...");
    append_byte(line, (unsigned char)*path < 32 || *path == 127 ? '?' : *path);
  }
}

static void begin(line *line) {
  line->length = 0;
  if (is_terminal) append(line, "\r\033[2K");
  append(line, program_name);
  append(line, ": ");
}

static void print(line *line) {
  line->text[line->length++] = '\n';
  size_t done = 0;
  while (done < line->length) {
    const ssize_t count = write(STDERR_FILENO, line->text + done, line->length - done);
    if (count <= 0 && errno != EINTR) return;
    if (count > 0) done += (size_t)count;
  }
}

/// The thread that ends the process; others that come here wait for the end.
static atomic_int ending_thread;

static void claim_the_end(void) {
  const int self = (int)syscall(SYS_gettid);
  int expected = 0;
  if (atomic_compare_exchange_strong(&ending_thread, &expected, self)) return;
  // A fault while the end is being written: nothing more can be said.
  if (expected == self) _exit(CPR_ENVIRONMENT);
  while (1) pause();
}

_Noreturn static void end(line *line, int code) {
  print(line);
  _exit(code);
}

_Noreturn void cpr_end_out_of_memory(size_t byte_count) {
  claim_the_end();
  remove_partials();
  line line;
  begin(&line);
  append(&line, "out of memory: the system refused ");
  append_number(&line, byte_count, 10);
  append(&line, " bytes");
  end(&line, CPR_ENVIRONMENT);
}

// MARK: - Signals that ask for an end

static atomic_bool defers_request;
static atomic_int deferred_request;

void cpr_defer_request(void) { atomic_store(&defers_request, 1); }

int32_t cpr_deferred_request(void) {
  return atomic_load_explicit(&deferred_request, memory_order_relaxed);
}

static void on_request(int number) {
  if ((number == SIGINT || number == SIGTERM) && atomic_exchange(&defers_request, 0)) {
    const int before = errno;
    atomic_store(&deferred_request, number);
    line line;
    begin(&line);
    append(&line, "ending at the next token; a second signal ends at once");
    print(&line);
    errno = before;
    return;
  }
  remove_partials();
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(number, &action, NULL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  raise(number);
}

static void on_time_limit(int number) {
  (void)number;
  claim_the_end();
  remove_partials();
  line line;
  begin(&line);
  append(&line, "the limit on processor time is used up (ulimit -t)");
  end(&line, CPR_ENVIRONMENT);
}

// MARK: - Faults

/// Reads hexadecimal digits, and moves the text behind them.
static uintptr_t hexadecimal(const char **text) {
  uintptr_t value = 0;
  for (;; *text += 1) {
    const char digit = **text;
    if (digit >= '0' && digit <= '9') {
      value = value << 4 | (uintptr_t)(digit - '0');
    } else if (digit >= 'a' && digit <= 'f') {
      value = value << 4 | (uintptr_t)(digit - 'a' + 10);
    } else {
      return value;
    }
  }
}

/// Reads /proc/self/maps for the file that is mapped at an address; false where there is none.
static _Bool mapped_file(uintptr_t address, char *path, size_t capacity) {
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  // "begin-end rwxp offset device inode   path"; a longer line loses its end.
  static char row[PATH_LIMIT + 256];
  static char chunk[4096];
  size_t length = 0;
  _Bool found = 0;
  ssize_t count;
  while (!found && (count = read(file, chunk, sizeof chunk)) > 0) {
    for (ssize_t place = 0; place < count && !found; place += 1) {
      if (chunk[place] != '\n') {
        if (length + 1 < sizeof row) row[length++] = chunk[place];
        continue;
      }
      row[length] = 0;
      length = 0;
      const char *rest = row;
      const uintptr_t first = hexadecimal(&rest);
      if (*rest++ != '-') continue;
      const uintptr_t last = hexadecimal(&rest);
      const char *name = strchr(rest, '/');
      if (address < first || address >= last || name == NULL) continue;
      size_t index = 0;
      for (; name[index] != 0 && index + 1 < capacity; index += 1) path[index] = name[index];
      path[index] = 0;
      found = 1;
    }
  }
  close(file);
  return found;
}

/// Whether an address lies where the stack of the interrupted thread would have grown to.
static _Bool is_beside_stack(uintptr_t address, const void *context) {
  const ucontext_t *state = context;
#if defined(__x86_64__)
  const uintptr_t pointer = (uintptr_t)state->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
  const uintptr_t pointer = (uintptr_t)state->uc_mcontext.sp;
#else
  const uintptr_t pointer = 0;
#endif
  const uintptr_t reach = 64 << 10;
  return pointer != 0 && address + reach >= pointer && address < pointer + reach;
}

static const char *signal_name(int number) {
  switch (number) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGILL: return "SIGILL";
    case SIGTRAP: return "SIGTRAP";
    case SIGFPE: return "SIGFPE";
    case SIGABRT: return "SIGABRT";
    case SIGSYS: return "SIGSYS";
    default: return "an unknown signal";
  }
}

static void on_fault(int number, siginfo_t *info, void *context) {
  // Another process asks for the end; what the kernel reports has a positive code.
  if (info->si_code <= 0 && info->si_pid != getpid()) return on_request(number);
  claim_the_end();
  remove_partials();
  const uintptr_t address = info->si_code > 0 ? (uintptr_t)info->si_addr : 0;
  static char path[PATH_LIMIT];
  line line;
  begin(&line);
  if (number == SIGBUS && info->si_code == BUS_ADRERR) {
    const _Bool is_named = mapped_file(address, path, sizeof path);
    append_path(&line, is_named ? path : "a mapped file");
    append(&line, ": cannot read: the file became shorter, or its disk failed");
    end(&line, CPR_BAD_INPUT);
  }
  if (number == SIGSEGV && is_beside_stack(address, context)) {
    append(&line, "out of memory: the stack cannot grow (ulimit -s sets its limit)");
    end(&line, CPR_ENVIRONMENT);
  }
  append(&line, "internal error, please report it: ");
  append(&line, signal_name(number));
  append(&line, " at 0x");
  append_number(&line, address, 16);
  append(&line, " (AFM_DEBUG_SIGNALS=1 leaves it to a debugger)");
  end(&line, CPR_ENVIRONMENT);
}

// MARK: - Installing

/// Room for handlers of the main thread when its own stack is used up.
static char alternate_stack[64 << 10];

static void take(int number, void (*handler)(int)) {
  struct sigaction before;
  if (sigaction(number, NULL, &before) != 0) return;
  // A signal that was ignored when the program began (nohup) stays ignored.
  if (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_IGN) return;
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigfillset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

void cpr_install(const char *program) {
  program_name = program;
  is_terminal = isatty(STDERR_FILENO) == 1;
  atomic_store(&is_installed, 1);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  if (getenv("AFM_DEBUG_SIGNALS") != NULL) return;
  const int requests[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2};
  for (size_t index = 0; index < sizeof requests / sizeof *requests; index += 1) {
    take(requests[index], on_request);
  }
  take(SIGXCPU, on_time_limit);
  struct rlimit time;
  if (getrlimit(RLIMIT_CPU, &time) == 0 && time.rlim_max != RLIM_INFINITY && time.rlim_max > 1 &&
      time.rlim_cur >= time.rlim_max) {
    time.rlim_cur = time.rlim_max - 1;
    setrlimit(RLIMIT_CPU, &time);
  }

  const stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
  sigaltstack(&stack, NULL);
  const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index += 1) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(faults[index], &action, NULL);
  }
}

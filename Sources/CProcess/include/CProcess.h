/// How the program ends when the system ends it: with one line and a documented exit code, and with
/// its partial files removed.
///
/// Nothing happens by itself: a process that never calls cpr_install keeps the system's signals, so
/// that a program that uses the libraries finds none of its handlers replaced.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Exit codes that the program documents.
enum {
  CPR_BAD_INPUT = 3,
  CPR_ENVIRONMENT = 4,
};

/// Installs the handlers below; messages begin with the program's name, which must live on.
///
/// - SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2: partial files are removed, then
///   the signal takes its default action. What was ignored before (`nohup`) stays ignored.
/// - SIGXCPU: one line, exit code 4. The system kills at the hard limit without a word, and `ulimit
///   -t` sets both limits: the soft one is set to a second less, where there is more than one.
/// - SIGPIPE and SIGXFSZ are ignored: the write that caused them fails with EPIPE or EFBIG.
/// - SIGBUS in a mapped file, which another process has shortened: one line that names the file,
///   exit code 3.
/// - SIGSEGV where the stack ends: one line, exit code 4.
/// - Any other SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT and SIGSYS of our own: one line
///   that names the signal and the address, exit code 4.
///
/// With the environment variable AFM_DEBUG_SIGNALS set, only SIGPIPE and SIGXFSZ are taken: a
/// debugger or a core dump then sees the fault itself.
void cpr_install(const char *_Nonnull program);

/// Takes the next SIGINT or SIGTERM as a request to end soon: a line says so, and the signal is
/// noted. The one after it ends the process as before. Needs cpr_install.
void cpr_defer_request(void);

/// The signal that was noted so; 0 without one.
int32_t cpr_deferred_request(void);

/// Whether cpr_install has been called.
_Bool cpr_is_installed(void);

/// Writes "PROGRAM: out of memory: the system refused BYTES bytes", removes partial files and ends
/// the process with CPR_ENVIRONMENT. May be called with any lock held.
_Noreturn void cpr_end_out_of_memory(size_t byte_count);

/// Notes a file, or a folder that is empty once the noted files are gone, to be removed when a
/// signal ends the process. Returns a number for cpr_forget_partial, or −1 where 256 are noted
/// already or the path has 4,096 bytes or more.
int32_t cpr_note_partial(const char *_Nonnull path);

/// Undoes cpr_note_partial; −1 does nothing.
void cpr_forget_partial(int32_t number);

/// Exchanges what two names stand for in one step, which no signal interrupts. False, with the reason
/// in errno, where a name is missing or the file system cannot do it.
_Bool cpr_exchange(const char *_Nonnull first, const char *_Nonnull second);

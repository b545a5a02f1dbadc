// The first process of the guest that tools/check-avx512 boots: runs /program with the arguments
// in /arguments, copies its output to the emulator's debug port, reports its exit status there,
// and switches the machine off.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum { debugPort = 0xe9, shutdownPort = 0x8900 };

static void report(const char *text, long byteCount) {
  for (long i = 0; i < byteCount; i++) outb((unsigned char)text[i], debugPort);
}

static void runProgram(int output) {
  // /arguments holds the strings of argv after the first, each ended by a zero byte.
  static char text[4096];
  char *arguments[64] = {"/program", 0};
  int file = open("/arguments", O_RDONLY), count = 1;
  long byteCount = file < 0 ? 0 : read(file, text, sizeof text - 1);
  for (long i = 0; i < byteCount && count < 63; i++)
    if (i == 0 || text[i - 1] == 0) arguments[count++] = text + i;
  char *environment[] = {"HOME=/", 0};
  dup2(output, 1);
  dup2(output, 2);
  execve("/program", arguments, environment);
  perror("execve /program");
  _exit(127);
}

int main(void) {
  char buffer[4096];
  int ends[2];
  if (ioperm(debugPort, 1, 1) || ioperm(shutdownPort, 1, 1)) return 1;
  mount("proc", "/proc", "proc", 0, 0);
  if (pipe(ends)) return 1;
  pid_t child = fork();
  if (child == 0) runProgram(ends[1]);
  close(ends[1]);
  for (;;) {
    long byteCount = read(ends[0], buffer, sizeof buffer);
    if (byteCount > 0) report(buffer, byteCount);
    else if (byteCount == 0 || errno != EINTR) break;
  }
  int status = 0;
  waitpid(child, &status, 0);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  report(buffer, snprintf(buffer, sizeof buffer, "\nguest: exit status %d\n", code));
  for (const char *letter = "Shutdown"; *letter; letter++) outb(*letter, shutdownPort);
  for (;;) pause();
}

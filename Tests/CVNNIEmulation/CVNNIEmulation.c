#define _GNU_SOURCE
#include "CVNNIEmulation.h"

#if defined(__x86_64__) && defined(__GLIBC__)
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

// A signal handler finds the registers where the kernel's XSAVE has put them (Intel's Software
// Developer's Manual, volume 1, 13.4): legacy registers, the lower halves of the vector registers
// among them, a header that says which parts hold something, and at 576 the upper halves.
enum { LOWER_HALVES = 160, MAGIC = 464, PARTS = 512, UPPER_HALVES = 576, UPPER_HALVES_PART = 4 };

static _Atomic(uint64_t) count;

uint64_t ve_count(void) { return atomic_load(&count); }

/// General registers in the order of their numbers.
static const int registers[16] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static void get(uint8_t value[32], const uint8_t *state, int number) {
  memcpy(value, state + LOWER_HALVES + 16 * number, 16);
  uint64_t parts;
  memcpy(&parts, state + PARTS, 8);
  memset(value + 16, 0, 16);
  if (parts & UPPER_HALVES_PART) memcpy(value + 16, state + UPPER_HALVES + 16 * number, 16);
}

static void set(uint8_t *state, int number, const uint8_t value[32]) {
  uint64_t parts;
  memcpy(&parts, state + PARTS, 8);
  if (!(parts & UPPER_HALVES_PART)) memset(state + UPPER_HALVES, 0, 256);
  parts |= UPPER_HALVES_PART;
  memcpy(state + PARTS, &parts, 8);
  memcpy(state + LOWER_HALVES + 16 * number, value, 16);
  memcpy(state + UPPER_HALVES + 16 * number, value + 16, 16);
}

/// Executes the instruction at the context's place; false where it is another one.
static bool execute(ucontext_t *context) {
  greg_t *general = context->uc_mcontext.gregs;
  uint8_t *state = (uint8_t *)context->uc_mcontext.fpregs;
  const uint8_t *at = (const uint8_t *)general[REG_RIP];
  // Three bytes of VEX: map 0F 38, prefix 66, W 0, 256 bits; then the operation and its operands.
  if (at[0] != 0xC4 || (at[1] & 0x1F) != 2 || (at[2] & 0x87) != 0x05 || at[3] != 0x50) return false;
  uint32_t magic;
  memcpy(&magic, state + MAGIC, 4);
  if (magic != 0x46505853) return false;
  const int r = at[1] & 0x80 ? 0 : 8, x = at[1] & 0x40 ? 0 : 8, b = at[1] & 0x20 ? 0 : 8;
  const int codes_number = ~(at[2] >> 3) & 15;
  const int mode = at[4] >> 6, sum_number = (at[4] >> 3 & 7) + r, last = at[4] & 7;
  at += 5;

  uint8_t activations[32];
  if (mode == 3) {
    get(activations, state, last + b);
  } else {
    uint64_t address = 0;
    bool has_base = true, is_relative = false;
    int base = last;
    if (last == 4) {
      const int scale = at[0] >> 6, index = (at[0] >> 3 & 7) + x;
      base = at[0] & 7;
      at += 1;
      if (index != 4) address += (uint64_t)general[registers[index]] << scale;
      has_base = base != 5 || mode != 0;
    } else if (last == 5 && mode == 0) {
      has_base = false;
      is_relative = true;
    }
    if (has_base) address += (uint64_t)general[registers[base + b]];
    if (mode == 1) {
      address += (uint64_t)(int64_t)(int8_t)at[0];
      at += 1;
    } else if (mode == 2 || !has_base) {
      int32_t distance;
      memcpy(&distance, at, 4);
      address += (uint64_t)(int64_t)distance;
      at += 4;
    }
    if (is_relative) address += (uint64_t)at;
    memcpy(activations, (const void *)address, 32);
  }

  uint8_t codes[32], sums[32];
  get(codes, state, codes_number);
  get(sums, state, sum_number);
  for (int lane = 0; lane < 8; lane += 1) {
    uint32_t sum;
    memcpy(&sum, sums + 4 * lane, 4);
    for (int i = 4 * lane; i < 4 * lane + 4; i += 1) {
      sum += (uint32_t)((int32_t)codes[i] * (int8_t)activations[i]);
    }
    memcpy(sums + 4 * lane, &sum, 4);
  }
  set(state, sum_number, sums);
  general[REG_RIP] = (greg_t)at;
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  return true;
}

static void handle(int number, siginfo_t *info, void *context) {
  (void)info;
  // Returning to an instruction that is illegal without a handler ends the process.
  if (!execute(context)) signal(number, SIG_DFL);
}

bool ve_install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  return sigaction(SIGILL, &action, NULL) == 0;
}
#else
bool ve_install(void) { return false; }
uint64_t ve_count(void) { return 0; }
#endif

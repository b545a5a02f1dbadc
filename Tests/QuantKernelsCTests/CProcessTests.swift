import Foundation
import TestSupport
import Testing

/// Threads, forks and floating-point modes, in processes of their own.
@Suite(.needs(.cLibrary, .tool("cc"))) struct CProcessTests {
  /// Threads that are started and get no core: this program's `pthread_create`, which comes before
  /// libc's, keeps them from beginning until the products are done.
  @Test func aCallDoesNotWaitForAThreadWithoutACore() throws {
    let source =
      CProgram.prelude + """
        static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
        static int held;
        typedef struct { void *(*body)(void *); void *argument; } start;

        static void *wait_at_gate(void *argument) {
          const start s = *(start *)argument;
          free(argument);
          pthread_mutex_lock(&gate);
          pthread_mutex_unlock(&gate);
          return s.body(s.argument);
        }

        int pthread_create(
            pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
            void *argument) {
          int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
          *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
          start *s = malloc(sizeof *s);
          *s = (start){body, argument};
          held += 1;
          return create(thread, attributes, wait_at_gate, s);
        }

        int main(void) {
          static float alone[TOKENS * ROWS], pooled[TOKENS * ROWS];
          prepare(AFM_LEVEL_BEST, AFM_FORMAT_U4G32, TOKENS);
          multiply(NULL, alone);
          pthread_mutex_lock(&gate);
          afm_pool *pool;
          check(afm_pool_create_with(
              &(afm_pool_options){.threads = 3, .oversubscribe = 1}, &pool));
          if (held != 2 || afm_pool_threads(pool) != 3) return 2;
          for (int run = 0; run < 100; run += 1) {
            memset(pooled, 0xFF, sizeof pooled);
            check(afm_quantize(library, pool, &x, input, sizeof input, COLUMNS));
            multiply(pool, pooled);
            if (memcmp(alone, pooled, sizeof alone) != 0) return 3;
          }
          pthread_mutex_unlock(&gate);
          afm_pool_destroy(pool);
          puts("done");
          return 0;
        }
        """
    let result = try CProgram.run(source)
    #expect(result.status == 0 && result.outputText == "done\n", "\(result)")
  }

  /// The child uses everything that it has copied, makes a pool of its own, and ends both; so does
  /// a child of a process whose pool is in a call at that moment.
  @Test func aForkedProcessUsesItsPoolAlone() throws {
    let source =
      CProgram.prelude + """
        static float expected[TOKENS * ROWS];
        static int is_over;

        static int child(afm_pool *pool) {
          static float found[TOKENS * ROWS];
          // A call that waits for threads that were not copied ends here.
          alarm(20);
          if (afm_pool_threads(pool) != 1) return 2;
          check(afm_quantize(library, pool, &x, input, sizeof input, COLUMNS));
          multiply(pool, found);
          if (memcmp(expected, found, sizeof found) != 0) return 3;
          afm_pool *own;
          check(afm_pool_create_with(
              &(afm_pool_options){.threads = 2, .oversubscribe = 1}, &own));
          if (afm_pool_threads(own) != 2) return 4;
          memset(found, 0xFF, sizeof found);
          multiply(own, found);
          if (memcmp(expected, found, sizeof found) != 0) return 5;
          afm_pool_destroy(own);
          afm_pool_destroy(pool);
          return 0;
        }

        static int fork_child(afm_pool *pool) {
          const pid_t process = fork();
          if (process == 0) _exit(child(pool));
          int status = -1;
          waitpid(process, &status, 0);
          return status;
        }

        static void *call_always(void *pool) {
          static float found[TOKENS * ROWS];
          while (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST)) multiply(pool, found);
          return NULL;
        }

        int main(void) {
          prepare(AFM_LEVEL_BEST, AFM_FORMAT_S8C, TOKENS);
          afm_pool *pool;
          check(afm_pool_create_with(
              &(afm_pool_options){.threads = 3, .oversubscribe = 1, .waiting = AFM_WAITING_POLITE},
              &pool));
          multiply(pool, expected);
          int status = fork_child(pool);
          if (status != 0) { printf("child %d\\n", status); return 1; }
          pthread_t caller;
          if (pthread_create(&caller, NULL, call_always, pool) != 0) return 1;
          for (int i = 0; i < 5; i += 1) {
            usleep(1000);
            status = fork_child(pool);
            if (status != 0) { printf("child %d of a caller: %d\\n", i, status); return 1; }
          }
          __atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
          pthread_join(caller, NULL);
          if (afm_pool_threads(pool) != 3) return 1;
          afm_pool_destroy(pool);
          puts("done");
          return 0;
        }
        """
    let result = try CProgram.run(source, seconds: 120)
    #expect(result.status == 0 && result.outputText == "done\n", "\(result)")
  }

  /// Flush-to-zero, denormals-are-zero, rounding upward and traps: the same bits as without, at
  /// every level and on threads that were started in that mode, and the caller's mode afterwards.
  @Test func resultsDoNotDependOnTheFloatingPointMode() throws {
    let source =
      CProgram.prelude + """
        #if defined(__x86_64__)
        #include <xmmintrin.h>
        enum { MODES = 4 };
        // The default; FTZ and DAZ; upward; no exception masked.
        static const unsigned modes[MODES] = {0x1F80, 0x9FC0, 0x5F80, 0x0000};
        static void enter(int mode) { _mm_setcsr(modes[mode]); }
        static int is_in(int mode) { return (_mm_getcsr() & ~0x3Fu) == modes[mode]; }
        #else
        enum { MODES = 1 };
        static void enter(int mode) { (void)mode; }
        static int is_in(int mode) { return mode == 0; }
        #endif

        static float results[MODES][2 * TOKENS * ROWS + COLUMNS];

        static int run(afm_level level, afm_format format) {
          for (int mode = 0; mode < MODES; mode += 1) {
            prepare(AFM_LEVEL_PORTABLE, format, TOKENS);
            // Scales of about 2^-140, and products that are subnormal too.
            for (int i = 0; i < ROWS * COLUMNS; i += 1) weights[i] *= 0x1p-140f;
            for (int i = 0; i < TOKENS * COLUMNS; i += 1) input[i] *= 0x1.123456p-3f;
            afm_library_destroy(library);
            const afm_error missing = afm_library_create(level, &library);
            if (missing == AFM_ERROR_UNAVAILABLE) return 0;
            afm_pool *pool;
            enter(mode);
            check(afm_pool_create_with(
                &(afm_pool_options){.threads = 2, .oversubscribe = 1}, &pool));
            check(afm_pack(&w, 0, ROWS, weights, sizeof weights, NULL));
            check(afm_quantize(library, pool, &x, input, sizeof input, COLUMNS));
            multiply(NULL, results[mode]);
            multiply(pool, results[mode] + TOKENS * ROWS);
            check(afm_dequantize_row(
                &w, 5, results[mode] + 2 * TOKENS * ROWS, COLUMNS * sizeof(float)));
            const int is_kept = is_in(mode);
            enter(0);
            afm_pool_destroy(pool);
            afm_library_destroy(library);
            free(w.memory);
            free(x.memory);
            free(scratch);
            if (!is_kept) { printf("level %d, mode %d is lost\\n", level, mode); return 1; }
            if (memcmp(results[0], results[mode], sizeof results[0]) != 0) {
              printf("level %d, format %d: mode %d gives other bits\\n", level, format, mode);
              return 1;
            }
          }
          return 0;
        }

        int main(void) {
          for (afm_level level = 1; level <= 4; level += 1)
            if (run(level, AFM_FORMAT_S8C) || run(level, AFM_FORMAT_U2C)) return 1;
          int subnormals = 0;
          for (int i = 0; i < TOKENS * ROWS; i += 1)
            subnormals += fpclassify(results[0][i]) == FP_SUBNORMAL;
          puts(subnormals > 0 ? "done" : "nothing was subnormal");
          return 0;
        }
        """
    let result = try CProgram.run(source)
    #expect(result.status == 0 && result.outputText == "done\n", "\(result)")
  }
}

/* Barriers, critical sections, locks and atomics, so often that every count is
 * known; and one wait that is sure to happen. */
#include "probes.h"

static struct romp_region r[] = { REGION("parallel", 1), REGION("barrier", 2),
                                  CRITICAL_REGION("here", 3), CRITICAL_REGION("here", 4),
                                  REGION("lock", 5), REGION("atomic", 6), REGION("for", 7) };
REGISTER(r)
#define D(line) (&r[line - 1].descriptor)

enum { TIMES = 1000 };
static int count, sum;
static volatile int holding, asking;
static omp_lock_t lock;

/* Holds the named section until another thread is about to ask for it, and then long enough for
 * that thread to wait. */
static void hold(void)
{
  POMP_Critical_enter(D(3));
#pragma omp critical(here)
  {
    POMP_Critical_begin(D(3));
#pragma omp atomic write
    holding = 1;
    for (int seen = 0; !seen;) {
#pragma omp atomic read
      seen = asking;
    }
    for (double start = omp_get_wtime(); omp_get_wtime() < start + 0.01;) {
    }
    POMP_Critical_end(D(3));
  }
  POMP_Critical_exit(D(3));
}

static void ask(void)
{
  for (int seen = 0; !seen;) {
#pragma omp atomic read
    seen = holding;
  }
#pragma omp atomic write
  asking = 1;
  POMP_Critical_enter(D(4));
#pragma omp critical(here)
  {
    POMP_Critical_begin(D(4));
    count++;
    POMP_Critical_end(D(4));
  }
  POMP_Critical_exit(D(4));
}

int main(int words, char **word)
{
  int threads = words > 1 ? atoi(word[1]) : 2;
  omp_init_lock(&lock);
  PARALLEL(D(1), threads, {
    for (int i = 0; i < TIMES; i++) {
      POMP_Barrier_enter(D(2));
      PRAGMA(omp barrier)
      POMP_Barrier_exit(D(2));
      POMP_For_enter(D(7));
      POMP_Implicit_barrier_enter(D(7));
      PRAGMA(omp barrier)
      POMP_Implicit_barrier_exit(D(7));
      POMP_For_exit(D(7));
      POMP_Set_lock_at(D(5), &lock);
      sum++;
      POMP_Unset_lock_at(D(5), &lock);
      ATOMIC(D(6), count);
    }
  });
  PARALLEL(D(1), 2, {
    if (omp_get_num_threads() == 2) {
      if (omp_get_thread_num()) hold();
      else ask();
    }
  });
  printf("%d\n", sum);
  return 0;
}

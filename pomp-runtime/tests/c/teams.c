/* Nested teams of changing size, many times: the runtimes make and end threads
 * for them, or use them again, and every count must still be exact. */
#include "probes.h"

#include <sched.h>

static struct romp_region r[] = { REGION("parallel", 1), REGION("parallel", 2),
                                  REGION("atomic", 3), REGION("critical", 4) };
REGISTER(r)

static int atomic_count, critical_count, arrived;

/* Waits for all threads of all teams: without it, an inner team may be done
 * before another one starts, and fewer threads are at work at once. */
static void meet(int threads)
{
  __atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < threads)
    sched_yield();
}

static void inner(int all_meet)
{
  PARALLEL(&r[1].descriptor, 2, {
    ATOMIC(&r[2].descriptor, atomic_count);
    if (all_meet)
      meet(6);
  });
}

static void exclusive(void)
{
  POMP_Critical_enter(&r[3].descriptor);
#pragma omp critical
  {
    POMP_Critical_begin(&r[3].descriptor);
    critical_count++;
    POMP_Critical_end(&r[3].descriptor);
  }
  POMP_Critical_exit(&r[3].descriptor);
}

int main(void)
{
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  for (int i = 0; i < 300; i++) {
    int threads = 1 + i % 3;
    PARALLEL(&r[0].descriptor, threads, {
      inner(i == 2);
      exclusive();
    });
  }
  printf("%d %d\n", atomic_count, critical_count);
  return 0;
}

/* How long a program waits at its end for its profile, which has so many regions
 * and threads. From the call of `exit` to a handler that was registered before
 * the library's, and so runs after it. Usage: exit REGIONS THREADS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "pomp_lib.h"

enum { MOST = 100000 };

static struct romp_region regions[MOST + 1];
static double start, cpu_start;
static long faults_start;

static double ms(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static long faults(void)
{
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

static void at_end(void)
{
  printf("  exit: %.1f ms, of processor time %.1f ms, %ld page faults\n",
         ms(CLOCK_MONOTONIC) - start, ms(CLOCK_THREAD_CPUTIME_ID) - cpu_start,
         faults() - faults_start);
}

__attribute__((constructor(101))) static void register_handler(void) { atexit(at_end); }

int main(int count, char **arguments)
{
  int number = count > 1 ? atoi(arguments[1]) : 1000;
  int threads = count > 2 ? atoi(arguments[2]) : 256;
  if (number < 1 || number > MOST || threads < 1) return 2;
  for (int i = 0; i <= number; i++) {
    struct romp_region region = { { i ? "for" : "parallel", "", 0, "exit.c", i + 1, i + 1, i + 2,
                                    i + 2, 0, 0 }, 0 };
    regions[i] = region;
  }
  POMP_Register_table(ROMP_INTERFACE_VERSION, sizeof regions[0], regions, number + 1);
  void *team = POMP_Parallel_fork_team(&regions[0].descriptor);
#pragma omp parallel num_threads(threads) firstprivate(team)
  {
    POMP_Parallel_begin_team(&regions[0].descriptor, team);
    for (int i = 1; i <= number; i++) {
      POMP_For_enter(&regions[i].descriptor);
      POMP_Implicit_barrier_enter(&regions[i].descriptor);
      POMP_Implicit_barrier_exit(&regions[i].descriptor);
      POMP_For_exit(&regions[i].descriptor);
    }
    POMP_Parallel_end(&regions[0].descriptor);
  }
  POMP_Parallel_join(&regions[0].descriptor);
  faults_start = faults();
  cpu_start = ms(CLOCK_THREAD_CPUTIME_ID);
  start = ms(CLOCK_MONOTONIC);
  exit(0);
}

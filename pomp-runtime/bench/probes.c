/* What a probe costs: each figure is the median of many windows, in
 * nanoseconds per probe call, beside a bare read of the clock in the same run.
 * Run by `bench/run`; asserts nothing about time. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pomp_lib.h"

#if defined(__x86_64__)
#include <x86intrin.h>
static unsigned long long ticks(void) { return __rdtsc(); }
#else
static unsigned long long ticks(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}
#endif

enum { WINDOWS = 101, CALLS = 20000, FORKS = 200, MAX_THREADS = 256 };

#define REGION(kind, line) { { kind, "", 0, "probes.c", line, line, line, line, 0, 0 }, 0 }
static struct romp_region regions[] = {
  REGION("parallel", 1), REGION("for", 2), REGION("critical", 3), REGION("atomic", 4),
  REGION("parallel", 5), REGION("lock", 6),
};
enum { PARALLEL, FOR, CRITICAL, ATOMIC, INNER, LOCK };
#define D(region) (&regions[region].descriptor)

__attribute__((constructor)) static void register_regions(void)
{
  POMP_Register_table(ROMP_INTERFACE_VERSION, sizeof regions[0], regions,
                      sizeof regions / sizeof regions[0]);
}

static double now_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void clock_reads(void)
{
  volatile unsigned long long sink;
  for (int i = 0; i < CALLS; i++) sink = ticks();
  (void)sink;
}

static void atomic_pairs(void)
{
  for (int i = 0; i < CALLS; i++) {
    POMP_Atomic_enter(D(ATOMIC));
    POMP_Atomic_exit(D(ATOMIC));
  }
}

static void loops(void)
{
  for (int i = 0; i < CALLS; i++) {
    POMP_For_enter(D(FOR));
    POMP_Implicit_barrier_enter(D(FOR));
    POMP_Implicit_barrier_exit(D(FOR));
    POMP_For_exit(D(FOR));
  }
}

static void criticals(void)
{
  for (int i = 0; i < CALLS; i++) {
    POMP_Critical_enter(D(CRITICAL));
    POMP_Critical_begin(D(CRITICAL));
    POMP_Critical_end(D(CRITICAL));
    POMP_Critical_exit(D(CRITICAL));
  }
}

static void locks(void)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
  for (int i = 0; i < CALLS; i++) {
    POMP_Set_lock_at(D(LOCK), &lock);
    POMP_Unset_lock_at(D(LOCK), &lock);
  }
  omp_destroy_lock(&lock);
}

static void plain_locks(void)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
  for (int i = 0; i < CALLS; i++) {
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
}

/* Median over the windows of the time per repetition, on the slowest thread. */
static double median(void (*work)(void), int threads, int repetitions)
{
  static double times[MAX_THREADS][WINDOWS];
  double slowest[WINDOWS];
  void *team = POMP_Parallel_fork_team(D(PARALLEL));
#pragma omp parallel num_threads(threads) firstprivate(team)
  {
    POMP_Parallel_begin_team(D(PARALLEL), team);
    for (int w = 0; w < WINDOWS; w++) {
#pragma omp barrier
      double start = now_ns();
      work();
      times[omp_get_thread_num()][w] = (now_ns() - start) / repetitions;
    }
    POMP_Parallel_end(D(PARALLEL));
  }
  POMP_Parallel_join(D(PARALLEL));
  for (int w = 0; w < WINDOWS; w++) {
    slowest[w] = 0;
    for (int t = 0; t < threads; t++)
      if (times[t][w] > slowest[w]) slowest[w] = times[t][w];
  }
  qsort(slowest, WINDOWS, sizeof slowest[0], by_value);
  return slowest[WINDOWS / 2];
}

/* Nanoseconds that the four probes add to a parallel region. */
static double parallel_region(int threads)
{
  double added[WINDOWS];
  for (int w = 0; w < WINDOWS; w++) {
    double start = now_ns();
    for (int i = 0; i < FORKS; i++) {
#pragma omp parallel num_threads(threads)
      __asm__ volatile("" ::: "memory");
    }
    double plain = now_ns() - start;
    start = now_ns();
    for (int i = 0; i < FORKS; i++) {
      void *team = POMP_Parallel_fork_team(D(INNER));
#pragma omp parallel num_threads(threads) firstprivate(team)
      {
        POMP_Parallel_begin_team(D(INNER), team);
        POMP_Parallel_end(D(INNER));
      }
      POMP_Parallel_join(D(INNER));
    }
    added[w] = (now_ns() - start - plain) / FORKS;
  }
  qsort(added, WINDOWS, sizeof added[0], by_value);
  return added[WINDOWS / 2];
}

static void print(const char *what, double ns, int calls, double read)
{
  printf("  %-34s %8.2f %8.2f %8.2f\n", what, ns, ns / calls, ns / calls / read);
}

int main(int count, char **arguments)
{
  int threads = count > 1 ? atoi(arguments[1]) : 2;
  if (threads < 1 || threads > MAX_THREADS) return 2;
  for (int n = 1; n <= threads; n = n < threads && 2 * n > threads ? threads : 2 * n) {
    median(clock_reads, n, CALLS); /* warm up */
    double read = median(clock_reads, n, CALLS);
    printf("%d thread%s                               ns    per call  x clock read\n", n,
           n > 1 ? "s" : "");
    print("clock read", read, 1, read);
    print("atomic: enter, exit", median(atomic_pairs, n, CALLS), 2, read);
    print("loop: enter, barrier, exit", median(loops, n, CALLS), 4, read);
    print("critical: enter, begin, end, exit", median(criticals, n, CALLS), 4, read);
    print("lock: set, unset (added)", median(locks, n, CALLS) - median(plain_locks, n, CALLS), 2, read);
    print("parallel region (added)", parallel_region(n), 4, read);
  }
  return 0;
}

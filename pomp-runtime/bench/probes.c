/* What the probes of each construct cost. Each figure is the median of many windows, in
 * nanoseconds, beside a bare read of the clock in the same run. The constructs themselves are left
 * out, so that only our part is measured. Where that can't be (locks, parallel regions), the figure
 * is the time that the probes add. Run by `bench/run`; asserts nothing about time. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pomp_lib.h"
#include "times.h"

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

/* The probes of one construct, in the order of an execution. */
#define PAIR(event) POMP_##event##_enter(d); POMP_##event##_exit(d);
#define BLOCK(event) POMP_##event##_begin(d); POMP_##event##_end(d);
#define IBARR POMP_Implicit_barrier_enter(d); POMP_Implicit_barrier_leave(d);
#define AROUND(event, inside) POMP_##event##_enter(d); inside POMP_##event##_exit(d);
#define TO_BARRIER(event, inside) POMP_##event##_enter(d); inside IBARR

/* Name of the construct, its kind in a descriptor, calls, the calls. */
#define CONSTRUCTS(X) \
  X(atomic, "atomic", 2, PAIR(Atomic)) \
  X(barrier, "barrier", 2, PAIR(Barrier)) \
  X(flush, "flush", 2, PAIR(Flush)) \
  X(taskwait, "taskwait", 2, PAIR(Taskwait)) \
  X(taskyield, "taskyield", 2, PAIR(Taskyield)) \
  X(master, "master", 2, BLOCK(Master)) \
  X(user_region, "userRegion", 2, POMP_Begin(d); POMP_End(d);) \
  X(taskloop, "taskloop", 2, PAIR(Taskloop)) \
  X(generic_loop, "loop", 2, PAIR(Loop)) \
  X(distribute, "distribute", 2, PAIR(Distribute)) \
  X(teams, "teams", 2, PAIR(Teams)) \
  X(target, "target", 2, PAIR(Target)) \
  X(loop, "for", 3, TO_BARRIER(For, )) \
  X(sections, "sections", 3, TO_BARRIER(Sections, )) \
  X(section, "section", 2, BLOCK(Section)) \
  X(workshare, "workshare", 3, TO_BARRIER(Workshare, )) \
  X(critical, "critical", 4, AROUND(Critical, BLOCK(Critical))) \
  X(ordered, "ordered", 4, AROUND(Ordered, BLOCK(Ordered))) \
  X(taskgroup, "taskgroup", 4, AROUND(Taskgroup, BLOCK(Taskgroup))) \
  X(single, "single", 5, TO_BARRIER(Single, BLOCK(Single))) \
  X(scope, "scope", 5, TO_BARRIER(Scope, BLOCK(Scope))) \
  X(task, "task", 4, \
    POMP_Task_create_enter(d); BLOCK(Task) POMP_Task_create_exit(d);)

#define INDEX(name, kind, calls, probes) I_##name,
enum { CONSTRUCTS(INDEX) PARALLEL, INNER, LOCK, REGIONS };

#define REGION(kind, line) { { kind, "", 0, "probes.c", line, line, line, line, 0, 0 }, 0 }
#define ENTRY(name, kind, calls, probes) [I_##name] = REGION(kind, I_##name + 1),
static struct romp_region regions[REGIONS] = {
  CONSTRUCTS(ENTRY)
  [PARALLEL] = REGION("parallel", PARALLEL + 1),
  [INNER] = REGION("parallel", INNER + 1),
  [LOCK] = REGION("lock", LOCK + 1),
};
#define D(region) (&regions[region].descriptor)

__attribute__((constructor)) static void register_regions(void)
{
  POMP_Register_table(ROMP_INTERFACE_VERSION, sizeof regions[0], regions, REGIONS);
}

static void clock_reads(void)
{
  volatile unsigned long long sink;
  for (int i = 0; i < CALLS; i++) sink = ticks();
  (void)sink;
}

#define WORK(name, kind, calls, probes) \
  static void do_##name(void) \
  { \
    struct ompregdescr *d = D(I_##name); \
    for (int i = 0; i < CALLS; i++) { probes } \
  }
CONSTRUCTS(WORK)

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

/* What a compiler calls with -finstrument-functions. */
extern void __cyg_profile_func_enter(void *, void *), __cyg_profile_func_exit(void *, void *);

static void functions(void)
{
  for (int i = 0; i < CALLS; i++) {
    __cyg_profile_func_enter((void *)functions, (void *)locks);
    __cyg_profile_func_exit((void *)functions, (void *)locks);
  }
}

/* A tool that listens to every event, and does nothing. */
extern int __omp_collector_api(void *);

static void heard(int event) { (void)event; }

static void listen(void)
{
  enum { START, REGISTER, LAST_EVENT = 22 };
  struct { int size, request, code, answer; char memory[12]; int end; }
      start = { 16, START, -1, -1, { 0 }, 0 }, events = { 28, REGISTER, -1, -1, { 0 }, 0 };
  void (*callback)(int) = heard;
  __omp_collector_api(&start);
  for (int event = 1; event <= LAST_EVENT; event++) {
    memcpy(events.memory, &event, 4);
    memcpy(events.memory + 4, &callback, 8);
    __omp_collector_api(&events);
    if (events.code != 0) fprintf(stderr, "event %d is refused\n", event);
  }
}

/* What Fortran calls: the region is named by a literal, and no handle is passed
 * from fork to begin. */
#define LITERALS(X) X(atomic_enter) X(atomic_exit) X(parallel_fork) X(parallel_begin) \
  X(parallel_end) X(parallel_join)
#define DECLARE(event) extern void pompf_##event##_(const char *, size_t);
LITERALS(DECLARE)
#define CALL(event, literal) pompf_##event##_(literal, sizeof literal - 1)
#define RECORD(kind, id) "0*regionType=" kind "*sscl=p.f90:1:1*escl=p.f90:2:2*romp=1*id=" id "**"
#define ATOMIC_ID "0123456789abcdef:1"
#define REGION_ID "0123456789abcdef:2"
static const char atomic_record[] = RECORD("atomic", ATOMIC_ID), atomic_id[] = ATOMIC_ID,
                  region_record[] = RECORD("parallel", REGION_ID), region_id[] = REGION_ID;

static void literals(void)
{
  for (int i = 0; i < CALLS; i++) {
    CALL(atomic_enter, atomic_record);
    CALL(atomic_exit, atomic_id);
  }
}

static void regions_in_c(int threads)
{
  for (int i = 0; i < FORKS; i++) {
    void *team = POMP_Parallel_fork_team(D(INNER));
#pragma omp parallel num_threads(threads) firstprivate(team)
    {
      POMP_Parallel_begin_team(D(INNER), team);
      POMP_Parallel_end(D(INNER));
    }
    POMP_Parallel_join(D(INNER));
  }
}

static void regions_in_fortran(int threads)
{
  for (int i = 0; i < FORKS; i++) {
    CALL(parallel_fork, region_record);
#pragma omp parallel num_threads(threads)
    {
      CALL(parallel_begin, region_id);
      CALL(parallel_end, region_id);
    }
    CALL(parallel_join, region_id);
  }
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
static double parallel_region(void (*work)(int), int threads)
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
    work(threads);
    added[w] = (now_ns() - start - plain) / FORKS;
  }
  qsort(added, WINDOWS, sizeof added[0], by_value);
  return added[WINDOWS / 2];
}

static void print(const char *what, double ns, int calls, double read)
{
  double pair = 2 * ns / calls;
  printf("  %-26s %5d %8.2f %8.2f %8.2f\n", what, calls, ns, pair, pair / read);
}

int main(int count, char **arguments)
{
  int threads = count > 1 ? atoi(arguments[1]) : 2;
  if (threads < 1 || threads > MAX_THREADS) return 2;
  if (getenv("BENCH_COLLECTOR")) listen();
  for (int n = 1; n <= threads; n = n < threads && 2 * n > threads ? threads : 2 * n) {
    median(clock_reads, n, CALLS); /* warm up */
    double read = median(clock_reads, n, CALLS);
    printf("%2d thread%s                calls       ns  per pair  x clock reads\n", n,
           n > 1 ? "s" : " ");
    printf("  %-26s %5d %8.2f\n", "clock read", 1, read);
#define PRINT(name, kind, calls, probes) \
    print(#name, median(do_##name, n, CALLS), calls, read);
    CONSTRUCTS(PRINT)
    print("function", median(functions, n, CALLS), 2, read);
    print("lock (added)", median(locks, n, CALLS) - median(plain_locks, n, CALLS), 2, read);
    print("parallel region (added)", parallel_region(regions_in_c, n), 4, read);
    print("atomic in Fortran", median(literals, n, CALLS), 2, read);
    print("... parallel region (added)", parallel_region(regions_in_fortran, n), 4, read);
  }
  return 0;
}

/* One construct, again and again on every thread, so that what it costs to measure it can be
 * told from processor time. Usage: constructs CONSTRUCT INSTANCES THREADS */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static long shared_value;
static struct { omp_lock_t lock; char rest[120]; } locks[64];
static struct { long value; char rest[120]; } own[64];

#define EVERYWHERE(name, directives) \
  static void name(int instances, int threads) \
  { \
    _Pragma("omp parallel num_threads(threads)") \
    { \
      long *mine = &own[omp_get_thread_num() % 64].value; \
      omp_lock_t *lock = &locks[omp_get_thread_num() % 64].lock; \
      (void)mine, (void)lock; \
      for (int i = 0; i < instances; i++) { directives } \
    } \
  }

EVERYWHERE(atomic, _Pragma("omp atomic") *mine += 1;)
EVERYWHERE(contended_atomic, _Pragma("omp atomic") shared_value += 1;)
EVERYWHERE(critical, _Pragma("omp critical") shared_value += 1;)
EVERYWHERE(flush, _Pragma("omp flush"))
EVERYWHERE(master, _Pragma("omp master") *mine += 1;)
EVERYWHERE(lock, omp_set_lock(&locks[0].lock); shared_value += 1; omp_unset_lock(&locks[0].lock);)
EVERYWHERE(own_lock, omp_set_lock(lock); *mine += 1; omp_unset_lock(lock);)
EVERYWHERE(barrier, _Pragma("omp barrier"))
EVERYWHERE(single, _Pragma("omp single") *mine += 1;)
EVERYWHERE(task, _Pragma("omp task") *mine += 1;)

static void region(int instances, int threads)
{
  for (int i = 0; i < instances; i++) {
#pragma omp parallel num_threads(threads)
    own[omp_get_thread_num() % 64].value += 1;
  }
}

static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

/* Creates a task for each of two calls, down to calls that take a fraction of a microsecond. */
static long fib_by_tasks(int n)
{
  long x, y;
  if (n <= 8) return fib(n);
#pragma omp task shared(x)
  x = fib_by_tasks(n - 1);
#pragma omp task shared(y)
  y = fib_by_tasks(n - 2);
#pragma omp taskwait
  return x + y;
}

static void fib26(int instances, int threads)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < instances; i++) shared_value += fib_by_tasks(26);
}

static void loop(int instances, int threads)
{
  static double values[64];
  for (int i = 0; i < instances; i++) {
#pragma omp parallel for num_threads(threads)
    for (int j = 0; j < 64; j++) values[j] += 0.5 * j;
  }
}

static void ordered(int instances, int threads)
{
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads)
  for (int i = 0; i < instances; i++) {
#pragma omp ordered
    shared_value += i;
  }
}

#define NAMED(name) { #name, name }
static const struct { const char *name; void (*run)(int, int); } constructs[] = {
  NAMED(atomic), NAMED(contended_atomic), NAMED(critical), NAMED(flush), NAMED(master),
  NAMED(lock), NAMED(own_lock), NAMED(barrier), NAMED(single), NAMED(task), NAMED(loop), NAMED(ordered),
  NAMED(region), NAMED(fib26),
};

int main(int count, char **arguments)
{
  int instances = count > 2 ? atoi(arguments[2]) : 0, threads = count > 3 ? atoi(arguments[3]) : 0;
  if (instances < 1 || threads < 1 || threads > 64) return 2;
  for (int i = 0; i < 64; i++) omp_init_lock(&locks[i].lock);
  for (unsigned i = 0; i < sizeof constructs / sizeof constructs[0]; i++)
    if (!strcmp(arguments[1], constructs[i].name)) return constructs[i].run(instances, threads), 0;
  return 2;
}

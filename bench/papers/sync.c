/* A stand-in for EPCC's syncbench: what each directive adds to the work in it, in
 * nanoseconds an instance. Prints a name and a figure a line; the figure is the least
 * of several rounds. Usage: sync [THREADS [INSTANCES]] */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 7 };
static int threads = 2, instances = 20000;
static volatile double sink;
static omp_lock_t lock;

static void delay(void)
{
  double a = 0;
  for (int i = 0; i < 100; i++)
    a += i;
  if (a < 0)
    sink = a;
}

static void of_parallel(int n)
{
  for (int i = 0; i < n; i++) {
    #pragma omp parallel num_threads(threads)
    delay();
  }
}

static void of_for(int n)
{
  #pragma omp parallel num_threads(threads)
  for (int i = 0; i < n; i++) {
    #pragma omp for
    for (int k = 0; k < threads; k++)
      delay();
  }
}

static void of_parallel_for(int n)
{
  for (int i = 0; i < n; i++) {
    #pragma omp parallel for num_threads(threads)
    for (int k = 0; k < threads; k++)
      delay();
  }
}

static void of_reduction(int n)
{
  int sum = 0;
  for (int i = 0; i < n; i++) {
    #pragma omp parallel reduction(+ : sum) num_threads(threads)
    {
      delay();
      sum++;
    }
  }
  sink = sum;
}

static void of_barrier(int n)
{
  #pragma omp parallel num_threads(threads)
  for (int i = 0; i < n; i++) {
    delay();
    #pragma omp barrier
  }
}

static void of_single(int n)
{
  #pragma omp parallel num_threads(threads)
  for (int i = 0; i < n; i++) {
    #pragma omp single
    delay();
  }
}

static void of_critical(int n)
{
  #pragma omp parallel num_threads(threads)
  for (int i = 0; i < n / threads; i++) {
    #pragma omp critical
    delay();
  }
}

static void of_lock(int n)
{
  #pragma omp parallel num_threads(threads)
  for (int i = 0; i < n / threads; i++) {
    omp_set_lock(&lock);
    delay();
    omp_unset_lock(&lock);
  }
}

static void of_ordered(int n)
{
  #pragma omp parallel for ordered schedule(static, 1) num_threads(threads)
  for (int i = 0; i < n; i++) {
    #pragma omp ordered
    delay();
  }
}

static void of_atomic(int n)
{
  double a = 0;
  #pragma omp parallel num_threads(threads)
  for (int i = 0; i < n / threads; i++) {
    #pragma omp atomic
    a += 1;
  }
  sink = a;
}

static double least(void (*construct)(int))
{
  double least = 1e99;
  for (int round = 0; round < ROUNDS; round++) {
    double start = omp_get_wtime();
    construct(instances);
    double took = omp_get_wtime() - start;
    least = took < least ? took : least;
  }
  return 1e9 * least / instances;
}

int main(int count, char **arguments)
{
  struct { const char *name; void (*function)(int); } all[] = {
    { "parallel", of_parallel }, { "for", of_for }, { "parallel-for", of_parallel_for },
    { "reduction", of_reduction }, { "barrier", of_barrier }, { "single", of_single },
    { "critical", of_critical }, { "lock", of_lock }, { "ordered", of_ordered },
    { "atomic", of_atomic },
  };
  threads = count > 1 ? atoi(arguments[1]) : threads;
  instances = count > 2 ? atoi(arguments[2]) : instances;
  if (threads < 1 || instances < 1)
    return 2;
  omp_init_lock(&lock);
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
    printf("%s %.1f\n", all[i].name, least(all[i].function));
  return 0;
}

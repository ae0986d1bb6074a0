/* What an iteration costs, in nanoseconds of one thread: the median of many executions of each
 * loop. Run by `bench/run`, built plainly and with --chunks. */
#include <stdio.h>
#include <stdlib.h>

#include "times.h"

enum { WINDOWS = 51, ITERATIONS = 200000, CHUNKS = 20000 };

static double numbers[ITERATIONS];
static unsigned states[ITERATIONS];

/* The compiler makes vector operations of this loop. */
static void vectors(void)
{
  #pragma omp for schedule(static)
  for (int i = 0; i < ITERATIONS; i++) numbers[i] = numbers[i] * 0.5 + 1.0;
}

/* An iteration of about a nanosecond. */
static void scattered(void)
{
  #pragma omp for schedule(static)
  for (int i = 0; i < ITERATIONS; i++) numbers[states[i] % ITERATIONS] += 1.0;
}

/* An iteration of about ten nanoseconds. */
static void hashes(void)
{
  #pragma omp for schedule(static)
  for (int i = 0; i < ITERATIONS; i++) {
    unsigned state = states[i];
    for (int k = 0; k < 8; k++) state = state * 1664525u + (state >> 7) + 1013904223u;
    states[i] = state;
  }
}

static void inner_loops(void)
{
  #pragma omp for collapse(2) schedule(static)
  for (int i = 0; i < ITERATIONS / 100; i++)
    for (int j = 0; j < 100; j++) numbers[100 * i + j] += (double)states[100 * i + j];
}

static void chunks_of_one(void)
{
  #pragma omp for schedule(dynamic, 1)
  for (int i = 0; i < CHUNKS; i++) numbers[i] += 1.0;
}

static const struct {
  const char *name;
  void (*execute)(void);
  int iterations;
} loops[] = {
  { "vectorised", vectors, ITERATIONS },
  { "scattered", scattered, ITERATIONS },
  { "hashed", hashes, ITERATIONS },
  { "collapsed", inner_loops, ITERATIONS },
  { "chunk_of_one", chunks_of_one, CHUNKS },
};

int main(void)
{
  for (int i = 0; i < ITERATIONS; i++) states[i] = (unsigned)i * 2654435761u;
  for (size_t loop = 0; loop < sizeof loops / sizeof loops[0]; loop++) {
    double cost[WINDOWS];
    #pragma omp parallel num_threads(1)
    for (int window = 0; window < WINDOWS; window++) {
      double start = now_ns();
      loops[loop].execute();
      cost[window] = (now_ns() - start) / loops[loop].iterations;
    }
    qsort(cost, WINDOWS, sizeof cost[0], by_value);
    printf("%s %.3f\n", loops[loop].name, cost[WINDOWS / 2]);
  }
  return 0;
}

/* More call paths than there is memory for, or more executions than anybody wants to have timed, or a
 * program that takes all memory. */
#include <sys/resource.h>

#include "probes.h"

static struct romp_region r[] = { REGION("parallel", 1), REGION("userRegion", 2),
                                  REGION("userRegion", 3), REGION("atomic", 4),
                                  REGION("critical", 5), REGION("barrier", 6),
/* Two for each level, since the paths of a recursion are folded anyway. */
#define LEVEL(n) REGION("userRegion", 2 * n + 5), REGION("userRegion", 2 * n + 6)
                                  LEVEL(1), LEVEL(2), LEVEL(3), LEVEL(4),
                                  LEVEL(5), LEVEL(6), LEVEL(7), LEVEL(8) };
REGISTER(r)
#define D(line) (&r[line - 1].descriptor)

static int count;

static void barrier(void)
{
  POMP_Barrier_enter(D(6));
#pragma omp barrier
  POMP_Barrier_exit(D(6));
}

/* Every choice of one of the two marked regions on each level is a call path. */
static void walk(int depth)
{
  for (int line = 2 * depth + 5; line < 2 * depth + 7 && depth > 0; line++) {
    POMP_Begin(D(line));
    walk(depth - 1);
    POMP_End(D(line));
  }
  if (depth == 0) ATOMIC(D(4), count);
}

static void repeat(long times)
{
  for (long i = 0; i < times; i++) {
    POMP_Begin(D(2));
    ATOMIC(D(4), count);
    POMP_End(D(2));
    POMP_Critical_enter(D(5));
#pragma omp critical
    {
      POMP_Critical_begin(D(5));
      count++;
      POMP_Critical_end(D(5));
    }
    POMP_Critical_exit(D(5));
  }
}

/* The system gives this process no more memory from now on. */
static void take_all(void)
{
  struct rlimit none = { 0, 0 };
  setrlimit(RLIMIT_DATA, &none);
}

int main(int words, char **word)
{
  if (words < 3) return 2;
  for (int i = 0; i < 3; i++)
    PARALLEL(D(1), 2, {
      if (word[1][0] == 'w') walk(atoi(word[2]));
      if (word[1][0] == 'r') repeat(atol(word[2]));
      barrier();
      PARALLEL(D(1), 1, ATOMIC(D(4), count));
    });
  printf("%d\n", count);
  fflush(stdout);
  if (word[1][0] == 't') take_all();
  return 0;
}

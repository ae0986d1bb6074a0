/* Tasks wherever a runtime may execute them: in the barrier that ends a single
 * region, in taskwait and taskgroup, at once, and untied ones on any thread. */
#include "probes.h"

static struct romp_region r[] = {
  REGION("parallel", 1),   REGION("single", 2),     REGION("task", 3),
  REGION("task", 4),       REGION("taskwait", 5),   REGION("taskgroup", 6),
  REGION("taskuntied", 7), REGION("taskyield", 8),  REGION("taskloop", 9),
  REGION("scope", 10),     REGION("masked", 11),    REGION("userRegion", 12),
};
REGISTER(r)
#define D(line) (&r[line - 1].descriptor)

static int sum;

/* A task of the construct at this line, with a clause. */
#define TASK(line, clause, block)                                                   \
  do {                                                                              \
    POMP_Task_create_enter(D(line));                                                \
    PRAGMA(omp task clause)                                                         \
    {                                                                               \
      POMP_Task_begin(D(line));                                                     \
      block;                                                                        \
      POMP_Task_end(D(line));                                                       \
    }                                                                               \
    POMP_Task_create_exit(D(line));                                                 \
  } while (0)

static void add(void)
{
#pragma omp atomic
  sum++;
}

static void wait_for_tasks(void)
{
  POMP_Taskwait_enter(D(5));
#pragma omp taskwait
  POMP_Taskwait_exit(D(5));
}

/* 2^depth - 1 tasks, each of which waits for those that it makes. */
static void tree(int depth)
{
  if (depth == 0) return;
  TASK(3, if (depth > 2), {
    add();
    tree(depth - 1);
    tree(depth - 1);
    wait_for_tasks();
  });
}

static void group(void)
{
  POMP_Taskgroup_enter(D(6));
#pragma omp taskgroup
  {
    POMP_Taskgroup_begin(D(6));
    for (int i = 0; i < 50; i++) TASK(4, untied if (1), add());
    POMP_Taskgroup_end(D(6));
  }
  POMP_Taskgroup_exit(D(6));
}

static void untied(void)
{
  for (int i = 0; i < 200; i++)
    TASK(7, untied, {
      add();
      POMP_Taskyield_enter(D(8));
      PRAGMA(omp taskyield)
      POMP_Taskyield_exit(D(8));
      add();
    });
}

static void single(void (*work)(void))
{
  POMP_Single_enter(D(2));
#pragma omp single nowait
  {
    POMP_Single_begin(D(2));
    work();
    POMP_Single_end(D(2));
  }
  POMP_Implicit_barrier_enter(D(2));
#pragma omp barrier
  POMP_Implicit_barrier_exit(D(2));
  POMP_Single_exit(D(2));
}

static void trees(void) { tree(6); }

static void others(void)
{
  POMP_Scope_enter(D(10));
  POMP_Scope_begin(D(10));
  POMP_Scope_end(D(10));
  POMP_Implicit_barrier_enter(D(10));
#pragma omp barrier
  POMP_Implicit_barrier_exit(D(10));
  POMP_Scope_exit(D(10));
#pragma omp master
  {
    POMP_Master_begin(D(11));
    POMP_Taskloop_enter(D(9));
#pragma omp taskloop
    for (int i = 0; i < 10; i++) add();
    POMP_Taskloop_exit(D(9));
    POMP_Master_end(D(11));
  }
}

int main(int words, char **word)
{
  (void)word;
  POMP_Begin(D(12));
  PARALLEL(D(1), 4, {
    single(trees);
    single(group);
    others();
    if (words > 1) single(untied);
  });
  POMP_End(D(12));
  printf("%d\n", sum);
  return 0;
}

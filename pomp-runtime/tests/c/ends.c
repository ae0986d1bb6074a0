/* The many ways to end, one per word on the command line. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "probes.h"

static struct romp_region r[] = { REGION("parallel", 1), REGION("atomic", 2),
                                  REGION("lock", 3) };
#define PARALLEL_REGION (&r[0].descriptor)
#define ATOMIC_REGION (&r[1].descriptor)
static int count;

static void register_as(unsigned version)
{
  POMP_Register_table(version, sizeof r[0], r, sizeof r / sizeof r[0]);
}

static void work(void) { PARALLEL(PARALLEL_REGION, 2, ATOMIC(ATOMIC_REGION, count)); }

static void late(void)
{
  POMP_Atomic_enter(ATOMIC_REGION);
  POMP_Atomic_exit(ATOMIC_REGION);
}

static void exit_in_region(int number)
{
  PARALLEL(PARALLEL_REGION, 2, {
    if (omp_get_thread_num() == number) exit(7);
    for (;;) ATOMIC(ATOMIC_REGION, count);
  });
}

/* As a STOP that every thread comes to; enough threads that one ends first. */
static void exit_everywhere(void)
{
  PARALLEL(PARALLEL_REGION, 4, exit(7));
}

static void *pthread_work(void *unused)
{
  work();
  POMP_Atomic_enter(ATOMIC_REGION); /* ends inside */
  return unused;
}

/* The next signal comes only when the handler has ended, so that the program goes on between two of
 * them, however long a handler takes. */
static void interrupt_soon(void)
{
  struct itimerval soon = { { 0, 0 }, { 0, 100 } };
  setitimer(ITIMER_REAL, &soon, 0);
}

static void interrupt(int signal)
{
  (void)signal;
  for (int i = 0; i < 50; i++) ATOMIC(ATOMIC_REGION, count);
  interrupt_soon();
}

static void interrupted(void)
{
  signal(SIGALRM, interrupt);
  interrupt_soon();
  for (int i = 0; i < 500000; i++) ATOMIC(ATOMIC_REGION, count);
  signal(SIGALRM, SIG_IGN);
}

static void nulls(void)
{
  omp_nest_lock_t lock;
  errno = 77;
  POMP_Atomic_enter(0);
  POMP_Atomic_exit(0);
  POMP_Parallel_begin_team(PARALLEL_REGION, 0);
  POMP_Parallel_begin_team(0, 0);
  if (POMP_Parallel_fork_team(0)) exit(1);
  POMP_Parallel_join(0);
  POMP_Register_table(ROMP_INTERFACE_VERSION, sizeof r[0], 0, 3);
  POMP_Init_nest_lock_at(0, &lock);
  POMP_Set_nest_lock_at(&r[2].descriptor, &lock);
  if (POMP_Test_nest_lock_at(0, &lock) != 2) exit(2);
  POMP_Unset_nest_lock_at(0, &lock);
  POMP_Unset_nest_lock_at(&r[2].descriptor, &lock);
  POMP_Destroy_nest_lock_at(&r[2].descriptor, &lock);
  ATOMIC(ATOMIC_REGION, count);
  if (errno != 77) exit(3);
}

int main(int words, char **word)
{
  const char *way = words > 1 ? word[1] : "return";
  register_as(!strcmp(way, "mismatch") ? 99 : ROMP_INTERFACE_VERSION);
  if (!strcmp(way, "nothing")) return 3;
  if (!strcmp(way, "worker-exit")) exit_in_region(1);
  if (!strcmp(way, "master-exit")) exit_in_region(0);
  if (!strcmp(way, "everywhere")) exit_everywhere();
  if (!strcmp(way, "interrupted")) interrupted();
  if (!strcmp(way, "nulls")) nulls();
  work();
  if (!strcmp(way, "quick_exit")) quick_exit(5);
  if (!strcmp(way, "chdir") && chdir("/")) return 1;
  if (!strcmp(way, "late")) atexit(late);
  if (!strcmp(way, "pthreads")) {
    for (int i = 0; i < 3; i++) {
      pthread_t thread;
      if (pthread_create(&thread, 0, pthread_work, 0)) return 1;
      pthread_join(thread, 0);
    }
  }
  return 3;
}

/* How threads end, one way per word. Where the program waits it waits for a state, so
 * that nothing depends on how fast anything is. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "probes.h"

static struct romp_region r[] = { REGION("parallel", 1), REGION("atomic", 2) };
REGISTER(r)

static int count;
static volatile int is_ready;

static void work(int threads)
{
  PARALLEL(&r[0].descriptor, threads, ATOMIC(&r[1].descriptor, count));
}

/* Until `main` has ended. */
static void wait_for_main(void)
{
  char state = ' ';
  while (state != 'Z') {
    FILE *stat = fopen("/proc/self/stat", "r");
    if (!stat || fscanf(stat, "%*d %*s %c", &state) != 1) exit(1);
    fclose(stat);
    usleep(1000);
  }
}

static void *outlive(void *way)
{
  wait_for_main();
  if (!strcmp(way, "worker-forks")) work(2);
  if (!strcmp(way, "SIGTERM")) {
    kill(getpid(), SIGTERM);
    for (;;) pause();
  }
  puts("done");
  return 0;
}

/* Events, until it is cancelled: at any of its instructions, or where it asks. */
static void *go_on(void *way)
{
  int deferred = !strcmp(way, "cancel-deferred");
  int kind = deferred ? PTHREAD_CANCEL_DEFERRED : PTHREAD_CANCEL_ASYNCHRONOUS;
  pthread_setcanceltype(kind, 0);
  is_ready = 1;
  while (is_ready) {
    ATOMIC(&r[1].descriptor, count);
    if (deferred) pthread_testcancel();
  }
  return 0;
}

static int cancel(char *way)
{
  for (int time = 300; time >= 0; time--) {
    pthread_t thread;
    void *result;
    is_ready = 0;
    pthread_create(&thread, 0, go_on, way);
    while (!is_ready) { }
    for (volatile int i = 0; i < time * 50; i++) { }
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) return 1;
  }
  puts("done");
  return 0;
}

int main(int words, char **word)
{
  char *way = words > 1 ? word[1] : "";
  pthread_t thread;
  if (!strncmp(way, "cancel", 6)) return cancel(way);
  if (!strcmp(way, "team")) work(2);
  if (strcmp(way, "worker-forks")) work(1);
  pthread_create(&thread, 0, outlive, way);
  pthread_exit(0);
}

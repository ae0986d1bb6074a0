/* A collector that registers every event and counts them: what callbacks cost. With
 * FORK_JOIN set, only forks, joins and implicit barriers, as the paper's collector. With
 * STORE set, it also keeps what that collector keeps: the time of each event, and the
 * call stack of each join, as the machine has it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* How many times and how many frames each thread keeps; later ones take the place of old ones. */
enum { JOIN = 2, TIMES = 1 << 16, FRAMES = 1 << 16, DEEPEST = 64 };

static _Thread_local unsigned long calls;
static _Thread_local struct timespec *times;
static _Thread_local void **frames;
static _Thread_local int used;

static void told(int event)
{
  calls += event != 0;
}

static void stored(int event)
{
  if (!times) {
    times = malloc(TIMES * sizeof *times);
    frames = malloc(FRAMES * sizeof *frames);
    if (!times || !frames)
      abort();
  }
  clock_gettime(CLOCK_MONOTONIC, &times[calls++ % TIMES]);
  if (event == JOIN) {
    if (used > FRAMES - DEEPEST)
      used = 0;
    used += backtrace(frames + used, DEEPEST);
  }
}

__attribute__((constructor)) static void start(void)
{
  int (*api)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "__omp_collector_api");
  int session[] = { 16, 0, -1, -1, 0 };
  if (!api)
    return;
  if (api(session) != 0 || session[2] != 0) {
    fputs("all_events: no session\n", stderr);
    return;
  }
  for (int event = 1; event <= 24; event++) {
    if (getenv("FORK_JOIN") && event > JOIN && event != 5 && event != 6)
      continue;
    union { void (*function)(int); int words[2]; } callback = { getenv("STORE") ? stored : told };
    int message[] = { 28, 1, -1, -1, event, callback.words[0], callback.words[1], 0 };
    api(message);
  }
}

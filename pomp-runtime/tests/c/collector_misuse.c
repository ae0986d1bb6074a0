/* What a collector may do at odd moments and in odd ways. The way that is given says
 * what is tried; nothing here may end or stop the program. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes.h"
#include "collector.h"

static struct romp_region r[] = {
  REGION("parallel", 1),
  REGION("barrier", 2),
  REGION("master", 3),
  REGION("critical", 4),
  REGION("parallel", 5),
};
#define R(line) (&r[line - 1].descriptor)
REGISTER(r)

static int calls[LAST_EVENT + 1];

static void counting(int event)
{
  __atomic_fetch_add(&calls[event], 1, __ATOMIC_RELAXED);
}

static void say(const char *what, message m)
{
  printf("%s: %s %d\n", what, m.code < 0 ? "-1" : codes[m.code], m.answer);
}

static void master(void)
{
  POMP_Master_begin(R(3));
  POMP_Master_end(R(3));
}

static void region(void)
{
  PARALLEL(R(1), 1, master());
}

/* A callback's address in two words of a message. */
#define WORDS(function) (int)(uintptr_t)(function), (int)((uintptr_t)(function) >> 32)

/* A request that fails does not keep the requests after it from being answered; a malformed one
 * does. */
static void batches(void)
{
  int good[] = {
    16, START, -1, -1,
    16, START, -1, -1,
    28, REGISTER, -1, -1, 99, WORDS(counting),
    20, REGISTER, -1, -1, FORK,
    28, REGISTER, -1, -1, FORK, WORDS(counting),
    28, REGISTER, -1, -1, JOIN, 0, 0,
    20, CURRENT_PRID, -1, -1, 0,
    16, 77, -1, -1,
    16, UNREGISTER, -1, -1,
    20, UNREGISTER, -1, -1, JOIN,
    64, STATE, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    16, PAUSE, -1, -1,
    16, RESUME, -1, -1,
    0 };
  printf("good: %d:", __omp_collector_api(good));
  for (int *at = good; *at != 0; at += *at / 4)
    printf(" %s/%d", codes[at[2]], at[3]);
  puts("");
  region();
  printf("forks: %d\n", calls[FORK]);
  int cut[] = { 20, UNREGISTER, -1, -1, FORK, 8, STOP, -1, -1, 16, STOP, -1, -1, 0 };
  int result = __omp_collector_api(cut);
  printf("cut: %d %d %d %d\n", result, cut[2], cut[7], cut[11]);
  /* The end of the buffer is the last number of a page: nothing behind it is read. */
  long page = sysconf(_SC_PAGESIZE);
  char *pages = aligned_alloc(page, 2 * page);
  int *last = (int *)(pages + page) - 5;
  memcpy(last, (int[]){ 16, STOP, -1, -1, 0 }, 20);
  printf("at the end of a page: %d", __omp_collector_api(last));
  printf(" %s\n", codes[last[2]]);
  free(pages);
}

static int forks_told;
static message within;

static void stopping(int event)
{
  counting(event);
  within = ask(STOP, 0);
}

static void restarting(int event)
{
  counting(event);
  ask(STOP, 0);
  within = ask(START, 0);
  ask_register(JOIN, counting);
}

static void leaving(int event)
{
  counting(event);
  within = ask_unregister(event);
}

static void pausing(int event)
{
  counting(event);
  within = ask(PAUSE, 0);
}

static void replacing(int event)
{
  forks_told++;
  within = ask_register(event, counting);
}

/* Events that a callback causes are reported to nobody. */
static void forking(int event)
{
  counting(event);
  if (forks_told++ < 3)
    region();
}

static void within_callbacks(void)
{
  struct { const char *name; callback function; } all[] = {
    { "stop", stopping }, { "stop, start", restarting }, { "unregister", leaving },
    { "pause", pausing }, { "register", replacing }, { "fork", forking },
  };
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
    memset(calls, 0, sizeof calls);
    forks_told = 0;
    ask(START, 0);
    ask_register(FORK, all[i].function);
    ask_register(BEGIN_MASTER, counting);
    region();
    region();
    printf("%s: %s, %d %d %d\n", all[i].name, within.code < 0 ? "-1" : codes[within.code],
           calls[FORK] + forks_told, calls[BEGIN_MASTER], calls[JOIN]);
    ask(RESUME, 0);
    ask(STOP, 0);
    within.code = -1;
  }
}

static sem_t answered;
static message of_signal[3];

static void on_signal(int signal)
{
  (void)signal;
  of_signal[0] = ask(STATE, 12);
  of_signal[1] = ask(CURRENT_PRID, 8);
  of_signal[2] = ask(PARENT_PRID, 8);
  sem_post(&answered);
}

static void say_signalled(const char *who, pthread_t thread)
{
  pthread_kill(thread, SIGUSR1);
  while (sem_wait(&answered) != 0)
    ;
  printf("%s: %s %s %d %s\n", who, states[state_of(of_signal[0])], codes[of_signal[1].code],
         (int)id_of(of_signal[1]), codes[of_signal[2].code]);
}

static void *waiting(void *end)
{
  while (sem_wait(end) != 0)
    ;
  return 0;
}

/* States of threads that are asked in a signal handler, between regions and in them. */
static void signalled(void)
{
  pthread_t foreign, worker = pthread_self();
  sem_t end;
  sem_init(&end, 0, 0);
  sem_init(&answered, 0, 0);
  struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
  sigaction(SIGUSR1, &action, 0);
  say_signalled("no session", pthread_self());
  ask(START, 0);
  say_signalled("before any region", pthread_self());
  pthread_create(&foreign, 0, waiting, &end);
  say_signalled("another thread", foreign);
  PARALLEL(R(1), 2, {
    if (omp_get_thread_num() == 1)
      worker = pthread_self();
  });
  say_signalled("worker, behind the region", worker);
  say_signalled("master, behind the region", pthread_self());
  ask(PAUSE, 0);
  say_signalled("worker, paused", worker);
  PARALLEL(R(5), 1, {
    of_signal[1] = ask(CURRENT_PRID, 8);
    printf("in a region, paused: %s %d\n", codes[of_signal[1].code], id_of(of_signal[1]) != 0);
  });
  sem_post(&end);
  pthread_join(foreign, 0);
}

static message in_barrier[4];

static void measuring(int event)
{
  (void)event;
  for (int i = 0; i < 4; i++)
    in_barrier[i] = ask(STATE, 4 * i);
}

/* The id of a wait needs room; a thread with no room for it gets the state. */
static void rooms(void)
{
  ask(START, 0);
  ask_register(BEGIN_IBAR, measuring);
  region();
  for (int i = 0; i < 4; i++)
    printf("%s %s %d %d\n", codes[in_barrier[i].code], states[state_of(in_barrier[i])],
           in_barrier[i].answer, wait_of(in_barrier[i]) != 0);
}

static int wrong;

static void *crowding(void *number)
{
  for (int i = 0; i < 20000; i++) {
    message m[] = { ask_register(1 + (i + (int)(intptr_t)number) % END_ATWT, counting),
                    ask(PAUSE, 0), ask(RESUME, 0), ask_unregister(1 + i % END_ATWT),
                    ask(STATE, 12) };
    for (int k = 0; k < 5; k++)
      if (m[k].code != OK)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  }
  return 0;
}

static void critical(void)
{
  POMP_Critical_enter(R(4));
#pragma omp critical
  {
    POMP_Critical_begin(R(4));
    POMP_Critical_end(R(4));
  }
  POMP_Critical_exit(R(4));
}

/* Many threads ask and receive events at once. */
static void crowd(void)
{
  pthread_t threads[3];
  ask(START, 0);
  for (intptr_t i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, crowding, (void *)i);
  for (int i = 0; i < 300; i++)
    PARALLEL(R(1), 2, critical());
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  printf("wrong: %d\n", wrong);
}

/* Children are made while other threads ask: each may ask, too. */
static void forked_in_a_crowd(void)
{
  pthread_t threads[3];
  int unanswered = 0;
  ask(START, 0);
  region();
  for (intptr_t i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, crowding, (void *)i);
  for (int i = 0; i < 100; i++) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
      alarm(10);
      _exit(ask_register(JOIN, counting).code);
    }
    waitpid(child, &status, 0);
    unanswered += status != 0;
  }
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  printf("unanswered: %d\n", unanswered);
}

/* A child starts with the session that its parent had. */
static void forked(void)
{
  ask(START, 0);
  ask_register(FORK, counting);
  region();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    region();
    say("START", ask(START, 0));
    say("STOP", ask(STOP, 0));
    printf("%d\n", calls[FORK]);
    exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  printf("child: %d\n", status);
}

static int is_late;

/* Runs behind the library's own. */
static void very_late(void)
{
  if (!is_late)
    return;
  int before = calls[FORK];
  say("STATE", ask(STATE, 12));
  region();
  printf("told: %d\n", calls[FORK] - before);
  say("STOP", ask(STOP, 0));
  say("START", ask(START, 0));
}

__attribute__((constructor(101))) static void early(void)
{
  atexit(very_late);
}

/* How often each event came to this thread. */
static _Thread_local int seen[LAST_EVENT + 1];
static int unbegun;

static void pairing(int event)
{
  seen[event]++;
  if (event % 2 == 0 && event != JOIN && seen[event] > seen[event - 1])
    __atomic_fetch_add(&unbegun, 1, __ATOMIC_RELAXED);
}

static void *leading(void *unused)
{
  for (int i = 0; i < 2; i++) {
    void *team = POMP_Parallel_fork_team(R(1));
#pragma omp parallel num_threads(3) firstprivate(team)
    {
      POMP_Parallel_begin_team(R(1), team);
      POMP_Parallel_end(R(1));
    }
    POMP_Parallel_join(R(1));
  }
  return unused;
}

/* Threads that fork teams end, and their workers with them. The next threads get the blocks in
 * which the library kept what those did. */
static void reborn(void)
{
  ask(START, 0);
  for (int event = FORK; event <= LAST_EVENT; event++)
    ask_register(event, pairing);
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, leading, 0);
    pthread_join(thread, 0);
    usleep(1000);
  }
  ask(STOP, 0);
  printf("ends without a begin: %d\n", unbegun);
}

static void late(void)
{
  is_late = 1;
  ask(START, 0);
  ask_register(FORK, counting);
  region();
  printf("told: %d\n", calls[FORK]);
}

int main(int argc, char **argv)
{
  struct { const char *way; void (*function)(void); } ways[] = {
    { "batches", batches }, { "callbacks", within_callbacks }, { "signalled", signalled },
    { "rooms", rooms },     { "crowd", crowd },                { "forked", forked },
    { "late", late },       { "forked in a crowd", forked_in_a_crowd },
    { "reborn", reborn },
  };
  omp_set_dynamic(0);
  for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++)
    if (argc > 1 && !strcmp(argv[1], ways[i].way))
      ways[i].function();
  return 0;
}

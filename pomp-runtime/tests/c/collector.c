/* A program with probes written by hand, and a collector in it. The way that is
 * given says what is tried. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "probes.h"
#include "collector.h"

static struct romp_region r[] = {
  REGION("parallel", 1),
  REGION("barrier", 2),
  REGION("critical", 3),
  REGION("ordered", 4),
  REGION("master", 5),
  REGION("single", 6),
  REGION("atomic", 7),
  REGION("lock", 8),
  REGION("parallelfor", 9),
  REGION("taskgroup", 10),
  REGION("parallel", 11),
  REGION("task", 12),
};
#define R(line) (&r[line - 1].descriptor)
REGISTER(r)

static const char *const names[] = {
  "?", "FORK", "JOIN", "BEGIN_IDLE", "END_IDLE", "BEGIN_IBAR", "END_IBAR", "BEGIN_EBAR",
  "END_EBAR", "BEGIN_LKWT", "END_LKWT", "BEGIN_CTWT", "END_CTWT", "BEGIN_ODWT", "END_ODWT",
  "BEGIN_MASTER", "END_MASTER", "BEGIN_SINGLE", "END_SINGLE", "BEGIN_ORDERED", "END_ORDERED",
  "BEGIN_ATWT", "END_ATWT", "BEGIN_TASK", "END_TASK",
};

/* What a thread's callbacks saw. */
typedef struct {
  char text[8192];
  uint64_t region, barriers[64];
  int length, depth, barrier_count;
} record;

static _Thread_local record mine;
static record of_member[8];

static void note(const char *text)
{
  mine.length += snprintf(mine.text + mine.length, sizeof mine.text - mine.length, "%s ", text);
}

static void noting(int event)
{
  message state = ask(STATE, 12);
  message current = ask(CURRENT_PRID, 8);
  note(names[event]);
  mine.text[mine.length - 1] = '/';
  note(states[state_of(state)]);
  if (event != BEGIN_IDLE) {
    if (event == FORK || event == END_IDLE)
      mine.region = id_of(current);
    if (current.code != OK || id_of(current) != mine.region)
      note("!region");
  }
  int waits = state_of(state) >= LKWT || state_of(state) == IBAR || state_of(state) == EBAR;
  if (waits != (wait_of(state) != 0))
    note("!wait");
  if (event == BEGIN_IBAR || event == BEGIN_EBAR)
    mine.barriers[mine.barrier_count++] = wait_of(state);
  if (event % 2 == 0 && (event == END_IBAR || event == END_EBAR)
      && mine.barriers[mine.barrier_count - 1] != wait_of(state))
    note("!barrier");
}

static void register_all(callback function)
{
  for (int event = FORK; event <= LAST_EVENT; event++)
    if (ask_register(event, function).code != OK)
      printf("cannot register %s\n", names[event]);
}

static void say(const char *what, message m)
{
  printf("%s: %s %d\n", what, m.code < 0 ? "-1" : codes[m.code], m.answer);
}

/* Every request at a wrong time, with wrong memory and of unknown numbers. */
static void errors(void)
{
  puts("before START");
  for (int request = REGISTER; request <= 9; request++)
    say("", ask(request, 12));
  puts("START");
  say("START", ask(START, 0));
  say("again", ask(START, 0));
  puts("memory");
  say("REGISTER", ask(REGISTER, 0));
  say("REGISTER", ask(REGISTER, 8));
  say("UNREGISTER", ask(UNREGISTER, 0));
  say("STATE", ask(STATE, 0));
  say("STATE", ask(STATE, 4));
  say("STATE", ask(STATE, 12));
  say("CURRENT_PRID", ask(CURRENT_PRID, 4));
  say("PARENT_PRID", ask(PARENT_PRID, 4));
  puts("events");
  int events[] = { -1, 0, 1, 24, 25, 256 };
  for (int i = 0; i < 6; i++)
    say("REGISTER", ask_register(events[i], noting));
  say("no callback", ask_register(FORK, 0));
  for (int i = 0; i < 6; i++)
    say("UNREGISTER", ask_unregister(events[i]));
  say("UNREGISTER twice", ask_unregister(1));
  puts("outside");
  message m = ask(STATE, 12);
  printf("%s %d\n", states[state_of(m)], m.answer);
  m = ask(CURRENT_PRID, 8);
  say("CURRENT_PRID", m);
  printf("%d\n", (int)id_of(m));
  m = ask(PARENT_PRID, 8);
  say("PARENT_PRID", m);
  printf("%d\n", (int)id_of(m));
  puts("pauses");
  for (int i = 0; i < 2; i++)
    say("PAUSE", ask(PAUSE, 0));
  for (int i = 0; i < 2; i++)
    say("RESUME", ask(RESUME, 0));
  say("unknown", ask(99, 0));
  say("unknown", ask(-1, 0));
  puts("STOP");
  say("STOP", ask(STOP, 0));
  say("again", ask(STOP, 0));
  say("STATE", ask(STATE, 12));
  say("START", ask(START, 0));
  puts("buffers");
  printf("null: %d\n", __omp_collector_api(0));
  int empty = 0;
  printf("empty: %d\n", __omp_collector_api(&empty));
  /* The first is answered; the second is malformed, the third not looked at. */
  int sizes[] = { 12, 18, -16, 15 };
  for (int i = 0; i < 4; i++) {
    int batch[] = { 16, PAUSE, -1, -1, sizes[i], PAUSE, -1, -1, 16, PAUSE, -1, -1, 0 };
    int result = __omp_collector_api(batch);
    printf("size %d: %d %d %d %d\n", sizes[i], result, batch[2], batch[6], batch[10]);
  }
  _Alignas(8) char unaligned[32] = { 0 };
  printf("unaligned: %d\n", __omp_collector_api(unaligned + 2));
  int batch[] = { 16, RESUME, -1, -1, 20, STATE, -1, -1, 0, 24, CURRENT_PRID, -1, -1, 7, 7,
                  16, STOP, -1, -1, 16, STOP, -1, -1, 0 };
  printf("batch: %d:", __omp_collector_api(batch));
  printf(" %s %s/%s %s %s %s\n", codes[batch[2]], codes[batch[6]], states[batch[8]],
         codes[batch[11]], codes[batch[17]], codes[batch[21]]);
}

static int count;
static omp_lock_t lock;

/* Each construct once by each member of a team of two, or by one of them. */
static void member(void)
{
  POMP_Barrier_enter(R(2));
#pragma omp barrier
  POMP_Barrier_exit(R(2));
  POMP_Critical_enter(R(3));
#pragma omp critical
  {
    POMP_Critical_begin(R(3));
    count++;
    POMP_Critical_end(R(3));
  }
  POMP_Critical_exit(R(3));
#pragma omp for ordered schedule(static, 1) nowait
  for (int i = 0; i < 2; i++) {
    POMP_Ordered_enter(R(4));
#pragma omp ordered
    {
      POMP_Ordered_begin(R(4));
      POMP_Ordered_end(R(4));
    }
    POMP_Ordered_exit(R(4));
  }
#pragma omp master
  {
    POMP_Master_begin(R(5));
    POMP_Master_end(R(5));
  }
  POMP_Single_enter(R(6));
  if (omp_get_thread_num() == 1) {
    POMP_Single_begin(R(6));
    POMP_Single_end(R(6));
  }
  POMP_Implicit_barrier_enter(R(6));
#pragma omp barrier
  POMP_Implicit_barrier_exit(R(6));
  POMP_Single_exit(R(6));
  ATOMIC(R(7), count);
  POMP_Set_lock_at(R(8), &lock);
  POMP_Unset_lock_at(R(8), &lock);
  POMP_Taskgroup_enter(R(10));
  POMP_Taskgroup_begin(R(10));
  POMP_Taskgroup_end(R(10));
  POMP_Taskgroup_exit(R(10));
  POMP_Task_create_enter(R(12));
  POMP_Task_create_exit(R(12));
}

static void constructs(void)
{
  ask(START, 0);
  register_all(noting);
  omp_init_lock(&lock);
  PARALLEL(R(1), 2, member());
  PARALLEL(R(9), 2, {
    POMP_For_enter(R(9));
    POMP_For_exit(R(9));
    of_member[omp_get_thread_num()] = mine;
  });
  ask(STOP, 0);
  of_member[0] = mine;
  printf("0: %s\n1: %s\n", of_member[0].text, of_member[1].text);
  printf("same barriers: %d\n",
         !memcmp(of_member[0].barriers, of_member[1].barriers, 3 * sizeof(uint64_t)));
  printf("%d\n", count);
}

/* The id of the latest wait in each state. */
static _Thread_local uint64_t latest[ATWT + 1];
static int wrong_ids, waits_of_worker;

static void counting_waits(int event)
{
  (void)event;
  message state = ask(STATE, 12);
  if (wait_of(state) != ++latest[state_of(state)])
    __atomic_fetch_add(&wrong_ids, 1, __ATOMIC_RELAXED);
  if (omp_get_thread_num() == 1)
    __atomic_fetch_add(&waits_of_worker, 1, __ATOMIC_RELAXED);
}

/* Ids of waits: they count each thread's waits of each kind. */
static void waits(void)
{
  ask(START, 0);
  for (int event = BEGIN_IBAR; event <= BEGIN_ODWT; event += 2)
    ask_register(event, counting_waits);
  ask_register(BEGIN_ATWT, counting_waits);
  omp_init_lock(&lock);
  for (int i = 0; i < 3; i++)
    PARALLEL(R(1), 2, member());
  printf("wrong: %d\nof the worker: %d\n", wrong_ids, waits_of_worker);
}

static int told_of[LAST_EVENT + 1], is_inside;

static void telling(int event)
{
  __atomic_fetch_add(&told_of[event], 1, __ATOMIC_SEQ_CST);
}

/* Until the other thread is inside; for that one, until the first was told to wait. */
static void meet(int number, int event)
{
  if (number == 0) {
    __atomic_store_n(&is_inside, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&told_of[event], __ATOMIC_SEQ_CST))
      ;
  }
}

static void wait_for_first(int number)
{
  while (number == 1 && !__atomic_load_n(&is_inside, __ATOMIC_SEQ_CST))
    ;
}

static void one_after_the_other(int number)
{
  wait_for_first(number);
  POMP_Critical_enter(R(3));
#pragma omp critical
  {
    POMP_Critical_begin(R(3));
    meet(number, BEGIN_CTWT);
    POMP_Critical_end(R(3));
  }
  POMP_Critical_exit(R(3));
#pragma omp barrier
#pragma omp single
  is_inside = 0;
  wait_for_first(number);
  POMP_Set_lock_at(R(8), &lock);
  meet(number, BEGIN_LKWT);
  POMP_Unset_lock_at(R(8), &lock);
}

static void alone(void)
{
  POMP_Critical_enter(R(3));
#pragma omp critical
  {
    POMP_Critical_begin(R(3));
    POMP_Critical_end(R(3));
  }
  POMP_Critical_exit(R(3));
  POMP_Set_lock_at(R(8), &lock);
  POMP_Unset_lock_at(R(8), &lock);
  ATOMIC(R(7), count);
}

/* Which waits are reported: those of two threads that meet, and those of a thread that meets
 * nobody. */
static void contended(void)
{
  omp_init_lock(&lock);
  ask(START, 0);
  for (int event = BEGIN_LKWT; event <= END_ODWT; event++)
    ask_register(event, telling);
  ask_register(BEGIN_ATWT, telling);
  ask_register(END_ATWT, telling);
  for (int i = 0; i < 3; i++)
    PARALLEL(R(1), 1, alone());
  printf("alone:");
  for (int event = BEGIN_LKWT; event <= END_CTWT; event++)
    printf(" %d", told_of[event]);
  printf(" %d %d\n", told_of[BEGIN_ATWT], told_of[END_ATWT]);
  memset(told_of, 0, sizeof told_of);
  /* A session that ends within and another do not make it seem taken. */
  PARALLEL(R(1), 1, {
    POMP_Critical_enter(R(3));
    POMP_Critical_begin(R(3));
    ask(STOP, 0);
    POMP_Critical_end(R(3));
    POMP_Critical_exit(R(3));
  });
  ask(START, 0);
  for (int event = BEGIN_LKWT; event <= END_CTWT; event++)
    ask_register(event, telling);
  PARALLEL(R(1), 1, alone());
  printf("after another session: %d\n", told_of[BEGIN_CTWT]);
  memset(told_of, 0, sizeof told_of);
  PARALLEL(R(1), 2, one_after_the_other(omp_get_thread_num()));
  printf("meeting:");
  for (int event = BEGIN_LKWT; event <= END_CTWT; event++)
    printf(" %d", told_of[event]);
  puts("");
}

static uint64_t inner[2][2];
static int parents_are_right = 1;

static void checking_ids(int event)
{
  if (event == FORK) {
    message parent = ask(PARENT_PRID, 8);
    uint64_t expected = omp_get_level() == 0 ? 0 : mine.region;
    if (parent.code != OK || id_of(parent) != expected)
      parents_are_right = 0;
  }
}

/* Ids of nested regions. */
static void nested(void)
{
  uint64_t outer[2];
  message of_member[2];
  ask(START, 0);
  ask_register(FORK, checking_ids);
  omp_set_max_active_levels(2);
  PARALLEL(R(1), 2, {
    int me = omp_get_thread_num();
    mine.region = outer[me] = id_of(ask(CURRENT_PRID, 8));
    of_member[me] = ask(PARENT_PRID, 8);
    PARALLEL(R(11), 2, {
      inner[me][omp_get_thread_num()] = id_of(ask(CURRENT_PRID, 8));
      if (id_of(ask(PARENT_PRID, 8)) != outer[me])
        parents_are_right = 0;
    });
    if (id_of(ask(CURRENT_PRID, 8)) != outer[me])
      puts("not back in the outer region");
  });
  say("master", of_member[0]);
  say("worker", of_member[1]);
  printf("one team, one id: %d %d %d\n", outer[0] == outer[1], inner[0][0] == inner[0][1],
         inner[1][0] == inner[1][1]);
  printf("distinct: %d\n", inner[0][0] != inner[1][0] && inner[0][0] != outer[0]);
  printf("parents: %d\n", parents_are_right);
  uint64_t again = 0;
  PARALLEL(R(1), 2, if (omp_get_thread_num() == 0) again = id_of(ask(CURRENT_PRID, 8)));
  printf("another instance: %d\n", again != outer[0]);
}

static void *of_a_thread(void *unused)
{
  (void)unused;
  message m = ask(STATE, 12);
  printf("%s\n", states[state_of(m)]);
  say("CURRENT_PRID", ask(CURRENT_PRID, 8));
  say("PARENT_PRID", ask(PARENT_PRID, 8));
  int total = 0;
  PARALLEL(R(1), 2, {
    message within = ask(STATE, 12);
    if (state_of(within) != WORK || ask(CURRENT_PRID, 8).code != OK)
      puts("wrong in a region");
    ATOMIC(R(7), total);
  });
  printf("%d\n", total);
  m = ask(STATE, 12);
  printf("%s\n", states[state_of(m)]);
  return 0;
}

/* Threads that the program made itself. */
static void foreign(void)
{
  ask(START, 0);
  pthread_t thread;
  pthread_create(&thread, 0, of_a_thread, 0);
  pthread_join(thread, 0);
}

static int calls, idle_calls;

static void counting(int event)
{
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  if (event == BEGIN_IDLE)
    __atomic_fetch_add(&idle_calls, 1, __ATOMIC_RELAXED);
}

static int region_calls(void)
{
  int before = calls;
  PARALLEL(R(1), 1, {});
  return calls - before;
}

/* Which callback is called when. */
static void sessions(void)
{
  printf("no session: %d\n", region_calls());
  ask(START, 0);
  printf("nobody registered: %d\n", region_calls());
  register_all(counting);
  printf("all: %d\n", region_calls());
  ask(PAUSE, 0);
  printf("paused: %d\n", region_calls());
  ask_unregister(FORK);
  ask(RESUME, 0);
  printf("without fork: %d\n", region_calls());
  ask_register(FORK, counting);
  printf("with it again: %d\n", region_calls());
  POMP_Off();
  printf("measurement off: %d\n", region_calls());
  POMP_On();
  ask(STOP, 0);
  printf("stopped: %d\n", region_calls());
  ask(START, 0);
  printf("a new session knows no callbacks: %d\n", region_calls());
  ask_register(JOIN, counting);
  printf("join: %d\n", region_calls());
}

/* Events with their states alone. */
static void noting_states(int event)
{
  note(names[event]);
  mine.text[mine.length - 1] = '/';
  note(states[state_of(ask(STATE, 12))]);
}

static record at_end[2];

/* Teams whose barrier no event reports. */
static void ended(void)
{
  ask(START, 0);
  register_all(noting_states);
  for (int i = 0; i < 2; i++) {
    void *team = POMP_Parallel_fork_team(R(1));
#pragma omp parallel num_threads(2) firstprivate(team)
    {
      POMP_Parallel_begin_team(R(1), team);
      POMP_Parallel_end(R(1));
      at_end[omp_get_thread_num()] = mine;
    }
    POMP_Parallel_join(R(1));
  }
  ask(STOP, 0);
  at_end[0] = mine;
  printf("0: %s\n1: %s\n", at_end[0].text, at_end[1].text);
}

static jmp_buf back;

/* Exits that never come: each begin has its end nevertheless. */
static void skipped(void)
{
  ask(START, 0);
  register_all(noting);
  PARALLEL(R(1), 1, {
    if (setjmp(back) == 0) {
      POMP_Single_enter(R(6));
      POMP_Single_begin(R(6));
      POMP_Ordered_enter(R(4));
      POMP_Ordered_begin(R(4));
      POMP_Critical_enter(R(3));
      longjmp(back, 1);
    }
  });
  printf("%s\n", mine.text);
}

static volatile sig_atomic_t asked, wrong;

static void on_signal(int signal)
{
  (void)signal;
  message state = ask(STATE, 12);
  message current = ask(CURRENT_PRID, 8);
  int known = state_of(state);
  asked = asked + 1;
  if (state.code != OK || known < OVHD || known > ATWT || known == REDUC)
    wrong = wrong + 1;
  if (known != SERIAL && known != IDLE && current.code != OK && known < LKWT)
    wrong = wrong + 1;
}

static void sampled_member(void)
{
  for (int i = 0; i < 100; i++) {
    POMP_Critical_enter(R(3));
#pragma omp critical
    {
      POMP_Critical_begin(R(3));
      count++;
      POMP_Critical_end(R(3));
    }
    POMP_Critical_exit(R(3));
    POMP_Barrier_enter(R(2));
#pragma omp barrier
    POMP_Barrier_exit(R(2));
  }
}

/* States at any moment. */
static void sampled(void)
{
  struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
  struct itimerval every = { { 0, 200 }, { 0, 200 } };
  ask(START, 0);
  register_all(counting);
  sigaction(SIGPROF, &action, 0);
  setitimer(ITIMER_PROF, &every, 0);
  while (asked < 100)
    PARALLEL(R(1), 2, sampled_member());
  setitimer(ITIMER_PROF, &(struct itimerval){ { 0, 0 }, { 0, 0 } }, 0);
  printf("wrong: %d\n", (int)wrong);
}

int main(int argc, char **argv)
{
  struct { const char *way; void (*function)(void); } ways[] = {
    { "errors", errors },   { "constructs", constructs }, { "nested", nested },
    { "foreign", foreign }, { "sessions", sessions },     { "skipped", skipped },
    { "sampled", sampled },   { "waits", waits },           { "contended", contended },
    { "ended", ended },
  };
  omp_set_dynamic(0);
  for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++)
    if (argc > 1 && !strcmp(argv[1], ways[i].way))
      ways[i].function();
  return 0;
}

/* For measurement libraries that have only some of the functions in pomp_lib.h: this
 * file has the others. Compile it, and link it behind the library:
 *
 *   gcc -fopenmp app.o -lother pomp_rest.c
 *
 * Each function here is weak: a function in an object or archive in front of this file takes its
 * place when the program is linked. When the program starts, each function looks for the function
 * of its name in the shared libraries. It calls that function, or does nothing where there is none;
 * a lock routine then calls OpenMP's. If a library has only the functions of OPARI 1, Romp's own
 * functions, which say more, call these.
 *
 * Sources that were instrumented with --partial-library ask POMP_Has_routine, and call only the
 * functions by which a library is called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Functions take up to three words, two take more, and return one or none. All words are passed on
 * unchanged, on every machine that Romp knows. */
typedef long call(long, long, long);
#define WEAK __attribute__((weak))

/* Begins the definition of a function, under a name of its own, too: if the public name has another
 * address, a library's function has taken its place. `real` is the function of that name in a shared
 * library. */
#define STAND_IN_AS(type, name) \
  static type own_##name; \
  static call *real_##name; \
  WEAK __attribute__((alias("own_" #name))) type name; \
  static long own_##name
#define STAND_IN(name) STAND_IN_AS(call, name)(long a, long b, long c)

/* Whether the function itself is in a library. */
#define IS_THERE(name) (name != own_##name || real_##name)

/* Looks for the functions in the shared libraries, the first time. */
static void find(void);

/* Functions that report one event of their region, each with its name in Fortran, and functions
 * that end a construct after its barrier. */
/* Made of the tables. */
#define EVENTS(X) \
  X(For_enter, for_enter) X(For_exit, for_exit) X(Sections_enter, sections_enter) \
  X(Sections_exit, sections_exit) X(Section_begin, section_begin) X(Section_end, section_end) \
  X(Single_enter, single_enter) X(Single_begin, single_begin) X(Single_end, single_end) \
  X(Single_exit, single_exit) X(Workshare_enter, workshare_enter) \
  X(Workshare_exit, workshare_exit) X(Scope_enter, scope_enter) X(Scope_begin, scope_begin) \
  X(Scope_end, scope_end) X(Scope_exit, scope_exit) X(Master_begin, master_begin) \
  X(Master_end, master_end) X(Critical_enter, critical_enter) X(Critical_begin, critical_begin) \
  X(Critical_end, critical_end) X(Critical_exit, critical_exit) X(Ordered_enter, ordered_enter) \
  X(Ordered_begin, ordered_begin) X(Ordered_end, ordered_end) X(Ordered_exit, ordered_exit) \
  X(Atomic_enter, atomic_enter) X(Atomic_exit, atomic_exit) X(Barrier_enter, barrier_enter) \
  X(Barrier_exit, barrier_exit) X(Flush_enter, flush_enter) X(Flush_exit, flush_exit) \
  X(Task_create_enter, task_create_enter) X(Task_create_exit, task_create_exit) \
  X(Task_end, task_end) X(Taskwait_enter, taskwait_enter) X(Taskwait_exit, taskwait_exit) \
  X(Taskyield_enter, taskyield_enter) X(Taskyield_exit, taskyield_exit) \
  X(Taskgroup_enter, taskgroup_enter) X(Taskgroup_begin, taskgroup_begin) \
  X(Taskgroup_end, taskgroup_end) X(Taskgroup_exit, taskgroup_exit) \
  X(Taskloop_enter, taskloop_enter) X(Taskloop_exit, taskloop_exit) X(Loop_enter, loop_enter) \
  X(Loop_exit, loop_exit) X(Distribute_enter, distribute_enter) \
  X(Distribute_exit, distribute_exit) X(Teams_enter, teams_enter) X(Teams_exit, teams_exit) \
  X(Target_enter, target_enter) X(Target_exit, target_exit) X(Construct_enter, construct_enter) \
  X(Construct_exit, construct_exit) X(Begin, begin) X(End, end)
#define ENDS(X) \
  X("for", For_exit) X("sections", Sections_exit) X("single", Single_exit) \
  X("workshare", Workshare_exit) X("scope", Scope_exit)
/* Till here. */

#define FUNCTIONS(X) \
  EVENTS(X) X(Parallel_fork, parallel_fork) X(Parallel_begin, parallel_begin) \
  X(Parallel_end, parallel_end) X(Parallel_join, parallel_join) X(Task_begin, task_begin) \
  X(Task_create, task_create) X(Task_execute, task_execute) X(Chunk_begin, chunk_begin) \
  X(Chunks_end, chunks_end) X(Init, init) X(Finalize, finalize) X(On, on) X(Off, off)

/* The subroutines of Fortran, each with all its names. */
#define SUBROUTINES(X) \
  FUNCTIONS(X) X(, implicit_barrier_enter) X(, implicit_barrier_exit) \
  X(, implicit_barrier_leave) X(, lock_site)

/* Routines of locks: C's name, and the hint's place. */
#define LOCKS(X) \
  X(Destroy_lock, destroy_lock) X(Set_lock, set_lock) X(Unset_lock, unset_lock) \
  X(Test_lock, test_lock) X(Destroy_nest_lock, destroy_nest_lock) \
  X(Set_nest_lock, set_nest_lock) X(Unset_nest_lock, unset_nest_lock) \
  X(Test_nest_lock, test_nest_lock) X(Init_lock, init_lock) X(Init_nest_lock, init_nest_lock)

/* Romp's own functions, which say more, and the functions that they call in libraries without them.
 * */
#define MORE(X) \
  X(Parallel_fork_team, Parallel_fork) X(Parallel_begin_team, Parallel_begin) \
  X(Implicit_barrier_enter, Barrier_enter) X(Implicit_barrier_exit, Barrier_exit)

/* C and C++ */
#define X(name, fortran) \
  STAND_IN(POMP_##name) \
  { \
    return real_POMP_##name ? real_POMP_##name(a, b, c) : 0; \
  }
FUNCTIONS(X)
#undef X

#define X(name, older) \
  STAND_IN(POMP_##name) \
  { \
    if (real_POMP_##name) \
      return real_POMP_##name(a, b, c); \
    POMP_##older(a, b, c); \
    return 0; \
  }
MORE(X)
#undef X

/* Functions that begin a construct and say whether its end has to be reported. */
#define OR_PASS(X) \
  X(Atomic_enter) X(Flush_enter) X(Critical_enter) X(Ordered_enter) X(Master_begin)
#define X(name) \
  STAND_IN(POMP_##name##_or_pass) \
  { \
    if (real_POMP_##name##_or_pass) \
      return real_POMP_##name##_or_pass(a, b, c); \
    POMP_##name(a, b, c); \
    return 1; \
  }
OR_PASS(X)
#undef X

/* Units of the program may register their tables before this file's constructor has run. */
typedef long register_table(long, long, long, long);
STAND_IN_AS(register_table, POMP_Register_table)(long version, long size, long table, long entries)
{
  find();
  return real_POMP_Register_table
             ? ((register_table *)real_POMP_Register_table)(version, size, table, entries)
             : 0;
}

/* The end of a construct after its barrier. */
STAND_IN(POMP_Implicit_barrier_leave)
{
  static const struct { const char *kind; call *end, *own, **real; } ends[] = {
#define END(kind, name) { kind, name, own_##name, &real_##name },
    END("parallel", POMP_Parallel_end)
#define X(kind, function) END(kind, POMP_##function)
    ENDS(X)
#undef X
  };
  const char *kind = *(const char **)a;
  if (real_POMP_Implicit_barrier_leave)
    return real_POMP_Implicit_barrier_leave(a, b, c);
  if (IS_THERE(POMP_Implicit_barrier_exit) || IS_THERE(POMP_Barrier_exit))
    POMP_Implicit_barrier_exit(a, b, c);
  for (unsigned i = 0; kind && i < sizeof ends / sizeof ends[0]; i++)
    if (!strncmp(kind, ends[i].kind, strlen(ends[i].kind))) {
      if (ends[i].end != ends[i].own || *ends[i].real)
        ends[i].end(a, b, c);
      break;
    }
  return 0;
}

/* The record of a loop, as in pomp_lib.h. */
struct record {
  long levels, others[7];
  struct { long first, bound, second_then_step, relation_then_count, value; } level[4];
};

/* Makes the step of the innermost loop, so that the program calls POMP_Chunk_begin only where
 * iterations do not follow one another. */
static long step_of(struct record *record)
{
  int innermost = (record->levels & 255) - 1; /* The other bits say what follows the levels. */
  long *step = &record->level[innermost].second_then_step;
  return *step -= record->level[innermost].first;
}

/* The iterations of a loop begin. The innermost variable never has this value. */
#define NEVER LONG_MIN
STAND_IN(POMP_Chunks_begin)
{
  if (real_POMP_Chunks_begin)
    return real_POMP_Chunks_begin(a, b, c);
  step_of((struct record *)b);
  return NEVER;
}

typedef long chunks_begin(long, long, long *, long *, long *, long);
#define CHUNKS_BEGIN(name, otherwise) \
  STAND_IN_AS(chunks_begin, name)(long text, long record, long *next, long *stop, long *step, \
                                  long length) \
  { \
    if (real_##name) \
      return ((chunks_begin *)real_##name)(text, record, next, stop, step, length); \
    otherwise; \
    return 0; \
  }
CHUNKS_BEGIN(pompf_chunks_begin_, *next = *stop = NEVER; *step = step_of((struct record *)record))
CHUNKS_BEGIN(pompf_chunks_begin__, pompf_chunks_begin_(text, record, next, stop, step, length))

/* POMP_Set_lock and its like are OPARI 1's: they call OpenMP's routine themselves. */
#define X(name, routine) \
  extern call omp_##routine WEAK, omp_##routine##_ WEAK, POMP_##name WEAK; \
  STAND_IN(POMP_##name##_at) \
  { \
    if (real_POMP_##name##_at) \
      return real_POMP_##name##_at(a, b, c); \
    return POMP_##name ? POMP_##name(b, 0, 0) : omp_##routine(b, 0, 0); \
  }
LOCKS(X)
#undef X

#define X(name, routine) \
  WEAK long POMP_##name##_with_hint_at(long region, long lock, long hint) \
  { \
    return omp_##routine##_with_hint ? omp_##routine##_with_hint(lock, hint, 0) \
                                     : omp_##routine(lock, 0, 0); \
  } \
  WEAK long pompf_##routine##_with_hint_(long text, long lock, long hint) \
  { \
    return omp_##routine##_with_hint_ ? omp_##routine##_with_hint_(lock, hint, 0) \
                                      : omp_##routine##_(lock, 0, 0); \
  }
extern call omp_init_lock_with_hint WEAK, omp_init_lock_with_hint_ WEAK;
extern call omp_init_nest_lock_with_hint WEAK, omp_init_nest_lock_with_hint_ WEAK;
X(Init_lock, init_lock)
X(Init_nest_lock, init_nest_lock)
#undef X

/* Fortran. Some compilers put a second line behind a name that has one in it. */
#define X(function, name) \
  STAND_IN(pompf_##name##_) \
  { \
    return real_pompf_##name##_ ? real_pompf_##name##_(a, b, c) : 0; \
  } \
  STAND_IN(pompf_##name##__) \
  { \
    return real_pompf_##name##__ ? real_pompf_##name##__(a, b, c) : pompf_##name##_(a, b, c); \
  }
SUBROUTINES(X)
#undef X

#define X(name, routine) \
  STAND_IN(pompf_##routine##_) \
  { \
    return real_pompf_##routine##_ ? real_pompf_##routine##_(a, b, c) : omp_##routine##_(b, 0, 0); \
  } \
  STAND_IN(pompf_##routine##__) \
  { \
    return real_pompf_##routine##__ ? real_pompf_##routine##__(a, b, c) \
                                    : pompf_##routine##_(a, b, c); \
  }
LOCKS(X)
#undef X

/* All functions, each with the one that it calls if no library has it. */
static const struct routine {
  const char *name;
  call *linked, *own, **real;
  const char *otherwise;
} routines[] = {
#define ROW(name, otherwise) { #name, (call *)name, (call *)own_##name, &real_##name, otherwise },
#define X(name, fortran) ROW(POMP_##name, 0)
  FUNCTIONS(X)
#undef X
#define X(name, older) ROW(POMP_##name, "POMP_" #older)
  MORE(X)
#undef X
#define X(name) ROW(POMP_##name##_or_pass, "POMP_" #name)
  OR_PASS(X)
#undef X
  ROW(POMP_Register_table, 0) ROW(POMP_Chunks_begin, 0)
  ROW(POMP_Implicit_barrier_leave, "POMP_Implicit_barrier_exit")
  ROW(pompf_chunks_begin_, 0) ROW(pompf_chunks_begin__, "pompf_chunks_begin_")
#define X(function, name) \
  ROW(pompf_##name##_, 0) ROW(pompf_##name##__, "pompf_" #name "_")
  SUBROUTINES(X)
#undef X
#define X(name, routine) \
  ROW(POMP_##name##_at, 0) ROW(pompf_##routine##_, 0) ROW(pompf_##routine##__, 0)
  LOCKS(X)
#undef X
};
#define ROUTINES (sizeof routines / sizeof routines[0])

static void find(void)
{
  static int is_done;
  if (is_done)
    return;
  is_done = 1;
  for (unsigned i = 0; i < ROUTINES; i++)
    *routines[i].real = (call *)dlsym(RTLD_NEXT, routines[i].name);
}

/* Before the program's initialisers, which may have constructs. */
__attribute__((constructor(101))) static void find_at_start(void)
{
  find();
}

/* Whether a call of a function calls a library. What is not in the table is not in this file. */
static int is_there(const char *name)
{
  find();
  for (unsigned i = 0; i < ROUTINES; i++)
    if (!strcmp(routines[i].name, name))
      return routines[i].linked != routines[i].own || *routines[i].real ||
             (routines[i].otherwise && is_there(routines[i].otherwise));
  return 1;
}

WEAK int POMP_Has_routine(const char *name)
{
  char whole[64];
  snprintf(whole, sizeof whole, "POMP_%s", name);
  return is_there(whole);
}

#define X(subroutine, behind) \
  WEAK void subroutine(const char *name, int *answer, long length) \
  { \
    char whole[64]; \
    snprintf(whole, sizeof whole, "pompf_%.*s" behind, (int)length, name); \
    __atomic_store_n(answer, is_there(whole) ? 1 : -1, __ATOMIC_RELAXED); \
  }
X(pompf_has_routine_, "_")
X(pompf_has_routine__, "__")
#undef X

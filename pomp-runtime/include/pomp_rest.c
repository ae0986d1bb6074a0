/* For measurement libraries that have only some of the functions in pomp_lib.h: this
 * file has the others. Compile it, and link it behind the library:
 *
 *   gcc -fopenmp app.o -lother pomp_rest.c
 *
 * Each function here is weak: a function in an object or archive in front of this file takes its
 * place when the program is linked. When the program starts, each function looks for the function
 * of its name in the shared libraries. It calls that function, or does nothing where there is none;
 * a lock routine then calls OpenMP's. If a library has only the functions of OPARI 1, Romp's own
 * functions, which say more, call these. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <string.h>

/* Functions take up to three words, two take more, and return one or none. All words are passed on
 * unchanged, on every machine that Romp knows. */
typedef long call(long, long, long);
#define WEAK __attribute__((weak))

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
  static call *real_##name; \
  WEAK long POMP_##name(long a, long b, long c) \
  { \
    return real_##name ? real_##name(a, b, c) : 0; \
  }
FUNCTIONS(X)
#undef X

#define X(name, older) \
  static call *real_##name; \
  WEAK long POMP_##name(long a, long b, long c) \
  { \
    if (real_##name) \
      return real_##name(a, b, c); \
    POMP_##older(a, b, c); \
    return 0; \
  }
MORE(X)
#undef X

/* Functions that begin a construct and say whether its end has to be reported. */
#define OR_PASS(X) X(Atomic_enter) X(Flush_enter)
#define X(name) \
  static call *real_##name##_or_pass; \
  WEAK long POMP_##name##_or_pass(long region, long b, long c) \
  { \
    if (real_##name##_or_pass) \
      return real_##name##_or_pass(region, b, c); \
    POMP_##name(region, b, c); \
    return 1; \
  }
OR_PASS(X)
#undef X

static long (*real_table)(long, long, long, long);
WEAK long POMP_Register_table(long version, long size, long table, long entries)
{
  return real_table ? real_table(version, size, table, entries) : 0;
}

/* The end of a construct after its barrier. */
static call *real_leave;
WEAK long POMP_Implicit_barrier_leave(long region, long b, long c)
{
  static const struct { const char *kind; call *end; } ends[] = {
    { "parallel", POMP_Parallel_end },
#define X(kind, function) { kind, POMP_##function },
    ENDS(X)
#undef X
  };
  const char *kind = *(const char **)region;
  if (real_leave)
    return real_leave(region, b, c);
  POMP_Implicit_barrier_exit(region, b, c);
  for (unsigned i = 0; kind && i < sizeof ends / sizeof ends[0]; i++)
    if (!strncmp(kind, ends[i].kind, strlen(ends[i].kind))) {
      ends[i].end(region, b, c);
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
static call *real_chunks;
WEAK long POMP_Chunks_begin(long region, long record, long c)
{
  if (real_chunks)
    return real_chunks(region, record, c);
  step_of((struct record *)record);
  return NEVER;
}

static long (*realf_chunks)(long, long, long *, long *, long *, long);
WEAK long pompf_chunks_begin_(long text, long record, long *next, long *stop, long *step,
                              long length)
{
  if (realf_chunks)
    return realf_chunks(text, record, next, stop, step, length);
  *next = *stop = NEVER;
  *step = step_of((struct record *)record);
  return 0;
}
WEAK long pompf_chunks_begin__(long text, long record, long *next, long *stop, long *step,
                               long length)
{
  return pompf_chunks_begin_(text, record, next, stop, step, length);
}

/* POMP_Set_lock and its like are OPARI 1's: they call OpenMP's routine themselves. */
#define X(name, routine) \
  extern call omp_##routine WEAK, omp_##routine##_ WEAK, POMP_##name WEAK; \
  static call *real_##name; \
  WEAK long POMP_##name##_at(long region, long lock, long c) \
  { \
    if (real_##name) \
      return real_##name(region, lock, c); \
    return POMP_##name ? POMP_##name(lock, 0, 0) : omp_##routine(lock, 0, 0); \
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

/* Fortran */
#define X(function, name) \
  static call *realf_##name; \
  WEAK long pompf_##name##_(long a, long b, long c) \
  { \
    return realf_##name ? realf_##name(a, b, c) : 0; \
  } \
  WEAK long pompf_##name##__(long a, long b, long c) \
  { \
    return pompf_##name##_(a, b, c); \
  }
SUBROUTINES(X)
#undef X

#define X(name, routine) \
  static call *realf_##routine; \
  WEAK long pompf_##routine##_(long text, long lock, long length) \
  { \
    return realf_##routine ? realf_##routine(text, lock, length) \
                           : omp_##routine##_(lock, 0, 0); \
  } \
  WEAK long pompf_##routine##__(long text, long lock, long length) \
  { \
    return pompf_##routine##_(text, lock, length); \
  }
LOCKS(X)
#undef X

static call *found(const char *name)
{
  return (call *)dlsym(RTLD_NEXT, name);
}

/* Before the program's own initialisers, which register tables of regions. */
__attribute__((constructor(101))) static void find(void)
{
  real_leave = found("POMP_Implicit_barrier_leave");
  real_table = (long (*)(long, long, long, long))dlsym(RTLD_NEXT, "POMP_Register_table");
  real_chunks = found("POMP_Chunks_begin");
  realf_chunks = (long (*)(long, long, long *, long *, long *, long))dlsym(
      RTLD_NEXT, "pompf_chunks_begin_");
#define X(name, fortran) real_##name = found("POMP_" #name);
  FUNCTIONS(X)
#undef X
#define X(name, older) real_##name = found("POMP_" #name);
  MORE(X)
#undef X
#define X(name) real_##name##_or_pass = found("POMP_" #name "_or_pass");
  OR_PASS(X)
#undef X
#define X(name, routine) \
  real_##name = found("POMP_" #name "_at"); \
  realf_##routine = found("pompf_" #routine "_");
  LOCKS(X)
#undef X
#define X(function, name) realf_##name = found("pompf_" #name "_");
  SUBROUTINES(X)
#undef X
}

/* For measurement libraries that have only some of the functions in pomp_lib.h: this
 * file has the others. Compile it, and link it behind the library:
 *
 *   gcc -fopenmp app.o -lother pomp_rest.c
 *
 * Each function here is weak: one in an object or archive in front of it takes its
 * place when the program is linked. When the program starts, each looks for the function
 * of its name in the shared libraries, calls that, and does nothing where there is none;
 * a lock routine then calls OpenMP's. Where a library has the functions of OPARI 1 alone,
 * those of ours that say more call them. Programs that are built with --chunks need the
 * whole library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

/* Functions take up to three words, one takes four, and give back one or none: what is passed on is
 * what came, on every machine that Romp knows. */
typedef long call(long, long, long);
#define WEAK __attribute__((weak))

#define FUNCTIONS(X) \
  X(Parallel_fork) X(Parallel_begin) X(Parallel_end) X(Parallel_join) \
  X(For_enter) X(For_exit) X(Sections_enter) X(Sections_exit) X(Section_begin) X(Section_end) \
  X(Single_enter) X(Single_begin) X(Single_end) X(Single_exit) X(Workshare_enter) \
  X(Workshare_exit) X(Scope_enter) X(Scope_begin) X(Scope_end) X(Scope_exit) X(Master_begin) \
  X(Master_end) X(Critical_enter) X(Critical_begin) X(Critical_end) X(Critical_exit) \
  X(Ordered_enter) X(Ordered_begin) X(Ordered_end) X(Ordered_exit) X(Atomic_enter) \
  X(Atomic_exit) X(Barrier_enter) X(Barrier_exit) X(Flush_enter) X(Flush_exit) \
  X(Task_create_enter) X(Task_create_exit) X(Task_begin) X(Task_create) X(Task_execute) \
  X(Task_end) X(Taskwait_enter) X(Taskwait_exit) X(Taskyield_enter) X(Taskyield_exit) \
  X(Taskgroup_enter) X(Taskgroup_begin) X(Taskgroup_end) X(Taskgroup_exit) X(Taskloop_enter) \
  X(Taskloop_exit) X(Loop_enter) X(Loop_exit) X(Distribute_enter) X(Distribute_exit) \
  X(Teams_enter) X(Teams_exit) X(Target_enter) X(Target_exit) X(Construct_enter) \
  X(Construct_exit) X(Begin) X(End) X(Init) X(Finalize) X(On) X(Off)

/* Of Fortran, under each of their names. */
#define SUBROUTINES(X) \
  X(atomic_enter) X(atomic_exit) X(barrier_enter) X(barrier_exit) X(begin) X(construct_enter) \
  X(construct_exit) X(critical_begin) X(critical_end) X(critical_enter) X(critical_exit) \
  X(distribute_enter) X(distribute_exit) X(end) X(finalize) X(flush_enter) X(flush_exit) \
  X(for_enter) X(for_exit) X(implicit_barrier_enter) X(implicit_barrier_exit) \
  X(implicit_barrier_leave) X(init) X(lock_site) X(loop_enter) X(loop_exit) X(master_begin) \
  X(master_end) X(off) X(on) X(ordered_begin) X(ordered_end) X(ordered_enter) X(ordered_exit) \
  X(parallel_begin) X(parallel_end) X(parallel_fork) X(parallel_join) X(scope_begin) \
  X(scope_end) X(scope_enter) X(scope_exit) X(section_begin) X(section_end) X(sections_enter) \
  X(sections_exit) X(single_begin) X(single_end) X(single_enter) X(single_exit) X(target_enter) \
  X(target_exit) X(task_begin) X(task_create) X(task_create_enter) X(task_create_exit) \
  X(task_end) X(task_execute) X(taskgroup_begin) X(taskgroup_end) X(taskgroup_enter) \
  X(taskgroup_exit) X(taskloop_enter) X(taskloop_exit) X(taskwait_enter) X(taskwait_exit) \
  X(taskyield_enter) X(taskyield_exit) X(teams_enter) X(teams_exit) X(workshare_enter) \
  X(workshare_exit)

/* Routines of locks: C's name, and the hint's place. */
#define LOCKS(X) \
  X(Destroy_lock, destroy_lock) X(Set_lock, set_lock) X(Unset_lock, unset_lock) \
  X(Test_lock, test_lock) X(Destroy_nest_lock, destroy_nest_lock) \
  X(Set_nest_lock, set_nest_lock) X(Unset_nest_lock, unset_nest_lock) \
  X(Test_nest_lock, test_nest_lock) X(Init_lock, init_lock) X(Init_nest_lock, init_nest_lock)

/* Ours that say more: what they call where the library has not heard of them. */
#define MORE(X) \
  X(Parallel_fork_team, Parallel_fork) X(Parallel_begin_team, Parallel_begin) \
  X(Implicit_barrier_enter, Barrier_enter) X(Implicit_barrier_exit, Barrier_exit)

/* C and C++ */
#define X(name) \
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

static long (*real_table)(long, long, long, long);
WEAK long POMP_Register_table(long version, long size, long table, long entries)
{
  return real_table ? real_table(version, size, table, entries) : 0;
}

/* The end of a construct behind its barrier. */
static call *real_leave;
WEAK long POMP_Implicit_barrier_leave(long region, long b, long c)
{
  static const struct { const char *kind; call *end; } ends[] = {
    { "parallel", POMP_Parallel_end }, { "for", POMP_For_exit },
    { "sections", POMP_Sections_exit }, { "single", POMP_Single_exit },
    { "workshare", POMP_Workshare_exit }, { "scope", POMP_Scope_exit },
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
#define X(name) \
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
#define X(name) real_##name = found("POMP_" #name);
  FUNCTIONS(X)
#undef X
#define X(name, older) real_##name = found("POMP_" #name);
  MORE(X)
#undef X
#define X(name, routine) \
  real_##name = found("POMP_" #name "_at"); \
  realf_##routine = found("pompf_" #routine "_");
  LOCKS(X)
#undef X
#define X(name) realf_##name = found("pompf_" #name "_");
  SUBROUTINES(X)
#undef X
}

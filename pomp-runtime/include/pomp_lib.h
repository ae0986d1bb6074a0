/* pomp_lib.h - the native POMP interface of Romp.
 *
 * Instrumented sources do not include this file: the instrumenter writes the
 * declarations that a source needs into it. It is here for hand-written probes
 * and as the reference of the ABI.
 *
 * Every function may be called from any thread at any time. A null descriptor
 * is ignored. None of them changes errno.
 */
#ifndef ROMP_POMP_LIB_H
#define ROMP_POMP_LIB_H

#ifdef __cplusplus
extern "C" {
#endif

/* Nothing unwinds through these functions. */
#if defined(__GNUC__)
#define ROMP_NOTHROW __attribute__((__nothrow__))
#else
#define ROMP_NOTHROW
#endif

/* The region descriptor of OPARI 1: ten fields. `data` belongs to the library
 * and must be null at first. */
struct ompregdescr {
  const char *name;       /* construct, such as "parallel" or "for" */
  const char *sub_name;   /* name of a critical section or user region, or "" */
  int num_sections;       /* number of sections, or 0 */
  const char *file_name;  /* file of the construct */
  int begin_first_line;   /* lines of the directive */
  int begin_last_line;
  int end_first_line;     /* lines of the end */
  int end_last_line;
  void *data;             /* the library's */
  struct ompregdescr *next;
};

/* An entry of a translation unit's table: the descriptor and its text form. An
 * entry with an empty name stands for a construct that was not compiled. */
struct romp_region {
  struct ompregdescr descriptor;
  const char *text;
};

/* The instance that a thread only counts at the moment: its construct, or 0 if there is none, and
 * the phase of the instance: 1 behind the enter event, 2 behind begin. A construct without these
 * events (master) has the phase 0. */
struct romp_passed {
  unsigned long region;
  unsigned char phase;
};

/* A construct whose next `left` instances are only counted. If `*mark` is `seen`, `left` is
 * not 0 and `passed->region` is 0, the thread that got this record subtracts 1 from `left` instead of
 * calling the library.
 *
 * If other constructs may begin in an instance (critical, ordered, master), the thread then sets
 * `passed->phase`, and `passed->region` to `region`. At begin, it looks whether `*mark` is still `seen`.
 * If so, it sets the next phase; if not, it reports the event. It does not report end. At exit, it looks
 * whether `passed->region` is still `region`, and `*mark` still `seen`. If so, it sets
 * `passed->region` to 0; if not, it reports the event.
 *
 * The library changes all fields, also from other threads, so all accesses are atomic, in relaxed
 * order. It never frees the records. */
struct romp_passing {
  unsigned long *mark;
  unsigned long seen;
  unsigned left;
  unsigned lent; /* the library's */
  struct romp_passed *passed;
  unsigned long region;
};

/* Interface version and size of an entry, both checked by the library. */
#define ROMP_INTERFACE_VERSION 1

/* For programs that were instrumented with --partial-library, which call a function only if this
 * returns 1 for its name, without the prefix POMP_. A measurement library that has all functions
 * returns 1 for each; for others, pomp_rest.c has this function. */
extern int POMP_Has_routine(const char *name) ROMP_NOTHROW;

/* Registers a table; called by a constructor of each translation unit. */
extern void POMP_Register_table(unsigned version, unsigned entry_size,
                                struct romp_region *table, unsigned entries) ROMP_NOTHROW;

/* Parallel regions. The team's handle goes from fork to begin through a
 * firstprivate variable, so that the association is exact under nesting. */
extern void *POMP_Parallel_fork_team(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Parallel_begin_team(struct ompregdescr *, void *team) ROMP_NOTHROW;
/* The same without a handle, as OPARI 1 calls them. The association goes wrong
 * where several threads fork the same region at once. */
extern void POMP_Parallel_fork(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Parallel_begin(struct ompregdescr *) ROMP_NOTHROW;

extern void POMP_Parallel_end(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Parallel_join(struct ompregdescr *) ROMP_NOTHROW;

/* The implicit barrier of the named construct, made explicit. */
extern void POMP_Implicit_barrier_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Implicit_barrier_exit(struct ompregdescr *) ROMP_NOTHROW;
/* The barrier is over, and with it the construct, or the member's part of a parallel region. This
 * reports at one time what POMP_Implicit_barrier_exit and the construct's exit, or
 * POMP_Parallel_end, report. */
extern void POMP_Implicit_barrier_leave(struct ompregdescr *) ROMP_NOTHROW;

/* Worksharing. */
extern void POMP_For_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_For_exit(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Sections_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Sections_exit(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Section_begin(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Section_end(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Single_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Single_begin(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Single_end(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Single_exit(struct ompregdescr *) ROMP_NOTHROW;

extern void POMP_Workshare_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Workshare_exit(struct ompregdescr *) ROMP_NOTHROW;
/* The implicit barrier of a scope comes between its end and its exit. */
extern void POMP_Scope_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Scope_begin(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Scope_end(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Scope_exit(struct ompregdescr *) ROMP_NOTHROW;

/* Synchronisation. `masked` is reported as `master`. */
extern void POMP_Master_begin(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Master_end(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Critical_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Critical_begin(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Critical_end(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Critical_exit(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Ordered_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Ordered_begin(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Ordered_end(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Ordered_exit(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Atomic_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Atomic_exit(struct ompregdescr *) ROMP_NOTHROW;
/* As POMP_Atomic_enter. Returns 0 if POMP_Atomic_exit need not be called, since this instance is
 * only counted. Then *slot, which may be used by the calling thread alone, points to a record in
 * which the program counts the next instances without a call; see romp_passing. slot may be null. */
extern int POMP_Atomic_enter_or_pass(struct ompregdescr *, struct romp_passing **slot) ROMP_NOTHROW;
/* The same, of constructs with more events: 0 says that the program goes on with the instance as the
 * record says, if *slot has one, and reports nothing otherwise. */
extern int POMP_Critical_enter_or_pass(struct ompregdescr *, struct romp_passing **slot) ROMP_NOTHROW;
extern int POMP_Ordered_enter_or_pass(struct ompregdescr *, struct romp_passing **slot) ROMP_NOTHROW;
extern int POMP_Master_begin_or_pass(struct ompregdescr *, struct romp_passing **slot) ROMP_NOTHROW;
extern void POMP_Barrier_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Barrier_exit(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Flush_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Flush_exit(struct ompregdescr *) ROMP_NOTHROW;
/* As POMP_Atomic_enter_or_pass. */
extern int POMP_Flush_enter_or_pass(struct ompregdescr *, struct romp_passing **slot) ROMP_NOTHROW;

/* Tasks. The first two functions are called around the construct, the others inside it. All take
 * the construct's descriptor. A task may be executed inside its creation. */
extern void POMP_Task_create_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Task_create_exit(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Task_begin(struct ompregdescr *) ROMP_NOTHROW;
/* The same as create_enter and begin. The result of the first is handed to the task, so that a
 * trace can say which creation an execution belongs to. */
extern void *POMP_Task_create(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Task_execute(struct ompregdescr *, void *task) ROMP_NOTHROW;
extern void POMP_Task_end(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Taskwait_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Taskwait_exit(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Taskyield_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Taskyield_exit(struct ompregdescr *) ROMP_NOTHROW;
/* From end to exit the thread waits for the tasks of the group. */
extern void POMP_Taskgroup_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Taskgroup_begin(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Taskgroup_end(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Taskgroup_exit(struct ompregdescr *) ROMP_NOTHROW;

/* Constructs that are measured as a whole. A target construct, like its data and update forms, is
 * measured on the host. */
extern void POMP_Taskloop_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Taskloop_exit(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Loop_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Loop_exit(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Distribute_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Distribute_exit(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Teams_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Teams_exit(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Target_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Target_exit(struct ompregdescr *) ROMP_NOTHROW;
/* Any other construct, as its descriptor says. */
extern void POMP_Construct_enter(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_Construct_exit(struct ompregdescr *) ROMP_NOTHROW;

/* Regions that the user marks; several ends are possible. */
extern void POMP_Begin(struct ompregdescr *) ROMP_NOTHROW;
extern void POMP_End(struct ompregdescr *) ROMP_NOTHROW;

/* Steering the measurement of the whole process. It starts by itself, and the
 * profile is written by itself when the program ends; Finalize writes it now,
 * and nothing is measured later. A region that is open at Off goes on at On, without the time
 * between. A region that both begins and ends between Off and On is not recorded. */
extern void POMP_Init(void) ROMP_NOTHROW;
extern void POMP_Finalize(void) ROMP_NOTHROW;
extern void POMP_On(void) ROMP_NOTHROW;
extern void POMP_Off(void) ROMP_NOTHROW;

/* One of the loops that are collapsed, and the values of its variable. */
struct romp_loop_level {
  long first;
  long bound;
  long second_then_step;    /* The value that would come second. Chunks_begin makes it the step. */
  long relation_then_count; /* 0 <, 1 <=, 2 >, 3 >=, 4 !=, 5 up or down to it.
                             * Chunks_begin makes it the number of iterations. */
  long value;               /* Its value now. */
};

/* How the bounds of a collapsed loop change with the variable of a loop around it. They are
 * linear in it. The first value and the bound of the level are then those for its first value. */
struct romp_loop_row {
  long outer;            /* Which loop that is, counted from 1. 0: the bounds do not change. */
  long first_then_slope; /* The first value, if the variable of that loop has its second value. */
  long bound_then_slope; /* The bound, in the same way. Chunks_begin makes slopes of both. */
  long at, before;       /* The library's. */
};

/* A loop, for one thread and one execution. */
struct romp_loop {
  long levels;     /* How many loops are collapsed, at least 1; plus 256 if there are rows. */
  long chunk_size; /* That of the schedule clause, or 0. */
  long is_traced;  /* 0 before Chunks_begin. */
  long chunk_first; /* The library's. */
  long asked;       /* 0 before Chunks_begin. The library sets it when the runtime has handed out
                     * another chunk. */
  long latest, latest_value, around; /* The library's. */
  struct romp_loop_level level[4]; /* The outermost first. The memory may end behind the last. */
  struct romp_loop_row row[4];     /* One for each level, if there are rows. */
};

/* Chunks of a loop, for programs that were instrumented with --chunks. Before the loop the program
 * sets `levels`, `chunk_size`, `is_traced`, `asked`, all but `value` of each level, and the rows if
 * there are any. Chunks_begin returns
 * a value that the innermost variable never has.
 * At the top of the innermost body the program compares the loop variables with the values that
 * would come next. If one differs, or the innermost one has the value that the last call returned,
 * or `asked` is not 0, the program sets `value` of each level and calls Chunk_begin. `next` is the
 * value that would come next in the innermost loop. The library may write to the record until
 * Chunks_end. */
extern long POMP_Chunks_begin(struct ompregdescr *, struct romp_loop *);
extern long POMP_Chunk_begin(struct romp_loop *, long next);
extern void POMP_Chunks_end(struct romp_loop *, long next);

/* Lock routines with their call site; each calls the OpenMP routine of the
 * same name. `lock` points to an omp_lock_t or omp_nest_lock_t. */
extern void POMP_Init_lock_at(struct ompregdescr *, void *lock) ROMP_NOTHROW;
extern void POMP_Init_lock_with_hint_at(struct ompregdescr *, void *lock, int hint) ROMP_NOTHROW;
extern void POMP_Destroy_lock_at(struct ompregdescr *, void *lock) ROMP_NOTHROW;
extern void POMP_Set_lock_at(struct ompregdescr *, void *lock) ROMP_NOTHROW;
extern void POMP_Unset_lock_at(struct ompregdescr *, void *lock) ROMP_NOTHROW;
extern int POMP_Test_lock_at(struct ompregdescr *, void *lock) ROMP_NOTHROW;
extern void POMP_Init_nest_lock_at(struct ompregdescr *, void *lock) ROMP_NOTHROW;
extern void POMP_Init_nest_lock_with_hint_at(struct ompregdescr *, void *lock, int hint) ROMP_NOTHROW;
extern void POMP_Destroy_nest_lock_at(struct ompregdescr *, void *lock) ROMP_NOTHROW;
extern void POMP_Set_nest_lock_at(struct ompregdescr *, void *lock) ROMP_NOTHROW;
extern void POMP_Unset_nest_lock_at(struct ompregdescr *, void *lock) ROMP_NOTHROW;
extern int POMP_Test_nest_lock_at(struct ompregdescr *, void *lock) ROMP_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif

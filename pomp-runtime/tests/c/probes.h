/* What the test programs share: descriptors in the order of their first lines,
 * and constructs with the probes that the instrumenter would place. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pomp_lib.h"

#define REGION(kind, line) \
  { { kind, "", 0, "test.c", line, line, line + 1, line + 1, 0, 0 }, 0 }

#define CRITICAL_REGION(name, line) \
  { { "critical", name, 0, "test.c", line, line, line + 1, line + 1, 0, 0 }, 0 }

#define REGISTER(table)                                                             \
  __attribute__((constructor)) static void register_regions(void)                   \
  {                                                                                 \
    POMP_Register_table(ROMP_INTERFACE_VERSION, sizeof table[0], table,             \
                        sizeof table / sizeof table[0]);                            \
  }

#define PRAGMA(text) _Pragma(#text)

/* A parallel region with its implicit barrier, around `block`. */
#define PARALLEL(descriptor, threads, block)                                        \
  do {                                                                              \
    void *team = POMP_Parallel_fork_team(descriptor);                               \
    PRAGMA(omp parallel num_threads(threads) firstprivate(team))                    \
    {                                                                               \
      POMP_Parallel_begin_team(descriptor, team);                                   \
      block;                                                                        \
      POMP_Implicit_barrier_enter(descriptor);                                      \
      PRAGMA(omp barrier)                                                           \
      POMP_Implicit_barrier_exit(descriptor);                                       \
      POMP_Parallel_end(descriptor);                                                \
    }                                                                               \
    POMP_Parallel_join(descriptor);                                                 \
  } while (0)

#define ATOMIC(descriptor, variable)                                                \
  do {                                                                              \
    POMP_Atomic_enter(descriptor);                                                  \
    PRAGMA(omp atomic)                                                              \
    variable++;                                                                     \
    POMP_Atomic_exit(descriptor);                                                   \
  } while (0)

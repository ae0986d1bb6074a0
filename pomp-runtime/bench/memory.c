/* What a program takes in memory after few and after many events.
 * Usage: memory EVENTS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pomp_lib.h"

static struct romp_region regions[] = {
  { { "parallel", "", 0, "memory.c", 1, 1, 2, 2, 0, 0 }, 0 },
  { { "atomic", "", 0, "memory.c", 3, 3, 4, 4, 0, 0 }, 0 },
};

__attribute__((constructor)) static void register_regions(void)
{
  POMP_Register_table(ROMP_INTERFACE_VERSION, sizeof regions[0], regions, 2);
}

static long resident_kb(void)
{
  char line[256];
  long kb = -1;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, "VmRSS:", 6)) kb = atol(line + 6);
  if (status) fclose(status);
  return kb;
}

static void events(long number)
{
  void *team = POMP_Parallel_fork_team(&regions[0].descriptor);
#pragma omp parallel num_threads(2) firstprivate(team)
  {
    POMP_Parallel_begin_team(&regions[0].descriptor, team);
    for (long i = 0; i < number / 4; i++) {
      POMP_Atomic_enter(&regions[1].descriptor);
      POMP_Atomic_exit(&regions[1].descriptor);
    }
    POMP_Parallel_end(&regions[0].descriptor);
  }
  POMP_Parallel_join(&regions[0].descriptor);
}

int main(int count, char **arguments)
{
  double number = count > 1 ? atof(arguments[1]) : 1e8;
  double few = number / 1000;
  resident_kb(); /* what reading takes itself */
  events((long)few);
  long before = resident_kb();
  events((long)(number - few));
  long after = resident_kb();
  printf("  %.0e events: %ld kB resident, after %.0e events %ld kB\n", few, before, number, after);
  return 0;
}

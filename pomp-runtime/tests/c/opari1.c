/* What OPARI 1 emits: descriptors without a text or a table, and no handle from
 * fork to begin. */
#include "probes.h"

static struct ompregdescr r1 = { "parallel", "", 0, "old.c", 1, 1, 9, 9, 0, 0 };
static struct ompregdescr r2 = { "sections", "", 2, "old.c", 3, 3, 7, 7, 0, 0 };

int main(void)
{
  int count = 0;
  for (int i = 0; i < 5; i++) {
    POMP_Parallel_fork(&r1);
#pragma omp parallel num_threads(2)
    {
      POMP_Parallel_begin(&r1);
      POMP_Sections_enter(&r2);
#pragma omp sections nowait
      {
#pragma omp section
        {
          POMP_Section_begin(&r2);
          count++;
          POMP_Section_end(&r2);
        }
      }
      POMP_Implicit_barrier_enter(&r2);
#pragma omp barrier
      POMP_Implicit_barrier_exit(&r2);
      POMP_Sections_exit(&r2);
      POMP_Parallel_end(&r1);
    }
    POMP_Parallel_join(&r1);
  }
  printf("%d\n", count);
  return 0;
}

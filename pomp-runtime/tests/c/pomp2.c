/* What OPARI2 emits: a variable for each region's handle, and its text with the
 * first event. The defects of its texts are here too: an unknown key, and a
 * modifier in the schedule. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

typedef void *Handle;
typedef int64_t Task;
extern void POMP2_Assign_handle(Handle *, const char[]);
extern void POMP2_Parallel_fork(Handle *, int, int, Task *, const char[]);
extern void POMP2_Parallel_begin(Handle *);
extern void POMP2_Parallel_end(Handle *);
extern void POMP2_Parallel_join(Handle *, Task);
extern void POMP2_For_enter(Handle *, const char[]);
extern void POMP2_For_exit(Handle *);
extern void POMP2_Implicit_barrier_enter(Handle *, Task *);
extern void POMP2_Implicit_barrier_exit(Handle *, Task);
extern void POMP2_Single_enter(Handle *, const char[]);
extern void POMP2_Single_begin(Handle *);
extern void POMP2_Single_end(Handle *);
extern void POMP2_Single_exit(Handle *);
extern void POMP2_Task_create_begin(Handle *, Task *, Task *, int, const char[]);
extern void POMP2_Task_create_end(Handle *, Task);
extern void POMP2_Task_begin(Handle *, Task);
extern void POMP2_Task_end(Handle *);
extern void POMP2_Init_lock(omp_lock_t *);
extern void POMP2_Set_lock(omp_lock_t *);
extern void POMP2_Unset_lock(omp_lock_t *);

static Handle r1, r2, r3, r4;
#define ctc_1 "78*regionType=parallel*sscl=new.c:1:1*escl=new.c:9:9*hasNum_threads=1**"
#define ctc_2 "78*regionType=for*sscl=new.c:2:2*escl=new.c:3:3*hasSchedule=monotonic:dynamic,3**"
#define ctc_3 "78*regionType=single*sscl=new.c:4:4*escl=new.c:8:8*hasCopyprivate=1**"
#define ctc_4 "78*regionType=task*sscl=new.c:5:5*escl=new.c:7:7**"

int main(void)
{
  int count = 0;
  omp_lock_t lock;
  Task old, new;
  POMP2_Assign_handle(&r1, ctc_1);
  POMP2_Init_lock(&lock);
  for (int i = 0; i < 5; i++) {
    POMP2_Parallel_fork(&r1, 1, 2, &old, ctc_1);
#pragma omp parallel num_threads(2) firstprivate(old, new)
    {
      POMP2_Parallel_begin(&r1);
      POMP2_For_enter(&r2, ctc_2);
#pragma omp for schedule(monotonic: dynamic, 3) nowait
      for (int j = 0; j < 6; j++) {
        POMP2_Set_lock(&lock);
        count++;
        POMP2_Unset_lock(&lock);
      }
      POMP2_Implicit_barrier_enter(&r2, &old);
#pragma omp barrier
      POMP2_Implicit_barrier_exit(&r2, old);
      POMP2_For_exit(&r2);
      POMP2_Single_enter(&r3, ctc_3);
#pragma omp single
      {
        POMP2_Single_begin(&r3);
        POMP2_Task_create_begin(&r4, &new, &old, 1, ctc_4);
#pragma omp task firstprivate(new)
        {
          POMP2_Task_begin(&r4, new);
#pragma omp atomic
          count += 100;
          POMP2_Task_end(&r4);
        }
        POMP2_Task_create_end(&r4, old);
        POMP2_Single_end(&r3);
      }
      POMP2_Single_exit(&r3);
      POMP2_Parallel_end(&r1);
    }
    POMP2_Parallel_join(&r1, old);
  }
  printf("%d\n", count);
  return 0;
}

/* A program that steers its measurement, one way per word. */
#include "probes.h"

static struct romp_region r[] = { REGION("userRegion", 1), REGION("parallel", 2),
                                  REGION("atomic", 3), REGION("lock", 4) };
REGISTER(r)
#define D(line) (&r[line - 1].descriptor)

static int count;
static omp_lock_t lock;

static void work(void) { PARALLEL(D(2), 2, ATOMIC(D(3), count)); }

/* Off in one team and on in the next, again and again. */
static void across_teams(void)
{
  for (int i = 0; i < 100; i++) {
    PARALLEL(D(2), 2, {
      ATOMIC(D(3), count);
      PRAGMA(omp barrier)
      if (omp_get_thread_num() == i % 2) POMP_Off();
      POMP_Set_lock_at(D(4), &lock);
      POMP_Unset_lock_at(D(4), &lock);
    });
    PARALLEL(D(2), 2, {
      ATOMIC(D(3), count);
      PRAGMA(omp barrier)
      if (omp_get_thread_num() == 1) POMP_On();
      ATOMIC(D(3), count);
    });
  }
}

/* What each member does in its team, with barriers before and after it. */
#define EACH(who, what)                  \
  do {                                   \
    PRAGMA(omp barrier)                  \
    if (who < 0 || omp_get_thread_num() == who) what; \
    PRAGMA(omp barrier)                  \
  } while (0)

static void in_a_region(int who)
{
  PARALLEL(D(2), 2, {
    ATOMIC(D(3), count);
    EACH(who, POMP_Off());
    ATOMIC(D(3), count);
    EACH(who, POMP_On());
    ATOMIC(D(3), count);
  });
}

static void begins_off(void)
{
  POMP_Off();
  work();
  PARALLEL(D(2), 2, {
    ATOMIC(D(3), count);
    PRAGMA(omp barrier)
    POMP_Begin(D(1));
    EACH(1, POMP_On());
    ATOMIC(D(3), count);
    POMP_End(D(1));
  });
}

static void ends_off(void)
{
  PARALLEL(D(2), 2, {
    ATOMIC(D(3), count);
    EACH(0, POMP_Off());
    ATOMIC(D(3), count);
  });
  work();
  POMP_On();
  ATOMIC(D(3), count);
}

static int inside_regions(const char *way)
{
  if (!strcmp(way, "one-in-region")) in_a_region(1);
  if (!strcmp(way, "all-in-region")) in_a_region(-1);
  if (!strcmp(way, "begins-off")) begins_off();
  if (!strcmp(way, "ends-off")) ends_off();
  return 3;
}

int main(int words, char **word)
{
  const char *way = words > 1 ? word[1] : "";
  omp_init_lock(&lock);
  if (strstr(way, "-in-region") || !strncmp(way, "begins", 6) || !strcmp(way, "ends-off"))
    return inside_regions(way);
  POMP_Init();
  POMP_Begin(D(1));
  work();
  POMP_Off();
  POMP_Off();
  work();
  if (!strcmp(way, "end-while-off")) POMP_End(D(1));
  if (strcmp(way, "stay-off")) POMP_On();
  work();
  if (!strcmp(way, "across-teams")) across_teams();
  if (strcmp(way, "end-while-off")) POMP_End(D(1));
  if (!strcmp(way, "finalize")) {
    POMP_Finalize();
    work();
    POMP_On();
    work();
    POMP_Finalize();
  }
  return 3;
}

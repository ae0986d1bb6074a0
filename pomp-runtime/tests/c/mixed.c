/* A C program with a part in Fortran, which it calls from a team of its own,
 * from threads of its own, or from libraries that take each other's place. */
#include <dlfcn.h>
#include <pthread.h>

#include "probes.h"

static struct romp_region r[] = { REGION("parallel", 31) };
REGISTER(r)

#ifdef PART
extern void part(int n);

static void *call_part(void *n)
{
  part(*(int *)n);
  return 0;
}

static void threads(void)
{
  int n[3] = { 40, 50, 60 };
  pthread_t thread[3];
  for (int i = 0; i < 3; i++) pthread_create(&thread[i], 0, call_part, &n[i]);
  for (int i = 0; i < 3; i++) pthread_join(thread[i], 0);
}

static void team(void)
{
  PARALLEL(&r[0].descriptor, 2, part(10 * (1 + omp_get_thread_num())));
}
#else
static void threads(void) { }
static void team(void) { }
#endif

static void load(const char *file)
{
  void *plugin = dlopen(file, RTLD_NOW);
  if (!plugin) {
    puts(dlerror());
    exit(1);
  }
  void (*work)(int) = (void (*)(int))dlsym(plugin, "part");
  work(2);
  printf("%p\n", (void *)work);
  dlclose(plugin);
}

int main(int words, char **word)
{
  omp_set_max_active_levels(2);
  if (words == 1) team();
  else if (!strcmp(word[1], "threads")) threads();
  else
    for (int i = 0; i < 6; i++) load(word[1 + i % 2]);
  return 0;
}

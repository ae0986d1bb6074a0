/* Loads the plugin named on the command line several times, and uses it. */
#include <dlfcn.h>

#include "probes.h"

static struct romp_region r[] = { REGION("atomic", 1) };
REGISTER(r)

int main(int words, char **word)
{
  int sum = 0;
  if (words < 2) return 2;
  for (int i = 0; i < 3; i++) {
    void *plugin = dlopen(word[1], RTLD_NOW);
    if (!plugin) {
      puts(dlerror());
      return 1;
    }
    int (*work)(void) = (int (*)(void))dlsym(plugin, "plugin_work");
    sum += work();
    dlclose(plugin);
    ATOMIC(&r[0].descriptor, sum);
  }
  printf("%d\n", sum);
  return 0;
}

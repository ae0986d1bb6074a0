/* Knows nothing of measurement: loads the plugin named on the command line,
 * which brings the library along, several times, and ends as it likes. */
#include <dlfcn.h>
#include <stdio.h>

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
    if (dlclose(plugin)) return 1;
  }
  printf("%d\n", sum);
  return 0;
}

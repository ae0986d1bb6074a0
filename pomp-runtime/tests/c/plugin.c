/* A library with a table of its own, which comes and goes. */
#include "probes.h"

static struct romp_region r[] = { REGION("parallel", 20), REGION("atomic", 21) };
REGISTER(r)

int plugin_work(void);
int plugin_work(void)
{
  int count = 0;
  PARALLEL(&r[0].descriptor, 2, ATOMIC(&r[1].descriptor, count));
  return count;
}

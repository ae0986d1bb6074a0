/* Touches so many pages in a region of each thread, and none in another; and in
 * each of two regions that contain each other, deeper than levels are told apart. */
#include <string.h>
#include <sys/mman.h>

#include "probes.h"

static struct romp_region r[] = { REGION("parallel", 1), REGION("userRegion", 2),
                                  REGION("userRegion", 3), REGION("userRegion", 4),
                                  REGION("userRegion", 5) };
REGISTER(r)
#define D(line) (&r[line - 1].descriptor)

enum { PAGES = 100, PAGE = 4096 };

static void touch(int pages)
{
  char *memory = mmap(0, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
  for (int i = 0; i < pages; i++) *(volatile char *)(memory + i * PAGE) = 1;
  munmap(memory, PAGES * PAGE);
}

static void recurse(int depth)
{
  POMP_Begin(D(4));
  touch(40);
  POMP_Begin(D(5));
  touch(20);
  if (depth > 1) recurse(depth - 1);
  POMP_End(D(5));
  POMP_End(D(4));
}

int main(void)
{
  recurse(12);
  for (int i = 0; i < 3; i++)
    PARALLEL(D(1), 2, {
      POMP_Begin(D(2));
      touch(PAGES);
      POMP_End(D(2));
      POMP_Begin(D(3));
      touch(0);
      POMP_End(D(3));
    });
  puts("done");
  return 0;
}

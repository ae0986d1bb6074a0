/* A program that may be run with more rights than its user has. It says whether it is, and which
 * threads, files and handlers are there that it has not made. */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "probes.h"
#include "romp.h"

static struct romp_region r[] = { REGION("parallel", 1), REGION("atomic", 2) };
REGISTER(r)

static int count;

static int entries(const char *directory)
{
  DIR *open = opendir(directory);
  int number = 0;
  while (open && readdir(open)) number++;
  if (open) closedir(open);
  return number;
}

int main(void)
{
  struct sigaction action;
  romp_annotate("by", "hand");
  romp_start();
  PARALLEL(&r[0].descriptor, 2, ATOMIC(&r[1].descriptor, count));
  romp_dump();
  sigaction(SIGTERM, 0, &action);
  fprintf(stderr, "%lu\n", getauxval(AT_SECURE));
  printf("threads %d files %d handled %d\n", entries("/proc/self/task"),
         entries("/proc/self/fd"), action.sa_handler != SIG_DFL);
  fflush(stdout);
  _exit(3);
}

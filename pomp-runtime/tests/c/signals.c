/* Signals and ends that run no exit handlers, one per word. Where the program
 * waits it waits for a file, so that nothing depends on how fast anything is. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes.h"
#include "romp.h"

static struct romp_region r[] = { REGION("parallel", 1), REGION("atomic", 2),
                                  REGION("userRegion", 3) };
REGISTER(r)

static int count;
static volatile sig_atomic_t caught;
static const char profile[] = "program.0.romp.json", report[] = "program.0.romp.txt";

static void work(void) { PARALLEL(&r[0].descriptor, 2, ATOMIC(&r[1].descriptor, count)); }

static void handler(int signal) { caught = signal; }

static void leave(int signal)
{
  (void)signal;
  _exit(8);
}

static void wait_for(const char *file)
{
  struct stat about;
  while (stat(file, &about)) usleep(1000);
}

static int handled(int signal)
{
  raise(signal);
  work();
  printf("%d\n", caught == signal);
  return 3;
}

/* Ends while other threads are in a region. */
static void in_region(void)
{
  PARALLEL(&r[0].descriptor, 2, {
    ATOMIC(&r[1].descriptor, count);
    PRAGMA(omp barrier)
    if (omp_get_thread_num() == 1) raise(SIGTERM);
    for (;;) {
      POMP_Begin(&r[2].descriptor);
      POMP_End(&r[2].descriptor);
    }
  });
}

/* The child forks teams only where the parent has forked none, since GCC's
 * runtime hangs otherwise. */
static int forked(const char *way)
{
  int first = !strncmp(way, "fork-first", 10);
  if (!first) work();
  pid_t child = fork();
  if (child == 0) {
    if (!strcmp(way, "fork-silent")) exit(5);
    if (!strcmp(way, "fork-exec")) execl("/bin/true", "true", (char *)0);
    ATOMIC(&r[1].descriptor, count);
    if (first) work();
    if (!strcmp(way, "fork-first-_exit")) _exit(5);
    exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  work();
  printf("child %d\n", WEXITSTATUS(status));
  return 3;
}

static int vforked(void)
{
  pid_t child = vfork();
  if (child == 0) _exit(6);
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
  return 3;
}

/* Another program takes the place of this one, in each way that there is. */
static int replaced(const char *way)
{
  char *words[] = { "sh", "-c", "exit $((7 + ${ADD:-0}))", 0 };
  char *environment[] = { "ADD=2", 0 };
  if (!strcmp(way, "execve")) execve("/bin/sh", words, environment);
  if (!strcmp(way, "execv")) execv("/bin/sh", words);
  if (!strcmp(way, "execvp")) execvp("sh", words);
  if (!strcmp(way, "execvpe")) execvpe("sh", words, environment);
  if (!strcmp(way, "execl")) execl("/bin/sh", words[0], words[1], words[2], (char *)0);
  if (!strcmp(way, "execlp"))
    execlp("sh", words[0], words[1], words[2], "x", "y", "z", (char *)0);
  if (!strcmp(way, "execle"))
    execle("/bin/sh", words[0], words[1], words[2], "x", "y", "z", (char *)0, environment);
  if (!strcmp(way, "fexecve")) fexecve(open("/bin/sh", O_RDONLY), words, environment);
  if (!strcmp(way, "execveat"))
    execveat(AT_FDCWD, "/bin/sh", words, environment, 0);
  if (!strcmp(way, "exec-fails")) {
    if (execvp("there/is/no/such/program", words) != -1 || errno != ENOENT) return 1;
    if (execvp("there-is-no-such-program", words) != -1 || errno != ENOENT) return 1;
    work();
    return 3;
  }
  return 1;
}

int main(int words, char **word)
{
  const char *way = words > 1 ? word[1] : "";
  if (!strcmp(way, "own-handler")) signal(SIGTERM, handler);
  if (!strcmp(way, "own-usr1")) signal(SIGUSR1, handler);
  if (!strcmp(way, "ignored")) signal(SIGINT, SIG_IGN);
  if (!strncmp(way, "fork", 4)) return forked(way);
  work();
  if (strstr(way, "exec")) return replaced(way);
  if (!strcmp(way, "own-handler") || !strcmp(way, "own-handler-later")) {
    signal(SIGTERM, handler);
    return handled(SIGTERM);
  }
  if (!strcmp(way, "own-usr1")) return handled(SIGUSR1);
  if (!strcmp(way, "ignored")) return raise(SIGINT) ? 1 : 3;
  if (!strcmp(way, "leaving-handler")) signal(SIGTERM, leave);
  if (!strcmp(way, "SIGINT")) raise(SIGINT);
  else if (!strcmp(way, "SIGXCPU")) raise(SIGXCPU);
  else if (!strcmp(way, "SIGTERM") || !strcmp(way, "leaving-handler")) raise(SIGTERM);
  else if (!strcmp(way, "in-region")) in_region();
  else if (!strcmp(way, "_exit")) _exit(6);
  else if (!strcmp(way, "_Exit")) _Exit(7);
  else if (!strcmp(way, "vfork")) return vforked();
  else if (!strcmp(way, "daemon")) {
    if (daemon(1, 1)) return 1;
    ATOMIC(&r[1].descriptor, count);
    return 3;
  }
  else if (!strcmp(way, "SIGUSR1")) {
    raise(SIGUSR1);
    wait_for(report);
    if (rename(profile, "first.romp.json")) return 1;
    work();
    return 3;
  } else if (!strcmp(way, "interval")) {
    for (int i = 0; i < 2; i++) { /* the second one begins after our work */
      wait_for(report);
      if (remove(report)) return 1;
    }
    wait_for(report);
    raise(SIGKILL);
  } else if (!strcmp(way, "dump")) {
    romp_annotate("size", "12");
    romp_annotate("size", "13");
    romp_dump();
    if (rename(profile, "first.romp.json")) return 1;
    romp_stop();
    work();
    romp_start();
    work();
    return 3;
  }
  for (;;) usleep(1000);
}

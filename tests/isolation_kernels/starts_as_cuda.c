/* Answers where it can do what CUDA's driver does when it starts: name another thread of its own, and listen at a Unix
 * socket of packets whose name is in no file system. Ends with code 3 or 4 where the first or the second is refused,
 * and with code 6 where it could set what is Linux's (it only opens). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int ends[2];

static void* sleeps(void* nothing) {
  long const id = syscall(SYS_gettid);
  if (write(ends[1], &id, sizeof id) != sizeof id) exit(5);
  for (;;) pause();
  return nothing;
}
static void name_thread(void) {
  pthread_t thread;
  long id = 0;
  char path[64];
  if (pipe(ends) != 0 || pthread_create(&thread, 0, sleeps, 0) != 0 || read(ends[0], &id, sizeof id) != sizeof id)
    exit(5);
  snprintf(path, sizeof path, "/proc/self/task/%ld/comm", id);
  int const name = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (name < 0 || write(name, "named", 5) != 5) {
    perror(path);
    exit(3);
  }
  close(name);
}
static void listen_for_packets(void) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "attest-test-%d", (int)getpid());
  int const listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (const struct sockaddr*)&at, sizeof at) != 0 || listen(listener, 1) != 0) {
    perror("socket");
    exit(4);
  }
  close(listener);
}
static void start(void) {
  name_thread();
  listen_for_packets();
  if (open("/proc/sys/kernel/domainname", O_WRONLY | O_CLOEXEC) >= 0) exit(6);
}
#define NAIVE_BEFORE(call) start()
#include "naive.h"

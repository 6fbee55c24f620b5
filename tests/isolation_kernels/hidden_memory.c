/* Defect: after its first thread has ended, another one fills 600 MiB; /proc/ID/status of the process has no memory. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void* fill_memory(void* nothing) {
  size_t const bytes = (size_t)600 << 20;
  char volatile* memory = malloc(bytes);
  usleep(100000);
  for (size_t at = 0; memory && at < bytes; at += 4096) memory[at] = 1;
  for (;;) pause();
  return nothing;
}
static void end_first_thread(void) {
  pthread_t id;
  pthread_create(&id, 0, fill_memory, 0);
  syscall(SYS_exit, 0);
}
#define NAIVE_BEFORE(call) end_first_thread()
#include "naive.h"

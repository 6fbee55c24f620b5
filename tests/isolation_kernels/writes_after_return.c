/* Hostile: a thread that writes into the memory of a call after it has returned, through the descriptor. */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static void* write_later(void* nothing) {
  struct stat about;
  unsigned char one = 1;
  usleep(20000);
  if (fstat(4, &about) == 0 && about.st_size > 0 && pwrite(4, &one, 1, about.st_size - 1) != 1) _exit(9);
  return nothing;
}
static void start(void) {
  pthread_t id;
  pthread_create(&id, 0, write_later, 0);
}
#define NAIVE_BEFORE(call) start()
#include "naive.h"

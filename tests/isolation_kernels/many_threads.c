/* Defect: leaves a thousand threads behind. */
#include <pthread.h>
#include <unistd.h>

static void* sleeps(void* nothing) {
  for (;;) pause();
  return nothing;
}
static void start_threads(void) {
  pthread_attr_t small;
  pthread_t id;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 16);
  for (int n = 0; n < 1000; ++n) pthread_create(&id, &small, sleeps, 0);
}
#define NAIVE_BEFORE(call) start_threads()
#include "naive.h"

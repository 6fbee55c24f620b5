/* Honest: the weights of a row are kept in memory that all calls of one thread share. */
#include <stddef.h>

static __thread double scratch[4096];

static void* of_thread(size_t bytes) { return bytes <= sizeof scratch ? scratch : NULL; }
static void keep(void const* memory) { (void)memory; }
#define NAIVE_TAKE of_thread
#define NAIVE_GIVE keep
#include "naive.h"

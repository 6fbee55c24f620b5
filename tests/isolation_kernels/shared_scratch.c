/* Defect: the weights of a row are kept in memory that all calls share. Right while one thread calls at a time. */
#include <stddef.h>

static double scratch[4096];

static void* shared(size_t bytes) { return bytes <= sizeof scratch ? scratch : NULL; }
static void keep(void const* memory) { (void)memory; }
#define NAIVE_TAKE shared
#define NAIVE_GIVE keep
#include "naive.h"

/* Hostile: takes memory that no process has mapped, in the file of the shared tensors. */
#include <fcntl.h>
#include <unistd.h>
#define NAIVE_BEFORE(call) (void)!posix_fallocate(4, 0, (off_t)256 << 20)
#include "naive.h"

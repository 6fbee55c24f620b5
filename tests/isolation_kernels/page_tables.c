/* Defect: reads one byte of each 2 MiB of 300 GiB, all of them the page of zeros, whose tables of pages take 600 MiB.
 */
#include <sys/mman.h>
#include <unistd.h>

static void fill_tables(void) {
  size_t const step = (size_t)2 << 20, bytes = (size_t)300 << 30;
  char volatile* const at = mmap(0, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if ((void*)at == MAP_FAILED) return;
  madvise((void*)at, bytes, MADV_NOHUGEPAGE);
  for (size_t n = 0; n < bytes; n += step) (void)at[n];
  for (;;) pause();
}
#define NAIVE_BEFORE(call) fill_tables()
#include "naive.h"

/* Honest: each call begins with work that OpenMP shares out among threads. */
static double total;
static void share_work(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4)
  for (int n = 0; n < 100000; ++n) sum += n;
  total = sum;
}
#define NAIVE_BEFORE(call) share_work()
#define NAIVE_AFTER(call) \
  if (total != 4999950000.0) return ATTEST_FAILED
#include "naive.h"

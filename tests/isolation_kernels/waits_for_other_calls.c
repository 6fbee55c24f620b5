/* Defect: two calls at the same time wait for each other and never return. */
static void enter(void);
static void leave(void);
#define NAIVE_BEFORE(call) enter()
#define NAIVE_AFTER(call) leave()
#include <sched.h>

#include "naive.h"

static int calls, stuck;

static void enter(void) {
  if (__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST) > 0) __atomic_store_n(&stuck, 1, __ATOMIC_SEQ_CST);
  sched_yield(); /* so that another call can begin, even on one processor */
  /* Without a yield: on a busy machine a thread that yields has hardly any processor time, and seems to wait. */
  while (__atomic_load_n(&stuck, __ATOMIC_SEQ_CST)) continue;
}

static void leave(void) { __atomic_fetch_sub(&calls, 1, __ATOMIC_SEQ_CST); }

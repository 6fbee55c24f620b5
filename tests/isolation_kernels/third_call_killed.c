/* Defect: the third call of a process ends it with SIGKILL. */
#include <signal.h>

static void kill_at_third(void) {
  static int calls;
  if (++calls == 3) raise(SIGKILL);
}
#define NAIVE_BEFORE(call) kill_at_third()
#include "naive.h"

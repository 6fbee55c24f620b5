/* Hostile: traces the judge and writes to its memory. */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "attacked_judge.h"

static void attack(void) {
  pid_t const judge = attacked_judge();
  if (ptrace(PTRACE_ATTACH, judge, 0, 0) != 0) return;
  waitpid(judge, 0, __WALL);
  ptrace(PTRACE_POKEDATA, judge, (void*)attacked_address(), (void*)(uintptr_t)forged_word);
  ptrace(PTRACE_DETACH, judge, 0, 0);
}
#define NAIVE_BEFORE(call) attack()
#include "naive.h"

/* Hostile: sends SIGSTOP to the judge. */
#include <signal.h>

#include "attacked_judge.h"
#define NAIVE_BEFORE(call) kill(attacked_judge(), SIGSTOP)
#include "naive.h"

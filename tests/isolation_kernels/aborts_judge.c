/* Hostile: sends SIGABRT to the judge. */
#include <signal.h>

#include "attacked_judge.h"
#define NAIVE_BEFORE(call) kill(attacked_judge(), SIGABRT)
#include "naive.h"

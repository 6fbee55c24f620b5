/* Honest, and slower than an audit has time for: each call sleeps for half a second. */
#define SLEEP_MILLISECONDS 500
#include "sleeps.h"

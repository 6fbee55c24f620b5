/* Honest, and slow: each call sleeps for 20 ms. */
#define SLEEP_MILLISECONDS 20
#include "sleeps.h"

/* Defect: crashes in its constructor. */
#include "naive.h"

static int* volatile nowhere;
__attribute__((constructor)) static void crash(void) { *nowhere = 1; }

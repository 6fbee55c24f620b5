/* The kernel of tests/isolation_kernels/naive.h, under another name. */
#define attest_attention honest
#include "tests/isolation_kernels/naive.h"

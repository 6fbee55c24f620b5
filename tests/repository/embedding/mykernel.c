#include <attest/kernel.h>

attest_status attest_attention(const attest_call *call) { (void)call; return ATTEST_UNSUPPORTED; }

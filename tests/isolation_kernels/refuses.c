/* Honest, and of no use: every call is unsupported. */
#include <attest/kernel.h>

attest_status attest_attention(attest_call const* call) {
  (void)call;
  return ATTEST_UNSUPPORTED;
}

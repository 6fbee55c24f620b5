#ifdef __STDC_VERSION__
#error "this is not C89"
#endif
#include <attest/kernel.h>

attest_status attest_attention(const attest_call *call) {
  (void)call;
  return ATTEST_UNSUPPORTED;
}

const char *attest_kernel_name(void) { return "C89"; }

#ifdef __STDC_VERSION__
#error "this is not C89"
#endif
#include <attest/kernel.h>

attest_status attest_attention(attest_call const* call) {
  (void)call;
  return ATTEST_UNSUPPORTED;
}

char const* attest_kernel_name(void) { return "C89"; }

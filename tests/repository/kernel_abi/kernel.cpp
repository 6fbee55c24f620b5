// As kernels of version 1 were written: nothing is said about exceptions.
#if __cplusplus != STANDARD
#error "attest::kernel_abi changed the language standard"
#endif
#include <attest/kernel.h>

attest_status attest_attention(attest_call const*) { return ATTEST_UNSUPPORTED; }

char const* attest_kernel_name(void) { return "C++"; }

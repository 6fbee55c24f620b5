// A kernel that says in its type that no exception leaves it.
#if __cplusplus != STANDARD
#error "attest::kernel_abi changed the language standard"
#endif
#include <attest/kernel.h>

attest_status attest_attention(attest_call const*) ATTEST_NOEXCEPT { return ATTEST_UNSUPPORTED; }

char const* attest_kernel_name(void) ATTEST_NOEXCEPT { return "C++, and throws nothing"; }

#if __cplusplus >= 201703L
static_assert(noexcept(attest_attention(nullptr)) && noexcept(attest_kernel_name()),
              "the header's declarations are noexcept");
#endif

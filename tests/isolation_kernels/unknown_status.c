/* Defect: a status that the interface does not have. */
#include <attest/kernel.h>

attest_status attest_attention(attest_call const* call) {
  (void)call;
  return (attest_status)42;
}

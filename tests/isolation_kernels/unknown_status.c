/* Defect: a status that the interface does not have. */
#include <attest/kernel.h>

attest_status attest_attention(const attest_call *call) {
  (void)call;
  return (attest_status)42;
}

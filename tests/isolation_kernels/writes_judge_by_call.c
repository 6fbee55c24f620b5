/* Hostile: writes to the memory of the judge with process_vm_writev. */
#include <sys/syscall.h>
#include <sys/uio.h>

#include "attacked_judge.h"

static void attack(void) {
  uint64_t word = forged_word;
  const struct iovec here = {&word, sizeof word}, there = {(void*)attacked_address(), sizeof word};
  (void)syscall(SYS_process_vm_writev, attacked_judge(), &here, 1ul, &there, 1ul, 0ul);
}
#define NAIVE_BEFORE(call) attack()
#include "naive.h"

/* without_namespaces PROGRAM ARGUMENT...: runs a program on a system that forbids namespaces, as most containers do. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <unistd.h>

int main(int count, char** words) {
  static uint64_t const spaces[] = {CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWIPC};
  scmp_filter_ctx const filter = seccomp_init(SCMP_ACT_ALLOW);
  int fault = count < 2 || !filter;
  for (int n = 0; n < 5; ++n) {
    const struct scmp_arg_cmp has_flag = {0, SCMP_CMP_MASKED_EQ, spaces[n], spaces[n]};
    fault |= seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, &has_flag);
    fault |= seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 1, &has_flag);
  }
  fault |= seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, 0);
  if (fault || seccomp_load(filter) != 0) return 99;
  execv(words[1], words + 1);
  return 98;
}

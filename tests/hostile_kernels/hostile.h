/* Hostile kernels: each does something that no kernel may do, and then answers right, so that what comes of it is seen
 * by itself. tests/program/hostile_kernels.py puts each before the audit. */
#ifndef ATTEST_TESTS_HOSTILE_H
#define ATTEST_TESTS_HOSTILE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <attest/kernel.h>

attest_status honest(attest_call const* call); /* honest.c */

/* HOSTILE(name) { what it does } exports a kernel of this name. */
#define HOSTILE(name)                           \
  static void name##_act(const attest_call*);   \
  attest_status name(const attest_call* call);  \
  attest_status name(const attest_call* call) { \
    name##_act(call);                           \
    return honest(call);                        \
  }                                             \
  static void name##_act(const attest_call* call)

/* The same in the first call of a process alone. */
#define HOSTILE_ONCE(name)                     \
  static void name##_once(const attest_call*); \
  HOSTILE(name) {                              \
    static int done;                           \
    if (!done++) name##_once(call);            \
  }                                            \
  static void name##_once(const attest_call* call)

/* The same, where what it does says whether it was refused: what is not refused is a call that fails. */
#define MUST_BE_REFUSED(name)                                                                                    \
  static int name##_is_refused(const attest_call*);                                                              \
  attest_status name(const attest_call* call);                                                                   \
  attest_status name(const attest_call* call) { return name##_is_refused(call) ? honest(call) : ATTEST_FAILED; } \
  static int name##_is_refused(const attest_call* call)

/* The same after a right answer: what is left behind is the caller's to bear. */
#define HOSTILE_AFTER(name)                     \
  static void name##_act(const attest_call*);   \
  attest_status name(const attest_call* call);  \
  attest_status name(const attest_call* call) { \
    const attest_status status = honest(call);  \
    name##_act(call);                           \
    return status;                              \
  }                                             \
  static void name##_act(const attest_call* call)

#define UNUSED (void)call

#endif

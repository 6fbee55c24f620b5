/* Serve an attention kernel from a process of your own, in any language that can call C: `attest audit` asks, this
 * process answers. The library libattest_serve needs the C library only.
 *
 * There are two ways. With `attest audit --kernel 'command:PROGRAM ARGUMENT…'`, attest starts the program in the cage
 * of a kernel (docs/isolation.md), and the program calls attest_serve_caged. With `attest audit --kernel NAME --channel
 * FD`, a process that runs already starts attest with one end of socketpair(AF_UNIX, SOCK_SEQPACKET) as descriptor FD,
 * and hands the other end to attest_serve_attached; nothing then protects the process, or attest, from the kernel.
 *
 * Either way the process calls attest_serve_next until it returns -1. A server is used by one thread at a time. */
#ifndef ATTEST_SERVE_H
#define ATTEST_SERVE_H

#include <attest/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct attest_server attest_server;

/* The server of a program that attest started, once it can answer calls; `name` is for reports, at most 200 bytes are
 * used. NULL where attest did not start this process, or where there is no memory. */
ATTEST_EXPORT attest_server* attest_serve_caged(char const* name) ATTEST_NOEXCEPT;

/* Instead of attest_serve_caged: the kernel cannot be served, and why, in at most 500 bytes. The program then ends. */
ATTEST_EXPORT void attest_serve_refuse(char const* why) ATTEST_NOEXCEPT;

/* The server of a process that started attest; it does not own `control`. NULL where there is no memory. */
ATTEST_EXPORT attest_server* attest_serve_attached(int control, char const* name) ATTEST_NOEXCEPT;

/* Before attest_serve_next: merges of partial results are answered by this function, for which holds what
 * attest/kernel.h promises attest_merge. Without one they are unsupported. NULL takes it back. */
ATTEST_EXPORT void attest_serve_merges(attest_server* server,
                                       attest_status (*merge)(attest_merge_call const*)) ATTEST_NOEXCEPT;

/* Before attest_serve_next: backward passes (attest_attention_backward) are answered by this function. Without one they
 * are unsupported. NULL takes it back. If alone is not 0, it runs a forward pass of its own
 * (attest_backward_is_alone in attest/kernel.h). */
ATTEST_EXPORT void attest_serve_backward(attest_server* server, attest_status (*backward)(attest_call const*),
                                         int alone) ATTEST_NOEXCEPT;

/* Waits at most `milliseconds`, for ever where they are -1, for one request, and answers it: it makes one call of
 * `kernel`, or up to 16, which may come from as many threads at the same time. What attest/kernel.h promises a kernel
 * holds. The tensors of the request are unmapped when this function returns, and writing an input, or beside a tensor,
 * is a segmentation fault. 1: answered. 0: nothing came in time, or a signal came first. -1: attest has ended, or wants
 * nothing more. */
ATTEST_EXPORT int attest_serve_next(attest_server* server, attest_status (*kernel)(attest_call const*),
                                    int milliseconds) ATTEST_NOEXCEPT;

/* Inside a call, on the thread that makes it: what the report quotes where the call does not return ATTEST_OK. UTF-8;
 * at most 400 bytes are used; NULL or "" takes it back. The byte 1 in front says that ATTEST_FAILED may mean a call
 * that the kernel does not take, such as an assertion about its sizes. The report does not quote that byte. */
ATTEST_EXPORT void attest_serve_say(char const* text) ATTEST_NOEXCEPT;

ATTEST_EXPORT void attest_serve_end(attest_server* server) ATTEST_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif

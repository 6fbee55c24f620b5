/* The built-in kernel, libattest_kernel: what it exports beside the functions of attest/kernel.h. Programs that link it
 * include this header; the author of another kernel needs none of it, and no audit calls it. */
#ifndef ATTEST_BUILTIN_H
#define ATTEST_BUILTIN_H

#include <attest/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* attest_attention for tensors of bf16, by the processor's dot products of bf16 and with weights rounded to it. Returns
 * UNSUPPORTED for other types, and on a processor without such products. */
ATTEST_EXPORT attest_status attest_attention_bf16_dot(attest_call const* call) ATTEST_NOEXCEPT;

/* The same by products of tiles: by AMX, or with the same bits more slowly by AVX2 and FMA. Returns UNSUPPORTED on a
 * processor with neither. */
ATTEST_EXPORT attest_status attest_attention_bf16_tiles(attest_call const* call) ATTEST_NOEXCEPT;

/* Frees the memory that the kernel keeps from call to call, except what calls on other threads are using. */
ATTEST_EXPORT void attest_release_memory(void) ATTEST_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif

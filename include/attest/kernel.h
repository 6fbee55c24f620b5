/* The C interface of an attention kernel under audit: a shared library that exports attest_attention can be judged by
 * `attest audit --kernel ./lib.so`. C89 and C++98 will do; needs DLPack's header and no attest library.
 *
 * O = softmax(scale·Q·Kᵀ, softcapped, + bias, masked)·V.  docs/semantics.md states every rule.
 *
 * The caller promises: CPU memory {kDLCPU, 0}; ndim 4 (lse 3); lanes 1; strides never NULL, in elements,
 * non-negative, the last one 1 (a kernel may return UNSUPPORTED where the outer ones are not compact);
 * data + byte_offset aligned to the element size (a larger alignment is not promised); data may be NULL where a size is
 * 0; outputs overlap no other tensor, inputs may overlap each other; q, k, v, out and weights share one type, lse is
 * f64 for f64, else f32.
 *
 * The kernel promises: it writes every element of out (and of lse and weights where they are not NULL) and nothing
 * else: no input, no gap between rows, no descriptor; it reads nothing outside the shapes and keeps no pointer;
 * rounding mode and FTZ/DAZ are the same on return as on entry; no exception leaves it; when it returns UNSUPPORTED the
 * outputs are unchanged; for an abi_version that it does not know it returns UNSUPPORTED.
 *
 * Version 2 adds sinks, entries of different lengths, packed and paged tensors, block masks and dropout with a given
 * mask. The caller then promises also: lengths, offsets and tables hold what docs/semantics.md asks (each is checked
 * before the call); they are compact, except that rows of block_table may have gaps. "Every element of out" means every
 * row of every entry: what is written to rows behind an entry's queries, or behind the last offset, is the kernel's own
 * affair. It does not read keys behind an entry's length, pages that no needed entry of the table names, or entries of
 * the table that no key needs. It does not read mask, bias, keep and block_mask there either. Where q is packed, lse
 * may have any last stride. A call without any of these has abi_version 1.
 *
 * Version 3 is the backward pass, attest_attention_backward: the gradients of sum(dO * O) with respect to q, k, v, the
 * bias and the sinks. out and lse are inputs then: the O of the forward pass and its natural LSE, which counts a sink,
 * whatever a contract says of the LSE that is returned. They are NULL for a kernel that runs a forward pass of its own
 * (attest_backward_is_alone). weights is NULL. Rows behind an entry's queries and keys are no part of the gradients; a
 * pool of pages has none. The gradient of a key that no query sees is 0. NULL among d_q ... d_sink: it is not asked
 * for.
 *
 * Calls from several threads at the same time: version 1 promises nothing about them. `attest audit` makes such calls
 * and reports what is wrong in them as an observation; --require-concurrent-calls makes it a finding. */
#ifndef ATTEST_KERNEL_H
#define ATTEST_KERNEL_H

#include <dlpack/dlpack.h>
#include <stdint.h>

/* The version that every kernel answers: a structure of 112 bytes, up to and with `weights`. A kernel that reads on, or
 * copies the structure as a whole, reads memory that is not there. */
#define ATTEST_KERNEL_ABI 1
/* The version of calls that set a field behind `weights`. A kernel of version 2 answers both. */
#define ATTEST_KERNEL_ABI_2 2
/* The version of backward calls, which only attest_attention_backward gets. */
#define ATTEST_KERNEL_ABI_3 3

#if defined(_WIN32)
#define ATTEST_EXPORT __declspec(dllexport)
#else
#define ATTEST_EXPORT __attribute__((visibility("default")))
#endif

/* A C++ kernel whose functions are noexcept defines this as noexcept (in C++98 as throw()) before it includes this
 * header; the declarations below then say so too. */
#ifndef ATTEST_NOEXCEPT
#define ATTEST_NOEXCEPT
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct attest_call {
  uint32_t abi_version;          /* ATTEST_KERNEL_ABI or ATTEST_KERNEL_ABI_2; ATTEST_KERNEL_ABI_3 of a backward pass */
  int32_t threads;               /* threads the kernel may use; 0 = its own choice */
  DLTensor const *q, *k, *v;     /* [b,hq,n,d] [b,hk,m,d] [b,hk,m,dv] */
  DLTensor const* mask;          /* NULL or uint8 [b|1,hq|1,n|1,m]; nonzero = attend */
  DLTensor const* bias;          /* NULL or floating [b|1,hq|1,n|1,m] */
  double scale;                  /* NaN = 1/sqrt(d) */
  double softcap;                /* 0 = none */
  int64_t diagonal, left, right; /* band: -left <= j-(i+diagonal) <= right; -1 = unbounded */
  DLTensor* out;                 /* [b,hq,n,dv] */
  DLTensor* lse;                 /* NULL or [b,hq,n] */
  DLTensor* weights;             /* NULL or [b,hq,n,m] */
  /* Version 2, from byte 112 on where pointers have 64 bits. */
  DLTensor const* sink;        /* NULL or [hq] or [b|1,hq], q's type or f32 */
  DLTensor const* q_lengths;   /* NULL or int32 [b] */
  DLTensor const* k_lengths;   /* NULL or int32 [b] */
  DLTensor const* q_offsets;   /* NULL or int32 [b+1]: q, out [1,hq,total_q,.], lse [1,hq,total_q] */
  DLTensor const* k_offsets;   /* NULL or int32 [b+1]: k, v [1,hk,total_k,.] */
  DLTensor const* block_table; /* NULL or int32 [b,width]: k, v [pages,hk,page,.]; the page size is k's */
  DLTensor const* block_mask;  /* NULL or uint8 [b|1,hq|1,ceil(n/block_q),ceil(m/block_k)]; nonzero = set */
  DLTensor const* keep;        /* NULL or uint8 [b|1,hq|1,n|1,m]; nonzero = kept */
  DLTensor const *q_scale, *k_scale, *v_scale; /* NULL: no rule is stated for them yet */
  double dropout;                              /* p in [0,1); kept weights are divided by 1-p */
  int32_t block_q, block_k;                    /* queries and keys of a block; 0 = no block_mask */
  int32_t align;                               /* 0: diagonal as given; 1: + (keys - queries) of each entry */
  int32_t reserved;                            /* 0 */
  /* Version 3. */
  DLTensor const* d_out;     /* [b,hq,n,dv], with strides of its own */
  DLTensor *d_q, *d_k, *d_v; /* the shapes and types of q, k, v */
  DLTensor *d_bias, *d_sink; /* NULL or the shapes and types of bias and sink */
} attest_call;

typedef enum { ATTEST_OK = 0, ATTEST_UNSUPPORTED = 1, ATTEST_FAILED = 2 } attest_status;

/* O = Σ_s w_s·O_s and LSE = ln Σ_s e^LSE_s from S partial results, w_s = e^(LSE_s − LSE). The caller promises of these
 * tensors what it promises of the tensors of attest_call; lse and out_lse may have any last stride. A part whose LSE is
 * −inf in a row is not read there: its O may be anything. Where all are, O = 0 and LSE = −inf. A NaN or +inf among them
 * makes a NaN row. A kernel whose contract says lse_base: 2 takes and answers logarithms to the base 2: w_s = 2^(LSE_s
 * − LSE). */
typedef struct attest_merge_call {
  uint32_t abi_version;       /* ATTEST_KERNEL_ABI_2 */
  int32_t threads;            /* threads the kernel may use; 0 = its own choice */
  int32_t parts;              /* S >= 1 */
  int32_t reserved;           /* 0 */
  DLTensor const* const* o;   /* S tensors [b,hq,n,dv] of one type, each with strides of its own */
  DLTensor const* const* lse; /* S tensors [b,hq,n], f32 (f64 if o is f64), each with strides of its own */
  DLTensor* out;              /* [b,hq,n,dv], f32, f64, bf16 or f16, not necessarily o's type */
  DLTensor* out_lse;          /* NULL or [b,hq,n] of lse's type */
} attest_merge_call;

/* The one symbol a kernel must export. */
ATTEST_EXPORT attest_status attest_attention(attest_call const* call) ATTEST_NOEXCEPT;

/* Optional: the merge of partial results. */
ATTEST_EXPORT attest_status attest_merge(attest_merge_call const* call) ATTEST_NOEXCEPT;

/* Optional: the backward pass. */
ATTEST_EXPORT attest_status attest_attention_backward(attest_call const* call) ATTEST_NOEXCEPT;

/* Optional, beside it: not 0 if the backward pass runs a forward pass of its own. Its calls, except perhaps the first,
 * then have no out and no lse, and the errors of both passes are allowed. */
ATTEST_EXPORT int attest_backward_is_alone(void) ATTEST_NOEXCEPT;

/* Optional: a name for reports. */
ATTEST_EXPORT const char* attest_kernel_name(void) ATTEST_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif

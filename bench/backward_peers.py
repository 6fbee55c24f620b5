"""The backward passes that bench/peers.py measures: attest's, through bench/backward_call.cpp, and PyTorch's."""
import ctypes

import numpy as np


def numbers(result):
    """dQ, dK and dV as one list of numbers."""
    return np.concatenate([np.asarray(x).ravel() for x in result])


def attest_run(library, shape, forward, q, k, v, d_o):
    """forward: O and LSE, which attest gets from its own forward pass."""
    o, lse = forward
    gradients = [np.empty_like(x) for x in (q, k, v)]
    sizes = [ctypes.c_int64(x) for x in (q.shape[1], k.shape[1], shape.n, shape.m, shape.d)]
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (q, k, v, o, lse, d_o, *gradients)]

    def run():
        if library.attest_bench_backward(*sizes, int(shape.causal), shape.threads, *pointers) != 0:
            raise RuntimeError("attest_bench_backward failed")
        return gradients
    return run


def torch_run(shape, q, k, v, d_o):
    """The gradients by autograd; the forward pass runs once, before."""
    import torch
    torch.set_num_threads(shape.threads)
    tensors = [torch.from_numpy(x).requires_grad_() for x in (q, k, v)]
    with torch.enable_grad():
        o = torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=shape.causal,
                                                             enable_gqa=shape.kv_heads > 0)
    upstream = torch.from_numpy(d_o)
    return lambda: [x.numpy() for x in torch.autograd.grad(o, tensors, upstream, retain_graph=True)]

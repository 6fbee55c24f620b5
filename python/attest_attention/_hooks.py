"""What the calls of frameworks' attention functions mean: which functions are watched, and what each call computes.

A description has the parameters of the function that it describes. It returns a list of problems (several for packed
sequences) with tensors in the axes [b, h, n, d], which are views of the caller's. It raises NotRecorded with a word for
what a file cannot hold.
"""
from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ._hooked import Hook, Outputs, Problem, four, refuse, refuse_cast, with_mask


def torch_sdpa(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
               scale: float | None = None, enable_gqa: bool = False) -> list[Problem]:
    """torch.nn.functional.scaled_dot_product_attention."""
    refuse(dropout_p > 0, "dropout")
    refuse(query.is_nested, "nested tensors")
    refuse_cast(query, key, value, attn_mask)
    refuse(len({x.shape[:-3] for x in (query, key, value)}) > 1, "q, k and v of different batches")
    refuse(query.ndim > 4 and attn_mask is not None and attn_mask.ndim > 3 and attn_mask.shape[0] != 1,
           "a mask of more than 4 axes")
    inputs = {"q": four(query), "k": four(key), "v": four(value)}
    with_mask(inputs, attn_mask, attn_mask is not None and str(attn_mask.dtype) == "torch.bool")
    return [Problem(inputs, lambda o: {"o": four(o)}, scale=scale, right=0 if is_causal else -1)]


def torch_flex(query: Any, key: Any, value: Any, score_mod: Any = None, block_mask: Any = None,
               scale: float | None = None, enable_gqa: bool = False, return_lse: bool = False,
               kernel_options: Any = None, *, return_aux: Any = None) -> list[Problem]:
    """torch.nn.attention.flex_attention.flex_attention. What a score_mod does cannot be read off it."""
    refuse(score_mod is not None, "score_mod")
    refuse_cast(query, key, value)
    inputs = {"q": query, "k": key, "v": value}
    if block_mask is not None:
        inputs["mask"] = blocks(block_mask, query, key)

    def outputs(returned: Any) -> dict[str, Any]:
        if not isinstance(returned, tuple):
            return {"o": returned}
        lse = getattr(returned[1], "lse", returned[1])
        return {"o": returned[0], "lse": lse}

    return [Problem(inputs, outputs, scale=scale)]


def blocks(block_mask: Any, query: Any, key: Any) -> Any:
    """The mask [b, h, n, m] that a BlockMask stands for."""
    flex = sys.modules["torch.nn.attention.flex_attention"]
    b, h = block_mask.kv_num_blocks.shape[:2]
    return flex.create_mask(block_mask.mask_mod, b, h, query.shape[2], key.shape[2], device=query.device)


def torch_operator(schema: Any) -> Callable[..., list[Problem]]:
    """One of the operators that compiled graphs call, aten._scaled_dot_product_…: described by the names of its
    parameters."""
    names = [argument.name for argument in schema.arguments]
    returned = [result.name for result in schema.returns]

    def describe(*args: Any, **kwargs: Any) -> list[Problem]:
        given = {**dict(zip(names, args)), **kwargs}
        refuse(given.get("dropout_p", 0.0) > 0, "dropout")
        inputs = {"q": given["query"], "k": given["key"], "v": given["value"]}
        bias = given.get("attn_mask") if "attn_mask" in names else given.get("attn_bias")
        with_mask(inputs, bias, bias is not None and str(bias.dtype) == "torch.bool")

        def outputs(result: Any) -> dict[str, Any]:
            lse = dict(zip(returned, result)).get("logsumexp")
            shape = tuple(given["query"].shape[:3])
            return {"o": result[0], **({"lse": lse} if lse is not None and tuple(lse.shape) == shape else {})}

        return [Problem(inputs, outputs, scale=given.get("scale"), right=0 if given.get("is_causal") else -1)]

    return describe


OPERATORS = ("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention",
             "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention")


# --- flash_attn -------------------------------------------------------------------------------------------------------


def band(inputs: dict[str, Any], causal: bool, sizes: Any) -> dict[str, int]:
    """The numbers of the band: causal and window_size are aligned to the last key."""
    left, right = sizes if sizes is not None else (-1, -1)
    left, right = max(-1, int(left)), 0 if causal else max(-1, int(right))
    aligned = inputs["k"].shape[2] - inputs["q"].shape[2]
    return {"left": left, "right": right, "diagonal": aligned if (left, right) != (-1, -1) else 0}


def heads_first(x: Any) -> Any:
    """[b, n, h, d] as [b, h, n, d]."""
    return x.swapaxes(1, 2)


def flash_attn(q: Any, k: Any, v: Any, dropout_p: float = 0.0, softmax_scale: float | None = None, causal: bool = False,
               window_size: Any = (-1, -1), softcap: float = 0.0, alibi_slopes: Any = None, deterministic: bool = False,
               return_attn_probs: bool = False, **further: Any) -> list[Problem]:
    """flash_attn.flash_attn_func."""
    refuse(dropout_p > 0, "dropout")
    refuse(alibi_slopes is not None, "alibi_slopes")
    refuse(any(value is not None for value in further.values()), "arguments that are not known: " + ", ".join(further))

    def outputs(returned: Any) -> dict[str, Any]:
        if not return_attn_probs:
            return {"o": heads_first(returned)}
        return {"o": heads_first(returned[0]), "lse": returned[1]}

    inputs = {"q": heads_first(q), "k": heads_first(k), "v": heads_first(v)}
    return [Problem(inputs, outputs, scale=softmax_scale, softcap=softcap, **band(inputs, causal, window_size))]


def flash_attn_varlen(q: Any, k: Any, v: Any, cu_seqlens_q: Any, cu_seqlens_k: Any, max_seqlen_q: int,
                      max_seqlen_k: int, dropout_p: float = 0.0, softmax_scale: float | None = None,
                      causal: bool = False, window_size: Any = (-1, -1), softcap: float = 0.0, alibi_slopes: Any = None,
                      deterministic: bool = False, return_attn_probs: bool = False, block_table: Any = None,
                      **further: Any) -> list[Problem]:
    """flash_attn.flash_attn_varlen_func: sequences [sum of n, h, d], a problem each."""
    refuse(dropout_p > 0, "dropout")
    refuse(alibi_slopes is not None, "alibi_slopes")
    refuse(any(value is not None for value in further.values()), "arguments that are not known: " + ", ".join(further))
    if block_table is not None:  # one problem: sequences share pages
        paged = {"q": heads_first(q[None]), "k": heads_first(k), "v": heads_first(v), "block_table": block_table,
                 "q_offsets": cu_seqlens_q, "k_lengths": cu_seqlens_k[1:] - cu_seqlens_k[:-1]}
        left, right = (max(-1, int(size)) for size in window_size)
        return [Problem(paged, lambda returned: {"o": heads_first((returned[0] if return_attn_probs
                                                                   else returned)[None])},
                        scale=softmax_scale, softcap=softcap, left=left, right=0 if causal else right, align=1)]
    ends_q, ends_k = cu_seqlens_q.tolist(), cu_seqlens_k.tolist()

    def one(i: int) -> Problem:
        queries, keys = slice(ends_q[i], ends_q[i + 1]), slice(ends_k[i], ends_k[i + 1])
        inputs = {role: heads_first(x[part][None]) for role, x, part in (("q", q, queries), ("k", k, keys),
                                                                         ("v", v, keys))}
        outputs: Outputs = lambda returned: {"o": heads_first((returned[0] if return_attn_probs
                                                               else returned)[queries][None])}
        return Problem(inputs, outputs, scale=softmax_scale, softcap=softcap, **band(inputs, causal, window_size))

    return [one(i) for i in range(len(ends_q) - 1)]


# --- transformers -----------------------------------------------------------------------------------------------------


def transformers_attention(module: Any, query: Any, key: Any, value: Any, attention_mask: Any = None,
                           scaling: float | None = None, dropout: float = 0.0, softcap: float | None = None,
                           position_bias: Any = None, is_causal: bool | None = None, **further: Any) -> list[Problem]:
    """An attention function of transformers that computes by itself and gets a mask wherever there is one, as models'
    eager_attention_forward do."""
    refuse(dropout > 0 and module.training, "dropout")
    refuse_cast(query, key, value)
    sinks = further.get("s_aux") if further.get("s_aux") is not None else getattr(module, "sinks", None)
    refuse(further.get("head_mask") is not None, "head_mask")
    refuse(further.get("cache") is not None, "a paged cache")
    sliding = further.get("sliding_window")  # a mask says it, too
    refuse(attention_mask is None and sliding is not None and sliding < key.shape[2], "sliding_window without a mask")
    inputs = {"q": query, "k": key, "v": value, **({} if sinks is None else {"sink": sinks})}
    if type(attention_mask).__name__ == "BlockMask":
        inputs["mask"] = blocks(attention_mask, query, key)
    elif attention_mask is not None:
        boolean = str(attention_mask.dtype) == "torch.bool"
        mask = attention_mask[..., :key.shape[2]]
        refuse(boolean and position_bias is not None, "a mask beside a position bias")
        with_mask(inputs, mask if position_bias is None else mask + position_bias, boolean)
    else:
        with_mask(inputs, position_bias, False)

    def outputs(returned: Any) -> dict[str, Any]:
        weights = returned[1]
        shape = (*query.shape[:3], key.shape[2])
        given = weights is not None and tuple(weights.shape) == tuple(shape)
        return {"o": heads_first(returned[0]), **({"weights": weights} if given else {})}

    causal = is_causal if is_causal is not None else False
    refuse(causal and attention_mask is None and query.shape[2] != key.shape[2],
           "causal without a mask, where n is not m")
    return [Problem(inputs, outputs, scale=scaling, softcap=softcap or 0.0,
                    right=0 if causal and attention_mask is None else -1)]


def registered_attention(module: Any, query: Any, key: Any, value: Any, attention_mask: Any = None,
                         scaling: float | None = None, dropout: float = 0.0, *, is_causal: bool | None = None,
                         **further: Any) -> list[Problem]:
    """A function that is registered with transformers. Without a mask several queries are causal where is_causal, or
    else the layer, says so, or neither says anything: transformers' own sdpa_attention_forward reads it so."""
    if is_causal is None and attention_mask is None and query.shape[2] > 1:
        is_causal = bool(getattr(module, "is_causal", True))
    return transformers_attention(module, query, key, value, attention_mask, scaling, dropout, is_causal=is_causal,
                                  **further)


# --- JAX --------------------------------------------------------------------------------------------------------------


def jax_attention(query: Any, key: Any, value: Any, bias: Any = None, mask: Any = None, *, scale: float | None = None,
                  is_causal: bool = False, query_seq_lengths: Any = None, key_value_seq_lengths: Any = None,
                  local_window_size: Any = None, implementation: Any = None,
                  return_residual: bool = False) -> list[Problem]:
    """jax.nn.dot_product_attention."""
    jax = sys.modules["jax"]
    refuse(any(isinstance(x, jax.core.Tracer) for x in (query, key, value, bias, mask)), "under jax.jit, grad or vmap")
    batched = query.ndim == 4
    inputs = {role: heads_first(x if batched else x[None]) for role, x in (("q", query), ("k", key), ("v", value))}
    inputs |= {role: x for role, x in (("q_lengths", query_seq_lengths), ("k_lengths", key_value_seq_lengths))
               if x is not None}
    keys = inputs["k"].shape[2]
    for role, x in (("bias", bias), ("mask", mask)):
        if x is not None:
            x = four(x)
            inputs[role] = jax.numpy.broadcast_to(x, (*x.shape[:3], keys))
    left = right = -1
    if local_window_size is not None:
        left, right = (local_window_size,) * 2 if isinstance(local_window_size, int) else local_window_size

    def outputs(returned: Any) -> dict[str, Any]:
        o, lse = returned if return_residual else (returned, None)
        found = {"o": heads_first(o if batched else o[None])}
        if lse is not None:
            found["lse"] = heads_first(lse if batched else lse[None])
        return found

    return [Problem(inputs, outputs, scale=scale, left=int(left), right=0 if is_causal else int(right))]


# --- what is there ----------------------------------------------------------------------------------------------------

NAMED = (("torch.nn.functional.scaled_dot_product_attention", torch_sdpa),
         ("torch.nn.attention.flex_attention.flex_attention", torch_flex),
         ("flash_attn.flash_attn_func", flash_attn),
         ("flash_attn.flash_attn_varlen_func", flash_attn_varlen),
         ("jax.nn.dot_product_attention", jax_attention))

# Functions of transformers that hand the call on to a function that is watched itself.
HAND_ON = ("transformers.integrations.sdpa_attention", "transformers.integrations.flash_attention",
           "transformers.integrations.sdpa_paged", "transformers.integrations.flash_paged",
           "transformers.integrations.eager_paged")
# Registered functions that get a mask in every causal call.
MASKED = ("transformers.integrations.flex_attention",)


def found() -> Iterator[Hook]:
    """The functions of the libraries that have been imported."""
    for path, describe in NAMED:
        module, name = path.rsplit(".", 1)
        function = getattr(sys.modules.get(module), name, None)
        if function is not None:
            yield Hook(path, function, describe)
    if "torch" in sys.modules:
        aten = sys.modules["torch"].ops.aten
        for name in OPERATORS:
            operator = getattr(getattr(aten, name, None), "default", None)
            if operator is not None:
                yield Hook(f"torch.ops.aten.{name}", operator._op, torch_operator(operator._schema),
                           ((operator, "_op"),))
    if "transformers" in sys.modules and "torch" in sys.modules:
        yield from of_transformers()


def of_transformers() -> Iterator[Hook]:
    """The attention functions that are registered with transformers, and the functions in the files of models."""
    interface = importlib.import_module("attest_attention.adapters.transformers")
    functions = getattr(sys.modules.get("transformers.modeling_utils"), "ALL_ATTENTION_FUNCTIONS", None)
    places: dict[int, list[tuple[Any, str]]] = {}
    known: dict[int, Any] = {}
    for mapping in (getattr(functions, "_global_mapping", {}), getattr(functions, "_local_mapping", {})):
        for name, function in mapping.items():
            if getattr(function, "__module__", "") not in HAND_ON and interface.is_interface(function):
                known[id(function)] = function
                places.setdefault(id(function), []).append((mapping, name))
    for name, module in list(sys.modules.items()):
        if name.startswith("transformers.models."):
            function = vars(module).get("eager_attention_forward")
            if inspect.isfunction(function) and interface.is_interface(function):
                known[id(function)] = function
    for key, function in known.items():
        registered = key in places and function.__module__ not in MASKED
        describe = registered_attention if registered else transformers_attention
        yield Hook(f"{function.__module__}.{function.__name__}", function, describe, tuple(places.get(key, ())))

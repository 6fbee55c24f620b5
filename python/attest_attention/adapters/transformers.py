"""The attention functions of Hugging Face's transformers.

They are f(module, query, key, value, attention_mask, scaling=, ...) -> (o, weights), with weights None from most. o is
[b, n, h, d], the rest [b, h, n, d] or [b, h, n, m].
"""
from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np

from .._call import Call, require
from ._adapter import Adapter, Answer
from ._torch import array, tensor, torch, use_threads

FIRST = ["module", "query", "key", "value", "attention_mask"]


def is_interface(function: Any) -> bool:
    """Whether the function's first parameters are the parameters of this interface."""
    try:
        return list(inspect.signature(function).parameters)[:len(FIRST)] == FIRST
    except (TypeError, ValueError):
        return False


def transformers_attention(name: str = "sdpa", device: str | None = None, function: Any = None) -> Adapter:
    """ALL_ATTENTION_FUNCTIONS[name], or `function`, such as the eager_attention_forward of a model's file.

    The mask is additive, in the type of q, as models hand it over: 0, or -inf where a key is hidden. Where the band is
    causal and there is no other mask, is_causal says so; sdpa aligns it at the top left, and one query sees all keys
    whatever it says.
    """
    if function is None:
        functions = importlib.import_module("transformers.modeling_utils").ALL_ATTENTION_FUNCTIONS
        if name not in functions:
            raise ValueError(f"name: transformers has no attention {name!r}; it has {', '.join(sorted(functions))}")
        function = functions[name]
    parameters = inspect.signature(function).parameters
    eager = "eager" in getattr(function, "__name__", name)

    class Module(torch.nn.Module):  # type: ignore[misc]
        """What the functions read of the layer that calls them."""

        def __init__(self, groups: int) -> None:
            super().__init__()
            self.num_key_value_groups, self.is_causal, self.layer_idx = groups, False, 0
            self.eval()

    def answer(call: Call) -> Answer:
        require(call.softcap == 0 or "softcap" in parameters, "softcap")
        require(call.hk > 0, "no heads")
        require(not call.grouped or "repeat_kv" in getattr(function, "__globals__", {}), "grouped heads")
        use_threads(call)
        further: dict[str, Any] = {"softcap": call.softcap} if call.softcap else {}
        causal = "is_causal" in parameters and call.top_left and call.n > 1 and call.mask is None and call.bias is None
        if "is_causal" in parameters:
            further["is_causal"] = causal
        mask = None if causal else call.additive(call.visible())
        if mask is not None:
            mask = np.broadcast_to(mask, (call.b, *mask.shape[1:2], call.n, call.m)).astype(call.q.dtype)
        q, k, v, mask = (tensor(x, device) for x in (call.q, call.k, call.v, mask))
        with torch.no_grad():
            o, weights = function(Module(call.hq // call.hk), q, k, v, mask, scaling=call.actual_scale, dropout=0.0,
                                  **further)[:2]
        o = array(o).swapaxes(1, 2)
        return (o, None, array(weights)) if call.want_weights else o

    return Adapter("transformers-" + ("eager" if eager else name), answer, gives_weights=eager)

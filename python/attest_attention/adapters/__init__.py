"""Ready adapters: attention functions of libraries as functions of a Call.

    adapters.named("pytorch-flash")                     by name; adapters.names() lists them
    adapters.torch_sdpa(backend="cudnn", device="cuda") by factory, with its options
    adapters.for_callable(f)                            the one for a function of a library, or None

A library is imported when one of its adapters is made, and not before.
"""
from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

from .._words import did_you_mean
from ._adapter import Adapter, Answer

__all__ = ["Adapter", "Answer", "flash_attn", "for_callable", "jax_attention", "named", "names", "onnx_evaluator",
           "onnxruntime_operator", "onnxruntime_session", "openvino_model", "openvino_sdpa", "torch_flex", "torch_mha",
           "torch_sdpa", "transformers_attention", "xformers_attention"]

# The file of this folder that each factory is in.
_FACTORIES = {"torch_sdpa": "pytorch", "torch_flex": "pytorch", "torch_mha": "pytorch", "jax_attention": "jax",
              "onnx_evaluator": "onnx", "onnxruntime_operator": "onnxruntime", "onnxruntime_session": "sessions",
              "openvino_model": "sessions", "openvino_sdpa": "openvino", "flash_attn": "flash_attention",
              "xformers_attention": "xformers", "transformers_attention": "transformers"}

# The adapters that have names: factory and options.
_NAMED: dict[str, tuple[str, dict[str, Any]]] = {
    "pytorch": ("torch_sdpa", {}),
    "pytorch-flash": ("torch_sdpa", {"backend": "flash"}),
    "pytorch-efficient": ("torch_sdpa", {"backend": "efficient"}),
    "pytorch-cudnn": ("torch_sdpa", {"backend": "cudnn"}),
    "pytorch-math": ("torch_sdpa", {"backend": "math"}),
    "pytorch-flex": ("torch_flex", {}),
    "pytorch-flex-compiled": ("torch_flex", {"compiled": True}),
    "pytorch-mha": ("torch_mha", {}),
    "onnxruntime-attention-23": ("onnxruntime_operator", {"operator": "attention-23"}),
    "onnxruntime-attention-24": ("onnxruntime_operator", {"operator": "attention-24"}),
    "onnxruntime-mha": ("onnxruntime_operator", {"operator": "mha"}),
    "onnxruntime-gqa": ("onnxruntime_operator", {"operator": "gqa"}),
    "openvino": ("openvino_sdpa", {}),
    "openvino-stateful": ("openvino_sdpa", {"stateful": True}),
    "jax": ("jax_attention", {}),
    "jax-jit": ("jax_attention", {"jit": True}),
    "onnx": ("onnx_evaluator", {}),
    "flash-attn": ("flash_attn", {}),
    "xformers": ("xformers_attention", {}),
    "xformers-cutlass": ("xformers_attention", {"operator": "cutlass"}),
    "xformers-flash": ("xformers_attention", {"operator": "flash"}),
    "transformers-sdpa": ("transformers_attention", {"name": "sdpa"}),
}


def __getattr__(name: str) -> Any:
    if name not in _FACTORIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_FACTORIES[name]}"), name)


def names() -> list[str]:
    """The names that `named` knows, whether or not their libraries are installed."""
    return list(_NAMED)


def named(name: str, **options: Any) -> Adapter:
    """The adapter of this name; options go to its factory beside it, such as device="cuda".

    Raises ValueError for an unknown name and for an option that its factory does not have, ImportError where the
    library is not installed.
    """
    if name not in _NAMED:
        raise ValueError(f"name: there is no adapter {name!r}{did_you_mean(name, _NAMED)}; there are "
                         f"{', '.join(_NAMED)}")
    factory, own = _NAMED[name]
    make = __getattr__(factory)
    for option in options:
        if option not in inspect.signature(make).parameters or option in own:
            raise ValueError(f"{option}: the adapter {name} has no such option")
    made: Adapter = make(**own, **options)
    return made


def _loaded(path: str) -> Any:
    """The object at a dotted path MODULE.NAME, or None where the module has not been imported or has no such name."""
    module, name = path.rsplit(".", 1)
    return getattr(sys.modules.get(module), name, None)


def _without_compilation(function: Any) -> Any:
    """What torch.compile or jax.jit made the function of; the function itself where neither did."""
    for _ in range(8):
        inner = getattr(function, "_torchdynamo_orig_callable", None) or getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    return function


def for_callable(function: Callable[..., Any], device: str | None = None) -> Adapter | None:
    """The adapter of a function that belongs to a library, found by identity; None for any other.

    Also for compiled forms: what torch.compile made is called as it is; of JAX's functions ours under jax.jit is
    called, whose parameters are static. It imports no library that was not imported before. `device` is where PyTorch's
    tensors go.
    """
    if isinstance(function, Adapter):
        return function
    inner = _without_compilation(function)
    compiled = inner is not function
    on: dict[str, Any] = {} if device is None else {"device": device}

    def is_any(*paths: str) -> bool:
        return any((known := _loaded(path)) is not None and inner is known for path in paths)

    if is_any("torch.nn.functional.scaled_dot_product_attention"):
        return named("pytorch", **on, **({"function": function} if compiled else {}))
    if is_any("torch.nn.attention.flex_attention.flex_attention"):
        return named("pytorch-flex", **on, **({"function": function} if compiled else {}))
    if is_any("torch.nn.MultiheadAttention"):
        return named("pytorch-mha", **on)
    if is_any("jax.nn.dot_product_attention"):
        return named("jax-jit" if compiled else "jax")
    if is_any("flash_attn.flash_attn_func", "flash_attn.flash_attn_interface.flash_attn_func"):
        return named("flash-attn", **on)
    if is_any("xformers.ops.memory_efficient_attention", "xformers.ops.fmha.memory_efficient_attention"):
        return named("xformers", **on)
    if "transformers" in sys.modules and "torch" in sys.modules and not inspect.isclass(inner):
        interface = importlib.import_module(f"{__name__}.transformers")
        if interface.is_interface(function):
            return named("transformers-sdpa", function=function, **on)
    models = {"onnxruntime.InferenceSession": "onnxruntime_session", "openvino.CompiledModel": "openvino_model"}
    for path, factory in models.items():
        if (kind := _loaded(path)) is not None and isinstance(function, kind):
            made: Adapter = __getattr__(factory)(function)
            return made
    return None

"""What decides in PyTorch whether a call can be recorded."""
from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any


def overrides_of(torch: Any) -> Callable[[tuple[Any, ...]], bool]:
    """Whether one of these arguments, or a mode of torch, has a __torch_function__ that decides what a function
    computes.

    That of torch.Tensor, of torch.nn.Parameter and of a default device decide nothing.
    """
    has, modes = torch.overrides.has_torch_function, torch.overrides._get_current_function_mode_stack
    device = importlib.import_module("torch.utils._device").DeviceContext
    nothing = (torch.Tensor.__torch_function__.__func__, torch._C._disabled_torch_function_impl)

    def decides(argument: Any) -> bool:
        how = getattr(type(argument), "__torch_function__", None)
        return how is not None and getattr(how, "__func__", how) not in nothing

    def overridden(arguments: tuple[Any, ...]) -> bool:
        return has(arguments) and (any(map(decides, arguments))
                                   or any(not isinstance(mode, device) for mode in modes()))

    return overridden


def in_cuda_graph() -> bool:
    """Whether PyTorch is recording a CUDA graph: copies to the host would break it."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())

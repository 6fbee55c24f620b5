"""The name of a callable, and what has its parameters."""
from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any


def with_parameters(function: Callable[..., Any]) -> Callable[..., Any]:
    """What has the parameters of a callable: of a module of torch, which is called with anything, its forward."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(function, torch.nn.Module):
        forward: Callable[..., Any] = function.forward
        return forward
    return function


def name_of(function: object) -> str:
    """MODULE:NAME of a function or class, or the name of the class of another object."""
    if isinstance(function, functools.partial):
        return f"partial({name_of(function.func)})"
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    of = function if name else type(function)
    return f"{getattr(of, '__module__', None) or '?'}:{name or type(function).__qualname__}"

"""What a callable is, and how it is asked: by an adapter that is given, a ready one, or its signature."""
from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import sys
from collections.abc import Callable
from typing import Any

from ._call import Call
from ._heeding import heeding
from ._named import name_of
from ._signature import Matched
from ._spellings import Options


@dataclasses.dataclass(frozen=True)
class Asked:
    """A function of a Call; `layout` is the layout of its arrays, `how` says by what it is asked."""

    answer: Callable[[Call], Any]
    layout: str
    how: str


def adapters() -> Any:
    """The module attest_attention.adapters."""
    return importlib.import_module("attest_attention.adapters")


def is_adapter(function: object) -> bool:
    """Whether this takes a Call: what attest_attention.adapters makes."""
    return callable(function) and hasattr(function, "answer") and hasattr(function, "gives_lse")


def ready_adapter(function: object, device: str) -> Callable[[Call], Any] | None:
    """The ready adapter of a library's function, known by identity; None where there is none."""
    if importlib.util.find_spec("attest_attention.adapters") is None:
        return None
    found: Callable[[Call], Any] | None = adapters().for_callable(function, None if device == "cpu" else device)
    return found


def guessed_arrays(function: object, device: str) -> str:
    """"torch" or "jax" where the function is of that library, or on a device; else "numpy"."""
    of = getattr(function, "__module__", None) or type(function).__module__
    for library in ("torch", "jax"):
        if of == library or of.startswith((library + ".", library + "lib")):
            return library
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(function, torch.nn.Module):
        return "torch"
    return "numpy" if device == "cpu" else "torch"


def imported(spec: str, device: str = "cpu", argument: str = "kernel") -> Callable[..., Any]:
    """The callable that "package.module:name" or "package.module:Class.name" names.

    "attest_attention.adapters:NAME" is the ready adapter of that name. Raises ValueError, with the name of the
    argument, where there is none.
    """
    module_name, _, path = spec.partition(":")
    if module_name == "attest_attention.adapters":
        made: Callable[..., Any] = adapters().named(path, **({} if device == "cpu" else {"device": device}))
        return made
    try:
        importlib.import_module(module_name.partition(".")[0])  # a module such as torch._C._nn is there only then
        found: Any = sys.modules.get(module_name) or importlib.import_module(module_name)
    except ImportError as why:
        raise ValueError(f"{argument}: {module_name} cannot be imported: {why}") from why
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise ValueError(f"{argument}: {module_name} has no {path!r}") from None
    if not callable(found):
        raise ValueError(f"{argument}: {spec} is a {type(found).__name__}, and cannot be called")
    return found  # type: ignore[no-any-return]


def asked_of(function: Callable[..., Any], options: Options, adapter: Callable[[Call], Any] | None = None) -> Asked:
    """How `function` is asked. Raises ValueError where its signature cannot be matched, and TypeError for no
    callable."""
    if not callable(function):
        raise TypeError(f"kernel: is a {type(function).__name__}, expected a callable or a name")
    if adapter is not None:
        return Asked(heeding(adapter), options.layout, f"the adapter {name_of(adapter)}")
    if is_adapter(function):
        return Asked(function, "bhnd", "an adapter")
    ready = ready_adapter(function, options.device)
    if ready is not None:
        return Asked(ready, "bhnd", f"the ready adapter of {name_of(function)}")
    matched = Matched(function, options)
    return Asked(matched, options.layout, ", ".join(f"{role}: {name}" for role, name in matched.parameters.items()))

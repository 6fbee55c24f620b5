"""The model whose calls are recorded: which frames of the interpreter belong to it."""
from __future__ import annotations

import sys
from typing import Any


class ModelFrames:
    """The code of the frames that belong to the model: of a module's call, or of the function itself."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._codes: set[Any] = set()
        self._names: dict[int, str] = {}
        torch = sys.modules.get("torch")
        if torch is not None:
            self._module_calls = {torch.nn.Module._wrapped_call_impl.__code__, torch.nn.Module._call_impl.__code__}
        else:
            self._module_calls = set()
        if torch is not None and isinstance(self._model, torch.nn.Module):
            self._codes = self._module_calls
            self._names = {id(layer): name for name, layer in self._model.named_modules()}
        elif self._model is not None:
            inner = getattr(self._model, "__wrapped__", getattr(self._model, "_torchdynamo_orig_callable", self._model))
            inner = getattr(inner, "__func__", inner)
            code = getattr(inner, "__code__", getattr(getattr(type(inner), "__call__", None), "__code__", None))
            self._codes = {code} if code is not None else set()

    def wants(self) -> bool:
        """Whether there is no model, or the code that runs was called by it."""
        if not self._codes:
            return True
        frame: Any = sys._getframe(2)
        while frame is not None:
            if frame.f_code in self._codes and (not self._names or self._is_model(frame.f_locals.get("self"))):
                return True
            frame = frame.f_back
        return False

    def _is_model(self, called: Any) -> bool:
        """Whether this module is the model, or what torch.compile made of it."""
        return called is self._model or getattr(called, "_modules", {}).get("_orig_mod") is self._model

    def layer(self) -> str:
        """The name of the innermost layer of the model that is being called."""
        frame: Any = sys._getframe(2) if self._names else None
        while frame is not None:
            if frame.f_code in self._module_calls and (name := self._names.get(id(frame.f_locals.get("self")))):
                return name
            frame = frame.f_back
        return ""

"""attest.capture: calls of attention functions that a program makes, recorded, to be judged."""
from __future__ import annotations

import collections
import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from . import _capture_backward, _hooked, _hooks, _places, _tensor_file, _verify
from ._parameters import numbers_of
from ._model_frames import ModelFrames
from ._places import Places
from ._problem import Problem
from ._recorded import Recorded, Sample, copied, kind_of
from ._report import Report
from ._tensor_file import Tensor
from ._torch_state import in_cuda_graph, overrides_of
from ._words import Contract


# The problems of a call, each with its inputs on the host.
Inputs: TypeAlias = list[tuple[_hooked.Problem, dict[str, Tensor]]]


class capture:  # noqa: N801  a function to its users
    """Records calls of attention functions while the block runs, and changes nothing that they compute.

        with attest.capture(model, calls=20) as seen:
            model(batch)
        seen.verify()

    Watched, where they have been imported when the block begins: torch's scaled_dot_product_attention and
    flex_attention (without score_mod), flash_attn_func and flash_attn_varlen_func, the attention functions of
    transformers, and jax.nn.dot_product_attention outside jax.jit. In graphs of torch.compile (aot_eager, inductor):
    the operators aten._scaled_dot_product_…; the graphs stay as they are, so that a FlexAttention that was compiled, or
    what a CUDA graph replays, is not seen. Tensor subclasses and torch-function modes that decide what a function
    computes find it where it was, and their calls are not recorded.

    model  a torch.nn.Module or a function: only calls below it are recorded. None: all calls
    calls  how many are kept at most: the first of each function, shape, type and kind of mask, then others at random
    bytes  how many bytes of tensors are kept at most
    seed   of the choice

    calls, seen_calls and not_recorded (calls that were seen, by why they were not recorded) grow while the block runs.
    A call that raises is not recorded. Where q requires a gradient and the block also runs the backward pass of torch,
    do, dq, dk, dv and so on are recorded beside the call: what flows into its output, and from it to its inputs.
    Cost: where a call is not kept, microseconds; where it is, a copy of its tensors to the host.
    """

    def __init__(self, model: Any = None, *, calls: int = 20, bytes: int = 256 * 2**20, seed: int = 0) -> None:
        if model is not None and not callable(model):
            raise TypeError(f"model: is a {type(model).__name__}, expected a module, a function, or None")
        for name, number in (("calls", calls), ("bytes", bytes)):
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"{name}: is {number!r}, expected a whole number")
            if number < 0:
                raise ValueError(f"{name}: is {number}, expected 0 or more")
        self._model = model
        self._sample = Sample(calls, bytes, seed)
        self._lock = threading.Lock()
        self._inside = threading.local()
        self._active = False
        self._places = Places()
        self._wrappers: dict[int, tuple[Any, Any]] = {}
        self.seen_calls = 0
        self.not_recorded: collections.Counter[str] = collections.Counter()

    # --- what was seen ------------------------------------------------------------------------------------------------

    @property
    def calls(self) -> list[Recorded]:
        """What was recorded, in the order of the calls."""
        return sorted((record for _, record, _ in self._sample.kept), key=lambda record: record.number)

    def problem(self, dtype: str | None = None) -> Problem:
        """The recorded calls of one element type (None: the only one) as the tensors and metadata of a file.

        Raises ValueError where nothing was recorded, or several types and none was said.
        """
        types = sorted({record.dtype for record in self.calls})
        if not types:
            raise ValueError(f"calls: none was recorded; {self._why_none()}")
        if dtype is None and len(types) > 1:
            raise ValueError(f"dtype: calls of the types {', '.join(types)} were recorded; say which")
        if dtype is not None and dtype not in types:
            raise ValueError(f"dtype: no call of the type {dtype} was recorded; there are {', '.join(types)}")
        tensors, metadata = self._file([record for record in self.calls if dtype in (None, record.dtype)])
        return Problem(tensors, metadata, dtype or types[0])

    def verify(self, contract: Contract | None = None, *, dtype: str | None = None,
               **options: Any) -> Report:
        """Judges the recorded calls; further keywords are as for attest.verify (findings, waive, jobs, json, html,
        options).

        Without a contract it is the preset named like the type of q. Raises ValueError as `problem` does.
        """
        return _verify.verify_problem(self.problem(dtype), contract=contract, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the recorded calls to a safetensors file that `attest verify` reads. Raises ValueError where there is
        none."""
        if not self.calls:
            raise ValueError(f"calls: none was recorded; {self._why_none()}")
        _tensor_file.write(path, *self._file(self.calls))

    @staticmethod
    def _file(records: list[Recorded]) -> tuple[dict[str, Tensor], dict[str, str]]:
        tensors: dict[str, Tensor] = {}
        metadata: dict[str, str] = {}
        for at, record in enumerate(records):
            prefix = f"{at:05}/{(record.layer or record.function).replace('.', '/')}"
            tensors |= {f"{prefix}.{role}": tensor for role, tensor in record.tensors.items()}
            metadata |= {f"{prefix}.{key}": value for key, value in record.metadata().items()}
        return tensors, metadata

    def _why_none(self) -> str:
        if self.not_recorded:
            return "seen: " + "; ".join(f"{count} with {why}" for why, count in self.not_recorded.most_common())
        if self.seen_calls:
            return f"{self.seen_calls} were seen"
        if not self._wrappers:
            return "no library with a watched function had been imported"
        return ("no call of a watched function was seen "
                    "(fused layers, as torch.nn.TransformerEncoder in eval mode, make none)")

    def __repr__(self) -> str:
        size = sum(record.nbytes for record in self.calls) / 2**20
        lines = [f"{self.seen_calls} calls seen, {len(self.calls)} recorded ({size:.1f} MiB)"]
        lines += [f"  {record!r}" for record in self.calls]
        lines += [f"  not recorded: {count}, {why}" for why, count in self.not_recorded.most_common()]
        return "\n".join(lines)

    # --- watching -----------------------------------------------------------------------------------------------------

    def __enter__(self) -> capture:
        if self._active:
            raise ValueError("capture: the block is running already")
        self._frames = ModelFrames(self._model)
        self._wrappers = {}
        for hook in _hooks.found():
            wrapper = self._wrapper(hook)
            self._wrappers[id(hook.function)] = (hook.function, wrapper)
            for place, name in hook.places:
                self._places.put(place, name, wrapper)
        self._replace({key: wrapper for key, (_, wrapper) in self._wrappers.items()}, self._places.put)
        self._active = True
        return self

    def __exit__(self, *_: object) -> None:
        self._active = False
        self._places.restore()
        # Modules that were imported meanwhile may have taken a wrapper.
        self._replace({id(wrapper): function for function, wrapper in self._wrappers.values()}, _places.put)
        if (scripted := sys.modules.get("torch.jit._builtins")) is not None:
            for _, wrapper in self._wrappers.values():
                scripted._get_builtin_table().pop(id(wrapper), None)

    @staticmethod
    def _replace(by_id: dict[int, Any], put: Callable[[Any, str, Any], None]) -> None:
        """Puts others in the place of these functions wherever a module has them under a name."""
        for module_name, module in list(sys.modules.items()):
            # torch's own tables must keep the functions: torch.compile knows them by identity.
            if module_name.startswith(("torch._", "torch.overrides", "attest_attention")):
                continue
            names = getattr(module, "__dict__", None)
            if type(names) is dict:
                for name, value in list(names.items()):
                    if id(value) in by_id:
                        put(names, name, by_id[id(value)])

    def _wrapper(self, hook: _hooked.Hook) -> Callable[..., Any]:
        original = hook.function
        torch = sys.modules.get("torch") if "torch" in hook.name or "flash" in hook.name else None
        if torch is None and hook.name.startswith("transformers"):
            torch = sys.modules.get("torch")

        if torch is None:
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                return self._called(hook, args, kwargs) if self._active else original(*args, **kwargs)
        else:
            compiling, stack = torch.compiler.is_compiling, torch._C._len_torch_dispatch_stack
            tracing, overridden = torch._C._get_tracing_state, overrides_of(torch)

            def wrapper(*args: Any, **kwargs: Any) -> Any:
                if compiling():  # first, and constant: the compiled graph has the function itself
                    return original(*args, **kwargs)
                watched = self._active and stack() == 0 and tracing() is None
                if overridden((*args, *kwargs.values())):
                    return self._overridden(hook, args, kwargs, watched)
                return self._called(hook, args, kwargs) if watched else original(*args, **kwargs)

        functools.update_wrapper(wrapper, original, ("__module__", "__name__", "__qualname__", "__doc__"))
        scripted = sys.modules.get("torch.jit._builtins")
        if scripted is not None and (operator := scripted._find_builtin(original)) is not None:
            scripted._register_builtin(wrapper, operator)  # torch.jit.script reads the function itself
        return wrapper

    def _overridden(self, hook: _hooked.Hook, args: tuple[Any, ...], kwargs: dict[str, Any], watched: bool) -> Any:
        """A call that its arguments or a mode decide: they get the function, and find it where it was. It is not
        recorded."""
        if watched and not getattr(self._inside, "running", False) and self._frames.wants():
            with self._lock:
                self.seen_calls += 1
            self._refused("a tensor subclass or a torch-function mode")
        with self._places.originals():
            return hook.function(*args, **kwargs)

    def _called(self, hook: _hooked.Hook, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call itself, between the copies of its inputs and its outputs where it is recorded."""
        original = hook.function
        if getattr(self._inside, "running", False) or not self._frames.wants():
            return original(*args, **kwargs)
        new, number, problems = self._begun(hook, args, kwargs)
        if problems is None:  # what it calls within may be recorded instead
            return original(*args, **kwargs)
        watch = _capture_backward.watch(hook, args, kwargs) if problems else None
        if watch is not None:
            args, kwargs = watch.arguments()
        self._inside.running = True
        try:
            returned = original(*args, **kwargs)
        finally:
            self._inside.running = False
        self._ended(hook, problems, returned, new, number, watch)
        return returned

    def _begun(self, hook: _hooked.Hook, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, int,
                                                                                                Inputs | None]:
        """(first of its kind, its number, copies of its inputs): no inputs where it is not wanted, None where it cannot
        be."""
        try:
            kind = (hook.name, *map(kind_of, args), *((name, kind_of(kwargs[name])) for name in sorted(kwargs)))
            with self._lock:
                number = self.seen_calls
                self.seen_calls += 1
                new = kind not in self._sample.kinds
                if not self._sample.wants(kind):
                    return new, number, []
            _hooked.refuse(in_cuda_graph(), "under the capture of a CUDA graph")
            problems = hook.describe(*args, **kwargs)
            for one in problems:
                _hooked.check(one)
            return new, number, [(one, {role: copied(x, role) for role, x in one.inputs.items()}) for one in problems]
        except _hooked.NotRecorded as why:
            self._refused(str(why))
        except Exception as why:  # whatever it is, the program that is watched shall not see it
            self._refused(f"{type(why).__name__}: {why}")
        return False, 0, None

    def _ended(self, hook: _hooked.Hook, problems: Inputs, returned: Any, new: bool, number: int,
               watch: _capture_backward.Watch | None) -> None:
        try:
            records = []
            for problem, tensors in problems:
                given = {role: x for role, x in problem.outputs(returned).items() if x is not None}
                tensors |= {role: copied(x, role) for role, x in given.items()}
                record = Recorded(hook.name, self._frames.layer(), number, tensors, **numbers_of(problem))
                size = record.nbytes
                if watch is not None:  # room for gradients
                    size += sum(tensors[role].data.nbytes for role in ("q", "k", "v", "o"))
                with self._lock:
                    kept = self._sample.add(new, record, size)
                records.append(record)
                if not kept:
                    self._refused("no room for it: more kinds of calls, or more bytes, than are kept")
            if watch is not None:
                watch.begin([problem for problem, _ in problems], returned,
                            functools.partial(self._differentiated, records), self._refused)
        except Exception as why:  # as above
            self._refused(f"{type(why).__name__}: {why}")

    def _differentiated(self, records: list[Recorded], gradients: list[dict[str, Tensor]]) -> None:
        """The backward pass of recorded calls, while the block runs."""
        with self._lock:
            for record, tensors in zip(records, gradients):
                if self._active:
                    record.tensors.update(tensors)

    def _refused(self, why: str) -> None:
        with self._lock:
            self.not_recorded[why] += 1

"""Calls of the judge, handed to a Python callable: the ctypes binding of libattest_serve (include/attest/serve.h).

The judge's tensors lie between inaccessible pages and end with the call, so that the callable gets copies. Their bits
are compared with the judge's after the call, and with themselves after later calls, as are earlier answers: a library
may keep an array and write to it when it is called again.
"""
from __future__ import annotations

import collections
import ctypes
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import as_numpy, of_dltensor, swapped
from ._call import Array, Call, Unsupported, require
from ._parameters import BYTES, LATER, NUMBERS
from ._refusal import may_be_refusal
from ._returned import parts_of
from ._said import MOST_SAID, cut, first_line, from_callable, place_of, text_of
from ._serve_library import KERNEL, MAY_BE_REFUSAL, AttestCall, say_refusal, serve_library
from ._serve_library import say as say_to_judge
from ._tensor_file import Tensor

OK, UNSUPPORTED, FAILED = 0, 1, 2
REMEMBERED_CALLS = 4
REMEMBERED_BYTES = 1 << 16  # of a call: larger ones are compared once only
MOST_TRACEBACKS = 1000

_NUMBERS_OF_1 = tuple(name for name in NUMBERS if getattr(AttestCall, name).offset < AttestCall.sink.offset)
WITHOUT_RULE = ("q_scale", "k_scale", "v_scale", "reserved")
_memcmp = ctypes.CDLL(None).memcmp
_memcmp.restype, _memcmp.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


class _Kept:
    """An array that a callable has seen, and the bits that it had then. `array` is compact, in any order of its
    axes."""

    def __init__(self, says: str, array: Array, bits: Array) -> None:
        self.says, self._array, self._bits = says, array, bits  # they keep the memory
        self._at, self._of, self._bytes = array.ctypes.data, bits.ctypes.data, array.nbytes

    def changed(self) -> bool:
        return self._bytes > 0 and _memcmp(self._at, self._of, self._bytes) != 0


class _Memory:
    """What the last calls were given and answered."""

    def __init__(self) -> None:
        self._calls: collections.deque[list[_Kept]] = collections.deque(maxlen=REMEMBERED_CALLS)
        self._lock = threading.Lock()

    def change(self) -> str | None:
        """What has changed since: a sentence, or None."""
        with self._lock:
            for ago, call in enumerate(reversed(self._calls), 1):
                for kept in call:
                    if kept.changed():
                        self._calls.clear()
                        return f"changes {kept.says} of an earlier call ({ago} call{'s' if ago > 1 else ''} before)"
        return None

    def keep(self, arrays: list[tuple[str, Array]]) -> None:
        if sum(array.nbytes for _, array in arrays) > REMEMBERED_BYTES:
            return
        kept = [_Kept(says, array, array.copy(order="K")) for says, array in arrays
                if array.nbytes and _is_compact(array)]
        with self._lock:
            self._calls.append(kept)


def _is_compact(array: Array) -> bool:
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return True
    return array.ndim == 4 and swapped(array).flags.c_contiguous


def same_bits(copy: Array, judged: Array) -> bool:
    """Whether a copy still has the bits of the judge's tensor."""
    if copy.flags.c_contiguous and judged.flags.c_contiguous:
        return copy.nbytes == 0 or _memcmp(copy.ctypes.data, judged.ctypes.data, copy.nbytes) == 0
    bits = np.dtype(f"u{copy.dtype.itemsize}")
    return bool(np.array_equal(copy.view(bits), judged.view(bits)))


def _is_empty(asked: Any) -> bool:
    """Whether a size of the call is 0: q, k and v, or the outputs of parts to merge, have all of its sizes."""
    tensors = [tensor for name in ("q", "k", "v", "out") if (tensor := getattr(asked, name, None))]
    return any(0 in tensor.contents.shape[:tensor.contents.ndim] for tensor in tensors)


class _Broken(Exception):
    """What a callable must not do, in words."""


class Inputs:
    """The inputs of a call, copied: `rows` (by name their field of `asked`) by `copy`, `further` in row-major order.

    Booleans are no copies of the judge's bytes. Which of `further` are there is up to the call.
    """

    def __init__(self, asked: AttestCall, rows: Mapping[str, str], further: Sequence[str],
                 copy: Callable[[Array], Array]) -> None:
        self._judged = {name: of_dltensor(getattr(asked, field).contents) for name, field in rows.items()}
        self.copies = {name: Tensor(copy(judged.data), judged.dtype) for name, judged in self._judged.items()}
        self._given: dict[str, Array] = {}
        for name in further:
            if not getattr(asked, name):
                continue
            there = of_dltensor(getattr(asked, name).contents)
            if name in BYTES:
                self._given[name] = there.data != 0
            else:
                self._judged[name] = there
                self.copies[name] = Tensor(np.array(there.data, order="C"), there.dtype)
        self._before = {name: array.copy() for name, array in self._given.items()}

    def arrays(self) -> dict[str, Any]:
        """What the callable gets, by name."""
        return {**{name: as_numpy(copy) for name, copy in self.copies.items()}, **self._given}

    def changed(self) -> str | None:
        """The name of an input that was written to, or None."""
        for name, judged in self._judged.items():
            if not same_bits(self.copies[name].data, judged.data):
                return name
        changed = (name for name, array in self._before.items() if not np.array_equal(self._given[name], array))
        return next(changed, None)


class Kernel:
    """attest_attention of the C interface over a function of one Call.

    `layout`: the axes of the arrays that are handed over and come back. Whatever the function raises is an answer:
    Unsupported and NotImplementedError say that it does not take such a call. Anything else is a failure that the
    report quotes; its traceback is in `tracebacks`, by the sentence quoted. The judge is told whether it may be a
    refusal (_refusal.py). `merges` answers merges of partial results, and `gradients` backward passes, if they are
    there.
    """

    function_type = KERNEL

    def __init__(self, answer: Callable[[Call], Any], *, layout: str = "bhnd",
                 say: Callable[[str], None] | None = None, interruptible: bool = True) -> None:
        """`interruptible`: whether a KeyboardInterrupt is the user's, and not the callable's own failure."""
        self.answer, self.layout, self.interrupted, self.calls = answer, layout, False, 0
        self.tracebacks: dict[str, str] = {}
        self.merges: Kernel | None = None
        self.gradients: Kernel | None = None
        self.is_alone = False
        self._say, self._interruptible = say or say_to_judge, interruptible
        self._say_refusal = say or say_refusal
        self._memory = _Memory()

    def answers_merges(self, merges: Kernel) -> None:
        """Merges are answered by this kernel."""
        self.merges, merges.tracebacks = merges, self.tracebacks

    def answers_gradients(self, gradients: Kernel, *, alone: bool) -> None:
        """Backward passes are answered by this kernel. `alone`: it runs a forward pass of its own."""
        self.gradients, gradients.tracebacks, self.is_alone = gradients, self.tracebacks, alone

    def is_interrupted(self) -> bool:
        """Whether the user has interrupted a call."""
        return any(one is not None and one.interrupted for one in (self, self.merges, self.gradients))

    def __call__(self, pointer: Any) -> int:
        # C calls this: an exception that left it would make its status random.
        self.calls += 1
        try:
            return self._status(pointer)
        except KeyboardInterrupt:
            self.interrupted = True
            return UNSUPPORTED
        except BaseException:  # noqa: BLE001  of what _status does about an exception
            return FAILED

    def _status(self, pointer: Any) -> int:
        try:
            return self._judged(pointer.contents)
        except _Broken as why:
            return self._says(str(why))
        except NotImplementedError as why:  # Unsupported is one
            self._say(cut(text_of(why) or type(why).__name__, MOST_SAID))
            return UNSUPPORTED
        except BaseException as why:  # noqa: BLE001  a callable may raise anything, SystemExit too
            if isinstance(why, KeyboardInterrupt) and self._interruptible:
                raise
            return self._failed(why, empty=_is_empty(pointer.contents))

    def _failed(self, why: BaseException, *, empty: bool) -> int:
        said = f"{type(why).__name__}: {first_line(why)}{place_of(why)}"
        # The report escapes what cannot be printed, and tracebacks are found by the sentence.
        said = cut("".join(one if one.isprintable() else "?" for one in said), MOST_SAID - len(MAY_BE_REFUSAL))
        if len(self.tracebacks) < MOST_TRACEBACKS:
            self.tracebacks.setdefault(said, "".join(traceback.format_exception(type(why), why, from_callable(why))))
        (self._say_refusal if may_be_refusal(why, text_of(why), empty=empty) else self._say)(said)
        return FAILED

    def _copy(self, judged: Array) -> Array:
        if self.layout == "bhnd":
            return np.array(judged, order="C")
        return swapped(np.array(swapped(judged), order="C"))

    def _judged(self, asked: AttestCall) -> int:
        require(asked.abi_version in (1, 2), f"a call of version {asked.abi_version}")
        if asked.abi_version == 2:
            for name in WITHOUT_RULE:
                require(not getattr(asked, name), name)
        inputs = Inputs(asked, {name: name for name in "qkv"},
                        ("mask", "bias", *(LATER if asked.abi_version == 2 else ())), self._copy)
        numbers = {name: getattr(asked, name) for name in (NUMBERS if asked.abi_version == 2 else _NUMBERS_OF_1)}
        call = Call(**inputs.arrays(), **numbers, want_lse=bool(asked.lse), want_weights=bool(asked.weights),
                    threads=asked.threads)
        returned = self._answered(call, inputs)
        return self._written(asked, call, inputs.copies, returned)

    def _answered(self, call: Any, inputs: Inputs) -> Any:
        """The answer. Raises _Broken where an input or an earlier call has changed meanwhile."""
        try:
            returned = self.answer(call)
        finally:
            changed = self._memory.change()
        changed = f"changes its input {name}" if (name := inputs.changed()) else changed
        if changed:
            raise _Broken(changed)
        return returned

    def _written(self, asked: AttestCall, call: Call, copies: dict[str, Tensor], returned: Any) -> int:
        try:
            parts = dict(zip(("out", "lse", "weights"), parts_of(returned, call, self.layout)))
        except (TypeError, ValueError) as why:
            return self._says(str(why))
        for name in ("lse", "weights"):
            if getattr(asked, name) and parts[name] is None:
                raise Unsupported("weights" if name == "weights" else "LSE")
        for name, part in parts.items():
            to = getattr(asked, name)
            if to and part is not None:
                np.copyto(of_dltensor(to.contents, writable=True).data, part.data)
        names = {"out": "the answer o", "lse": "the answer LSE", "weights": "the answer weights"}
        self._memory.keep([(f"the input {name}", part.data) for name, part in copies.items()]
                          + [(names[name], part.data) for name, part in parts.items() if part is not None])
        return OK

    def _says(self, what: str) -> int:
        self._say(cut(what, MOST_SAID))
        return FAILED

class Server:
    """Answers the judge's requests with a Kernel, on the thread that calls `next`. Closes with `with`."""

    def __init__(self, kernel: Kernel, name: str, control: int | None = None) -> None:
        """`control`: this process's end of the socket pair of `attest audit --channel`; None where attest started
        it."""
        self._library, self.kernel = serve_library(), kernel
        self._function = KERNEL(kernel)
        said = cut(name, 200).encode("utf-8", "replace")
        self._server = (self._library.attest_serve_caged(said) if control is None
                        else self._library.attest_serve_attached(control, said))
        if not self._server:
            raise RuntimeError("the judge did not start this process" if control is None else "no memory for a server")
        if kernel.merges:
            self._merges = kernel.merges.function_type(kernel.merges)  # C calls it as long as this server is there
            self._library.attest_serve_merges(self._server, ctypes.cast(self._merges, ctypes.c_void_p))
        if kernel.gradients:
            self._gradients = KERNEL(kernel.gradients)
            self._library.attest_serve_backward(self._server, ctypes.cast(self._gradients, ctypes.c_void_p),
                                                kernel.is_alone)

    def next(self, milliseconds: int = -1) -> int:
        """Answers one request: 1; 0 where none came in time or a signal came first, -1 where the judge has ended."""
        return int(self._library.attest_serve_next(self._server, self._function, milliseconds))

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self._server:
            self._library.attest_serve_end(self._server)
            self._server = None

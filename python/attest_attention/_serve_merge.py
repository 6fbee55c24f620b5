"""Merges of the judge, handed to a Python callable: attest_merge of include/attest/kernel.h, as _serve.py has
attest_attention."""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import DLTensor, as_numpy, of_dltensor
from ._call import Unsupported, require
from ._merge import Merge
from ._serve import OK, Kernel, same_bits
from ._tensor_file import Tensor

_tensor = ctypes.POINTER(DLTensor)


class AttestMergeCall(ctypes.Structure):
    """attest_merge_call of include/attest/kernel.h."""

    _fields_ = [("abi_version", ctypes.c_uint32), ("threads", ctypes.c_int32), ("parts", ctypes.c_int32),
                ("reserved", ctypes.c_int32), ("o", ctypes.POINTER(_tensor)), ("lse", ctypes.POINTER(_tensor)),
                ("out", _tensor), ("out_lse", _tensor)]


class MergeKernel(Kernel):
    """attest_merge of the C interface over a function of one Merge that returns (o, LSE or None), Tensors.

    What the function raises is an answer, as of a Kernel."""

    function_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(AttestMergeCall))

    def __init__(self, answer: Callable[[Merge], tuple[Tensor, Tensor | None]], *,
                 say: Callable[[str], None] | None = None, interruptible: bool = True) -> None:
        super().__init__(answer, say=say, interruptible=interruptible)  # type: ignore[arg-type]

    def _judged(self, asked: Any) -> int:
        require(asked.abi_version == 2, f"a merge of version {asked.abi_version}")
        judged = {name: [of_dltensor(of[part].contents) for part in range(asked.parts)]
                  for name, of in (("o", asked.o), ("lse", asked.lse))}
        copies = {name: Tensor(np.stack([part.data for part in parts]), parts[0].dtype)
                  for name, parts in judged.items()}
        merge = Merge(as_numpy(copies["o"]), as_numpy(copies["lse"]), bool(asked.out_lse), asked.threads)
        try:
            o, lse = self.answer(merge)  # type: ignore[arg-type]
        finally:
            changed = self._memory.change()
        for name, parts in judged.items():
            for number, part in enumerate(parts):
                if not same_bits(copies[name].data[number], part.data):
                    return self._says(f"changes its input {name} of part {number}")
        if changed:
            return self._says(changed)
        if asked.out_lse and lse is None:
            raise Unsupported("LSE")
        for to, part in ((asked.out, o), (asked.out_lse, lse)):
            if to and part is not None:
                np.copyto(of_dltensor(to.contents, writable=True).data, part.data)
        self._memory.keep([(f"the input {name}", part.data) for name, part in copies.items()]
                          + [(says, part.data) for says, part in (("the answer o", o), ("the answer LSE", lse))
                             if part])
        return OK

"""Backward passes of the judge, handed to a Python callable: attest_attention_backward of include/attest/kernel.h, as
_serve.py has attest_attention."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _ask
from ._arrays import of_dltensor
from ._call import require
from ._gradients import Backward, MatchedBackward, Traced
from ._parameters import GRADIENTS, LATER, NUMBERS
from ._serve import OK, WITHOUT_RULE, AttestCall, Inputs, Kernel
from ._signature import Options


class BackwardKernel(Kernel):
    """attest_attention_backward of the C interface over a function of one Backward that returns Tensors by the names of
    the gradients, in the shapes of their inputs.

    What the function raises is an answer, as of a Kernel."""

    def _judged(self, asked: AttestCall) -> int:
        require(asked.abi_version == 3, f"a backward pass of version {asked.abi_version}")
        for name in WITHOUT_RULE:
            require(not getattr(asked, name), name)
        rows = {"q": "q", "k": "k", "v": "v", "do": "d_out", **({"o": "out"} if asked.out else {})}
        inputs = Inputs(asked, rows, ("lse", "mask", "bias", *LATER), self._copy)
        wanted = tuple(name for name, of in GRADIENTS.items() if getattr(asked, f"d_{of}"))
        numbers: dict[str, Any] = {name: getattr(asked, name) for name in NUMBERS}
        call = Backward(**inputs.arrays(), **numbers, threads=asked.threads, wanted=wanted)
        found = self._answered(call, inputs)
        for name in wanted:
            to = of_dltensor(getattr(asked, f"d_{GRADIENTS[name]}").contents, writable=True)
            np.copyto(to.data, found[name].data)
        self._memory.keep([(f"the input {name}", part.data) for name, part in inputs.copies.items()]
                          + [(f"the answer {name}", found[name].data) for name in wanted])
        return OK


def answer_with(kernel: Kernel, function: Callable[..., Any], backward: Callable[..., Any] | None, options: Options, *,
                interruptible: bool = True) -> None:
    """Backward passes of this kernel are answered by `backward`, or where that is None by the library of `function`.

    Raises ValueError or TypeError for what cannot be asked.
    """
    if backward is not None:
        matched = MatchedBackward(backward, options)
        asked: Callable[[Any], Any] = matched
        layout, alone = options.layout, matched.is_alone
    else:
        ready = function if _ask.is_adapter(function) else _ask.ready_adapter(function, options.device)
        traced = Traced(function, options, ready)
        asked, layout, alone = traced, traced.layout, True
    kernel.answers_gradients(BackwardKernel(asked, layout=layout, interruptible=interruptible), alone=alone)

"""What an adapter is."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from .._call import Array, Call, Unsupported

# o; o and LSE; o, LSE or None, and weights.
Answer: TypeAlias = Array | tuple[Array, Array | None] | tuple[Array, Array | None, Array | None]


@dataclasses.dataclass(frozen=True)
class Adapter:
    """Somebody's attention as a function of a Call.

    `answer(call)` returns o, (o, lse) or (o, lse, weights) as NumPy arrays; raises Unsupported with a word for what the
    library has no argument for, and whatever else the library raises. It derives all from the call: nothing is padded,
    sliced or repeated so that a library can answer.
    """

    name: str
    answer: Callable[[Call], Answer]
    gives_lse: bool = False
    gives_weights: bool = False
    takes: frozenset[str] = frozenset()  # of what Call.needs names: all else beyond version 1 is Unsupported
    # o of a call, differentiable: from q, k, v and bias by name, arrays [b, h, n, d] of the library `arrays`.
    attended: Callable[[Call, Mapping[str, Any]], Any] | None = None
    arrays: str = "numpy"
    device: str | None = None  # where they are

    def __call__(self, call: Call) -> Answer:
        """The answer; Unsupported where the LSE or weights are wanted and the library does not return them, or for what
        is not in `takes`."""
        if call.want_lse and not self.gives_lse:
            raise Unsupported("LSE")
        if call.want_weights and not self.gives_weights:
            raise Unsupported("weights")
        self.refuse_beyond(call)
        return self.answer(call)

    def refuse_beyond(self, call: Call) -> None:
        """Raises Unsupported for what is not in `takes`."""
        if beyond := [name for name in call.needs if name not in self.takes]:
            raise Unsupported(", ".join(beyond))

"""What an adapter is."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

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

    def __call__(self, call: Call) -> Answer:
        """The answer; Unsupported where the LSE or weights are wanted and the library does not return them, or for what
        is not in `takes`."""
        if call.want_lse and not self.gives_lse:
            raise Unsupported("LSE")
        if call.want_weights and not self.gives_weights:
            raise Unsupported("weights")
        if beyond := [name for name in call.needs if name not in self.takes]:
            raise Unsupported(", ".join(beyond))
        return self.answer(call)

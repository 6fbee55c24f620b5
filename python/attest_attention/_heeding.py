"""An adapter that did not look at a tensor of a call has not answered that call."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._call import Call, require
from ._parameters import LATER


# What an adapter looks at by asking a call for an attribute: the tensors and numbers of version 2, the latter also in
# the band.
_LOOKS_AT = {**{name: name for name in (*LATER, "align")}, "band_mask": "align", "visible": "align"}


class _Watched(Call):
    """A call that notes which of its later tensors and numbers somebody has looked at.

    All else is the call's own: what its sizes and diagonals read is not noted.
    """

    def __init__(self, call: Call, seen: set[str]) -> None:
        object.__getattribute__(self, "__dict__").update(call=call, seen=seen)

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, "__dict__")
        if name in _LOOKS_AT:
            own["seen"].add(_LOOKS_AT[name])
        return getattr(own["call"], name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return getattr(self, "__reduce_ex__")(protocol)  # the call's, so that a copy is one of the call  # noqa: B009


def heeding(answer: Callable[[Call], Any]) -> Callable[[Call], Any]:
    """A function of a Call that answers a call of version 2 only if it has looked at all of it: Unsupported names the
    rest.

    Functions written for version 1 know nothing of sinks, lengths, offsets, tables and so on: that they did not fail
    would be no answer.
    """
    def heeded(call: Call) -> Any:
        needs = call.needs
        if not needs:
            return answer(call)
        seen: set[str] = set()
        try:
            returned = answer(_Watched(call, seen))
        except Exception:
            _refuse_unseen(needs, seen)
            raise
        _refuse_unseen(needs, seen)
        return returned

    return heeded


def _refuse_unseen(needs: tuple[str, ...], seen: set[str]) -> None:
    unseen = [name for name in needs if name not in seen]
    require(not unseen, ", ".join(unseen))

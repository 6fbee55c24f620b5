"""attest: verification of attention kernels, from Python.

    import attest_attention as attest

    report = attest.audit(my_attention)                # a callable, on adversarial inputs
    report = attest.verify(q, k, v, o, causal="top-left")   # one recorded call
    o_exact, bound = attest.reference(q, k, v)         # the truth, and the error that a contract allows each element
    attest.assert_attention(o, q, k, v)                # in a test

The program `attest` judges; docs/python.md is the manual of this package, docs/audit.md the manual of the program.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._audit import audit
from ._audit_gradients import audit_gradients
from ._call import Call, Unsupported
from ._compare import compare
from ._merge import Merge
from ._merge_recorded import reference_merge, verify_merge
from ._reference import assert_attention, reference, solve
from ._report import Report
from ._verify import verify

if TYPE_CHECKING:
    from . import adapters as adapters
    from ._campaign import campaign as campaign
    from ._candidates import candidates as candidates
    from ._capture import capture as capture

__version__ = "0.8.0"

__all__ = ["Call", "Merge", "Report", "Unsupported", "__version__", "adapters", "assert_attention", "audit",
           "audit_gradients", "campaign", "candidates", "capture", "compare", "reference", "reference_merge", "solve",
           "verify", "verify_merge"]

# Imported when they are first used: they are of no use to most, and campaign needs Dask.
_LATER = {"adapters": ("adapters", None), "campaign": ("_campaign", "campaign"),
          "candidates": ("_candidates", "candidates"), "capture": ("_capture", "capture")}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _LATER[name]
    found = importlib.import_module(f"{__name__}.{module}")
    return getattr(found, attribute) if attribute else found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""attest.verify: the judgement of one recorded call."""
from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _tensor_file
from ._judging import run_judging
from ._keywords import outputs_of
from ._problem import Problem, problem
from ._report import Folder, NotWritten, Replay, Report
from ._words import Contract, contract_words, listed, option_words, text_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import Judged


def verify(q: Any, k: Any, v: Any, o: Any = None, *, lse: Any = None, weights: Any = None,
           contract: Contract | None = None, findings: str | os.PathLike[str] | None = None,
           waive: str | Sequence[str] = (), jobs: int | None = None, json: str | os.PathLike[str] | None = None,
           html: str | os.PathLike[str] | None = None, options: str | Sequence[str] = (),
           **keywords: Unpack[Judged]) -> Report:
    """Judges the outputs of one call of an attention kernel, each element under its derived bound.

    Shapes  q [b, hq, n, d], k [b, hk, m, d], v [b, hk, m, dv], o [b, hq, n, dv], lse [b, hq, n], weights [b, hq, n, m];
            mask (true = attend) and bias [b|1, hq|1, n|1, m]. Two or three axes are read as the last ones. Arrays of
            NumPy, PyTorch, JAX, or with __dlpack__, on any device. layout "bnhd" has q, k, v and o as [b, n, h, d];
            "thd" as [sum of n, h, d], with cu_seqlens, the offsets of the queries and of the keys.
    Band    causal is "top-left" (j <= i), "bottom-right" (j <= i + m - n), or True where n = m. window is (left,
            right), inclusive, -1 unbounded, around the diagonal of causal, or of `diagonal` (0 is i = j).
    Also    sink, q_lengths, k_lengths, q_offsets, k_offsets, block_table, kv_layout, block_mask, block_q, block_k,
            keep, dropout and align, as docs/semantics.md has them (docs/python.md). Packed rows beside one of them are
            one problem.
    Gradients  do, the upstream gradient, with dq, and dk, dv, dbias and dsink or some of them. o and lse are then what
            the backward pass was handed: they are judged, too, and their errors count in its judgement. Without lse
            both count as the answers of a forward pass under the same contract.
    contract  a name of `attest list contracts`, a JSON file, or a dict as such a file holds; without it the preset
              named like the type of q
    findings  a folder for the case of each finding; without it none is written

    Raises ValueError or TypeError that names the argument, and an OSError whose `report` is the report where `json` or
    `html` could not be written.

    >>> import numpy as np
    >>> q = k = v = np.eye(2, dtype=np.float32)
    >>> report = verify(q, k, v, v)              # v is not softmax(q·kᵀ/√2)·v
    >>> report.verdict, report.findings[0]["output"]
    ('refuted', 'o')
    """
    given: dict[str, Any] = {**keywords}
    outputs = outputs_of(given, o=o, lse=lse, weights=weights)
    recorded = problem(q, k, v, outputs=outputs, **given)
    return verify_problem(recorded, contract=contract, findings=findings, waive=waive, jobs=jobs, json=json, html=html,
                          options=options)


def verify_problem(recorded: Problem, *, contract: Contract | None,
                   findings: str | os.PathLike[str] | None = None, waive: str | Sequence[str] = (),
                   jobs: int | None = None, json: str | os.PathLike[str] | None = None,
                   html: str | os.PathLike[str] | None = None, options: str | Sequence[str] = (),
                   **unknown: Any) -> Report:
    """Judges a problem with its outputs. Raises TypeError for a keyword that there is not."""
    for name in unknown:
        raise TypeError(f"{name}: there is no such argument")
    words, _ = contract_words(contract, recorded.dtype, "q")
    folder = Folder()  # the report's, so that its reproducers name a file that is there
    path = Path(folder.name) / "recorded.safetensors"
    _tensor_file.write(path, recorded.tensors, recorded.parameters)
    words += [*option_words({"waive": waive}), *listed(options, "options")]
    beside = ["--findings", text_of(findings, "findings") if findings is not None else "",
              *option_words({"jobs": jobs})]
    replay = Replay(path, words)
    with open(path, "rb") as file:
        # What comes from standard input is always saved, whereas a finding of a file with one problem is that file.
        try:
            report = run_judging("verify", ["-" if findings is not None else path, *beside, *words],
                                 {"json": json, "html": html}, progress=False, folder=folder, standard_input=file)
        except NotWritten as why:
            why.report.replay = replay
            raise
    report.replay = replay
    return report

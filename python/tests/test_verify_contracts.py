"""The contract by which a recorded call is judged."""
from __future__ import annotations

from pathlib import Path

import attest_attention as attest
import kernels
import numpy as np
import pytest
from test_verify import inputs


def test_a_contract_is_a_name_a_file_or_a_dict(tmp_path: Path) -> None:
    q, k, v = inputs()
    o, lse = kernels.right(q, k, v, return_lse=True)
    written = {"from": "f32", "conventions": {"lse_base": "2"}}
    for contract in (written, "f32+lse_base=2"):
        report = attest.verify(q, k, v, o, lse=lse / np.log(2, dtype=np.float32), contract=contract)
        assert (report.verdict, report.json["contract"]) == ("certified", "f32+lse_base=2")
        assert attest.verify(q, k, v, o, lse=lse, contract=contract).verdict == "refuted"
    attest.assert_attention(o, q, k, v, contract=written)
    assert attest.reference(q, k, v, contract=written).o.dtype == np.float32
    assert attest.verify(q, k, v, o, contract="pytorch-cpu-math-f32").json["contract"] == "pytorch-cpu-math-f32"
    with pytest.raises(ValueError, match="q: is f32, but the inputs of the contract are bf16"):
        attest.verify(q, k, v, o, contract={"from": "bf16"})
    with pytest.raises(ValueError, match="q: is f32, but the inputs of the contract pytorch-cpu-math-f16 are f16"):
        attest.verify(q, k, v, o, contract="pytorch-cpu-math-f16")
    with pytest.raises(ValueError, match="no contract is called 'f3', did you mean 'f32'"):
        attest.verify(q, k, v, o, contract={"from": "f3"})


def test_a_contract_starts_from_a_ready_one() -> None:
    q, k, v = inputs()
    o, lse = kernels.right(q, k, v, return_lse=True)
    ready = {"from": "pytorch-cpu-math-f32", "conventions": {"lse_base": "2"}}
    assert attest.verify(q, k, v, o, lse=lse * np.float32(np.log2(np.e)), contract=ready).verdict == "certified"
    assert attest.verify(q, k, v, o, lse=lse, contract=ready).verdict == "refuted"
    with pytest.raises(ValueError, match="no contract is called 'pytorch-cpu-maths-f32', did you mean"):
        attest.verify(q, k, v, o, contract={"from": "pytorch-cpu-maths-f32"})


def test_a_path_to_a_ready_contract_that_is_not_there_is_met_with_its_name() -> None:
    q, k, v = inputs()
    for name, more in (("pytorch-cpu-math-f32", "; the ready contract needs no path: 'pytorch-cpu-math-f32'"),
                       ("mine", "")):
        for path in (f"no/folder/{name}.json", f"{name}.json"):
            says = f"^contract: {path}: cannot be opened: No such file or directory{more}$"
            with pytest.raises(ValueError, match=says):
                attest.verify(q, k, v, v, contract=path)
    assert attest.verify(q, k, v, v, contract="pytorch-cpu-math-f32").verdict == "refuted"

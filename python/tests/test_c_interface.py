"""The structures of ctypes equal the structures of the C headers, as a C compiler reads them."""
from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from attest_attention import _program
from attest_attention._arrays import DLDataType, DLDevice, DLTensor
from attest_attention._parameters import GRADIENTS, LATER, NUMBERS
from attest_attention._serve import AttestCall
from attest_attention._serve_merge import AttestMergeCall

INCLUDE = (_program.clone() or Path(_program.__file__).parent / "_native") / "include"
COMPILER = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

# The types that a field of C may have where ctypes has this one, which knows no const.
IN_C = {ctypes.c_uint8: ["uint8_t"], ctypes.c_uint16: ["uint16_t"], ctypes.c_int32: ["int32_t"],
        ctypes.c_uint32: ["uint32_t"], ctypes.c_int64: ["int64_t"], ctypes.c_uint64: ["uint64_t"],
        ctypes.c_double: ["double"], ctypes.c_void_p: ["void *"], ctypes.POINTER(ctypes.c_int64): ["int64_t *"],
        DLDevice: ["DLDevice"], DLDataType: ["DLDataType"],
        ctypes.POINTER(DLTensor): ["DLTensor *", "const DLTensor *"],
        ctypes.POINTER(ctypes.POINTER(DLTensor)): ["const DLTensor *const *"]}


def claims(structure: Any, name: str) -> list[str]:
    """What the compiler must find true of the structure `name`: each field's name, type and place, and that there is no
    other."""
    assert sum(ctypes.sizeof(kind)
               for _, kind in structure._fields_) == ctypes.sizeof(structure), "a field fits into a gap"
    said = [f"sizeof({name}) == {ctypes.sizeof(structure)}"]
    for field, kind in structure._fields_:
        types = ", ".join(f"{of}: 1" for of in IN_C[kind])
        said += [f"offsetof({name}, {field}) == {getattr(structure, field).offset}",
                 f"_Generic((({name} *)0)->{field}, {types}, default: 0)"]
    return said


@pytest.mark.skipif(not COMPILER, reason="no C compiler")
@pytest.mark.parametrize(("structure", "name"), [(AttestCall, "attest_call"), (AttestMergeCall, "attest_merge_call"),
                                                 (DLTensor, "DLTensor"), (DLDataType, "DLDataType")])
def test_every_field_is_that_of_the_header(structure: Any, name: str) -> None:
    asserted = "".join(f'_Static_assert({claim}, "");\n' for claim in claims(structure, name))
    source = f"#include <stddef.h>\n#include <attest/kernel.h>\n{asserted}"
    said = subprocess.run([str(COMPILER), "-std=c11", "-fsyntax-only", "-I", str(INCLUDE), "-x", "c", "-"],
                          input=source, text=True, capture_output=True)
    assert said.returncode == 0, said.stderr


def test_a_call_of_version_1_ends_where_the_tensors_of_version_2_begin() -> None:
    fields = [field for field, _ in AttestCall._fields_]  # type: ignore[misc]
    assert AttestCall.sink.offset == 112 and fields[fields.index("weights") + 1] == "sink"
    assert set(LATER) <= set(fields[fields.index("sink"):fields.index("d_out")])


def test_every_number_and_optional_tensor_of_a_call_is_a_row() -> None:
    named = {"abi_version", "threads", "q", "k", "v", "mask", "bias", "out", "lse", "weights", *NUMBERS, *LATER}
    without_rule = {"q_scale", "k_scale", "v_scale", "reserved"}
    backward = {"d_out", *("d_" + of for of in GRADIENTS.values())}
    assert {field for field, _ in AttestCall._fields_} == named | without_rule | backward  # type: ignore[misc]

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from attest_attention import _tensor_file as files


def test_what_is_written_is_read(tmp_path: Path) -> None:
    arrays: dict[str, files.Array] = {
        "a": np.arange(6, dtype=np.float64).reshape(2, 3), "b.q": np.array([1.5, -0.0, np.inf], np.float32),
        "mask": np.array([[True, False]]), "half": np.array([0.1], np.float16), "empty": np.zeros((0, 4), np.float32),
        "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T, "scalar": np.array(3, np.int64)}
    files.write(tmp_path / "x.safetensors", {name: files.tensor(one) for name, one in arrays.items()},
                {"scale": "0x1p-1"})
    tensors, metadata = files.read(tmp_path / "x.safetensors")
    assert metadata == {"scale": "0x1p-1"}
    assert set(tensors) == set(arrays)
    for name, array in arrays.items():
        assert tensors[name].shape == array.shape and tensors[name].data.dtype == array.dtype
        assert tensors[name].data.tobytes() == array.tobytes()


def test_every_tensor_is_aligned_to_its_elements(tmp_path: Path) -> None:
    arrays: dict[str, files.Array] = {name: np.zeros(3, dtype)
                                      for name, dtype in zip("abcd", ("u1", "f8", "f2", "f4"))}
    files.write(tmp_path / "x", {name: files.tensor(one) for name, one in arrays.items()})
    data = (tmp_path / "x").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    for name, entry in json.loads(data[8:8 + length]).items():
        assert (8 + length + entry["data_offsets"][0]) % arrays[name].itemsize == 0


def test_bfloat16_is_its_bits(tmp_path: Path) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1.0, -2.5, np.nan], ml_dtypes.bfloat16)
    files.write(tmp_path / "x", {"a": files.tensor(array)})
    part = files.read(tmp_path / "x")[0]["a"]
    assert part.dtype == "BF16" and part.data.tolist() == array.view(np.uint16).tolist()


@pytest.mark.parametrize(("content", "says"), [
    (b"", "has 0 bytes"),
    (struct.pack("<Q", 1 << 40), "its header would have"),
    (struct.pack("<Q", 100) + b"{}", "ends within its header"),
    (struct.pack("<Q", 4) + b"{{{{", "no JSON"),
    (struct.pack("<Q", 2) + b"[]", "no JSON object"),
])
def test_what_is_no_file_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ValueError, match=says):
        files.read(tmp_path / "x")


@pytest.mark.parametrize("entry", [
    {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
    {"dtype": "F32", "shape": [2], "data_offsets": [0, 800]},
    {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]},
    {"dtype": "F33", "shape": [1], "data_offsets": [0, 4]},
    {"shape": [1], "data_offsets": [0, 4]},
    {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]},
])
def test_a_tensor_outside_of_its_file_is_refused(tmp_path: Path, entry: dict[str, object]) -> None:
    header = json.dumps({"t": entry}).encode()
    (tmp_path / "x").write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    with pytest.raises(ValueError, match="the tensor 't' cannot be read"):
        files.read(tmp_path / "x")


def test_a_type_that_files_lack_is_refused() -> None:
    with pytest.raises(TypeError, match="complex128"):
        files.tensor(np.zeros(1, np.complex128))

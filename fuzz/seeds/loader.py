#!/usr/bin/env python3
"""Writes the seeds of the fuzz target loader: small valid files, and one file for each way to be wrong.

Usage: fuzz/seeds/loader.py FOLDER
"""
import json
import struct
import sys
from pathlib import Path

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "BOOL": 1, "U8": 1, "I64": 8}


def raw(header: bytes, data: bytes = b"", length: int | None = None) -> bytes:
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def valid(tensors: dict, metadata: dict | None = None) -> bytes:
    """tensors: name -> (dtype, shape)"""
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (dtype, shape) in tensors.items():
        size = SIZES[dtype]
        for length in shape:
            size *= length
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size]}
        data += bytes(i % 251 for i in range(size))
    return raw(json.dumps(header).encode(), data)


def one_tensor(dtype='"U8"', shape="[4]", offsets="[0,4]", data=4) -> bytes:
    return raw(f'{{"q":{{"dtype":{dtype},"shape":{shape},"data_offsets":{offsets}}}}}'.encode(), bytes(data))


QKV = {"q": ("F32", [2, 4]), "k": ("F32", [3, 4]), "v": ("F32", [3, 5])}


def prefixed(prefix: str, dtype: str = "F32", b: int = 1) -> dict:
    return {prefix + "q": (dtype, [b, 2, 2, 3]), prefix + "k": (dtype, [b, 1, 3, 3]),
            prefix + "v": (dtype, [b, 1, 3, 2])}


SEEDS = {
    # valid
    "valid_empty": raw(b"{}"),
    "valid_plain": valid(QKV),
    "valid_all_roles": valid({**QKV, "mask": ("BOOL", [2, 3]), "bias": ("F32", [3]), "o": ("F32", [2, 5]),
                              "lse": ("F32", [2]), "weights": ("F32", [2, 3])}),
    "valid_prefixes": valid({**prefixed("layer0."), **prefixed("a.b.", "BF16"), "ids": ("I64", [2])},
                            {"layer0.scale": "0x1p-3", "scale": "0.5", "right": "0", "diagonal": "1"}),
    "valid_f64": valid({**prefixed("", "F64"), "bias": ("F32", [2, 3])}, {"scale": "default", "softcap": "30"}),
    "valid_f16_empty": valid({"q": ("F16", [0, 4]), "k": ("F16", [3, 4]), "v": ("F16", [3, 1])}),
    # the frame
    "short": b"1234567",
    "header_past_end": raw(b"{}", length=3),
    "header_huge": raw(b"{}", length=2**64 - 1),
    "trailing": raw(b"{}", b"x"),
    # the JSON
    "not_json": raw(b"{nonsense"),
    "not_object": raw(b"[]"),
    "zero_byte": raw(b"{}\0{}"),
    "bad_utf8": raw(b'{"\xff":{}}'),
    "nested": raw(b'{"q":' + b"[" * 500),
    "nested_objects": raw(b'{"q":{"shape":' * 50),
    "twice": raw(b'{"q":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'
                 b'"q":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
    "metadata_number": raw(b'{"__metadata__":{"scale":1}}'),
    # one tensor
    "dtype_unknown": one_tensor(dtype='"F4"'),
    "shape_negative": one_tensor(shape="[-1]"),
    "shape_float": one_tensor(shape="[4.0]"),
    "shape_nan": one_tensor(shape="[NaN]"),
    "shape_2_63": one_tensor(shape="[9223372036854775808]"),
    "shape_overflow": one_tensor(shape="[4294967296,4294967296]"),
    "shape_zero_overflow": one_tensor(shape="[0,4611686018427387904,4]", offsets="[0,0]", data=0),
    "shape_mismatch": one_tensor(shape="[3]"),
    "offsets_reversed": one_tensor(offsets="[4,0]"),
    "offsets_past_end": one_tensor(offsets="[0,5]", shape="[5]"),
    "offsets_hole": one_tensor(offsets="[1,4]", shape="[3]"),
    "offsets_three": one_tensor(offsets="[0,4,4]"),
    "overlap": raw(b'{"q":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},'
                   b'"k":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}', b"abcd"),
    # the problem
    "mask_floating": valid({**QKV, "mask": ("F32", [2, 3])}),
    "k_missing": valid({"q": ("F32", [2, 4]), "v": ("F32", [3, 5])}),
    "rank_five": valid({**QKV, "q": ("F32", [1, 1, 1, 2, 4])}),
    "scale_garbage": valid(QKV, {"scale": "fast"}),
    "left_below": valid(QKV, {"left": "-2"}),
    "sizes_overflow": raw(b'{"q":{"dtype":"F32","shape":[1099511627776,0],"data_offsets":[0,0]},'
                          b'"k":{"dtype":"F32","shape":[0,0],"data_offsets":[0,0]},'
                          b'"v":{"dtype":"F32","shape":[0,1099511627776],"data_offsets":[0,0]},'
                          b'"lse":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},'
                          b'"__metadata__":{"scale":"1"}}'),
}


def vectors(case: dict | None = None, **top) -> bytes:
    base = {"name": "f32/x", "type": "f32", "flags": ["lse"],
            "sizes": {"b": 1, "hq": 1, "hk": 1, "n": 1, "m": 2, "d": 1, "dv": 1},
           "scale": None, "softcap": "0x0p+0", "diagonal": 0, "left": -1, "right": -1, "q": ["0x1p+0"],
            "k": ["0x1p+0", "-0x1p-1"],
           "v": ["nan", "inf"], "mask": {"shape": [1, 1, 1, 2], "values": [1, 0]}, "bias": None,
           "o": {"truth_lower": ["nan"], "truth_upper": ["nan"], "rounded": [None]},
           "lse": {"truth_lower": ["0x1p+0"], "truth_upper": ["0x1p+0"], "rounded": ["0x1p+0"]}}
    return json.dumps({"attest": "vectors", "schema": 1, "check": "x", "flags": {"lse": "says"},
                       "cases": [{**base, **(case or {})}], **top}).encode()


def sized(**changes) -> dict:
    return {"sizes": {"b": 1, "hq": 1, "hk": 1, "n": 1, "m": 2, "d": 1, "dv": 1, **changes}}


SEEDS |= {
    "vectors_valid": vectors(),
    "vectors_schema": vectors(schema=2),
    "vectors_nested": b'{"attest":' + b"[" * 500,
    "vectors_type": vectors({"type": "f8"}),
    "vectors_not_bf16": vectors({"type": "bf16", "q": ["0x1.000002p+0"]}),
    "vectors_huge": vectors(sized(b=2**62, n=0)),
    "vectors_negative": vectors(sized(n=-1)),
    "vectors_float": vectors(sized(n=1.5)),
    "vectors_empty": vectors({**sized(n=0), "q": [], "o": {"truth_lower": [], "truth_upper": [], "rounded": []},
                              "lse": {"truth_lower": [], "truth_upper": [], "rounded": []}}),
    "vectors_hex": vectors({"q": ["0x"]}),
    "vectors_infinite": vectors({"softcap": "inf"}),
    "vectors_flag": vectors({"flags": ["unknown"]}),
    "vectors_mask": vectors({"mask": {"shape": [1, 1, 1, 3], "values": [1, 0, 1]}}),
    "vectors_truths": vectors({"o": {"truth_lower": [], "truth_upper": [], "rounded": []}}),
    "vectors_missing": b'{"attest":"vectors","schema":1,"check":"x","flags":{},"cases":[{}]}',
}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (folder / name).write_bytes(content)

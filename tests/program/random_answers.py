"""Random problems, answered by NumPy in a wider format: `attest verify` never refutes a right answer and never
certifies a wrong one.

usage: random_answers.py ATTEST [SEED [PROBLEMS]]
"""
import json, os, struct, subprocess, sys, tempfile

import numpy as np

ATTEST = sys.argv[1]
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
PROBLEMS = int(sys.argv[3]) if len(sys.argv) > 3 else 300
DTYPES = {"F32": (np.float32, np.float64), "F64": (np.float64, np.longdouble), "F16": (np.float16, np.float64)}
random = np.random.default_rng(SEED)


def drawn_problem():
    """Tensors and parameters of docs/semantics.md: q, k, v, perhaps a mask of bytes, a bias, a band, a scale, a
    softcap."""
    dtype = random.choice(list(DTYPES))
    kind = DTYPES[dtype][0]
    b, hk, group = random.integers(1, 3, 3)
    n, m = random.integers(1, 14, 2)
    d, dv = random.integers(1, 18, 2)
    normal = lambda *shape: random.standard_normal(shape).astype(kind)
    tensors = {"q": normal(b, hk * group, n, d), "k": normal(b, hk, m, d), "v": normal(b, hk, m, dv)}
    parameters = {}
    broadcast = lambda: [int(random.choice([1, size])) for size in (b, hk * group, n)] + [m]
    if random.random() < 0.5:
        tensors["mask"] = np.where(random.random(broadcast()) < random.choice([0.2, 0.7, 0.95]),
                                   random.choice([1, 255]), 0).astype(np.uint8)
    if random.random() < 0.4:
        tensors["bias"] = normal(*broadcast())
        tensors["bias"][random.random(tensors["bias"].shape) < random.choice([0, 0.3])] = -np.inf
    if random.random() < 0.4:
        parameters["diagonal"] = int(random.choice([0, m - n]))
        parameters["left"], parameters["right"] = int(random.choice([-1, 2])), int(random.choice([-1, 0, 1]))
    if random.random() < 0.3:
        parameters["scale"] = float(random.choice([1, 0.5, -0.25, 0]))
    if random.random() < 0.3:
        parameters["softcap"] = float(random.choice([1, 20]))
    if random.random() < 0.15:  # a NaN that no query may see changes nothing; a NaN that a query sees is its answer
        tensors[random.choice(["k", "v"])][0, 0, random.integers(m)] = np.nan
    return dtype, tensors, parameters


def answer(dtype, tensors, parameters):
    """O and LSE in the wider format, rounded once."""
    kind, wide = DTYPES[dtype]
    q, k, v = (tensors[role].astype(wide) for role in "qkv")
    (b, hq, n, d), (_, hk, m, dv) = q.shape, v.shape
    scale = wide(parameters.get("scale", 1 / np.sqrt(wide(d))))
    visible = np.ones((b, hq, n, m), bool)
    if "mask" in tensors:
        visible &= np.broadcast_to(tensors["mask"] != 0, visible.shape)
    distance = np.arange(m)[None, :] - np.arange(n)[:, None] - parameters.get("diagonal", 0)
    if parameters.get("left", -1) >= 0:
        visible &= distance >= -parameters["left"]
    if parameters.get("right", -1) >= 0:
        visible &= distance <= parameters["right"]
    o, lse = np.zeros((b, hq, n, dv), wide), np.full((b, hq, n), -np.inf, wide)
    for at in np.ndindex(b, hq, n):
        keys = np.flatnonzero(visible[at])
        kv = (at[0], at[1] // (hq // hk))
        scores = k[kv][keys] @ q[at] * scale
        if "softcap" in parameters:
            scores = parameters["softcap"] * np.tanh(scores / parameters["softcap"])
        if "bias" in tensors:
            scores = scores + np.broadcast_to(tensors["bias"], visible.shape)[at][keys].astype(wide)
        if np.all(scores == -np.inf):  # as a row without a visible key
            continue
        weights = np.exp(scores - scores.max())
        lse[at] = scores.max() + np.log(weights.sum())
        o[at] = weights / weights.sum() @ v[kv][keys]
    return {"o": o.astype(kind), "lse": lse.astype(kind if dtype == "F64" else np.float32)}


def write(file, problems):
    header, data = {"__metadata__": {}}, b""
    for number, (dtype, tensors, parameters) in enumerate(problems):
        for name, value in parameters.items():
            header["__metadata__"][f"p{number:04}.{name}"] = repr(value)
        for role, array in tensors.items():
            raw = np.ascontiguousarray(array).tobytes()
            kind = {np.dtype(np.uint8): "U8", np.dtype(np.float32): "F32"}.get(array.dtype, dtype)
            header[f"p{number:04}.{role}"] = {"dtype": kind, "shape": list(array.shape),
                                              "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
    text = json.dumps(header).encode()
    with open(file, "wb") as to:
        to.write(struct.pack("<Q", len(text)) + text + data)


def verified(file):
    ran = subprocess.run([ATTEST, "verify", file, "--findings", "", "--json", "-"], capture_output=True, text=True)
    assert ran.returncode in (0, 1, 3), ran.stderr
    return {row["name"]: row for row in json.loads(ran.stdout)["checks"]}


def spoilt(dtype, tensors, parameters):
    """One finite element of an output, off by twice the largest value; None where no element is finite."""
    tensors = {role: array.copy() for role, array in tensors.items()}
    role = random.choice(["o", "lse"])
    finite = np.argwhere(np.isfinite(tensors[role]))
    if len(finite) == 0:
        return None
    largest = np.abs(np.nan_to_num(tensors["v"].astype(np.float64))).max()
    tensors[role][tuple(random.choice(finite))] += 2 * max(1, largest)
    return dtype, tensors, parameters


right, wrong = [], []
with np.errstate(all="ignore"):
    for _ in range(PROBLEMS):
        dtype, tensors, parameters = drawn_problem()
        right.append((dtype, tensors | answer(dtype, tensors, parameters), parameters))
    wrong = [problem for problem in map(lambda of: spoilt(*of), right) if problem]

with tempfile.TemporaryDirectory() as folder:
    faults = []
    for what, problems in (("right", right), ("wrong", wrong)):
        file = os.path.join(folder, what + ".safetensors")
        write(file, problems)
        judged = refuted = 0
        for name, row in verified(file).items():
            judged += row["elements"]
            refuted += row["failed"] > 0
            unjudged = row["not_judged"] + row["undecided_elements"]
            if what == "right" and row["failed"] > 0:
                faults.append(f"seed {SEED}: the right answer {name} is refuted")
            if what == "wrong" and row["failed"] == 0 and unjudged == 0:
                faults.append(f"seed {SEED}: the wrong answer {name} is certified")
        print(f"{what}: {len(problems)} problems, {judged} elements judged, {refuted} problems refuted")
    print("\n".join(faults))
    assert len(wrong) > PROBLEMS * 0.9 and not faults

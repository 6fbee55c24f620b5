"""Reports of every kind that attest writes, made by the program itself: for tests of `merge` and of the schemas."""
import json
import signal
import struct
import subprocess
import time

QUICK = ("--quick", "--seed", "1", "--findings", "")


def kinds(kernels):
    """Name: (shards, status of the whole, arguments of `attest audit`)."""
    def kernel(name):
        return ("--kernel", kernels / f"{name}.so")

    return {
        "certified": (2, 0, ("--only", "masks,stability")),
        "one case": (2, 0, ("--only", "masks/random-full,bands")),
        "three shards": (3, 0, ("--only", "masks", *kernel("naive"))),
        "refuted": (2, 1, ("--only", "masks,windows,stability", *kernel("mean_v"))),
        "of several classes": (2, 1, ("--only", "empty-rows,masks,poison", *kernel("nan_empty_row"))),
        "crash": (2, 1, ("--only", "masks,bands", *kernel("crash"))),
        "waived": (2, 0, ("--only", "empty-rows,masks", "--waive", "empty-rows,masks", *kernel("nan_empty_row"))),
        "unanswered": (2, 3, ("--only", "accuracy", "--domain", "d=64", *kernel("refuses"))),
        "unsupported": (2, 3, ("--only", "masks", "--require-support", "bias")),
        "drawn": (2, 0, ("--only", "drawn", "--draws", "6", "--draw-products", "65536")),
        "draws by name": (2, 0, ("--only", "drawn/5,drawn/6,bands")),
        "stopped": (2, 1, ("--only", "masks,windows", "--fail-fast", *kernel("mean_v"))),
        "of another type": (2, 0, ("--only", "masks", "--contract", "bf16")),
        "gradients": (2, 0, ("--only", "backward/equal-dp-0,masks")),
        "two kernels": (2, 1, ("--only", "masks", *kernel("mean_v"), "--kernel", "builtin")),
    }


def audit(attest, folder, name, *arguments):
    file = folder / f"{name}.json"
    subprocess.run([attest, "audit", *QUICK, *arguments, "--json", file], cwd=folder, check=False, timeout=300,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return file


def shards(attest, folder, kernels, name):
    """The files of all shards of one kind."""
    count, _, arguments = kinds(kernels)[name]
    return [audit(attest, folder, f"{name} {n}", *arguments, "--shard", f"{n}/{count}") for n in range(1, count + 1)]


def interrupted_shard(attest, folder, kernels, part):
    """Shard `part` of 2, ended by SIGINT among its cases."""
    file = folder / f"interrupted {part}.json"
    run = subprocess.Popen([attest, "audit", *QUICK, "--only", "masks", "--kernel", kernels / "works_half_a_second.so",
                            "--shard", f"{part}/2", "--json", file], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    time.sleep(1.5)
    run.send_signal(signal.SIGINT)
    run.wait(60)
    return file


def write_safetensors(path, tensors, metadata=None):
    """tensors: name: (dtype, shape, bytes)."""
    head, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (kind, shape, raw) in tensors.items():
        head[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def one_by_one(kind="F32", one=struct.pack("<f", 1), out=None, prefix=""):
    """A problem of one query, one key and one column of ones, whose answer is 1."""
    return {prefix + name: (kind, [1, 1], out if name == "o" and out else one) for name in "qkvo"}

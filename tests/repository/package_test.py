"""The Python package as a person gets it: a wheel is built from the clone, put into an environment of its own, and
audits the built-in kernel with no compiler and no variable of the environment. Exit status 77: no wheel could be built
here, as pip does not reach a registry.

    package_test.py ROOT WORK
    package_test.py WHEEL WORK    what a wheel for any processor holds, and no more
"""
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

LARGEST = 25_000_000
# What every Linux has that manylinux is about: https://peps.python.org/pep-0600
EVERYWHERE = re.compile(r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux-[\w-]+)\.so\.\d+$")
MACHINES = {"x86_64": 62, "aarch64": 183}  # e_machine of ELF files
VECTORS = {"x86_64": {"avx512", "avx2"}, "aarch64": {"neon"}}
HELD = ["bin/attest", "libexec/attest/attest-runner", "lib/libattest_kernel.so",
        "lib/attest/libattest_kernel_scalar.so", "lib/attest/libattest_zoo.so", "lib/attest/libattest_vectors.so",
        "lib/attest/libattest_answers.so", "share/attest/minilm_attention.safetensors",
        "share/attest/report.schema.json", "share/attest/contracts/flash-attention-2-bf16.json",
        "include/attest/kernel.h", "include/attest/builtin.h", "include/dlpack/dlpack.h"]

IN_PYTHON = """
import attest_attention as attest
import numpy as np
from importlib.metadata import entry_points
q = k = v = np.eye(4, dtype=np.float32)
assert attest.verify(q, k, v, v).verdict == "refuted"
assert attest.audit("builtin", quick=True, draws=0, seed=1, only="worked-examples")
assert [one.value for one in entry_points(group="pytest11")] == ["attest_attention.pytest_plugin"]
"""


def run(*words: object, **options: object) -> str:
    print("+", *words, flush=True)
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode:
        print(done.stdout)
        sys.exit(f"status {done.returncode}: {words[0]}")
    return done.stdout


def environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True, clear=True)
    return folder / "bin" / "python"


def built(root: Path, work: Path) -> Path:
    python = environment(work / "builds")
    asked = subprocess.run([python, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", work / "reached",
                            "scikit-build-core"], capture_output=True, text=True)
    if asked.returncode:
        print(asked.stderr)
        sys.exit(77)
    run(python, "-m", "pip", "wheel", root, "--no-deps", "--wheel-dir", work / "wheels", f"-Cbuild-dir={work}/objects")
    (wheel,) = (work / "wheels").glob("*.whl")
    return wheel


def check(wheel: Path, work: Path) -> None:
    named = re.fullmatch(r"attest_attention-[0-9.]+-py3-none-linux_(\w+)\.whl", wheel.name)
    assert named, wheel.name
    assert wheel.stat().st_size <= LARGEST, f"{wheel.stat().st_size} bytes, at most {LARGEST}"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(work / "unpacked")
    native = work / "unpacked" / "attest_attention" / "_native"
    missing = [name for name in HELD if not (native / name).is_file()]
    assert not missing, f"the wheel lacks {missing}"
    libraries = {path.name for path in native.rglob("*.so*")}
    sets = {name[17:-3] for name in libraries if name.startswith("libattest_kernel_")} - {"scalar"}
    assert sets == VECTORS.get(named[1], sets), f"the built-in kernel for {sorted(sets)}"
    for path in native.rglob("*"):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            machine = int.from_bytes(path.read_bytes()[18:20], "little")
            assert machine == MACHINES.get(named[1], machine), f"{path.name} is for another processor: {machine}"
            headers = run("readelf", "--dynamic", "--wide", path)  # of every processor, unlike objdump
            needed = re.findall(r"\(NEEDED\) .*\[(\S+)\]", headers)
            strange = [name for name in needed if name not in libraries and not EVERYWHERE.match(name)]
            assert not strange, f"{path.name} needs {strange}, which the wheel has not"
            wanted = [name for name in needed if name in libraries]
            own = path.parent == native / "lib" / "attest" and not path.name.startswith("libattest_")
            for folder in re.findall(r"\((?:RPATH|RUNPATH)\) .*\[(\S+)\]", headers) if wanted and not own else []:
                there = (path.parent / folder.replace("$ORIGIN", ".")).resolve()
                assert folder.startswith("$ORIGIN") and all((there / name).is_file() for name in wanted), (path.name,
                                                                                                           folder)


def use(wheel: Path, work: Path) -> None:
    python = environment(work / "uses")
    run(python, "-m", "pip", "install", "--quiet", wheel)
    nothing = work / "nothing"
    nothing.mkdir(exist_ok=True)
    alone = {"cwd": nothing, "env": {"PATH": str(nothing)}}
    said = run(python, "-m", "attest_attention", "audit", "--quick", "--draws", "20", "--seed", "1", "--findings", "",
               **alone)
    assert "CERTIFIED " in said, said
    print(next(line for line in said.splitlines() if line.startswith("CERTIFIED")))
    run(python, "-c", IN_PYTHON, **alone)


def main() -> None:
    root, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    work.mkdir(parents=True, exist_ok=True)
    if root.is_file():
        check(root, work)
        return
    for old in (work / "wheels").glob("*.whl"):
        old.unlink()
    wheel = built(root, work)
    check(wheel, work)
    use(wheel, work)
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The table of docs/libraries.md, measured and written: survey.py ATTEST FOLDER [VARIANT ...].

Makes the cases of seed 1 in FOLDER, asks each variant, judges its answers under the preset f32 and under its contract,
and replaces its row between the marks of docs/libraries.md. Without variants: all of the table. Rows of others stay.
"""
import argparse
import importlib.metadata
import json
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "libraries.md"
BEGIN, END = "<!-- survey -->", "<!-- /survey -->"

FINITE = "examples/libraries/f32-finite.json"
NAN_ROWS = "examples/libraries/f32-finite-nan-rows.json"
MEAN_ROWS = "examples/libraries/f32-finite-mean-rows.json"
FLASH = "contracts/pytorch-cpu-flash-f32.json"
# By variant: its contract, and the causes of what is left under it (numbers of the page's table of causes).
VARIANTS = {
    "pytorch": (FLASH, "7"),
    "pytorch-flash": (FLASH, "7"),
    "pytorch-math": ("contracts/pytorch-cpu-math-f32.json", "certified"),
    "pytorch-flex": (FINITE, "8"),
    "onnxruntime-attention-23": (FINITE, "16"),
    "onnxruntime-attention-24": (FINITE, "16"),
    "onnxruntime-mha": (FINITE, "10 (7), 11 (2, and 54 with empty rows), 12 (12), 16 (4)"),
    "onnxruntime-gqa": ("contracts/onnxruntime-cpu-f32.json", "9 (14), 12 (5)"),
    "openvino": (NAN_ROWS, "1 (26), 2 (7), 3 (5)"),
    "openvino-stateful": (MEAN_ROWS, "4 (7), 5 (3), 3 and 6 (12), empty rows (7)"),
    "jax": (MEAN_ROWS, "the LSE of empty rows (51), 17 (5)"),
    "jax-jit": (MEAN_ROWS, "the LSE of empty rows (51), 17 (5)"),
    "onnx": (FINITE, "13 (10), 14 (3), 15 (12)"),
}
COLUMNS = ["variant", "calls answered", "cases answered", "elements judged", "failed: `f32`", "failed: its contract",
           "left, by cause"]
LIBRARIES = ["numpy", "torch", "onnxruntime", "onnx", "openvino", "jax"]


def processor():
    """The processor in words: its name and its vector instructions, as Linux says them."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    name = re.search(r"^model name\s*: (.*)$", text, re.M)
    flags = set((re.search(r"^flags\s*: (.*)$", text, re.M) or ["", ""])[1].split())
    known = [("avx2", "AVX2"), ("avx512f", "AVX-512"), ("avx512_bf16", "AVX-512 BF16"), ("amx_tile", "AMX")]
    return ", ".join([platform.machine().replace("_", "-"), *([name[1]] if name else []),
                      *[word for flag, word in known if flag in flags]])


def versions():
    """The versions of the libraries that are installed."""
    found = []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {importlib.metadata.version(name).split('+')[0]}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def report(attest, folder, variant, contract):
    """The report on a variant's answers under a contract."""
    path = folder / f"{variant}.json"
    judged = subprocess.run([attest, "verify", folder / "cases.safetensors", folder / f"{variant}.safetensors",
                             "--contract", contract, "--findings", "", "--json", path], stdout=subprocess.DEVNULL,
                            check=False)
    if judged.returncode not in (0, 1, 3):
        sys.exit(f"attest verify ended with status {judged.returncode}")
    return json.loads(path.read_text())


def row(attest, folder, variant):
    """Asks and judges a variant: the cells of its row."""
    contract, causes = VARIANTS[variant]
    runner = pathlib.Path(__file__).with_name("run_library.py")
    # On a busy machine, a call that JAX compiles first has taken a minute.
    asked = subprocess.run([sys.executable, runner, variant, folder / "cases.safetensors",
                            folder / f"{variant}.safetensors", "--seconds", "300"], check=False)
    if asked.returncode:
        sys.exit(f"{variant} could not be asked")
    preset, own = report(attest, folder, variant, "f32"), report(attest, folder, variant, ROOT / contract)
    print(f"{variant}: {own['evidence']['sentence'][:300]}", file=sys.stderr)
    failed = [sum(check["failed"] for check in one["checks"]) for one in (preset, own)]
    summary = preset["summary"]
    return [f"`{variant}`", str(preset["recorded"]["answered"]), str(summary["cases"] - summary["unsupported"]),
            f"{summary['elements']:,}", *map(str, failed), "certified" if own["verdict"] == "certified" else causes]


def written(page, rows, cases, calls):
    """The page with these rows in place of the old ones of the same variants, and what they were measured with."""
    begin, end = page.index(BEGIN), page.index(END)
    lines = [line for line in page[begin:end].splitlines() if line.startswith("| `")]
    old = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    by_name = {cells[0].strip("`"): cells for cells in old if len(cells) == len(COLUMNS)} | rows
    table = [COLUMNS, ["---"] * len(COLUMNS), *(by_name[name] for name in VARIANTS if name in by_name)]
    body = [BEGIN, f"{cases:,} cases, {calls:,} calls. Measured on {processor()}, with {versions()}.", "",
            *("| " + " | ".join(cells) + " |" if cells[0] != "---" else "|" + "|".join(cells) + "|"
              for cells in table), ""]
    return page[:begin] + "\n".join(body) + page[end:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attest", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("variants", nargs="*", metavar="VARIANT")
    asked = parser.parse_args()
    for variant in asked.variants:
        if variant not in VARIANTS:
            parser.error(f"there is no variant {variant}. There are: {' '.join(VARIANTS)}")
    attest, folder = asked.attest.resolve(), asked.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([attest, "gen", "--seed", "1", "--draws", "0", "--out", folder / "cases.safetensors"], check=True)
    for variant in asked.variants or VARIANTS:
        rows = {variant: row(attest, folder, variant)}
        last = json.loads((folder / f"{variant}.json").read_text())
        # After each, so that what is measured is written though the next one fails.
        PAGE.write_text(written(PAGE.read_text(), rows, last["summary"]["cases"], last["recorded"]["calls"]))
        print("| " + " | ".join(rows[variant]) + " |", flush=True)


if __name__ == "__main__":
    main()

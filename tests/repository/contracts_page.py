"""The generated parts of docs/contracts.md: the presets, and the contract files beside the preset of their type.

usage: contracts_page.py ROOT ATTEST            writes them
       contracts_page.py ROOT ATTEST --check    exit status 1 if the page differs

A part stands between `<!-- generated: NAME -->` and `<!-- /generated -->`; what is around it is written by hand.
"""
import json
import pathlib
import re
import subprocess
import sys
import textwrap
from typing import Any

PART = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- /generated -->)", re.S)
KERNEL = r"-(?:b?f)(?:16|32)"
FORMS = ("-split", "-ring", "-sigmoid")
Contract = dict[str, Any]


def wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))


def numbers(contract: Contract) -> dict[str, str]:
    """Its fields and conventions as text; the format is named by its smallest normal number."""
    model = contract["model"] if isinstance(contract["model"], dict) else {}
    fields = {**model, **contract["conventions"]}
    return {name: value["omega"] if name == "format" else value if isinstance(value, str) else json.dumps(value)
            for name, value in fields.items()}


def difference(contract: Contract, base: Contract) -> str:
    """The numbers that differ from a base: a preset has every field that a contract may leave out."""
    mine, beside = numbers(contract), numbers(base)
    found = [f"`{name}={value}`" for name, value in mine.items() if beside.get(name) != value]
    absent = [f"`{name}`" for name in beside if name not in mine] if "sources" in base else []
    if absent:
        found.append("without " + ", ".join(absent))
    return "; ".join(found) or "nothing"


def nearest(contract: Contract, bases: dict[str, Contract]) -> str:
    """The contract beside the one of the bases from which it differs least, the first of them."""
    best = min(bases, key=lambda name: difference(contract, bases[name]).count("`"))
    return f"`{best}` with {difference(contract, bases[best])}"


def presets(all_of: dict[str, Contract]) -> str:
    """A row of each preset of attention that has numbers."""
    lines: list[str] = []
    bases: dict[str, Contract] = {}
    for name, contract in all_of.items():
        if name.startswith("merge-"):
            continue
        if isinstance(contract["model"], str):
            lines.append(f"- `{name}`: {contract['sentence']}")
        elif name == "f32":
            lines.append("- `f32`: the numbers above")
        else:
            lines.append(f"- `{name}`: {nearest(contract, bases)}")
        if isinstance(contract["model"], dict) and name != "bf16-throughout":
            bases[name] = contract
    return "\n".join(map(wrapped, lines)) + "\n"


def merges(all_of: dict[str, Contract]) -> str:
    """The presets of merges: their types, and what each form changes."""
    plain = [name for name in all_of if name.startswith("merge-") and not name.endswith(FORMS)]
    lines = [f"- {', '.join(f'`{name}`' for name in plain)}: {all_of[plain[0]]['sentence'].partition(': ')[2]}"]
    for form in FORMS:
        assert all(name + form in all_of for name in plain), form
        changed = difference(all_of[plain[0] + form], all_of[plain[0]])
        lines.append(f"- each with `{form}`: {changed} (in `{plain[0]}{form}`)")
    return "\n".join(map(wrapped, lines)) + "\n"


def fields(base: Contract) -> str:
    """Every field of the model with its value in the preset f32."""
    return wrapped("- " + "; ".join(f"`{name}={value}`" for name, value in numbers(base).items())) + "\n"


def files(all_of: dict[str, Contract], read: dict[str, Contract], order: list[str], prefix: str) -> str:
    """The files of one kernel, each beside its preset or a file above it on the page."""
    chosen = {name: one for name, one in read.items() if re.fullmatch(prefix + KERNEL, name)}
    assert chosen, prefix
    lines: list[str] = []
    for name, one in chosen.items():
        of_cpu = "-cpu-" in name
        alike = [other for other in order[:order.index(name)] if ("-cpu-" in other) == of_cpu]
        bases = {one["input"]: all_of[one["input"]]} | {other: read[other] for other in alike}
        lines.append(wrapped(f"- [contracts/{name}.json](../contracts/{name}.json): {nearest(one, bases)}"))
    return "\n".join(lines) + "\n"


def page(root: pathlib.Path, program: str) -> tuple[str, str]:
    """(the page as it is, as it should be)"""
    said = subprocess.run([program, "list", "contracts", "--json"], capture_output=True, text=True, check=True).stdout
    read = {path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted((root / "contracts").glob("*.json"))}
    all_of = {one["name"]: one for one in json.loads(said) if one["name"] not in read}
    old = (root / "docs/contracts.md").read_text(encoding="utf-8")
    order = [name for part_of in PART.finditer(old) for name in sorted(read)
             if re.fullmatch(re.escape(part_of.group(2)) + KERNEL, name)]
    shown: set[str] = set()

    def part(found: re.Match[str]) -> str:
        name = found.group(2)
        made = {"fields": lambda: fields(all_of["f32"]), "presets": lambda: presets(all_of),
                "merges": lambda: merges(all_of)}.get(name, lambda: files(all_of, read, order, name))()
        shown.update(re.findall(r"\(\.\./contracts/([\w-]+)\.json\)", made))
        return found.group(1) + "\n" + made + "\n" + found.group(3)

    new = PART.sub(part, old)
    assert shown == set(read), f"docs/contracts.md has no part of {set(read) - shown}"
    return old, new


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1]).resolve()
    old, new = page(root, sys.argv[2])
    if "--check" not in sys.argv:
        (root / "docs/contracts.md").write_text(new, encoding="utf-8")
    elif old != new:
        print("docs/contracts.md differs from the contracts: python3 tests/repository/contracts_page.py . ATTEST")
        sys.exit(1)

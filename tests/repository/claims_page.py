"""claims.md from claims.toml.

usage: claims_page.py ROOT            writes claims.md
       claims_page.py ROOT --check    exit status 1 if it differs, an id occurs twice, or a claim lacks a part
"""
import pathlib
import re
import sys
import tomllib

HEAD = """# Claims

This page is written from [claims.toml](claims.toml) by `python3 tests/repository/claims_page.py .`; a test fails if it
differs. Each claim has the command that measures it again. What has no command is not claimed.

Timings are from a 2-core x86-64 machine (AVX-512, 24 GiB), and so is how far a campaign gets in its minutes. Errors of
the built-in kernel are from AVX2 and AVX-512, which give the same bits; plain code gives others. Error sizes of reports
differ in their last places on a processor without AVX2 and FMA. Everything else is the same on every machine.
"""
PARTS = ("id", "says", "where", "command")


def cell(text: str) -> str:
    return text.strip().replace("|", "\\|")


def page(root: pathlib.Path) -> str:
    """Raises ValueError where claims.toml is wrong."""
    claims = tomllib.loads((root / "claims.toml").read_text(encoding="utf-8"))["claim"]
    seen: set[str] = set()
    rows = ["| claim | where | measured | command |", "|---|---|---|---|"]
    for claim in claims:
        unknown = set(claim) - {*PARTS, "measured"}
        lacking = [part for part in PARTS if not claim.get(part, "").strip()]
        if unknown or lacking or claim["id"] in seen or not re.fullmatch(r"[a-z0-9-]+", claim["id"]):
            raise ValueError(f"claims.toml: {claim}: unknown {unknown}, lacking {lacking}, or an id twice")
        seen.add(claim["id"])
        cells = [cell(claim.get(part, "")) for part in ("says", "where", "measured", "command")]
        rows.append(f"| {' | '.join(cells)} |")
    return HEAD + "\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1]).resolve()
    text = page(root)
    if "--check" not in sys.argv:
        (root / "claims.md").write_text(text, encoding="utf-8")
    elif (root / "claims.md").read_text(encoding="utf-8") != text:
        print("claims.md differs from claims.toml: python3 tests/repository/claims_page.py .")
        sys.exit(1)

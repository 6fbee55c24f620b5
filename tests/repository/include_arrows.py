"""Who may include whom: the rooms of the product and the arrows between them (docs/architecture.md draws them).

usage: include_arrows.py ROOT    exit status 1 and a line for each include that no arrow allows

A file belongs to the room with the longest name that its path begins with. Every include in quotes must name an
existing file from the root; a room may include itself and what its row names.
"""
import functools
import pathlib
import re
import sys

PROBLEM = {"problem", "include"}
REAL = {"reference/real"} | PROBLEM
ATTENTION = {"reference/attention"} | REAL
BOUND = {"reference/bound"} | ATTENTION
COMPILED = {"reference/compiled"} | BOUND
MACHINE = {"reference/machine"} | COMPILED
GRADIENT = {"reference/gradient"} | MACHINE
ALGORITHM = {"fast/algorithm"} | PROBLEM
SIMD = {"fast/simd"} | ALGORITHM
FAST = {"fast"} | SIMD

# The rooms of audit/ below the session.
SUPPORT = {"audit/support"} | PROBLEM
TENSORS = {"audit/tensors"} | SUPPORT
CONTRACT = {"audit/contract"} | SUPPORT | BOUND
CASES = {"audit/cases"} | TENSORS | CONTRACT
ISOLATION = {"audit/isolation"} | TENSORS
BUILTIN = {"audit/builtin", "fast"} | CONTRACT | ISOLATION | FAST
JUDGE = {"audit/judge"} | CASES | GRADIENT
CAUSE = {"audit/cause"} | JUDGE
FILES = {"audit/files"} | CASES
REPORT = {"audit/report"} | CAUSE | FILES
CONDITION = {"audit/condition"} | CASES
ASKING = {"audit/asking"} | REPORT | BUILTIN
FINDINGS = {"audit/findings"} | ASKING | CONDITION
SESSION = {"audit/session"} | FINDINGS
ORACLE = {"audit/oracle"} | REPORT

MAY_INCLUDE = {
    "include": set(),
    "problem": PROBLEM,
    "reference/real": REAL,
    "reference/attention": ATTENTION,
    "reference/bound": BOUND,
    "reference/compiled": COMPILED,
    "reference/machine": MACHINE,
    "reference/gradient": GRADIENT,
    "reference/textbook": ATTENTION | {"reference/textbook"},
    "fast/algorithm": ALGORITHM,
    "fast/simd": SIMD,
    "fast": FAST,
    "audit/support": SUPPORT,
    "audit/tensors": TENSORS,
    "audit/contract": CONTRACT,
    "audit/cases": CASES,
    "audit/isolation/runner": {"audit/isolation/runner"} | PROBLEM,
    "audit/isolation/serve": {"audit/isolation/runner"} | PROBLEM,
    "audit/isolation": ISOLATION | {"audit/isolation/runner"},
    "audit/builtin": BUILTIN,
    "audit/judge": JUDGE,
    "audit/cause": CAUSE,
    "audit/files": FILES,
    "audit/report": REPORT,
    "audit/condition": CONDITION,
    "audit/asking": ASKING,
    "audit/findings": FINDINGS,
    "audit/session": SESSION,
    "audit/oracle": ORACLE,
    "audit/zoo": {"audit/zoo"} | SESSION,
    "audit/program": {"audit/program", "audit/zoo"} | SESSION | ORACLE,
}
EVERYTHING = set(MAY_INCLUDE) | {"proofs", "tests", "fuzz", "bench", "examples", "oracles"}
NOT_THE_TEXTBOOK = EVERYTHING - {"reference/textbook"}
MAY_INCLUDE |= {
    "proofs": {"proofs", "problem", "include", "fast", "fast/algorithm", "fast/simd"} | BOUND,
    "proofs/documents": {"proofs/documents", "proofs", "reference/textbook"} | BOUND,
    "oracles": {"oracles"},
    "tests": EVERYTHING,
    "fuzz": NOT_THE_TEXTBOOK - {"proofs", "bench", "examples"},
    "bench": NOT_THE_TEXTBOOK - {"proofs", "fuzz", "examples"},
    "examples": EVERYTHING - {"proofs", "fuzz", "bench", "tests"},
}
SOURCES = {".hpp", ".cpp", ".h", ".c"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<attest/([^>]+)>)', re.MULTILINE)


def room_of(path: str) -> str | None:
    return max((room for room in MAY_INCLUDE if path.startswith(room + "/")), key=len, default=None)


@functools.cache
def moved(root: pathlib.Path) -> dict[str, str]:
    """Where the headers are that programs may still include by an old name."""
    table = root / "cmake/forwarding_headers.txt"
    lines = table.read_text(encoding="utf-8").splitlines() if table.is_file() else []
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def target(root: pathlib.Path, source: pathlib.Path, quoted: str, public: str) -> str | None:
    """The included file from the root, or None if it is not ours."""
    if public:
        own = "include/attest/" + public
        return own if (root / own).is_file() else moved(root).get(public, public)
    if (root / quoted).is_file():
        return quoted
    beside = (source.parent / quoted).resolve()
    return beside.relative_to(root).as_posix() if beside.is_file() and beside.is_relative_to(root) else None


def faults(root: pathlib.Path) -> list[str]:
    found = []
    for top in sorted({room.split("/")[0] for room in MAY_INCLUDE}):
        for source in sorted((root / top).rglob("*")):
            if source.suffix not in SOURCES:
                continue
            path = source.relative_to(root).as_posix()
            room = room_of(path)
            if room is None:
                found.append(f"{path} lies in no room: see MAY_INCLUDE in tests/repository/include_arrows.py")
                continue
            for match in INCLUDE.finditer(source.read_text(encoding="utf-8")):
                other = target(root, source, match[1] or "", match[2] or "")
                if other is None:
                    continue
                if room_of(other) not in MAY_INCLUDE[room] | {room}:
                    line = source.read_text(encoding="utf-8").count("\n", 0, match.start()) + 1
                    found.append(f"{path}:{line} includes {other}, which {room}/ must not know")
    return found


if __name__ == "__main__":
    wrong = faults(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(wrong) if wrong else "every include follows an arrow")
    sys.exit(bool(wrong))

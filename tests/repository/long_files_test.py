"""No source file has more than 300 lines, except the files of long_files.txt, whose numbers of lines may not rise. No
file has more than 400.

usage: long_files_test.py ROOT [--write]    --write: takes the numbers of today, where none is higher
"""
import pathlib
import sys

ORDINARY, MOST = 300, 400
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".py", ".v", ".cmake", ".sh", ".css", ".js"}
DATA = ("build/", ".git/", "tests/vectors/")


def long_files(root: pathlib.Path) -> dict[str, int]:
    """The files of more than 300 lines, with their numbers of lines."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix in SUFFIXES and path.is_file() and not name.startswith(DATA):
            lines = path.read_bytes().count(b"\n")
            if lines > ORDINARY:
                found[name] = lines
    return found


def risen(today: dict[str, int], kept: dict[str, int]) -> list[str]:
    return [f"{name}: {lines} lines, at most {min(kept.get(name, ORDINARY), MOST)} are allowed: split it by subject"
            for name, lines in today.items() if lines > min(kept.get(name, ORDINARY), MOST)]


assert risen({"a": 301}, {}) and risen({"a": 311}, {"a": 310}) and risen({"a": 401}, {"a": 401})
assert not risen({"a": 310}, {"a": 310})
root = pathlib.Path(sys.argv[1]).resolve()
list_of_them = root / "tests/repository/long_files.txt"
kept = {name: int(lines) for name, lines in (line.split() for line in list_of_them.read_text().splitlines())}
today = long_files(root)
faults = risen(today, kept)
if "--write" in sys.argv and not faults:
    list_of_them.write_text("".join(f"{name} {lines}\n" for name, lines in today.items()))
print("\n".join(faults) if faults else f"{len(today)} files have more than {ORDINARY} lines, none more than {MOST}")
sys.exit(bool(faults))

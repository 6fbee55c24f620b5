"""No line is wider than 120 columns, except in the files of wide_lines.txt, whose numbers of such lines may not rise.

usage: wide_lines_test.py ROOT [--write]    --write: takes the numbers of today, where none is higher
"""
import pathlib
import sys
import unicodedata

COLUMNS = 120
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".py", ".cmake", ".sh", ".md", ".css", ".in", ".map"}
NAMES = ("CMakeLists.txt", "attest")
DATA = ("build/", "tests/vectors/", ".git/")


def width(line: str) -> int:
    return sum(not unicodedata.combining(character) for character in line)


assert width("ô" * 120) == width("o\u0302" * 120) == COLUMNS, "a combining character takes no column"
root = pathlib.Path(sys.argv[1]).resolve()
kept = root / "tests/repository/wide_lines.txt"
today: dict[str, list[int]] = {}
files = 0
for path in sorted(root.rglob("*")):
    name = path.relative_to(root).as_posix()
    if path.is_file() and not name.startswith(DATA) and (path.suffix in SUFFIXES or path.name in NAMES):
        files += 1
        lines = path.read_text(errors="replace").splitlines()
        if wide := [at for at, line in enumerate(lines, 1) if width(line) > COLUMNS]:
            today[name] = wide
assert files > 1000, "the files are found"
most = {name: int(count) for name, count in (line.split() for line in kept.read_text().splitlines())}
risen = {name: at for name, at in today.items() if len(at) > most.get(name, 0)}
for name, at in risen.items():
    print(f"{name}: {len(at)} lines are wider than {COLUMNS} columns, {most.get(name, 0)} allowed: {at[:20]}")
if "--write" in sys.argv and not risen:
    kept.write_text("".join(f"{name} {len(at)}\n" for name, at in today.items()))
print(f"{sum(map(len, today.values()))} wide lines in {len(today)} of {files} files")
sys.exit(1 if risen else 0)

"""Every public header, and every -inl.hpp file, compiles alone: who opens or includes it needs nothing before it.

usage: headers_alone.py ROOT BUILD    exit status 1 and the compiler's words for each header that does not

One unit compiles several headers, each included by the next one, however deep: when the compiler comes to a header, it
has seen only what the header includes itself. A third of the headers are units then, and each header gets the verdict
that it would get in a unit of its own.

Flags come from reference/machine/rows.cpp in BUILD/compile_commands.json. BUILD/headers_alone remembers which units
compiled; one is compiled again only if a header of it, or something that it includes, has changed.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

PUBLIC = ("include", "problem", "reference", "fast")
# Boost takes four fifths of the time of a header that includes it. Headers that do share one precompiled copy.
INCLUDES_BOOST = "reference/real/integer.hpp"
PRECOMPILED = "#include <boost/multiprecision/cpp_int.hpp>\n"


def compiler(build: pathlib.Path) -> list[str]:
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if entry["file"].endswith("reference/machine/rows.cpp"):
            words = shlex.split(entry["command"])
            first = next(i for i, word in enumerate(words) if word.startswith("-"))
            # The word before the first flag is the compiler: a launcher such as ccache stands before it.
            return [words[first - 1], *(word for word in words[first : words.index("-o")] if not word.startswith("-O"))]
    sys.exit(f"{build}/compile_commands.json does not name reference/machine/rows.cpp")


def reached(root: pathlib.Path, header: str, known: dict[str, set[str]]) -> set[str]:
    """The header and what it includes in quotes, however deep."""
    if header not in known:
        known[header] = {header}
        if (root / header).is_file():
            for other in re.findall(r'^#include "([^"]+)"', (root / header).read_text(encoding="utf-8"), re.MULTILINE):
                known[header] |= reached(root, other, known)
    return known[header]


def units_of(headers: list[str], known: dict[str, set[str]]) -> list[list[str]]:
    """The fewest units: each header is in one of them, behind a header that it includes or as the first. What may be
    included twice (-inl.hpp) is the last."""
    before: dict[str, str] = {}

    def is_followed(header: str, tried: set[str]) -> bool:
        """Finds a header to follow; if need be, the header that follows it so far finds another."""
        for after in headers if not header.endswith("-inl.hpp") else []:
            if after != header and header in known[after] and after not in tried:
                tried.add(after)
                if after not in before or is_followed(before[after], tried):
                    before[after] = header
                    return True
        return False

    for header in headers:
        is_followed(header, set())
    follows = {header: after for after, header in before.items()}
    units = [[header] for header in headers if header not in before]
    for unit in units:
        while unit[-1] in follows:
            unit.append(follows[unit[-1]])
    return units


class checker:
    def __init__(self, root: pathlib.Path, build: pathlib.Path, scratch: pathlib.Path):
        self.root, self.scratch, self.memory = root, scratch, build / "headers_alone"
        self.memory.mkdir(exist_ok=True)
        self.command = compiler(build)
        self.known: dict[str, set[str]] = {}

    def files(self, unit: list[str]) -> tuple[pathlib.Path, pathlib.Path]:
        """Where it is remembered that the unit compiled, and what it included."""
        key = hashlib.sha256("\0".join([*unit, *self.command]).encode()).hexdigest()[:24]
        return self.memory / f"{key}.ok", self.memory / f"{key}.d"

    def is_remembered(self, unit: list[str]) -> bool:
        compiled, depends = self.files(unit)
        try:
            names = shlex.split(depends.read_text(encoding="utf-8").replace("\\\n", " ").split(":", 1)[1])
            when = compiled.stat().st_mtime_ns
            return all(os.stat(name).st_mtime_ns < when for name in names
                       if (self.root / name).is_relative_to(self.root))
        except (OSError, IndexError):
            return False

    def precompile(self) -> None:
        (self.scratch / "boost.hpp").write_text(PRECOMPILED, encoding="utf-8")
        subprocess.run([*self.command, "-x", "c++-header", "boost.hpp", "-o", "boost.hpp.gch"], cwd=self.scratch,
                       check=True)

    def includes_boost(self, unit: list[str]) -> bool:
        return INCLUDES_BOOST in self.known[unit[0]]

    def fault(self, unit: list[str]) -> str:
        """What the compiler says of a source that includes the headers of `unit` and no other; an empty text if it
        compiles."""
        compiled, depends = self.files(unit)
        compiled.unlink(missing_ok=True)
        asked_at = time.time_ns()
        source = self.scratch / f"{compiled.stem}.cpp"
        source.write_text("".join(f'#include "{header}"\n' for header in unit), encoding="utf-8")
        first = ["-include", str(self.scratch / "boost.hpp")] if self.includes_boost(unit) else []
        compiler = subprocess.run(
            [*self.command, f"-I{self.root}", *first, "-fsyntax-only", "-MMD", "-MF", str(depends), str(source)],
            cwd=self.root, capture_output=True, text=True)
        if compiler.returncode != 0:
            return f"a header of {', '.join(unit)} does not compile alone:\n{compiler.stderr}"
        compiled.touch()
        os.utime(compiled, ns=(asked_at, asked_at))
        return ""

    def faults(self, headers: list[str]) -> list[str]:
        for header in headers:
            reached(self.root, header, self.known)
        units = []
        for boost in (True, False):
            units += units_of([header for header in headers if (INCLUDES_BOOST in self.known[header]) == boost],
                              self.known)
        changed = [unit for unit in units if not self.is_remembered(unit)]
        if any(map(self.includes_boost, changed)):
            self.precompile()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return [said for said in pool.map(self.fault, changed) if said]


def headers_of(root: pathlib.Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for top in PUBLIC for path in (root / top).rglob("*")
                  if path.suffix in {".hpp", ".h"})


def faults_of(root: pathlib.Path, build: pathlib.Path) -> list[str]:
    with tempfile.TemporaryDirectory() as scratch:
        return checker(root, build, pathlib.Path(scratch)).faults(headers_of(root))


if __name__ == "__main__":
    root, build = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    faults = faults_of(root, build)
    print("\n".join(faults) if faults else f"{len(headers_of(root))} headers compile alone")
    sys.exit(bool(faults) or not headers_of(root))

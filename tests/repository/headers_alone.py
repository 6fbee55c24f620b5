"""Every public header, and every -inl.hpp file, compiles alone: who opens or includes it needs nothing before it.

usage: headers_alone.py ROOT BUILD    exit status 1 and the compiler's words for each header that does not

Flags are those of reference/machine/rows.cpp in BUILD/compile_commands.json. BUILD/headers_alone remembers which headers
compiled; one is compiled again only if it, or something that it includes, has changed.
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


class checker:
    def __init__(self, root: pathlib.Path, build: pathlib.Path, scratch: pathlib.Path):
        self.root, self.scratch, self.memory = root, scratch, build / "headers_alone"
        self.memory.mkdir(exist_ok=True)
        self.command = compiler(build)
        self.known: dict[str, set[str]] = {}

    def files(self, header: str) -> tuple[pathlib.Path, pathlib.Path]:
        """Where it is remembered that the header compiled, and what it included."""
        key = hashlib.sha256("\0".join([header, *self.command]).encode()).hexdigest()[:24]
        return self.memory / f"{key}.ok", self.memory / f"{key}.d"

    def is_remembered(self, header: str) -> bool:
        compiled, depends = self.files(header)
        try:
            names = shlex.split(depends.read_text(encoding="utf-8").replace("\\\n", " ").split(":", 1)[1])
            when = compiled.stat().st_mtime_ns
            return all(os.stat(name).st_mtime_ns < when for name in names if (self.root / name).is_relative_to(self.root))
        except (OSError, IndexError):
            return False

    def precompile(self) -> None:
        (self.scratch / "boost.hpp").write_text(PRECOMPILED, encoding="utf-8")
        subprocess.run([*self.command, "-x", "c++-header", "boost.hpp", "-o", "boost.hpp.gch"], cwd=self.scratch, check=True)

    def fault(self, header: str) -> str:
        """What the compiler says of a source that includes `header` and nothing else; nothing where it compiles."""
        compiled, depends = self.files(header)
        compiled.unlink(missing_ok=True)
        asked_at = time.time_ns()
        source = self.scratch / f"{compiled.stem}.cpp"
        source.write_text(f'#include "{header}"\n', encoding="utf-8")
        first = ["-include", str(self.scratch / "boost.hpp")] if INCLUDES_BOOST in self.known[header] else []
        compiler = subprocess.run(
            [*self.command, f"-I{self.root}", *first, "-fsyntax-only", "-MMD", "-MF", str(depends), str(source)],
            cwd=self.root, capture_output=True, text=True)
        if compiler.returncode != 0:
            return f"{header} does not compile alone:\n{compiler.stderr}"
        compiled.touch()
        os.utime(compiled, ns=(asked_at, asked_at))
        return ""

    def faults(self, headers: list[str]) -> list[str]:
        changed = [header for header in headers if not self.is_remembered(header)]
        if any(INCLUDES_BOOST in reached(self.root, header, self.known) for header in changed):
            self.precompile()
        for header in changed:
            reached(self.root, header, self.known)
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

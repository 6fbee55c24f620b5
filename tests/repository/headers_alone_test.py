"""headers_alone.py on this repository, and on planted headers that it must refuse, keep and ask again."""
import pathlib
import sys
import tempfile

import headers_alone

root, build = (pathlib.Path(word).resolve() for word in sys.argv[1:3])

with tempfile.TemporaryDirectory() as folder:
    planted = pathlib.Path(folder)
    problem, memory = planted / "problem", planted / "build"
    problem.mkdir()
    memory.mkdir()
    (memory / "compile_commands.json").write_text((build / "compile_commands.json").read_text(encoding="utf-8"),
                                                  encoding="utf-8")
    good = problem / "good.hpp"
    good.write_text("#pragma once\n#include <string>\ninline std::string name() { return {}; }\n", encoding="utf-8")
    assert headers_alone.faults_of(planted, memory) == []
    # What compiled is asked again once it has changed: it no longer includes what it uses.
    good.write_text("#pragma once\ninline std::string name() { return {}; }\n", encoding="utf-8")
    found = headers_alone.faults_of(planted, memory)
    assert len(found) == 1 and "problem/good.hpp" in found[0], found

faults = headers_alone.faults_of(root, build)
assert headers_alone.headers_of(root), "no headers found"
print("\n".join(faults) if faults else f"{len(headers_alone.headers_of(root))} headers compile alone")
sys.exit(bool(faults))

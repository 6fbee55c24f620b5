"""headers_alone.py on this repository, and on planted headers that it must refuse, keep and ask again."""
import pathlib
import re
import sys
import tempfile

import headers_alone

root, build = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
NAME = "inline std::string {}() {{ return {{}}; }}\n"

with tempfile.TemporaryDirectory() as folder:
    planted = pathlib.Path(folder)
    problem, memory = planted / "problem", planted / "build"
    problem.mkdir()
    memory.mkdir()
    (memory / "compile_commands.json").write_text((build / "compile_commands.json").read_text(encoding="utf-8"),
                                                  encoding="utf-8")

    def plant(name: str, *includes: str) -> None:
        lines = [f"#include {included}\n" for included in includes]
        (problem / f"{name}.hpp").write_text("".join(["#pragma once\n", *lines, NAME.format(name)]), encoding="utf-8")

    def refused() -> set[str]:
        """Which of the planted headers the compiler complains of."""
        said = "".join(headers_alone.faults_of(planted, memory))
        return set(re.findall(r"problem/(\w+)\.hpp:\d+:\d+: error", said))

    plant("good", "<string>")
    plant("other", "<string>")
    plant("user", "<string>", '"problem/good.hpp"')
    assert headers_alone.faults_of(planted, memory) == []
    # What compiled is asked again once it has changed: it no longer includes what it uses. Its user does, before it.
    plant("good", "<vector>")
    assert refused() == {"good"}
    plant("good", "<string>")
    # Nor does a header hide behind a header that it does not include, whatever their order.
    plant("other")
    plant("another")
    assert refused() == {"other", "another"}
    # Nor in a unit of several, as the last of them.
    plant("other", "<string>")
    plant("another", "<string>")
    plant("user", '"problem/good.hpp"')
    assert headers_alone.faults_of(planted, memory) == []
    (problem / "good.hpp").write_text("#pragma once\n", encoding="utf-8")
    assert refused() == {"user"}

faults = headers_alone.faults_of(root, build)
assert headers_alone.headers_of(root), "no headers found"
print("\n".join(faults) if faults else f"{len(headers_alone.headers_of(root))} headers compile alone")
sys.exit(bool(faults))

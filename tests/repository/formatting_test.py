"""Every C and C++ file is as clang-format 19 writes it, by the settings of its folder.

usage: formatting_test.py ROOT CLANG-FORMAT    exit status 1 and a line for each place that is not
"""
import pathlib
import subprocess
import sys

root, formatter = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
suffixes = {".hpp", ".cpp", ".h", ".c"}
files = sorted(str(path) for path in root.rglob("*") if path.suffix in suffixes and path.is_file()
               and not path.relative_to(root).as_posix().startswith((".", "build/", "tests/vectors/")))
assert len(files) > 1000, "the files are found"


def is_formatted(*command: str, text: str = "") -> bool:
    ran = subprocess.run([formatter, "--dry-run", "--Werror", *command], input=text, capture_output=True, text=True)
    print(ran.stderr, end="", file=sys.stderr)
    return ran.returncode == 0


assert not is_formatted("--assume-filename=planted.cpp", text="int  planted;\n"), "what is not formatted is seen"
wrong = [part for part in (files[at:at + 200] for at in range(0, len(files), 200)) if not is_formatted(*part)]
if wrong:
    sys.exit(f"{formatter} -i FILE formats a file")
print(f"{len(files)} files are formatted")

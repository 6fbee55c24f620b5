"""Does the list "An operator" of docs/extending.md name what an operator touches?

usage: operator_list.py ROOT    exit status 1 and a line for each fault

A row of the list names a product file and the file of tests/planted_operator that stands for it, which names the
product file in its first lines. Files of the product that only the merge needs are named below the rows.
"""
import pathlib
import re
import sys

PAGE, PLANTED, NAME = "docs/extending.md", "tests/planted_operator", "row_sums"
ROW = re.compile(r"^\| `([^`]+)` \|.*\| `([^`]+)` \|$", re.MULTILINE)
OF_MERGES = [f"audit/{room}/merge*.hpp" for room in
             ("tensors", "files", "isolation", "isolation/runner", "contract", "cases", "cases/families", "judge",
                          "asking")]


def faults(root: pathlib.Path) -> list[str]:
    section = (root / PAGE).read_text(encoding="utf-8").split("**An operator**", 1)[-1].split("\n**", 1)[0]
    rows = {planted: product.replace("<operator>", NAME) for product, planted in ROW.findall(section)}
    there = {path.name for path in (root / PLANTED).iterdir()} - {"CMakeLists.txt"}
    found = [f"{PAGE} does not say what {PLANTED}/{name} stands for" for name in sorted(there - set(rows))]
    for name, product in rows.items():
        if name not in there:
            found.append(f"{PAGE} names {name}, which is not in {PLANTED}")
        elif product not in "".join((root / PLANTED / name).read_text(encoding="utf-8").splitlines(True)[:3]):
            found.append(f"the first lines of {PLANTED}/{name} do not name {product}")
        if NAME not in product and not (root / product).is_file():
            found.append(f"{PAGE} names {product}, which does not exist")
    for pattern in OF_MERGES:
        found += [f"{PAGE} does not name {path.relative_to(root)}, which a merge needs"
                  for path in sorted(root.glob(pattern)) if path.relative_to(root).as_posix() not in section]
    for top in ("include", "problem", "reference", "audit", "fast"):
        found += [f"{path.relative_to(root)} names the planted operator" for path in sorted((root / top).rglob("*.*"))
                  if path.suffix in {".hpp", ".cpp", ".h", ".txt"} and NAME in path.read_text(encoding="utf-8")]
    return found


if __name__ == "__main__":
    wrong = faults(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(wrong) if wrong else "the list of what an operator touches is complete")
    sys.exit(bool(wrong))

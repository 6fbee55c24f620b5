"""The tables of docs/bound.md, section 12, against the code.

usage: bound_table.py ROOT    exit status 1 and a line for each fault

Each function in the column "functions" must be defined in the file that is named before it. Each field in the column
"fields" must be a field of a struct in that file. Each field of problem/kernel_model.hpp, of the facts and of the
stages of row_terms must have a row.
"""
import pathlib
import re
import sys

PAGE, MODEL = "docs/bound.md", "problem/kernel_model.hpp"
IN_THE_TABLE = {"reference/bound/" + file: structs for file, structs in {
    "facts.hpp": ("key_facts", "row_scalars"), "constant_terms.hpp": ("constant_terms",),
    "score_terms.hpp": ("score_terms", "reference_terms"), "weight_terms.hpp": ("rescale_terms", "weight_terms"),
    "terms.hpp": ("row_terms",), "sink_numbers.hpp": ("sink_reach",)}.items()}
DECLARATION = re.compile(r"^\s*(?!friend |using |constexpr |static )[\w:]+(?:<\w+>)? ([A-Za-z_][^;(]*);", re.MULTILINE)


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def closing(code: str, at: int) -> int:
    """The position after the bracket that closes the one before `at`."""
    depth = 1
    while depth and at < len(code):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(code[at], 0)
        at += 1
    return at


def fields(code: str, struct: str = r"\w+") -> set[str]:
    """The data members of the structs of this name. Requires code without comments."""
    found = set()
    for opened in re.finditer(r"struct " + struct + r"\b[^;{]*\{", code):
        body = code[opened.end():closing(code, opened.end()) - 1]
        while (inner := re.search(r"[({]", body)):
            body = body[:inner.start()] + body[closing(body, inner.end()):]
        for declared in DECLARATION.findall(body):
            found |= {re.match(r"\w+", part.strip()).group() for part in declared.split(",")}
    return found


def fields_of_model(code: str) -> set[str]:
    of_format = {"format." + name for name in fields(code, "working_format")}
    return of_format | fields(code, "kernel_model") - {"format"}


def cells(row: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def tables(page: str) -> list[tuple[list[str], list[list[str]]]]:
    section = re.search(r"^## 12\. .*?(?=^## 13\. )", page, re.DOTALL | re.MULTILINE).group()
    blocks = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    return [(cells(lines[0]), [cells(line) for line in lines[2:]]) for lines in map(str.splitlines, blocks)]


def is_defined(name: str, code: str) -> bool:
    """A struct of this name, or a function: name(…) const noexcept {."""
    for at in re.finditer(r"(?<![\w.>])" + name + r"\(", code):
        if re.match(r"(?:\s+(?:const|noexcept))*\s*\{", code[closing(code, at.end()):]):
            return True
    return re.search(r"struct " + name + r"\b[^;{]*\{", code) is not None


def faults(root: pathlib.Path) -> list[str]:
    found, rows_of_model, rows_of = [], set(), {path: {"model"} for path in IN_THE_TABLE}
    for head, rows in tables((root / PAGE).read_text()):
        for row in rows:
            if len(row) != len(head):
                found.append(f"{PAGE}: {len(row)} cells for {len(head)} columns: {row}")
                continue
            for column, cell in zip(head, row):
                code = None
                for quoted in re.findall(r"`([^`]+)`", cell):
                    if quoted.endswith((".hpp", ".cpp")):
                        path = quoted if "/" in quoted else "reference/bound/" + quoted
                        exists = (root / path).is_file()
                        code = without_comments((root / path).read_text()) if exists else ""
                        if not exists:
                            found.append(f"{PAGE}: {path} does not exist: {row[0]}")
                    elif code is None:
                        found.append(f"{PAGE}: no file before {quoted}: {row[0]}")
                    elif column == "functions" and not is_defined(quoted, code):
                        found.append(f"{PAGE}: {path} does not define {quoted}: {row[0]}")
                    elif column == "fields" and quoted not in fields(code):
                        found.append(f"{PAGE}: {path} has no field {quoted}: {row[0]}")
                    elif column == "fields" and path in rows_of:
                        rows_of[path].add(quoted)
                if column == "field of the model":
                    rows_of_model |= {name.strip() for name in re.sub(r"\([^)]*\)", "", cell).split(",")}
    declared = fields_of_model(without_comments((root / MODEL).read_text()))
    found += [f"{MODEL}: {name} has no row in section 12 of {PAGE}" for name in sorted(declared - rows_of_model)]
    found += [f"{PAGE}: {name} is no field of {MODEL}" for name in sorted(rows_of_model - declared)]
    for path, structs in IN_THE_TABLE.items():
        code = without_comments((root / path).read_text())
        missing = set().union(*(fields(code, struct) for struct in structs)) - rows_of[path]
        found += [f"{path}: {name} has no row in section 12 of {PAGE}" for name in sorted(missing)]
    return found


if __name__ == "__main__":
    wrong = faults(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(wrong))
    sys.exit(bool(wrong))

"""Sentences that a stranger stops at, by room: longer than 30 words, or with a turn of phrase that CONTRIBUTING names.

usage: sentences.py ROOT           the count of each room
       sentences.py ROOT ROOM      each such sentence of that room, with its file and line

It reads the comments of C, C++, Python (with its docstrings), CMake and shell, and the prose of Markdown. Code and
tables are left out. A word is made of letters and hyphens between spaces: the symbols of a formula are none.
"""
import ast
import collections
import pathlib
import re
import sys

MOST_WORDS = 30
TURNS = {
    "but for": r"\bbut (?:for|that)\b",
    "a pronoun without its noun": r"\b(?:those|these|that|what|one) (?:that|of which|which|whose)\b"
                                  r"|\bthat of\b|\bthose of\b",
    "none where": r"\b(?:none|nothing) where\b",
    "nobody": r"\bnobody\b",
    "of which": r"\bof which\b",
}
WORD = r"(?<!\S)[(\[\"“*]*[A-Za-z][A-Za-z'’-]*[)\]\"”*]*[,.;:!?]*[)\"”*]*(?!\S)"
COMMENT = {".hpp": "//", ".cpp": "//", ".h": "//", ".c": "//", ".py": "#", ".cmake": "#", ".txt": "#", ".sh": "#"}


def comments_of_c(text: str):
    """(number of the line, what its comment says, whether that begins a paragraph) of every line."""
    within, behind = False, False  # a comment of several lines; a comment behind code
    for number, line in enumerate(text.splitlines(), 1):
        if within or re.match(r"\s*/\*", line):
            within = "*/" not in line
            yield number, re.sub(r"^\s*(/\*+|\*(?!/))|\*/.*$", "", line).strip(), False
        elif alone := re.match(r"\s*//[/!]*(<?)(.*)", line):
            yield number, alone.group(2).strip(), behind and not alone.group(1)
            behind = behind and bool(alone.group(1))
        else:
            code = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)  # a string holds no comment
            said = re.search(r"//[/!<]*(.*)|/\*(.*)\*/", code)
            behind = bool(said)
            yield number, (said.group(1) or said.group(2) or "").strip() if said else "", behind


def comments_of_scripts(path: pathlib.Path, text: str):
    """The same; a docstring of Python is a comment."""
    strings = {}
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
                string = node.body[0]
                for at, said in enumerate(string.value.value.splitlines()):
                    strings[string.lineno + at] = said.strip()
                strings.setdefault(string.end_lineno, "")
    for number, line in enumerate(text.splitlines(), 1):
        alone = re.match(r"\s*#[#!]*(.*)", line)
        behind = re.search(r"\S  # (.*)", line) if path.suffix == ".py" else None
        said = strings.get(number, alone.group(1) if alone else behind.group(1) if behind else "")
        yield number, said.strip(), bool(behind) or number not in strings and number - 1 in strings


def blocks(path: pathlib.Path, text: str):
    """Paragraphs of prose, each with the number of its first line."""
    lines = text.splitlines()
    if path.suffix == ".md":
        fenced, words, first = False, [], 0
        for number, line in enumerate([*lines, ""], 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            prose = line.strip() and not fenced and not re.match(r"\s*(\||```|#|<)", line)
            if words and (not prose or re.match(r"\s*([-*]|\d+\.) ", line)):
                yield first, " ".join(words)
                words = []
            if prose:
                first = first if words else number
                words.append(re.sub(r"^\s*([-*]|\d+\.) ", "", line).strip())
        return
    words, first = [], 0
    comments = comments_of_c(text) if COMMENT[path.suffix] == "//" else comments_of_scripts(path, text)
    for number, said, begins in comments:
        label = re.match(r"(Requires|Ensures|Why|Cost|Source|Shapes|Throws)\b", said)
        if re.search(r"\S {3,}\S", said) and not label:
            said = ""  # a row of a table
        if words and (not said or label or begins):
            yield first, " ".join(words)
            words = []
        if said:
            first = first if words else number
            words.append(said)
    if words:
        yield first, " ".join(words)


def faults(path: pathlib.Path, text: str):
    """(line, why, sentence) of each sentence that is too long or has one of the turns."""
    for line, paragraph in blocks(path, text):
        plain = re.sub(r"`[^`]*`|\[([^\]]*)\]\([^)]*\)", lambda m: m.group(1) or "x", paragraph)
        for sentence in re.split(r"(?<=[.!?:;])\s+", plain):
            words = re.findall(WORD, sentence)
            if len(words) > MOST_WORDS:
                yield line, f"{len(words)} words", sentence
            for name, turn in TURNS.items():
                for _ in re.finditer(turn, sentence):
                    yield line, name, sentence


def room_of(path: str) -> str:
    parts = path.split("/")[:-1]
    return "/".join(parts[:2]) if parts else "."


def of_tree(root: pathlib.Path):
    """The faults by room."""
    found = collections.defaultdict(list)
    for path in sorted(path for suffix in [*COMMENT, ".md"] for path in root.rglob("*" + suffix)):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not name.startswith((".", "build/")):
            for line, why, sentence in faults(path, path.read_text(errors="replace")):
                found[room_of(name)].append((name, line, why, sentence))
    return found


if __name__ == "__main__":
    by_room = of_tree(pathlib.Path(sys.argv[1]).resolve())
    if len(sys.argv) > 2:
        for name, line, why, sentence in by_room[sys.argv[2]]:
            print(f"{name}:{line}: {why}: {sentence}")
    else:
        for room in sorted(by_room):
            print(room, len(by_room[room]))

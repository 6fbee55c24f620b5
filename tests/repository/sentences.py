"""Sentences that a stranger stops at, by room: longer than 30 words, or with a turn of phrase that CONTRIBUTING names.

usage: sentences.py ROOT           the count of each room
       sentences.py ROOT ROOM      each such sentence of that room, with its file and line

It reads the comments of C++, Python, CMake and shell, and the prose of Markdown. Code and tables are left out. A word is
made of letters and hyphens between spaces: the symbols of a formula are none.
"""
import collections
import pathlib
import re
import sys

MOST_WORDS = 30
TURNS = {
    "but for": r"\bbut (?:for|that)\b",
    "a pronoun without its noun": r"\b(?:those|these|that|what|one) (?:that|of which|which|whose)\b|\bthat of\b|\bthose of\b",
    "none where": r"\b(?:none|nothing) where\b",
    "nobody": r"\bnobody\b",
    "of which": r"\bof which\b",
}
WORD = r"(?<!\S)[(\[\"“*]*[A-Za-z][A-Za-z'’-]*[)\]\"”*]*[,.;:!?]*[)\"”*]*(?!\S)"
COMMENT = {".hpp": "//", ".cpp": "//", ".h": "//", ".c": "//", ".py": "#", ".cmake": "#", ".txt": "#", ".sh": "#"}


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
    mark, words, first = COMMENT[path.suffix], [], 0
    for number, line in enumerate([*lines, ""], 1):
        comment = re.match(rf"\s*{mark}[/#!<]*(.*)", line)
        said = comment.group(1).strip() if comment else ""
        label = re.match(r"(Requires|Ensures|Why|Cost|Source|Shapes|Throws)\b", said)
        if re.search(r"\S {3,}\S", said) and not label:
            said = ""  # a row of a table
        if words and (not said or label):
            yield first, " ".join(words)
            words = []
        if said:
            first = first if words else number
            words.append(said)


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

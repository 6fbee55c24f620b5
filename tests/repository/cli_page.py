"""docs/cli.md from the parser: the help of the program and of each of its commands.

usage: cli_page.py ATTEST PAGE            writes the page
       cli_page.py ATTEST PAGE --check    exit status 1 if the page differs
"""
import pathlib
import re
import subprocess
import sys
import textwrap

HEAD = """# The command line

This page is written from the parser by `python3 tests/repository/cli_page.py ATTEST docs/cli.md`; a test fails if it
differs. [audit.md](audit.md) says how an audit works, [files.md](files.md) which files are read and written. In a clone
`./attest COMMAND` builds the program first; `./attest help` lists what it does beside (`test`, `fuzz`, `bench`,
`examples`, `setup`).

Exit status: 0 certified, 1 refuted, 2 bad usage, unreadable input or an output that cannot be written, 3 undecided.
"""
COMMON = ("--help", "--version")


def said(program: str, *words: str) -> str:
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout


def split_at_column(line: str) -> tuple[str, str]:
    """The words of an option and its sentence, which begins at column 30 or in the next line."""
    if found := re.match(r"  (\S.*?) {2,}(\S.*)", line):
        return found.group(1), found.group(2)
    words = line[:29]
    if line[29:30] == " " and words.count("[") == words.count("]"):
        return words.strip(), line[30:]
    return line.strip(), ""


def rows(block: str) -> list[tuple[str, str]]:
    """(the words of an option, its sentence) of each option of a help text; options with one sentence are one row."""
    found: list[list[str]] = []
    for line in block.splitlines():
        if line.startswith("    ") and found:
            found[-1][1] += " " + line.strip()
        elif line.strip():
            found.append(list(split_at_column(line)))
    joined: list[tuple[str, str]] = []
    for words, sentence in found:
        words = "`" + re.sub(r"\s+", " ", re.sub(r" \.\.\.$|:INT(?= in)", "", words).replace(":in [", " in [")) + "`"
        sentence = sentence.strip().removeprefix("... ")
        if joined and joined[-1][1] == sentence:
            joined[-1] = joined[-1][0] + ", " + words, joined[-1][1]
        else:
            joined.append((words, sentence))
    return joined


def section(program: str, name: str) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """The first lines of a command, its options, its examples."""
    help_text = said(program, name)
    sentence = help_text.splitlines()[0]
    parts = re.split(r"^(Positionals|Options):\n", help_text, flags=re.M)
    options: list[tuple[str, str]] = []
    tail = ""
    for title, block in zip(parts[1::2], parts[2::2]):
        body, _, rest = block.partition("\n\n")
        options += [row for row in rows(body) if not any(one in row[0] for one in COMMON)]
        tail = rest if title == "Options" else tail
    examples = ["", *("    " + line for line in textwrap.dedent(tail).strip().splitlines())] if tail.strip() else []
    return [f"## {name}", "", sentence[0].upper() + sentence[1:] + ".", ""], options, examples


def line(words: str, meaning: str) -> list[str]:
    return textwrap.wrap(f"- {words}: {meaning}", 120, subsequent_indent="  ", break_long_words=False,
                         break_on_hyphens=False)


def page(program: str) -> str:
    names = re.findall(r"^  ([a-z]+) {2,}\S", said(program).partition("Subcommands:")[2], re.M)
    assert {"audit", "verify", "merge"} <= set(names), names
    sections = {name: section(program, name) for name in names}
    users: dict[tuple[str, str], list[str]] = {}
    for name, (_, options, _) in sections.items():
        for row in options:
            users.setdefault(row, []).append(name)
    text = [HEAD]
    for name, (head, options, examples) in sections.items():
        own = [one for row in options if len(users[row]) == 1 for one in line(*row)]
        shared = ", ".join(found.group(0) for row in options if len(users[row]) > 1
                           for found in [re.match(r"`--[\w-]+", row[0])] if found)
        shared = shared.replace(",", "`,") + "`" if shared else ""
        also = textwrap.wrap(f"- also, [below](#options-of-several-commands): {shared}", 120, subsequent_indent="  ",
                             break_long_words=False, break_on_hyphens=False) if shared else []
        text += ["\n".join([*head, *own, *also, *examples]) + "\n"]
    both = [one for (words, meaning), of in users.items() if len(of) > 1 for one in line(words, meaning)]
    return "\n".join([*text, "\n".join(["## Options of several commands", "", *both]) + "\n"])


if __name__ == "__main__":
    text = page(sys.argv[1])
    path = pathlib.Path(sys.argv[2])
    if "--check" not in sys.argv:
        path.write_text(text, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != text:
        print(f"{path} differs from the parser: python3 tests/repository/cli_page.py ATTEST {path}")
        sys.exit(1)

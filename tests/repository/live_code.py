#!/usr/bin/env python3
"""Do the proofs prove code that runs? live_code.py ROOT: 1 where a proof names something of fast/ that no product code
uses.

Every `fast::name` in proofs/, written out or brought in by a using-declaration, must be live. Live is what the code of
a .cpp, .inc or -inl.hpp file of fast/ names, what audit/ names as fast::name, and what the definition of something live
in a header of fast/ names. A static_assert, a comment, a string, a definition's own text, and a definition that nothing
live names keep nothing alive.

By name, not by overload or member: two things of one name in fast/ are one here, and a live type keeps its members.

Each run also plants dead code in a copy of the sources, and must find it.
"""
import collections
import pathlib
import re
import sys

# Numbers in fast/ that bound what something live does, and that its comments add up: a proof proves the number itself.
PROMISES = {"exp_approximation"}  # of the coefficients of exp2_format

WORD = re.compile(r"[A-Za-z_]\w*")
NAMED = re.compile(r"\bfast\s*::\s*(\w+)")
BLIND = re.compile(r"using\s+namespace\s+(?:\w+::)*fast\b|namespace\s+\w+\s*=\s*(?:\w+::)*fast\b")
NOISE = re.compile(r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'""", re.S | re.X)


def code(text):
    """The text without comments, strings, characters and preprocessor lines."""
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", " ", NOISE.sub(" ", text), flags=re.M)


def name_of(item):
    """What a definition defines; None for a static_assert."""
    head = re.split(r"[{;]", item, maxsplit=1)[0]
    while (shorter := re.sub(r"<[^<>]*>", " ", head)) != head:
        head = shorter
    head = re.sub(r"\b(?:template|inline|constexpr|consteval|static|extern)\b|\[\[[^\]]*\]\]", " ", head).strip()
    if head.startswith("static_assert"):
        return None
    if kind := re.match(r"(?:enum\s+class|enum\s+struct|enum|class|struct|union|concept|using)\s+(\w+)", head):
        return kind.group(1)
    words = WORD.findall(re.split(r"[(=]", head, maxsplit=1)[0])
    return words[-1] if words else None


def definitions(text):
    """(name, text) of all that stands at namespace scope in a header."""
    start = depth = 0
    spaces = []  # the depths at which the open namespaces stand
    for mark in re.finditer(r"[{};]", text):
        at = mark.end()
        if mark.group() == "{":
            if depth == len(spaces) and re.search(r"\bnamespace\b[\s\w:]*$", text[start:at - 1]):
                spaces.append(depth)
                start = at
            depth += 1
            continue
        if mark.group() == "}":
            depth -= 1
            if spaces and depth == spaces[-1]:
                spaces.pop()
                start = at
                continue
            if re.match(r"\s*[;,)]", text[at:]):
                continue
        if depth == len(spaces):
            if name := name_of(text[start:at]):
                yield name, text[start:at]
            start = at


def is_in(path, folder, *endings):
    return path.startswith(folder + "/") and path.endswith(endings)


def live_names(sources):
    """The names that run, and all that the headers of fast/ define."""
    words_of = collections.defaultdict(set)
    live = set()
    for path, text in sources.items():
        if is_in(path, "fast", ".cpp", ".inc", "-inl.hpp"):
            live |= set(WORD.findall(re.sub(r"\bstatic_assert\s*\([^;]*;", " ", text)))
        elif is_in(path, "fast", ".hpp"):
            for name, item in definitions(text):
                words_of[name] |= set(WORD.findall(item)) - {name}
        elif is_in(path, "audit", ".cpp", ".hpp"):
            live |= set(NAMED.findall(text))
    waiting = list(live)
    while waiting:
        for name in words_of.get(waiting.pop(), set()) - live:
            live.add(name)
            waiting.append(name)
    return live, set(words_of)


def faults(sources):
    live, defined = live_names(sources)
    named = set()
    for path, text in sources.items():
        if not is_in(path, "proofs", ".cpp", ".hpp"):
            continue
        if BLIND.search(text):
            yield f"{path} renames or opens namespace fast: name what it uses as fast::…"
        for name in sorted(set(NAMED.findall(text))):
            named.add(name)
            if name not in live | PROMISES:
                yield f"{path} names fast::{name}: " + (
                    "nothing that runs uses it" if name in defined else "fast/ does not have it")
    if not named:
        yield "no proof names anything of fast/: nothing was checked"
    for name in sorted(PROMISES):
        if name in live or name not in named & defined:
            yield f"live_code.py excuses {name}, which is no number that a proof alone names"


# What is planted in which file, and whether it is dead: then that proof must be named, and nothing else.
HEADER, SOURCE = ("fast", "band.hpp"), ("fast", "attention.cpp")
AUDIT, PROOF = ("audit", "contract.cpp"), ("proofs", "band_proof.cpp")
DEAD = "constexpr int planted(int x) noexcept { return x == 0 ? 0 : planted(x - 1); }\n"
CALLER = "constexpr int caller() { return planted(1); }\n"
USE = "constexpr int used = fast::planted(0);\n"
PLANTS = [
    ("a function that nothing calls but itself", True, {HEADER: DEAD, PROOF: USE}),
    ("a function that a comment, a string and static_asserts name", True,
     {HEADER: DEAD + '// planted(1)\nstatic_assert(planted(1) == 0, "planted(1)");\n', PROOF: USE,
      SOURCE: '/* planted(2) */ static_assert(fast::planted(2) == 0);\nchar const* text = "planted(2)";\n'}),
    ("a function that only another dead one calls", True, {HEADER: DEAD + CALLER, PROOF: USE}),
    ("a function that a using-declaration brings in", True,
     {HEADER: DEAD, PROOF: "using fast::planted;\nconstexpr int used = planted(0);\n"}),
    ("a type", True, {HEADER: "enum class planted { a, b };\n", PROOF: "constexpr auto used = fast::planted::a;\n"}),
    ("a variable", True,
     {HEADER: "template <class T>\ninline constexpr int planted{sizeof(T)};\n",
      PROOF: "int used = fast::planted<int>;\n"}),
    ("a name that fast/ does not have", True, {PROOF: USE}),
    ("an open namespace", True, {PROOF: "using namespace attest::fast;\n"}),
    ("a function that the kernel calls", False, {HEADER: DEAD, SOURCE: "int used = fast::planted(0);\n", PROOF: USE}),
    ("a function that the audit calls", False, {HEADER: DEAD, AUDIT: "int used = fast::planted(0);\n", PROOF: USE}),
    ("a function that a live one calls", False,
     {HEADER: DEAD + CALLER, SOURCE: "int used = fast::caller();\n", PROOF: USE}),
]


def unnoticed(sources):
    """The planted edits that faults() takes for what they are not."""
    for what, dead, edits in PLANTS:
        planted = dict(sources)
        for (folder, file), text in edits.items():
            [path] = [path for path in sources if is_in(path, folder, "/" + file)]
            planted[path] += code(f"\nnamespace attest::{folder} {{\n{text}}}\n")
        found = list(faults(planted))
        if not (len(found) == 1 and "band_proof.cpp" in found[0] if dead else not found):
            yield f"planted {what}: {'expected it alone' if dead else 'expected nothing'}, found {found}"


def main():
    root = pathlib.Path(sys.argv[1])
    sources = {str(path.relative_to(root)): code(path.read_text()) for folder in ("fast", "audit", "proofs")
               for path in sorted((root / folder).rglob("*")) if path.suffix in (".hpp", ".cpp", ".inc")}
    found = list(faults(sources)) or list(unnoticed(sources))
    for line in found:
        print(line)
    print(f"{len(sources)} sources read, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

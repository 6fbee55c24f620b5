"""No room gains a sentence that a stranger stops at (sentences.py); sentences.txt has the number of each room.

usage: sentences_test.py ROOT [--write]    --write: takes the numbers of today, where none is higher
"""
import pathlib
import sys

import sentences

root = pathlib.Path(sys.argv[1]).resolve()
kept = root / "tests/repository/sentences.txt"
LONG = "word " * 31 + "."
PLANTED = [("hpp", "// A block of keys, but for the last.\n// It is those that are hidden.\n", 2),
           ("hpp", "// One clear sentence.\n", 0), ("hpp", f"// {LONG}\n", 1),
           ("hpp", "// " + "a_j·(x + y) " * 16 + ".\n", 0),
           ("hpp", "// tile    " + "word " * 16 + "\n" + "// panel   " + "word " * 16 + "\n", 0),
           ("hpp", "// Returns nothing if the row is empty; " + "word " * 29 + ".\n", 0),
           ("hpp", "int rows;  ///< those that are hidden\nint keys;  ///< of the\n           ///< row, but for one\n",
            2),
           ("h", "/* It reads all,\n * but for the last. */\nint f(char const *);\n", 1),
           ("cpp", 'say("// but for");\n', 0), ("py", f'"""{LONG}"""\n', 1),
           ("py", "def f():\n    \"\"\"None, but\n    for those that are.\n    \"\"\"\n", 2),
           ("py", "rows = 1 " + " # but for one\n", 1)]
for suffix, text, count in PLANTED:
    assert len(list(sentences.faults(pathlib.Path("planted." + suffix), text))) == count, text

today = {room: len(found) for room, found in sentences.of_tree(root).items()}
most = {room: int(count) for room, count in (line.split() for line in kept.read_text().splitlines())}
risen = {room: (count, most.get(room, 0)) for room, count in today.items() if count > most.get(room, 0)}
for room, (count, before) in sorted(risen.items()):
    print(f"{room}: {count} such sentences, {before} allowed: python3 tests/repository/sentences.py . {room}")
if "--write" in sys.argv and not risen:
    kept.write_text("".join(f"{room} {count}\n" for room, count in sorted(today.items())))
print(f"{sum(today.values())} sentences in {len(today)} rooms")
sys.exit(1 if risen else 0)

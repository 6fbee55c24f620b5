"""Every relative link of every page leads to a file of the tree, and every path in code quotes that looks like one
exists.

usage: links_test.py ROOT
"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1]).resolve()
pages = subprocess.run(["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True).stdout.split() or [
    path.relative_to(root).as_posix() for path in root.rglob("*.md") if "build" not in path.relative_to(root).parts]
HISTORY = {"CHANGELOG.md"}  # it speaks of files as they were
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([\w./-]+[\w/])(?:#[^)]*)?\)")
QUOTED = re.compile(r"`((?:include|problem|reference|fast|proofs|audit|tests|fuzz|oracles|bench|examples|cmake|docs)"
                    r"/[\w./-]+\.(?:hpp|cpp|h|c|py|sh|cmake|txt|md|g|json))(?::\d+)?`")

wrong = []
for page in pages:
    text = (root / page).read_text(encoding="utf-8")
    for link in LINK.findall(text):
        if not ((root / page).parent / link).exists():
            wrong.append(f"{page}: the link {link} leads nowhere")
    if page not in HISTORY:
        wrong += [f"{page}: there is no {path}" for path in QUOTED.findall(text) if not (root / path).exists()]
assert pages, "no pages found"
print("\n".join(wrong) if wrong else f"the links of {len(pages)} pages lead to files")
sys.exit(bool(wrong))

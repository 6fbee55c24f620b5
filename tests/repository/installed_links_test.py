"""Every relative link of every installed page leads to something that is installed.

usage: installed_links_test.py PREFIX DOCDIR
"""
import pathlib
import re
import sys

prefix, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([\w./-]+)(?:#[^)\n]*)?\)")
pages = sorted((prefix / folder).rglob("*.md"))
wrong, links = [], 0
for page in pages:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / link).resolve()
        links += 1
        if not target.exists() or not target.is_relative_to(prefix):
            wrong.append(f"{page.relative_to(prefix)}: the link {link} leads nowhere")
assert prefix / folder / "README.md" in pages and links > 20, f"only {links} links of {len(pages)} pages"
print("\n".join(wrong) if wrong else f"{links} links of {len(pages)} installed pages lead to installed files")
sys.exit(bool(wrong))

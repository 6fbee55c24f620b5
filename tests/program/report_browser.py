"""The pages of --report in a real browser, at two widths: they render, nothing complains, the verdict is there.

report_browser.py CHROMIUM ATTEST KERNELS. The page runs no script, so a copy of it gets a script. It measures, in a
frame as wide as the screen: how wide the page became, what the verdict says, how tall each picture is.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

chromium = sys.argv[1]
attest, kernels = (pathlib.Path(argument).resolve() for argument in sys.argv[2:4])
MEASURE = """<script>addEventListener("load", () => parent.postMessage({
  scroll: document.documentElement.scrollWidth, width: innerWidth,
  verdicts: [...document.querySelectorAll(".verdict .sentence")].map(p => p.innerText),
  flat: [...document.querySelectorAll("svg[role=img]")].filter(s => s.getBoundingClientRect().height < 20).length,
  pictures: document.querySelectorAll("svg[role=img]").length,
  paper: getComputedStyle(document.body).backgroundColor}, "*"))</script>"""
FRAME = """<!DOCTYPE html><body><p id="told"></p>
<iframe src="measured.html" style="width:{width}px;height:900px;border:0"></iframe>
<script>addEventListener("message", e => told.textContent = JSON.stringify(e.data))</script></body>"""


def browse(folder, *arguments):
    command = [chromium, "--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
               "--disable-extensions", "--disable-background-networking", "--enable-logging=stderr",
               f"--user-data-dir={folder}/profile", *(["--no-sandbox"] if os.geteuid() == 0 else []), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not complaints, complaints
    return done.stdout


def colours_of(png):
    """How many different rows an 8-bit PNG has, without decoding its filters: a blank page has very few."""
    data, at = b"", 8
    while at < len(png):
        length = int.from_bytes(png[at:at + 4], "big")
        if png[at + 4:at + 8] == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    width, height = (int.from_bytes(png[place:place + 4], "big") for place in (16, 20))
    raw = zlib.decompress(data)
    stride = len(raw) // height
    return width, height, len({raw[row * stride:(row + 1) * stride] for row in range(height)})


def check(folder, page, verdict, pictures):
    text = (folder / page).read_text()
    unlocked = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*/>', "", text)
    assert unlocked != text
    (folder / "measured.html").write_text(unlocked.replace("</head>", MEASURE + "</head>"))
    for width in (360, 1200):
        (folder / "frame.html").write_text(FRAME.format(width=width))
        told = re.search(r'<p id="told">(.*?)</p>', browse(folder, "--virtual-time-budget=5000", "--dump-dom",
                                                           (folder / "frame.html").as_uri()))
        seen = json.loads(told.group(1).replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
        assert seen["width"] == width and seen["scroll"] <= width, (page, seen)
        assert seen["verdicts"][0].startswith(verdict), seen
        assert seen["pictures"] >= pictures and seen["flat"] == 0, (page, seen)
        browse(folder, f"--window-size={width},1400", f"--screenshot={folder}/shot.png", (folder / page).as_uri())
        _, height, rows = colours_of((folder / "shot.png").read_bytes())
        assert height == 1400 and rows > 200, (page, width, rows)
    dom = browse(folder, "--dump-dom", (folder / page).as_uri())
    assert verdict in dom and "<script" not in dom


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)

    def audit(page, *arguments):
        done = subprocess.run([attest, "audit", "--quick", "--draws", "20", "--seed", "1", "--report", page,
                               *arguments], cwd=folder, capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr

    audit("certified.html")
    check(folder, "certified.html", "CERTIFIED", 4)
    audit("refuted.html", "--kernel", f"{kernels}/ignores_mask.so", "--kernel", "builtin", "--kernel",
          f"{kernels}/mean_v.so")
    check(folder, "refuted.html", "REFUTED", 10)
print("1 passed, 0 failed")

"""What the pages of --report must hold, for a certified run, refuted ones, two kernels, and hostile names in a file.

report_page.py ATTEST KERNELS: runs the program, parses every page as XML and as HTML, and holds it against the
terminal's text and the JSON report of the same run.
"""
import html.parser
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

attest, kernels = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
SVG, XHTML = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xhtml}"
HOSTILE = "<script>alert(1)</script>\"'&"


class Tags(html.parser.HTMLParser):
    """Every start tag, as a browser's tokenizer sees it."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


def text_of(element):
    return " ".join("".join(element.itertext()).split())


def run(folder, *arguments, status):
    command, *words = arguments
    done = subprocess.run([attest, command, "--verbose", *words, "--json", "report.json", "--report", "page.html"],
                          cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stdout, json.loads((folder / "report.json").read_text()), (folder / "page.html").read_text()


def check_page(terminal, report, page):
    tree = xml.fromstring(page)
    tags = Tags(page).tags
    assert not [tag for tag, _ in tags if tag in ("script", "iframe", "object", "embed", "link", "img", "base", "form")]
    for tag, attributes in tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name == "xmlns" or not re.search(r"https?:|data:|javascript:", value or ""), (tag, name, value)
    for svg in tree.iter(SVG + "svg"):
        if svg.get("aria-hidden") != "true" and svg.get("class") != "patterns":
            assert svg.get("role") == "img" and svg.find(SVG + "title").text and svg.find(SVG + "desc").text
    reports = report.get("reports", [report])
    verdicts = [element for element in tree.iter() if (element.get("class") or "").startswith("verdict ")]
    assert [element.get("class").split()[1] for element in verdicts] == [part["verdict"] for part in reports]
    everything = text_of(tree)
    for part, verdict in zip(reports, verdicts):
        paragraphs = list(verdict.iter(XHTML + "p"))
        if part["cause"]:  # it comes before the verdict, here and in the terminal
            cause = " ".join(part["cause"]["sentence"].split())
            assert text_of(paragraphs[0])[1:] == cause[1:] + "." and cause in terminal, cause
        sentence = text_of(next(p for p in paragraphs if p.get("class") == "sentence"))
        assert sentence in terminal and sentence.startswith(part["verdict"].upper()), sentence
        for check in part["checks"]:
            assert check["name"] in everything
        articles = [element for element in tree.iter(XHTML + "article")]
        for finding in part["findings"]:
            about = [text for text in map(text_of, articles) if " ".join(finding["sentence"].split()) in text]
            assert about, finding["sentence"]
            assert any(" ".join(finding["reproducer"].split()) in text for text in about), finding["reproducer"]
            assert bool(finding["pictures"]) != bool(finding["no_pictures"]), finding["sentence"]
            if not finding["pictures"]:
                assert any(f"No pictures: {finding['no_pictures']}." in text for text in about), finding["no_pictures"]
            if finding["shrunk_sentence"] is not None:
                assert any(" ".join(finding["shrunk_sentence"].split()) in text
                           for text in about), finding["shrunk_sentence"]
            if float.fromhex(finding["bound"]) > 0:
                assert any(finding["got"] in text and finding["bound"] in text for text in about), finding["sentence"]
        for point in part["curves"]:  # the description of a curve speaks every point
            assert point["axis"] in everything
            assert f"at {float.fromhex(point['place']):g};" in everything.replace(" (refuted)", "")
    return tree


def luminance(colour):
    channels = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def check_contrast(page):
    """WCAG 2: 4.5:1 for text and lines, light and dark."""
    themes = [dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block))
              for block in re.findall(r":root \{(.*?)\}", page, re.S)]
    assert len(themes) == 2
    for theme in themes:
        pairs = [(name, "paper") for name in ("ink", "quiet", "good", "bad", "open", "s0", "s1", "s2", "s3", "s4", "s5",
                                              "cross")]
        pairs += [("ink", f"l{n}") for n in range(5)] + [("on-dark", f"l{n}")
                                                         for n in range(5, 9)] + [("cross", "over"), ("ink", "raised")]
        for text, ground in pairs:
            low, high = sorted((luminance(theme[text]), luminance(theme[ground])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)


def safetensors(path, tensors, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    quick = ["audit", "--quick", "--draws", "20", "--draw-products", "65536", "--seed", "1"]
    masks = ["--only", "masks,empty-rows,visibility-probe,stability"]

    terminal, report, page = run(folder, *quick, status=0)
    check_page(terminal, report, page)
    check_contrast(page)
    assert {curve["axis"] for curve in report["curves"]} == {"score range", "keys", "head dimension", "value offset"}
    assert page.count('class="curve"') == 4 and page.count('class="bound"') == 4

    terminal, report, page = run(folder, *quick, *masks, "--kernel", f"{kernels}/ignores_mask.so", status=1)
    check_page(terminal, report, page)
    drawn = [finding["pictures"] for finding in report["findings"] if finding["pictures"]]
    assert any(p["shows"] == "weights" and "through V" in p["applied_by"] for p in drawn)
    for p in drawn:  # a masked key has no weight in what was asked for, and this kernel gives it one
        if p["shows"] == "weights" and "." in "".join(p["visible"]):
            pairs = [(asked, applied, seen) for asked_row, applied_row, line in zip(p["asked"]["rows"],
                                                                                    p["applied"]["rows"], p["visible"])
                     for asked, applied, seen in zip(asked_row, applied_row, line)]
            assert all(float.fromhex(asked) == 0 for asked, _, seen in pairs if seen == ".")
            assert any(float.fromhex(applied) != 0 for _, applied, seen in pairs if seen == ".")
    assert any(error == "inf" or float.fromhex(error) > 1 for p in drawn if p["errors_in_bounds"]
               for row in p["errors_in_bounds"]["rows"] for error in row)
    assert page.count('class="heatmap"') >= 3 * len(drawn) - 1 and "0x1" in page

    # A merged page shows what its shards' pages show.
    pages, shards = [], []
    for n in (1, 2):
        _, shard, shown = run(folder, *quick, "--only", "masks,worked-examples,bias", "--kernel",
                              f"{kernels}/mean_v.so", "--shard", f"{n}/2", status=1)
        (folder / f"{n}.json").write_text(json.dumps(shard))
        pages.append(shown), shards.append(shard)
    terminal, report, page = run(folder, "merge", "2.json", "1.json", status=1)
    check_page(terminal, report, page)
    def place_of(finding):
        return tuple(finding[key] for key in ("check", "case", "class", "output"))

    carried = {place_of(finding): finding for shard in shards for finding in shard["findings"]}
    assert report["findings"] and all(carried[place_of(finding)] == finding for finding in report["findings"])
    assert sum(bool(finding["pictures"]) for finding in report["findings"]) >= 4
    assert any(float.fromhex(finding["bound"]) > 0 for finding in report["findings"])
    drawings = [drawing for shown in pages for drawing in re.findall(r"<svg[^>]*class=\"heatmap\".*?</svg>", shown,
                                                                     re.S)]
    merged = re.findall(r"<svg[^>]*class=\"heatmap\".*?</svg>", page, re.S)
    assert len(merged) >= 8 and set(merged) <= set(drawings), (len(merged), len(drawings))
    assert page.count('class="inputs"') == sum(bool(finding["shrunk_inputs"]) for finding in report["findings"]) > 0

    terminal, report, page = run(folder, *quick, "--only", "stability", "--kernel", "builtin", "--kernel",
                                 f"{kernels}/naive.so", status=0)
    check_page(terminal, report, page)
    assert len(report["reports"]) == 2 and page.count('class="line s1"') > 6 and page.count('class="curve"') == 4
    terminal, report, page = run(folder, *quick, "--only", "worked-examples", "--kernel", f"{kernels}/mean_v.so",
                                 "--kernel", "builtin", "--kernel", f"{kernels}/crash.so", status=1)
    check_page(terminal, report, page)
    assert report["verdict"] == "refuted" and [part["verdict"]
                                               for part in report["reports"]] == ["refuted", "certified", "refuted"]
    assert "crashed with SIGSEGV" in page

    safetensors(folder / "hostile.safetensors", {
        f"{HOSTILE}.q": ([1, 1, 1, 1], [1.0]), f"{HOSTILE}.k": ([1, 1, 2, 1], [1.0, 2.0]),
        f"{HOSTILE}.v": ([1, 1, 2, 1], [1.0, 2.0]), f"{HOSTILE}.o": ([1, 1, 1, 1], [7.0]), HOSTILE: ([1], [1.0])}, {})
    (folder / "hostile.safetensors").rename(folder / "a<b>&'\".safetensors")
    terminal, report, page = run(folder, "verify", "a<b>&'\".safetensors", status=1)
    check_page(terminal, report, page)
    assert HOSTILE not in page, "unescaped"
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "a&lt;b&gt;&amp;&#39;" in page
    assert "no weights of its own" in page
print("1 passed, 0 failed")

"""Reading the HTML that the project writes: by its source, and in headless Chromium."""

import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed; it opens the page as a reader")


class Page(HTMLParser):
    """tags: (name, attributes) of every element. text: the text between them, but for styles and scripts."""

    def __init__(self, source: str):
        super().__init__()
        self.tags, self.texts, self._inside = [], [], None
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside not in ("style", "script"):
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    def classes(self, name):
        """The elements of that class."""
        return [attributes for _, attributes in self.tags if name in (attributes.get("class") or "").split()]


def section(path: Path, name: str, tag: str = "section") -> str:
    """The source of the element with that identifier; no element of its kind is within it."""
    return re.search(rf'<{tag}\b[^>]*? id="{name}".*?</{tag}>', path.read_text(), re.DOTALL)[0]


def rows(source: str) -> list[list[str]]:
    """The cells of each row in the source of tables."""
    cells = [
        re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.DOTALL) for row in re.findall(r"<tr\b.*?</tr>", source, re.DOTALL)
    ]
    return [[Page(cell).text for cell in row] for row in cells]


def tiles(path: Path) -> list[str]:
    """The key numbers of a report, each with what it is."""
    (listed,) = re.findall(r'<ul class="tiles">.*?</ul>', path.read_text(), re.DOTALL)
    return [Page(item).text for item in re.findall(r"<li\b.*?</li>", listed, re.DOTALL)]


def check_source(path: Path) -> Page:
    """The page at `path`, checked: identifiers are unique, all that it names is in or beside it, heads are in order."""
    source = path.read_text()
    page = Page(source)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    addresses = [a[key] for _, a in page.tags for key in ("href", "src") if key in a]
    for address in addresses:
        if address.startswith("#"):
            assert address[1:] in ids
        elif not address.startswith("data:"):
            assert ":" not in address and (path.parent / address).is_file(), address
    assert all(a["src"].startswith("data:") for a in page.all("img"))
    assert not page.all("iframe") and not [a for a in page.all("script") if "src" in a]
    assert not re.search(r"url\(|@import", source[source.index("<style>") : source.index("</style>")])
    for attributes in page.all("img"):
        assert attributes["alt"] and int(attributes["width"]) > 0 and int(attributes["height"]) > 0
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    assert {"header", "main", "nav"} <= {tag for tag, _ in page.tags}
    return page


class VisibleText(HTMLParser):
    """words: how many a reader sees outside of tables, with every fold closed."""

    OUTSIDE = frozenset({"style", "script", "title", "table", "dialog", "select"})
    VOID = frozenset({"meta", "link", "img", "br", "input"})

    def __init__(self, source: str):
        super().__init__()
        self.words, self._open = 0, []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        folded = self._open.count("details") > self._open.count("summary")
        if not folded and self.OUTSIDE.isdisjoint(self._open):
            self.words += len(data.split())


def chromium(*arguments: str, folder: Path) -> str:
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


WATCH = "<script>window.faults = []; addEventListener('error', (e) => faults.push(e.message));"
WATCH += "addEventListener('unhandledrejection', (e) => faults.push(String(e.reason)));"
WATCH += "addEventListener('securitypolicyviolation', (e) => faults.push(e.blockedURI));</script>"
PROBE = """<script>addEventListener("load", () => {
  const column = (table, k) => [...table.tBodies[0].rows].map((row) => row.cells[k].textContent.trim());
  const folds = () => [...document.querySelectorAll("details")].filter((fold) => !fold.open).length;
  const root = document.documentElement;
  const found = {width: innerWidth, needed: root.scrollWidth, orders: []};
  const table = document.querySelector(TABLE);
  found.folded = [folds()];
  for (const name of ["beforeprint", "afterprint"]) { dispatchEvent(new Event(name)); found.folded.push(folds()); }
  for (const fold of document.querySelectorAll("details")) if (fold.contains(table)) fold.open = true;
  const button = table.tHead.rows[0].cells[COLUMN].querySelector("button");
  button.focus();
  found.focused = document.activeElement === button;
  for (let click = 0; click < 3; click += 1) {
    button.click();
    found.orders.push([button.parentElement.getAttribute("aria-sort"), column(table, COLUMN)]);
  }
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  found.unfolded = root.scrollWidth;
  found.loads = performance.getEntriesByType("resource").map((entry) => entry.name);
  found.faults = faults;
  parent.postMessage(JSON.stringify(found), "*");
});</script>"""
WINDOW = """<iframe src="{source}" style="width: {width}px; height: 2000px; border: 0"></iframe>
<script>addEventListener("message", (e) => {{ document.documentElement.dataset.found = e.data; }});</script>"""


def probe(path: Path, folder: Path, table: str, column: int, width: int = 360) -> dict:
    """What a reader with a narrow window finds: how wide the page is, how `column` of a table sorts, and faults."""
    return run_in_browser(path, folder, PROBE.replace("TABLE", json.dumps(table)).replace("COLUMN", str(column)), width)


def run_in_browser(path: Path, folder: Path, script: str, width: int, *options: str) -> dict:
    """What `script`, at the end of the page at `path`, posts to the window around it. options: of Chromium.

    The page is in a frame, as no window of headless Chromium is that narrow.
    """
    (folder / "probed.html").write_text(add_script(path, script))
    (folder / "window.html").write_text(WINDOW.format(source="probed.html", width=width))
    address = (folder / "window.html").as_uri()
    dumped = chromium("--virtual-time-budget=8000", *options, "--dump-dom", address, folder=folder)
    return json.loads(html.unescape(re.search(r'data-found="([^"]*)"', dumped)[1]))


def add_script(path: Path, script: str) -> str:
    """The page at `path` with `script` at its end, and faults of all scripts in `window.faults`."""
    before, _, after = path.read_text().replace("<head>", f"<head>{WATCH}", 1).rpartition("</body>")
    return f"{before}{script}</body>{after}"  # a script in the page may name these tags, too


def pdf_pages(path: Path, folder: Path) -> int:
    """How many pages the page at `path` takes on paper."""
    pdf = folder / f"{path.stem}.pdf"
    chromium("--no-pdf-header-footer", f"--print-to-pdf={pdf}", path.as_uri(), folder=folder)
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))

"""The site of the documentation: every page has its place, links and anchors lead somewhere, and nothing comes from
elsewhere: no script, no font, no picture of another host."""

import html.parser
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

from dump import Score

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build/site-venv/bin/python"
LOADS = {"img": "src", "link": "href", "script": "src", "iframe": "src", "source": "src"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.names, self.tags, self.bare = [], [], set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        self.names.add(values.get("id"))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in LOADS and values.get(LOADS[tag]):
            self.loads.append(values[LOADS[tag]])
        if tag == "img" and not values.get("alt"):
            self.bare.append(values.get("src"))


def look(score, place, page, pages):
    for address in page.loads:
        good = address == "data:," or address.startswith("data:image/png") or (place.parent / urllib.parse.unquote(address)).exists()
        score.check(good, f"{place.name} loads {address[:80]}")
    score.check("script" not in page.tags, f"{place.name} has a script")
    score.check("h1" in page.tags, f"{place.name} has no heading of the first level")
    score.check(not page.bare, f"{place.name} has pictures without a text: {page.bare}")
    for link in page.links:
        if ":" in link.split("/")[0]:
            continue
        name, _, anchor = link.partition("#")
        target = (place.parent / urllib.parse.unquote(name)).resolve() if name else place
        known = target in pages and (not anchor or urllib.parse.unquote(anchor) in pages[target].names)
        score.check(known or (target.exists() and target not in pages), f"{place.name}: the link {link} leads nowhere")


def main():
    score = Score()
    if not PYTHON.exists():
        print("skipped: scripts/deps.sh site installs what makes the site")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder).resolve() / "site"
        done = subprocess.run([PYTHON, ROOT / "scripts/site.py", out], capture_output=True, text=True, check=False)
        score.check(done.returncode == 0, f"scripts/site.py: {done.stdout}{done.stderr[-800:]}")
        pages = {path: Page(path.read_text("utf-8")) for path in sorted(out.rglob("*.html")) if "files" not in path.parts}
        score.check(len(pages) > 60, f"{len(pages)} pages")
        for place, page in pages.items():
            look(score, place, page, pages)
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())

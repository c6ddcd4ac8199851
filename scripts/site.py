#!/usr/bin/env python3
"""Makes a static site of the pages of the repository: no scripts, nothing from elsewhere.

    scripts/site.py FOLDER     after `scripts/deps.sh site`; `make site` does both

docs/site/nav.txt is the navigation, page.html the frame, site.css the style. A page is a Markdown file of the repository,
and stands in FOLDER under its own path, without "docs/". Links to other files of the repository become copies of them.
Prints what is wrong and ends with 1: links and anchors that lead nowhere, pages of docs/ without a place.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "docs/site"
PAGES = (".md", ".ipynb")
COMMENT = re.compile(r"<!--.*?-->\n?", re.S)


def read_nav():
    """[(section, [(path, title)])]"""
    sections = []
    for line in (SITE / "nav.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            sections.append((line, []))
        else:
            path, title = line.strip().split(": ", 1)
            sections[-1][1].append((path, title))
    return sections


def place_of(path):
    """Where a page of the repository stands in the site: docs/start/llm.md is start/llm.html."""
    return os.path.splitext(path.removeprefix("docs/"))[0] + ".html"


def copy_of(path):
    """Where a file that is no page stands."""
    return path.removeprefix("docs/") if path.startswith("docs/pictures/") else f"files/{path}"


def fenced(kind, text):
    return f"```{kind}\n{text.rstrip()}\n```\n"


def notebook_text(path):
    """A notebook as Markdown: its texts, its code, and what the cells showed."""
    parts = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source + "\n" if cell["cell_type"] == "markdown" else fenced("python", source))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                parts.append(f'<img alt="{"".join(data["text/plain"])}" src="data:image/png;base64,{data["image/png"]}">\n')
            else:
                parts.append(fenced("", "".join(output.get("text") or data["text/plain"])))
    return "\n".join(parts)


def text_of(path):
    return notebook_text(path) if path.suffix == ".ipynb" else COMMENT.sub("", path.read_text("utf-8"))


def slugs():
    """Makes anchors of headings as GitHub does."""
    seen = {}

    def slug(text):
        name = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
        count = seen[name] = seen.get(name, -1) + 1
        return f"{name}-{count}" if count else name

    return slug


def breakable(text):
    """HTML of code or a name: lines end between words and parts of names, not behind the dashes of an option."""
    return "<wbr>".join(map(html.escape, re.split(r"(?<= )|(?<=[,;])(?=\S)|(?<=\w[-._/=:])(?=\w)|(?<=[a-z])(?=[A-Z])", text)))


def prose(text):
    """HTML of a text, whose long names may be broken too."""
    return re.sub(r"[\w./]{16,}", lambda name: breakable(name[0]), html.escape(text))


def plain(inline):
    return "".join(child.content for child in inline.children if child.type in ("text", "code_inline"))


class Site:
    def __init__(self, out):
        self.out, self.nav, self.problems = out, read_nav(), []
        self.order = [page for _, pages in self.nav for page in pages]
        self.titles = dict(self.order)
        self.markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
        rules = self.markdown.renderer.rules
        rules["code_inline"] = lambda tokens, at, *_: f"<code>{breakable(tokens[at].content)}</code>"
        rules["text"] = lambda tokens, at, *_: prose(tokens[at].content)
        self.anchors, self.links, self.copied = {}, [], set()
        self.version = subprocess.run(["make", "-s", "version"], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    def relative(self, page, target):
        return quote(os.path.relpath(target, Path(place_of(page)).parent))

    def target(self, page, link):
        """The address of a link in the site; None: it leads nowhere."""
        if re.match(r"\w+:", link) or link.startswith("#"):
            if link.startswith("#"):
                self.links.append((page, page, link[1:]))
            return link
        name, _, anchor = link.partition("#")
        path = os.path.normpath(Path(page).parent / unquote(name))
        if (ROOT / path).is_dir() and (ROOT / path / "README.md").exists():
            path += "/README.md"
        if path.endswith(PAGES) and (ROOT / path).exists():
            self.wanted.add(path)
            if anchor:
                self.links.append((page, path, anchor))
            return self.relative(page, place_of(path)) + (f"#{anchor}" if anchor else "")
        if not (ROOT / path).is_file():
            if not (ROOT / path).exists():
                self.problems.append(f"{page}: there is no {path}")
            return None
        self.copied.add(path)
        return self.relative(page, copy_of(path))

    def fix(self, page, tokens):
        """Anchors of headings, addresses of links and pictures, tables that scroll by themselves."""
        slug, names = slugs(), self.anchors.setdefault(page, set())
        for token, following in zip(tokens, [*tokens[1:], None]):
            if token.type == "heading_open":
                name = slug(plain(following))
                names.add(name)
                token.attrSet("id", name)
            if token.type == "html_block":
                token.content = self.fix_html(page, token.content)
            for child in token.children or []:
                self.fix_inline(page, child)

    def fix_html(self, page, text):
        """Pictures of HTML that stands in a page."""
        fixed = lambda match: match[0] if match[1].startswith("data:") else f'src="{self.target(page, match[1])}"'  # noqa: E731
        return re.sub(r'src="([^"]+)"', fixed, text)

    def fix_inline(self, page, token):
        if token.type == "html_inline":
            token.content = self.fix_html(page, token.content)
        if token.type not in ("link_open", "image"):
            return
        key = "href" if token.type == "link_open" else "src"
        address = self.target(page, token.attrs[key])
        if address:
            token.attrSet(key, address)
        else:
            token.attrs.pop(key)

    def navigation(self, page):
        lines = []
        for section, pages in self.nav:
            lines.append(f"<h2>{html.escape(section)}</h2>\n<ul>")
            for path, title in pages:
                here = ' aria-current="page"' if path == page else ""
                lines.append(f'<li><a href="{self.relative(page, place_of(path))}"{here}>{html.escape(title)}</a></li>')
            lines.append("</ul>")
        return "\n".join(lines)

    def neighbours(self, page):
        paths = [path for path, _ in self.order]
        if page not in paths:
            return ""
        at, links = paths.index(page), []
        for step, sign in ((-1, "Before: "), (1, "Next: ")):
            if 0 <= at + step < len(paths):
                path = paths[at + step]
                links.append(f'<a href="{self.relative(page, place_of(path))}">{sign}{html.escape(self.titles[path])}</a>')
        return "\n".join(links)

    def write(self, page):
        tokens = self.markdown.parse(text_of(ROOT / page))
        self.fix(page, tokens)
        content = self.markdown.renderer.render(tokens, self.markdown.options, {})
        content = content.replace("<table>", '<div class="table" tabindex="0"><table>').replace("</table>", "</table></div>")
        heading = next((plain(b) for a, b in zip(tokens, tokens[1:]) if a.type == "heading_open"), page)
        frame = (SITE / "page.html").read_text("utf-8")
        title = heading if heading == "Baryon" else f"{heading} - Baryon"
        up = "../" * place_of(page).count("/")
        values = {"TITLE": html.escape(title), "ROOT": up, "VERSION": self.version,
                  "NAV": self.navigation(page), "CONTENT": content, "NEXT": self.neighbours(page)}  # fmt: skip
        for name, value in values.items():
            frame = frame.replace(f"@{name}@", value)
        place = self.out / place_of(page)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(frame, "utf-8")

    def make(self):
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        shutil.copy(SITE / "site.css", self.out)
        self.wanted, done = {path for path, _ in self.order}, set()
        while rest := sorted(self.wanted - done):
            for page in rest:
                done.add(page)
                if (ROOT / page).exists():
                    self.write(page)
                else:
                    self.problems.append(f"docs/site/nav.txt: there is no {page}")
        for path in sorted(self.copied):
            place = self.out / copy_of(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, place)
        self.look(done)
        return done

    def look(self, done):
        for page, target, anchor in self.links:
            if anchor not in self.anchors.get(target, ()):
                self.problems.append(f"{page}: {target} has no heading #{anchor}")
        for path in sorted((ROOT / "docs").rglob("*.md")):
            if str(path.relative_to(ROOT)) not in self.titles:
                self.problems.append(f"docs/site/nav.txt: {path.relative_to(ROOT)} has no place")


def main():
    site = Site(Path(sys.argv[1]).resolve())
    done = site.make()
    print("\n".join(site.problems))
    print(f"{len(done)} pages in {sys.argv[1]}, {len(site.problems)} problems")
    return 1 if site.problems else 0


if __name__ == "__main__":
    sys.exit(main())

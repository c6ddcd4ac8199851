"""Messages that the documentation quotes are the program's: docs/troubleshooting.md, and lines "baryon: ..." in blocks.

Of a message in docs/troubleshooting.md "..." stands for what differs. A line of a block is cut at "; ", where hints
begin: each part has to have a text of the sources in it.
"""

import pathlib
import re
import sys

from dump import Score

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRING = r'"(?:\\.|[^"\\\n])*"'
JOINED = re.compile(rf"{STRING}(?:\s*(?:PRI\w+|BY_\w+)?\s*{STRING})*")
SPEC = re.compile(r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]|%$|%(?=[ ,;:)])")
SHARE = 0.35  # of a line that the text has to be
LEAST = 12  # letters of a text that say something


def texts():
    """Texts of the sources, as parts between what printf fills in."""
    for path in [*ROOT.glob("src/**/*.c"), *ROOT.glob("src/**/*.h"), *ROOT.glob("cli/*.c")]:
        for match in JOINED.finditer(path.read_text("utf-8")):
            text = "".join(part[1:-1] for part in re.findall(STRING, match[0]))
            text = text.replace('\\"', '"').replace("\\\\", "\\").replace("\\n", "")
            parts = SPEC.split(text)
            if sum(map(len, parts)) >= LEAST:
                yield parts


def pattern(parts):
    return re.compile(".*?".join(map(re.escape, parts)))


def quoted():
    """First cells of the rows of the tables."""
    for line in (ROOT / "docs/troubleshooting.md").read_text("utf-8").splitlines():
        if match := re.match(r"\| `(.+?)` \|", line):
            yield match[1]


def like(wanted, parts):
    """Whether a text of the sources has the parts of a message in their order, or the message those of the text."""
    at = 0
    text = "\0".join(parts)
    for part in wanted.split("..."):
        at = text.find(part.strip(), at)
        if at < 0:
            return False
        at += len(part.strip())
    return True


def lines():
    """(place, line) of messages in blocks."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for kind, block in re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text("utf-8"), re.S | re.M):
            for line in block.splitlines() if not kind else ():
                if line.startswith("baryon: "):
                    yield path.relative_to(ROOT), line


def main():
    score = Score()
    known = list(texts())
    score.check(len(known) > 1000, f"{len(known)} texts in the sources")
    for wanted in quoted():
        found = any(like(wanted, parts) for parts in known)
        score.check(found, f"docs/troubleshooting.md: no message {wanted!r} in the sources")
    patterns = [pattern(parts) for parts in known]
    for place, line in lines():
        for part in line.removeprefix("baryon: ").split("; "):
            if len(part) < 2 * LEAST:
                continue
            good = any(len(one.pattern) > SHARE * len(part) and one.search(part) for one in patterns)
            score.check(good, f"{place}: no text of the sources in {part!r}")
    score.check(not like("the moon is made of cheese", ["the sun is %s"]), "a text that is not there is found")
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Writes src/llm/text/unicode_*.c from the Unicode data of a Python.

    unicode.py        with unicodedata2 where it is installed, else unicodedata

Categories decide what the regular expressions of tokenizers match; canonical
compositions are those of the normalizers NFC and NFD.
"""

import sys
from pathlib import Path

try:
    import unicodedata2 as unicodedata
except ImportError:
    import unicodedata

FOLDER = Path(__file__).parent.parent / "src/llm/text"
LAST = 0x110000
# In the order of enum by_category.
CATEGORIES = "Cn Cc Cf Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs".split()
HANGUL = range(0xAC00, 0xD7A4)


def ranges(value_of):
    """(first code point, value) of each run of equal values."""
    last = None
    for code in range(LAST):
        value = value_of(chr(code))
        if value != last:
            yield code, value
            last = value


def array(name, rows):
    text = [f"const uint32_t {name}[] = {{"]
    line = "   "
    for row in rows:
        item = f" 0x{row:x},"
        if len(line) + len(item) > 100:
            text.append(line)
            line = "   "
        line += item
    return text + [line, "};", f"const size_t {name}_count = sizeof {name} / sizeof *{name};", ""]


def write(name, about, arrays):
    head = [f"/* {about} */", f"// Unicode {unicodedata.unidata_version}, written by scripts/unicode.py",
            '#include "llm/text/unicode_data.h"', "", "// clang-format off"]  # fmt: skip
    lines = head + [line for one in arrays for line in array(*one)]
    (FOLDER / name).write_text("\n".join(lines).rstrip() + "\n")


def decompositions():
    """(code point, first, second or 0), without Hangul, which is arithmetic."""
    for code in range(LAST):
        parts = unicodedata.decomposition(chr(code)).split()
        if parts and not parts[0].startswith("<") and code not in HANGUL:
            yield code, int(parts[0], 16), int(parts[1], 16) if len(parts) > 1 else 0


def composes(code, first, second):
    return second and unicodedata.normalize("NFC", chr(first) + chr(second)) == chr(code)


def main():
    categories = [code << 5 | CATEGORIES.index(value) for code, value in ranges(unicodedata.category)]
    classes = [code << 8 | value for code, value in ranges(unicodedata.combining)]
    cuts = list(decompositions())
    joins = sorted((first, second, code) for code, first, second in cuts if composes(code, first, second))
    write("unicode_category.c", "Where each run of a general category begins.",
          [("by_unicode_categories", categories)])  # fmt: skip
    write("unicode_class.c", "Where each run of a combining class begins.", [("by_unicode_classes", classes)])
    write("unicode_cut.c", "Canonical decompositions: code point, first, second or 0.",
          [("by_unicode_cuts", [part for cut in cuts for part in cut])])  # fmt: skip
    write("unicode_join.c", "Canonical compositions: first, second, code point.",
          [("by_unicode_joins", [part for join in joins for part in join])])  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())

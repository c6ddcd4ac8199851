"""docs/quark-options.md is what the rows of options say."""

import pathlib
import subprocess
import sys

from dump import BUILD, tool

PAGE = pathlib.Path("docs/quark-options.md")


def main():
    made = subprocess.run([tool("alias_dump")], text=True, capture_output=True, check=True).stdout
    same = PAGE.exists() and PAGE.read_text() == made
    if not same:
        print(f"{PAGE} is outdated: {BUILD}/tests/tools/alias_dump > {PAGE}")
    print("1 passed, 0 failed" if same else "0 passed, 1 failed")
    return not same


if __name__ == "__main__":
    sys.exit(main())

"""docs/operators.md is what the rows say."""

import pathlib
import subprocess
import sys

from dump import BUILD, tool

PAGE = pathlib.Path("docs/operators.md")


def main():
    made = subprocess.run([tool("opinfo_dump"), "--markdown"], text=True,
                          capture_output=True, check=True).stdout
    same = PAGE.read_text() == made
    if not same:
        print(f"{PAGE} is outdated: {BUILD}/tests/tools/opinfo_dump --markdown > {PAGE}")
    print("1 passed, 0 failed" if same else "0 passed, 1 failed")
    return not same


if __name__ == "__main__":
    sys.exit(main())

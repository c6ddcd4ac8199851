"""Every block of code of the documentation runs: shell, Python and C, page by page in a folder of its own.

Models and pictures that a page names are small stand-ins (tests/lib/pages.py), so figures are not compared. A block
that cannot run has a line above it that says why: <!-- not run: REASON -->. <!-- file: NAME --> above a block of YAML
writes it. Without LONG=1 only pages that teach beginners run.
"""

import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

from world import BUILD, PROGRAM, ROOT, Score

from lib import pages

QUICK = ["docs/index.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/start").glob("*.md"))]
KINDS = {"", "sh", "python", "c", "yaml"} | ({"bat"} if os.name == "nt" else set())  # elsewhere bat says that it is not run


def all_pages():
    found = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
    return [page for page in found if any(block.kind or block.commands() for block in pages.blocks(page))]


def shell(text):
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], capture_output=True, text=True, check=False)
    return "" if done.returncode in (0, 7) else f"status {done.returncode}\n{done.stdout[-600:]}{done.stderr[-1200:]}"


def python(text, world):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, "block", "exec"), world)
    except Exception:
        return traceback.format_exc(limit=-2)
    return ""


def c(text):
    """A whole program is compiled and run, anything else compiled as the inside of a function."""
    whole = "int main(" in text
    pathlib.Path("program.c").write_text(text if whole else f"#include <baryon.h>\nvoid block(void);\nvoid block(void)\n{{\n{text}}}\n")
    build = ["gcc", "-std=c17", "-Wall", f"-I{ROOT}/include", "program.c", "-o", "program",
             f"-L{BUILD}", "-lbaryon", f"-Wl,-rpath,{BUILD}"]  # fmt: skip
    done = subprocess.run(build if whole else [*build[:5], "-c"], capture_output=True, text=True, check=False)
    return done.stderr or (shell("./program") if whole else "")


def bat(text):
    """Each line by Windows' own shell; tests/windows_python.py says what pip is there, and where the wheel is."""
    for name in re.findall(r"\bC:\\(\w+)", text):
        shutil.copytree(name, f"C:/{name}", dirs_exist_ok=True)
    for line in text.splitlines():
        if line.startswith("py -m pip"):
            shutil.copy(os.environ["BARYON_WHEEL"], ".")
            line = line.replace("py -m pip", os.environ["BARYON_PIP"])
        done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 7):
            return f"{line}: status {done.returncode}\n{done.stdout[-600:]}{done.stderr[-1200:]}"
    return ""


def is_run(block):
    """On Windows what is for Windows runs, too."""
    return block.kind == "bat" and os.name == "nt" or not block.why_not and (block.kind or block.commands())


def run_block(block, world):
    if block.kind == "bat":
        return bat(block.text)
    if block.kind == "python":
        return python(block.text, world)
    if block.kind == "c":
        return c(block.text)
    if block.kind == "yaml":
        if block.file:
            pathlib.Path(block.file).write_text(block.text)
        return shell(block.then or "true") if block.file else "a block of YAML without the name of its file"
    return commands(block)


def loose(line):
    """A message, whatever its numbers are; "..." stands for anything."""
    parts = [re.split(r"\d[\d.e+]*\d|\d", part) for part in line.split("...")]
    return ".*".join(r"[\d.e+]+".join(map(re.escape, part)) for part in parts)


def clear(command):
    """Removes what an earlier block wrote and this command writes again."""
    for name in re.findall(r"(?:-o|--out) (\S+)", command):
        place = pathlib.Path(name)
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)


def commands(block):
    """Of a block of a screen each command is for itself. Messages of the program that stand in a block have to be its."""
    wanted = [line for line in block.text.splitlines() if line.startswith("baryon: ")]
    for command in block.commands():
        clear(command)
        failure = shell("exec 2>&1\n" + command + ("\nfalse" if wanted else ""))
        missing = [line for line in wanted if not re.search(loose(line), failure)]
        if missing:
            return "\n".join(["other messages than", *missing, failure])
        if failure and not wanted:
            return failure
    return ""


def run_page(score, page):
    found, world = pages.blocks(page), {"__name__": "page"}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pages.furnish(page, "\n".join(block.text + block.then for block in found if is_run(block)))
        for block in found:
            if block.kind not in KINDS and not (block.kind == "bat" and block.why_not):
                score.check(False, f"{block.place}: a block of {block.kind}, which no test knows")
            elif block.why_not and not is_run(block):
                print(f"not run: {block.place}: {block.why_not}")
            elif is_run(block):
                failure = run_block(block, world)
                score.check(not failure, f"{block.place}: {failure}")
        os.chdir("/")


def main():
    score = Score()
    if not pages.PICTURES.exists():
        print("skipped: tests/zoo/fetch.sh gets the pictures")
        return 0
    os.environ["PATH"] = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    wanted = sys.argv[1:] or (all_pages() if os.environ.get("LONG") else QUICK)
    for page in wanted:
        run_page(score, page)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())

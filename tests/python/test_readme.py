"""The quick starts of the README and the search of docs/python.md, as they stand there."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from world import BUILD, ROOT, Score

import llm_files
import onnx

SOURCE = ROOT / "build/zoo/models/ppocr_cls.onnx"
BLOCKS = {"onnx": "sh", "llm": "sh", "python": "python", "c": "c"}


def blocks():
    text = (ROOT / "README.md").read_text("utf-8")
    sections = [text.split(f"## {title}\n")[1].split("\n## ")[0] for title in ("Quick start", "From Python and C")]
    found = re.findall(r"```(\w+)\n(.*?)```", "".join(sections), re.S)
    return dict(zip(BLOCKS, (text for _, text in found), strict=True)), [kind for kind, _ in found]


def search_block():
    text = (ROOT / "docs/python.md").read_text("utf-8")
    return re.search(r"```python\n(.*?)```", text.split("## Searching, and reports\n")[1], re.S).group(1)


def fill(folder):
    model = onnx.load(SOURCE)
    for dim, size in zip(model.graph.input[0].type.tensor_type.shape.dim, (1, 3, 48, 192)):
        dim.dim_value = size
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(model, folder / "model.onnx")
    (folder / "pictures").mkdir()
    pictures = sorted(path for path in (ROOT / "build/zoo/pictures").rglob("*") if path.suffix in (".jpg", ".png"))
    for path in pictures[:4]:
        shutil.copy(path, folder / "pictures")


def fill_language_model():
    """A tiny one, in whole blocks of GGUF, and texts of many windows."""
    llm_files.byte_decoder("model", 2**-20, hidden=256, inner=256)
    lines = "".join(f"Line {number} of a text about numbers.\n" for number in range(400)).encode()
    llm_files.write("texts/a.txt", lines)
    llm_files.write("other-texts/b.txt", lines[::-1])


def run(score, name, command, wanted, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    score.check(done.returncode == 0 and wanted in done.stdout, f"{name}: {done.returncode} {done.stdout[-400:]} {done.stderr[-800:]}")


def main():
    score = Score()
    if not SOURCE.exists():
        print("skipped: tests/zoo/fetch.sh gets the model")
        return 0
    found, kinds = blocks()
    score.check(kinds == list(BLOCKS.values()), f"blocks: {kinds}")
    for name, text in found.items():
        lines = [line for line in text.splitlines() if line.strip()]
        score.check(len(lines) <= 20, f"{name}: {len(lines)} lines")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fill(folder)
        os.chdir(folder)
        path = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"}
        run(score, "onnx", ["bash", "-e", "-c", found["onnx"]], "Mean cos similarity", env=path)
        fill_language_model()
        run(score, "llm", ["bash", "-e", "-c", found["llm"]], "KL divergence", env=path)
        score.check(pathlib.Path("model-q4_k.gguf").exists(), "llm: the GGUF file")
        for made in ("int8.onnx", "a8w8.onnx"):
            pathlib.Path(made).unlink(missing_ok=True)
        run(score, "python", [sys.executable, "-c", found["python"]], "(1, 3, 48, 192)")
        score.check(pathlib.Path("a8w8.onnx").exists(), "python: the second model")
        pathlib.Path("int8.onnx").unlink(missing_ok=True)
        for made in ("small.onnx", "small.yaml", "report.html"):
            pathlib.Path(made).unlink()  # of the block above: it has to have made them
        run(score, "search", [sys.executable, "-c", search_block()], "meets the goals")
        for made in ("small.yaml", "agrees.onnx", "report.html"):
            score.check(pathlib.Path(made).exists(), f"search: {made}")
        pathlib.Path("int8.onnx").unlink(missing_ok=True)
        pathlib.Path("program.c").write_text(found["c"], "utf-8")
        build = ["gcc", "-std=c17", "-Wall", "-Werror", "-o", "program", "program.c", f"-I{ROOT}/include",
                 f"-L{BUILD}", "-lbaryon", f"-Wl,-rpath,{BUILD}"]  # fmt: skip
        run(score, "c", build, "")
        run(score, "c", ["./program"], " nodes quantized")
        os.chdir("/")
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())

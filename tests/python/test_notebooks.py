"""The notebooks run as they are, and what is stored in them as output is of their cells. Without LONG=1 the short one."""

import json
import os
import pathlib
import subprocess
import sys

from world import ROOT, Score

QUICK = ["llm-to-gguf.ipynb"]


def look(score, path):
    """Every cell of code has been run, and one of them shows a picture."""
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    shown = [output for cell in cells for output in cell["outputs"]]
    score.check(any("image/png" in output.get("data", {}) for output in shown), f"{path.name} shows no picture")
    score.check(not any(output["output_type"] == "error" for output in shown), f"{path.name} has an error in it")


def main():
    score = Score()
    os.environ["ZOO"] = str(ROOT / "build/zoo")
    for path in sorted((ROOT / "docs/notebooks").glob("*.ipynb")):
        look(score, path)
        if path.name not in QUICK and not os.environ.get("LONG"):
            continue
        if path.name not in QUICK and not pathlib.Path(os.environ["ZOO"], "models").exists():
            print(f"skipped: tests/zoo/fetch.sh gets the model of {path.name}")
            continue
        done = subprocess.run([sys.executable, ROOT / "scripts/notebook.py", path], capture_output=True, text=True, check=False)
        score.check(done.returncode == 0, f"{path.name}: {done.stdout[-2000:]}{done.stderr[-500:]}")
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())

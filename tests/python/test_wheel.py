"""A new environment with the wheel, numpy and onnxruntime alone: the quick start runs, in little room."""

import os
import pathlib
import subprocess
import sys
import tempfile

from world import ROOT, Score

import cli_models

SCRIPT = """
import numpy as np
import baryon
from baryon.onnx import get_library_path
assert "site-packages" in baryon.__file__, baryon.__file__
data = [np.ones((1, 3, 8, 8), np.float32) * i for i in range(4)]
result = baryon.quantize("model.onnx", "q.onnx", preset="BFP16")
print(baryon.evaluate("model.onnx", "q.onnx", data)["cosine"].mean > 0.9)
print(baryon.quantize("model.onnx", "q.onnx", preset="XINT8", data=data).quantized_nodes, get_library_path()[-16:])
"""


# What the library would take for products of matrices, as files that no loader takes.
BLAS = ("libopenblas.so.0", "libopenblas.so", "libcblas.so.3", "libcblas.so", "libblas.so.3", "libblas.so")
SOLVE = """
import numpy as np
import baryon
rng = np.random.default_rng(0)
data = [rng.normal(size=(1, 3, 8, 8)).astype(np.float32) for i in range(4)]
result = baryon.quantize("model.onnx", "q.onnx", preset="XINT8_ADAROUND", data=data)
print(baryon.evaluate("model.onnx", "q.onnx", data)["cosine"].mean > 0.99)
"""


def check_without_blas(score, python, environment):
    os.mkdir("hidden")
    for name in BLAS:
        pathlib.Path("hidden", name).touch()
    hidden = {**environment, "LD_LIBRARY_PATH": os.path.abspath("hidden")}
    done = subprocess.run([python, "-c", SOLVE], capture_output=True, text=True, env=hidden, check=False)
    score.check(done.stdout == "True\n", f"without a BLAS: {done.stdout} {done.stderr[-800:]}")


def packages():
    """Where the tests' own Python has its packages: numpy and onnxruntime are taken from there."""
    import numpy

    return pathlib.Path(numpy.__file__).parents[1]


def main():
    score = Score()
    done = subprocess.run(["make", "-s", "wheel"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    wheel = ROOT / done.stdout.strip()
    if not score.check(done.returncode == 0 and wheel.exists(), f"make wheel: {done.stdout}"):
        return score.finish()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        cli_models.net(batch=1)
        subprocess.run([sys.executable, "-m", "venv", "empty"], check=True)
        python = pathlib.Path("empty/bin/python").absolute()
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("PYTHONPATH", "BARYON_LIBRARY", "BARYON_ONNXRUNTIME")}  # fmt: skip
        subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps",
                        "--no-index", wheel], check=True, env=environment)  # fmt: skip
        site = next(pathlib.Path("empty/lib").glob("python*/site-packages"))
        size = sum(path.stat().st_size for path in site.glob("baryon*/**/*") if path.is_file())
        score.check(size < 20 << 20, f"{size} bytes installed")
        for name in ("numpy", "numpy.libs", "onnxruntime"):
            (site / name).symlink_to(packages() / name)
        done = subprocess.run([python, "-c", SCRIPT], capture_output=True, text=True, env=environment, check=False)
        score.check(done.stdout == "True\n5 libbaryon_ops.so\n", f"the quick start: {done.stdout} {done.stderr[-800:]}")
        check_without_blas(score, python, environment)
        told = next(site.glob("baryon-*.dist-info/METADATA")).read_text("utf-8")
        for library in (site / "baryon/lib").iterdir():
            own = library.name.startswith("libbaryon") or library.name == "baryon"
            score.check(own or f"- {library.name}: " in told, f"no licence of {library.name}")
        texts = [path.name for path in site.glob("baryon-*.dist-info/licenses/*")]
        score.check(texts and all(f"License-File: {name}\n" in told for name in texts), f"texts of licences: {texts}")
        library = (site / "baryon/lib/libbaryon.so").read_bytes()
        score.check(str(ROOT).encode() not in library, "the library names the folder that it was built in")
        print(f"  installed: {size / 2**20:.1f} MiB")
        os.chdir("/")
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())

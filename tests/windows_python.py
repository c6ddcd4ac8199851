"""The wheel in a new prefix of Wine, with Python for Windows: the quick start, scripts for Quark, the page about Windows."""

import json
import shutil
import subprocess
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / "build/deps/windows/python"
MODEL = ROOT / "build/zoo/models/ppocr_cls.onnx"
SECONDS = 600
SAMPLES = """
import os, numpy
os.mkdir("samples")
for i in range(8):
    numpy.save(f"samples/{i}.npy", numpy.random.default_rng(i).random((1, 3, 48, 192), dtype=numpy.float32))
"""
SCRIPT = """
import numpy, onnxruntime, os
from baryon.onnx import ModelQuantizer, QConfig

class Reader:
    def __init__(self):
        self.names = iter(sorted(os.listdir("samples")))
    def get_next(self):
        name = next(self.names, None)
        return name and {"x": numpy.load(f"samples/{name}")}

ModelQuantizer(QConfig.get_default_config("XINT8")).quantize_model("model.onnx", "script.onnx", Reader())
session = onnxruntime.InferenceSession("script.onnx", providers=["CPUExecutionProvider"])
print("sum", round(float(session.run(None, Reader().get_next())[0].sum()), 1))
"""
COMMANDS = [
    ("doctor", "onnxruntime.dll"),
    ("doctor --system windows", "py -m pip install onnxruntime\n"),
    ("quantize model.onnx -o int8.onnx --preset XINT8 --data samples", "int8.onnx"),
    ("check int8.onnx --target xint8", "0 errors"),
    ("evaluate model.onnx int8.onnx --data samples", "8 samples"),
    ("calibrate model.onnx -o model.stats --data samples", "model.stats"),
    ("quantize model.onnx -o s8s8.onnx --preset S8S8_AAWS --stats model.stats", "s8s8.onnx"),
    ("auto model.onnx -o small.onnx --goal sqnr>=10 --data samples --report report.html", "small.onnx"),
]


def unpack(folder):
    """Python, with packages of its own."""
    with zipfile.ZipFile(PYTHON / "data.zip") as archive:
        archive.extractall(folder)
    home = folder / "cp311"
    (home / "Lib/site-packages").mkdir(parents=True)
    (home / "python311._pth").write_text("python311.zip\n.\nLib\\site-packages\n" + f"Z:{ROOT}/tests/python\nimport site\n", encoding="utf-8")
    return home


class Machine:
    def __init__(self, build, environment):
        self.folder = (build / "fresh").resolve()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.under = str((build / "under").resolve())
        self.environment = {**environment, "WINEPREFIX": str(self.folder / "wine")}
        del self.environment["BARYON_ONNXRUNTIME"]
        self.home = unpack(self.folder)
        shutil.copy(MODEL, self.folder / "model.onnx")
        self.seconds = []

    def run(self, *command):
        """What it printed; fails unless the status is 0."""
        begin = time.monotonic()
        # Python asks what its streams are, and Wine has no answer for /dev/null.
        done = subprocess.run([self.under, *map(str, command)], cwd=self.folder, env=self.environment, input="", text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}"
        self.seconds.append(time.monotonic() - begin)
        print(f"  {self.seconds[-1]:6.1f} s  {' '.join(map(str, command))[-90:]}", flush=True)
        return done.stdout


def note(build, machine, wheel, size):
    """What tests/wheels.py --record puts into its page."""
    pip, _, *commands, script, blocks, _ = machine.seconds
    packed = f"{wheel.stat().st_size / 2**20:.1f} MiB, {size / 2**20:.1f} MiB installed"
    times = f"pip {pip:.0f} s, quick start ({len(commands)} commands) {sum(commands):.0f} s, a script for Quark {script:.0f} s, the blocks of Quark's documents {blocks:.0f} s"
    rows = [(wheel.name, packed), ("Windows' Python 3.11 under Wine, a new prefix", times)]
    (build / "python.json").write_text(json.dumps([time.strftime("%Y-%m-%d"), rows]), encoding="utf-8")


def check(build, environment):
    """Installs and runs; the last line has the counts."""
    subprocess.run(["make", "--no-print-directory", "--silent", "FLAVOUR=windows", "wheel"], cwd=ROOT, check=True)
    machine, python = Machine(build, environment), "cp311/python.exe"
    pip = next((PYTHON / "wheels").glob("pip-*.whl"))
    wheel = next((build / "wheel").resolve().glob("*.whl"))
    try:
        machine.run(python, f"{pip}/pip", "install", "--no-warn-script-location", "--no-index", "--find-links",
                    PYTHON / "wheels", wheel, "onnxruntime", "onnx")  # fmt: skip
        size = sum(path.stat().st_size for path in (machine.home / "Lib/site-packages/baryon").rglob("*") if path.is_file())
        print(f"  baryon installed: {size / 1e6:.1f} MB, its wheel {wheel.stat().st_size / 1e6:.1f} MB")
        assert size < 20e6
        machine.run(python, "-c", SAMPLES)
        for command, wanted in COMMANDS:
            text = machine.run("cp311/Scripts/baryon.exe", *command.split())
            assert wanted in text, f"{command}: {text[-2000:]}"
        assert "sum 1.0" in machine.run(python, "-c", SCRIPT)
        machine.environment["BARYON_INSTALLED"] = f"Z:{machine.home}/Scripts/baryon.exe"
        pip_there = f"Z:{machine.home}/python.exe Z:{pip}/pip"
        machine.environment |= {"BARYON_PIP": pip_there, "BARYON_WHEEL": f"Z:{wheel}", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": f"Z:{PYTHON}/wheels"}
        for test in ("test_seeds.py", "test_pages.py docs/start/windows.md"):
            script, *words = test.split()
            print(told := machine.run(python, f"Z:{ROOT}/tests/python/{script}", *words), end="")
            assert ", 0 failed" in told
        note(build, machine, wheel, size)
    except (AssertionError, subprocess.TimeoutExpired) as problem:
        return f"FAILED python: {problem}\n0 passed, 1 failed\n"
    finally:
        subprocess.run(["wineserver", "-k"], env=machine.environment, check=False)
    return "1 passed, 0 failed\n"

"""Names and neighbours that only Windows has, for tests/windows.py: each check is a function."""

import os
import shutil
import subprocess
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
MODEL = ROOT / "build/zoo/models/ppocr_cls.onnx"
SECONDS = 60


class Place:
    """A folder with a model, and the program in it."""

    def __init__(self, build, environment):
        self.build, self.environment = build.resolve(), environment
        self.folder = self.build / "paths"

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        shutil.copy(MODEL, self.folder / "model.onnx")

    def run(self, *arguments, **changes):
        """(status, what it printed); variables with None are taken away."""
        environment = {key: value for key, value in {**self.environment, **changes}.items() if value is not None}
        done = subprocess.run([str(self.build / "baryon"), *arguments], cwd=self.folder, env=environment, text=True,
                              capture_output=True, check=False, timeout=SECONDS, stdin=subprocess.DEVNULL)  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def convert(self, out, *more):
        return self.run("convert", "model.onnx", "--to", "fp16", "-o", out, *more)

    def names(self):
        return sorted(os.listdir(self.folder))

    def helper(self, *arguments, **options):
        return subprocess.Popen([str(self.build / "under"), str(self.build / "helper.exe"), *arguments], cwd=self.folder,
                                env=self.environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)  # fmt: skip


def drives(place):
    drive = Path(place.environment["WINEPREFIX"]) / "drive_c"
    for name in (r"C:one.onnx", r"C:\two.onnx", "c:/three.onnx", "\\\\?\\C:\\four.onnx"):
        status, text = place.convert(name, "--force")
        assert status == 0, text
        assert place.run("inspect", name)[0] == 0
        (drive / name.removeprefix("\\\\?\\")[2:].lstrip("\\/")).unlink()
    status, text = place.run("inspect", r"Q:\model.onnx")
    assert status and r"Q:\model.onnx" in text, text
    assert place.names() == ["model.onnx"]


def shares(place):
    for name in (r"\\nowhere\share\model.onnx", "//nowhere/share/model.onnx"):
        status, text = place.run("inspect", name)
        assert status and "nowhere" in text, text
        status, text = place.convert(name)
        assert status and "nowhere" in text, text
    assert place.names() == ["model.onnx"]


def devices(place):
    for name in ("CON", "NUL.onnx", "aux", "COM1.onnx", "sub/PRN"):
        assert place.run("inspect", name)[0], name
        status, text = place.convert(name)
        assert status and Path(name).name in text, (name, text)
    assert place.names() == ["model.onnx"]


def other_code_pages(place):
    """Names, arguments, a config and texts that the machine's code pages have no letters for."""
    pages = place.helper("pages").communicate()[0].split()
    assert len(pages) == 2 and "65001" not in pages, pages
    names = ["Ωμέγα.onnx", "Ελλη 中文 א.onnx"]
    for name in names:
        status, text = place.convert(name)
        assert status == 0 and name in text, text
    (place.folder / "中.yaml").write_text("exclude: ['中文*']\n", encoding="utf-8")
    status, text = place.run("plan", "model.onnx", "--preset", "XINT8", "--random", "1", "--size", "192x48", "--config", "中.yaml")
    assert "中文*" in text, text
    assert place.names() == sorted(["model.onnx", "中.yaml", *names])


def unicode_names(place):
    name = "モデル ä\u0301 Ω.onnx"
    status, text = place.convert(name)
    assert status == 0, text
    assert place.run("inspect", name)[0] == 0
    assert place.names() == sorted(["model.onnx", name])


def held_elsewhere(place):
    assert place.convert("out.onnx")[0] == 0
    before = (place.folder / "out.onnx").read_bytes()
    holder = place.helper("hold", "out.onnx")
    try:
        assert holder.stdout.readline().strip() == "held"
        status, text = place.convert("out.onnx", "--force")
        assert status and "open in another program" in text, text
        status, text = place.run("inspect", "out.onnx")
        assert status and "open in another program" in text, text
    finally:
        holder.communicate("\n")
    assert (place.folder / "out.onnx").read_bytes() == before
    assert place.names() == ["model.onnx", "out.onnx"]


def planted_libraries(place):
    for name in ("onnxruntime.dll", "libopenblas.dll", "openblas.dll", "baryon_ops.dll", "dbghelp.dll", "version.dll"):
        shutil.copy(place.build / "planted.dll", place.folder / name)
    away = {"BARYON_ONNXRUNTIME": None, "BARYON_CBLAS": None, "WINEDLLOVERRIDES": "mscoree,mshtml=;dbghelp,version=n,b"}
    status, text = place.run("doctor", **away)
    assert "loaded" not in place.names() and "planted" not in text, (status, text)
    status, text = place.run("calibrate", "model.onnx", "-o", "s", "--random", "2", "--size", "192x48", **away)
    assert status and "ONNX Runtime is not installed" in text, text
    assert place.run("quantize", "model.onnx", "-o", "q.onnx", "--preset", "XINT8", "--random", "2", "--size", "192x48",
                     BARYON_CBLAS=None)[0] == 0  # fmt: skip
    assert "loaded" not in place.names()


def console_interrupt(place):
    command = f"{place.build / 'baryon.exe'} run model.onnx --random 100000 --size 192x48 --out outputs"
    text, _ = place.helper("interrupt", "6000", command).communicate(timeout=SECONDS)
    assert "status 130" in text, text
    half = [name for name in place.names() if name.startswith(".")]
    assert not half and place.run("inspect", "model.onnx")[0] == 0, half


def operators_by_name(place):
    """A library by its name alone, in the current folder, is taken where the user names it."""
    shutil.copy(place.build / "baryon_ops.dll", place.folder / "other.dll")
    for name in ("other.dll", "./other.dll"):
        status, text = place.run("run", "model.onnx", "--random", "1", "--size", "192x48", "--ops-library", name, "-q")
        assert status == 0, text


def goal_command(place):
    """Commands of the user's are Windows' own; a cmd.exe of the current folder is not taken."""
    def search(command, *more):
        return place.run("auto", "model.onnx", "-o", "q.onnx", "-f", "--target", "xint8", "--effort", "quick", "--random", "4", "--size",
                         "192x48", "--goal", "value>=0.5", "--goal-command", command, *more)  # fmt: skip

    shutil.copy(place.build / "helper.exe", place.folder / "cmd.exe")
    status, text = search("if exist {model} echo the value is 0.75")
    assert status == 0 and "0.75" in text and "q.onnx" in place.names(), text
    for command, wanted in (("exit 3 & rem {model}", "exit status 3"), ("rem {model}", "printed no number, but ''"),
                            ("echo no number in {model}", "printed no number")):  # fmt: skip
        status, text = search(command)
        assert status == 3 and wanted in text, (command, text)
    status, text = search("ping -n 60 127.0.0.1 >nul & echo 1 & rem {model}", "--goal-seconds", "0.1")
    assert status == 3 and "took longer than 0.1 s" in text, text
    assert place.names() == ["cmd.exe", "model.onnx", "q.onnx", "q.yaml"], place.names()


CHECKS = [operators_by_name, goal_command, drives, shares, devices, other_code_pages, unicode_names, held_elsewhere, planted_libraries, console_interrupt]


def check(build, environment):
    """Runs them; the last line has the counts."""
    source, compiler = str(TESTS / "lib/windows_helper.c"), "x86_64-w64-mingw32-gcc"
    for name, flags in (("helper.exe", []), ("planted.dll", ["-shared", "-DPLANTED"])):
        subprocess.run([compiler, "-O1", *flags, "-o", str(build / name), source], check=True)
    place, lines = Place(build, environment), []
    for one in CHECKS:
        place.clear()
        try:
            one(place)
        except (AssertionError, subprocess.TimeoutExpired) as problem:
            lines.append(f"FAILED {one.__name__}: {problem}\n")
    return "".join(lines) + f"{len(CHECKS) - len(lines)} passed, {len(lines)} failed\n"

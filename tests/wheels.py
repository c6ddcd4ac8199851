#!/usr/bin/env python3
"""Looks at the wheels of `make wheels`, installs them in empty systems, and runs the quick start there.

    tests/wheels.py [--record FILE] [PART...]      parts: files again chroots deb aarch64 musl
    tests/wheels.py --fast      builds that for this machine and looks at it, where zig is installed

files: size, systems that they are for (auditwheel), licences, list of parts. again: one of them is built a second
time, elsewhere (LONG=1: all). chroots: Debian 11 to 13 with pip, as root; the blocks of the README run. deb: the packages
of `make deb` in Debian 12, with what `baryon doctor` names. aarch64:
under qemu, unit tests (LONG=1: all) and quantizations, which have the bytes that x86-64 writes. musl: commands that
run no model. --record writes times and sizes as a page; parts that are not run now have what they found last. Ends with
"N passed, N failed".
"""

import argparse
import hashlib
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
DEPS = ROOT / "build/deps"
WORK = ROOT / "build/check-wheels"
ROOTS = ROOT / "build/chroots"
LIMIT = 20 << 20  # bytes installed
SUITES = ("bullseye", "bookworm", "trixie")
NATIVE, FOREIGN = "manylinux-x86_64", "manylinux-aarch64"
MODEL, SIZE = "ppocr_cls", "192x48"
FAST_UNITS = "str mem map json team err place save half dtype_paths sketch fold weights ops_tanh descent_paths".split()
# Quantized by both machines: name, options. Without samples, and with statistics that one of them wrote.
SAME = [
    ("weights", ["--preset", "XINT8", "--approach", "weights"]),
    ("halves", ["--preset", "BFP16"]),
    ("statistics", ["--preset", "A8W8", "--stats", "model.stats", "--no-judge"]),
    ("samples", ["--preset", "XINT8", "--data", "pictures", "--size", SIZE, "--limit", "2", "--no-judge"]),
]
MACHINES = {b"\x7fELF": "ELF", b"\xcf\xfa\xed\xfe": "Mach-O", b"MZ\x90\x00": "PE"}


class Score:
    def __init__(self):
        self.passed = self.failed = 0
        self.rows = []

    def check(self, good, what):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED {what}", flush=True)
        return good

    def note(self, what, value):
        """A row of the page."""
        self.rows.append((what, value))
        print(f"  {what}: {value}", flush=True)


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True, **more)


def timed(*command, **more):
    """What it printed, seconds, seconds of processors."""
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(*command, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done, time.monotonic() - begin, busy


def wheel_of(flavour):
    found = sorted((ROOT / f"build/{flavour}/wheel").glob("*.whl"))
    return found[0] if found else None


def make(*words, **more):
    done = run("make", "--silent", "--no-print-directory", f"-j{os.cpu_count()}", *words, cwd=ROOT, **more)
    return done.returncode == 0 or print(done.stdout[-3000:], done.stderr[-3000:])


def blocks():
    """The blocks of shell and Python of the README's quick start."""
    text = (ROOT / "README.md").read_text("utf-8")
    found = dict(reversed(re.findall(r"```(sh|python)\n(.*?)```", text, re.S)))
    return "set -e\n" + found["sh"], found["python"]


# ---- Files


def audited(wheel):
    """The systems that it is for, by what its libraries ask of them."""
    done = run(sys.executable, "-m", "auditwheel", "show", wheel, env={**os.environ, "PYTHONPATH": str(DEPS / "zig")})
    told = re.search(r'following platform tag:\s*"(\S+)"', done.stdout)
    return told[1] if told else done.stdout + done.stderr


def needed(wheel, member):
    """Names of the libraries that a file in it asks for."""
    path = WORK / "member"
    with zipfile.ZipFile(wheel) as file:
        path.write_bytes(file.read(member))
    return re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", path).stdout)


def looks_right(score, wheel):
    tag = wheel.stem.split("-")[-1]
    with zipfile.ZipFile(wheel) as file:
        members = {name: file.read(name) for name in file.namelist()}
    size = sum(map(len, members.values()))
    score.check(size < LIMIT, f"{wheel.name}: {size} bytes")
    info = next(name.split("/")[0] for name in members if name.endswith("/METADATA"))
    parts = json.loads(members[f"{info}/sboms/baryon.spdx.json"])
    linked = [row["name"] for row in parts["packages"] if row["name"] != "baryon"]
    for name in linked:
        score.check(f"{info}/licenses/{name}.txt" in members, f"{wheel.name}: no text of the licence of {name}")
    score.check({"libyaml", "libturbojpeg", "libpng", "libz", "libxxhash"} <= set(linked), f"{wheel.name}: {linked}")
    tags = {f"Tag: py3-none-{one}" for one in tag.split(".")}
    score.check(tags <= set(members[f"{info}/WHEEL"].decode().splitlines()), f"{wheel.name}: tags")
    programs = {name: bytes_ for name, bytes_ in members.items() if name.startswith("baryon/lib/")}
    kinds = {MACHINES.get(bytes_[:4], "?") for bytes_ in programs.values()}
    wanted = "PE" if "win" in tag[:3] else "Mach-O" if "macos" in tag else "ELF"
    score.check(len(programs) == 3 and kinds == {wanted}, f"{wheel.name}: {sorted(programs)} {kinds}")
    score.check(not any(str(ROOT).encode() in bytes_ for bytes_ in programs.values()), f"{wheel.name}: names {ROOT}")
    if "manylinux" in tag:
        told = audited(wheel)
        score.check(told == tag.split(".")[0], f"{wheel.name}: auditwheel says {told}")
    if "musllinux" in tag:
        told = sorted({one for path in programs for one in needed(wheel, path)})
        score.check(told == ["libc.so"], f"{wheel.name}: asks for {told}")
    score.note(wheel.name, f"{wheel.stat().st_size / 2**20:.1f} MiB, {size / 2**20:.1f} MiB installed")


def built():
    """All wheels that are there, of the newest build."""
    return sorted(path for path in ROOT.glob("build/*/wheel/*.whl") if path.parts[-3] != "windows")


def files(score):
    wheels = built()
    score.check(wheels, "no wheels: make wheels")
    for wheel in wheels:
        looks_right(score, wheel)
    for path in sorted([*ROOT.glob("build/deb/*.deb"), *ROOT.glob("build/baryon-*.tar.gz")]):  # of tests/packages.sh
        score.note(path.name, f"{path.stat().st_size / 2**20:.2f} MiB")


def again(score):
    """Built elsewhere, by a compiler that remembers nothing, it has the same bytes."""
    flavours = [path.parts[-3] for path in built()]
    for flavour in flavours if os.environ.get("LONG") else [NATIVE]:
        folder = WORK / "again" / flavour
        shutil.rmtree(folder, ignore_errors=True)
        # The first is packed anew: both carry the time of the last commit.
        done = make(f"FLAVOUR={flavour}", "wheel") and make(
            f"FLAVOUR={flavour}", f"BUILD={folder}", f"ZIG_GLOBAL_CACHE_DIR={folder}/zig", "wheel")  # fmt: skip
        other = sorted((folder / "wheel").glob("*.whl"))
        sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (wheel_of(flavour), *other)]
        if score.check(done and len(sums) == 2 and sums[0] == sums[1], f"{flavour} twice: {sums}"):
            score.note(f"{flavour} built twice", f"the same bytes, sha256 {sums[0]}")
        shutil.rmtree(folder, ignore_errors=True)


# ---- Empty systems


def mirror():
    told = run("apt-get", "indextargets", "--format", "$(COMPONENT) $(REPO_URI)", "Created-By: Packages").stdout
    return next(line.split()[1] for line in told.splitlines() if line.startswith("main "))


def debootstrap(suite, root, *options):
    """Debian with Python, once."""
    if (root / "done").exists():
        return True
    shutil.rmtree(root, ignore_errors=True)
    done = run("debootstrap", *options, "--variant=minbase", "--include=python3-minimal,python3-venv,ca-certificates", suite, root, mirror())
    if done.returncode == 0:
        (root / "done").touch()
    return done.returncode == 0 or print(done.stdout[-2000:], done.stderr[-2000:])


def inside(root, script):
    """A command that runs a script there; what is mounted for it goes away with it."""
    mounts = f"mount --rbind /dev {root}/dev && mount -t proc proc {root}/proc && exec chroot {root} "
    keep = " ".join(f'{name}="${name}"' for name in ("http_proxy", "https_proxy", "PIP_INDEX_URL") if os.environ.get(name))
    environment = f"env -i HOME=/srv LANG=C.UTF-8 PATH=/srv/new/bin:/usr/bin:/bin {keep} "
    return ["unshare", "--mount", "sh", "-c", mounts + environment + 'sh -c "$1"', "sh", "cd /srv/try\n" + script]


def place_samples(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(ROOT / f"build/zoo/models/{MODEL}.onnx", folder / "model.onnx")
    (folder / "pictures").mkdir()
    for path in (ROOT / "build/zoo/pictures").iterdir():
        shutil.copy(path, folder / "pictures")


def share_network(root):
    """Where this machine's own pip has certificates and a configuration, that system's has them too."""
    for path in ("/etc/resolv.conf", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt"):
        if Path(path).exists():
            shutil.copy(path, root / path[1:])


def try_suite(score, suite):
    root = ROOTS / suite
    if not score.check(debootstrap(suite, root), f"{suite}: debootstrap"):
        return
    place_samples(root / "srv/try")
    shutil.rmtree(root / "srv/new", ignore_errors=True)
    wheel = wheel_of(NATIVE)
    shutil.copy(wheel, root / "srv/try")
    share_network(root)
    shell, python = blocks()
    (root / "srv/try/quick.sh").write_text(shell, "utf-8")
    (root / "srv/try/quick.py").write_text(python, "utf-8")
    steps = {"install": f"python3 -m venv /srv/new && pip install ./{wheel.name} onnxruntime",
             "shell": "sh quick.sh && test -s small.onnx -a -s report.html", "python": "python quick.py && test -s a8w8.onnx"}  # fmt: skip
    took = {}
    for name, script in steps.items():
        done, took[name], busy = timed(*inside(root, script))
        if not score.check(done.returncode == 0, f"{suite}: {name}: {done.stdout[-1500:]} {done.stderr[-1500:]}"):
            return
    told = run(*inside(root, "baryon version; python3 --version; ldd --version | head -1")).stdout
    site = next((root / "srv/new/lib").glob("python*/site-packages"))
    size = sum(path.stat().st_size for path in site.glob("baryon*/**/*") if path.is_file() and path.suffix != ".pyc")
    score.check(size < LIMIT, f"{suite}: {size} bytes installed")
    runtime = re.search(r"ONNX Runtime +(\S+)", told)[1]
    version, libc = re.search(r"Python (\S+)", told)[1], told.split()[-1]
    score.note(f"Debian {suite}, Python {version}, glibc {libc}, ONNX Runtime {runtime}",
               f"pip {took['install']:.0f} s, quick start {took['shell']:.0f} s, Python {took['python']:.0f} s; {size / 2**20:.1f} MiB of Baryon")  # fmt: skip


def chroots(score):
    if os.geteuid() or not shutil.which("debootstrap"):
        print("chroots: left out, it requires root and debootstrap (scripts/deps.sh chroots)")
        return
    for suite in SUITES:
        try_suite(score, suite)


# ---- Debian packages

# As root in a new Debian: the packages, then what `baryon doctor` says of Python and ONNX Runtime.
INSTALL = """set -e
export DEBIAN_FRONTEND=noninteractive
apt-get -q=2 update
apt-get -q=2 install -y --no-install-recommends ./libbaryon0_*.deb ./baryon_*.deb ./python3-baryon_*.deb
baryon doctor --system debian >doctor.txt || test $? = 6
sed -n '/^  Python:/,/^  [A-Z].*:/s/^    sudo apt-get install/apt-get -q=2 install -y --no-install-recommends/p' doctor.txt >python.sh
sed -n '/^  ONNX Runtime:/,/^  BLAS:/s/^    //p' doctor.txt >runtime.sh
sh -e python.sh
. ./runtime.sh
baryon doctor >/dev/null
grep export runtime.sh >environment.sh
"""


def deb(score):
    packages = [path for path in sorted((ROOT / "build/deb").glob("*.deb")) if "-dev_" not in path.name and "dbgsym" not in path.name]
    if os.geteuid() or not shutil.which("debootstrap") or not packages:
        print("deb: left out, it requires root, debootstrap (scripts/deps.sh chroots) and make deb")
        return
    root = ROOTS / "deb"
    if not score.check(debootstrap("bookworm", ROOTS / "bookworm"), "bookworm: debootstrap"):
        return
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(["cp", "-a", ROOTS / "bookworm", root], check=True)
    shutil.rmtree(root / "srv/new", ignore_errors=True)
    place_samples(root / "srv/try")
    share_network(root)
    for path in packages:
        shutil.copy(path, root / "srv/try")
    shell, python = blocks()
    (root / "srv/try/quick.sh").write_text(shell, "utf-8")
    (root / "srv/try/quick.py").write_text(python, "utf-8")
    steps = {"install": INSTALL, "shell": ". ./environment.sh && sh quick.sh && test -s small.onnx -a -s report.html",
             "python": ". ./environment.sh && python3 quick.py && test -s a8w8.onnx"}  # fmt: skip
    took = {}
    for name, script in steps.items():
        done, took[name], _ = timed(*inside(root, script))
        if not score.check(done.returncode == 0, f"deb: {name}: {done.stdout[-1500:]} {done.stderr[-1500:]}"):
            return
    sizes = run(*inside(root, "dpkg-query --show --showformat='${Installed-Size}\\n' baryon libbaryon0 python3-baryon")).stdout.split()
    size = sum(map(int, sizes)) << 10
    score.check(len(sizes) == 3 and size < LIMIT, f"deb: {sizes} KiB installed")
    score.note("Debian packages in Debian 12, with what `baryon doctor` installs",
               f"apt and pip {took['install']:.0f} s, quick start {took['shell']:.0f} s, Python {took['python']:.0f} s; {size / 2**20:.1f} MiB of Baryon")  # fmt: skip
    shutil.rmtree(root, ignore_errors=True)


# ---- aarch64


def foreign_system():
    """Debian for aarch64, unpacked: what qemu runs needs no more."""
    root = ROOTS / "arm64"
    if not (root / "unpacked").exists():
        if not debootstrap("bookworm", root, "--arch=arm64", "--foreign"):
            return None
        for package in (root / "var/cache/apt/archives").glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        (root / "unpacked").touch()
    shutil.rmtree(root / "tmp", ignore_errors=True)  # else /tmp is this one for the emulator, and files in it are not
    return root


def foreign_packages(root):
    """The wheel, and the packages of tests/requirements.txt for that machine, by pip."""
    site = root / "site"
    shutil.rmtree(site, ignore_errors=True)
    text = (TESTS / "requirements.txt").read_text("utf-8")
    names = ("numpy", "onnxruntime", "flatbuffers", "packaging", "protobuf")
    pinned = WORK / "requirements.txt"
    pinned.write_text("".join(re.search(rf"^{name}==(.*\\\n)+.*\n", text, re.M)[0] for name in names), "utf-8")
    machine = [word for one in ("_2_28", "_2_27", "_2_17", "2014") for word in ("--platform", f"manylinux{one}_aarch64")]
    options = ["install", "--no-deps", "--only-binary=:all:", "--python-version", "311", "--target", site, *machine]
    packages = run("scripts/pip.sh", *options, "--require-hashes", "--requirement", pinned, cwd=ROOT)
    own = run("scripts/pip.sh", *options, "--no-index", "--upgrade", wheel_of(FOREIGN), cwd=ROOT)
    return site, packages.returncode == own.returncode == 0 or print(packages.stderr, own.stderr)


def quantizations(score, folder, program, environment):
    """Digests of what the program writes there, and the seconds that it took."""
    begin = time.monotonic()
    digests = {}
    for name, options in SAME:
        done = run(*program, "quantize", "model.onnx", "-o", f"{name}.onnx", "--force", *options, cwd=folder, env=environment)
        path = folder / f"{name}.onnx"
        if score.check(done.returncode == 0, f"{program[-1]}: {name}: {done.stderr[-1000:]}"):
            digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return digests, time.monotonic() - begin


def foreign_units(score, emulator, environment):
    folder = f"build/{FOREIGN}"
    chosen = [f"{folder}/tests/unit/test_{name}" for name in FAST_UNITS]
    done = make(f"FLAVOUR={FOREIGN}", *(["units"] if os.environ.get("LONG") else chosen))
    built = sorted((ROOT / folder / "tests/unit").glob("test_*"))
    programs = [path for path in built if not path.suffix and (os.environ.get("LONG") or path.name[5:] in FAST_UNITS)]
    usual = {name: value for name, value in environment.items() if name != "LONG"}  # which walks all floats there are
    told = run("tests/run_programs.py", "--build", f"build/{FOREIGN}", "--seconds", "1200", "--under", " ".join(emulator), *programs,
               cwd=ROOT, env=usual)
    counts = re.findall(r"^(\d+) passed, (\d+) failed$", told.stdout, re.M)
    failures = "\n".join(line for line in told.stdout.splitlines() if not line.endswith("CPU") or ", 0 failed" not in line)
    if score.check(done and counts and counts[-1][1] == "0", f"unit tests for aarch64: {failures[-6000:]}"):
        score.note("unit tests for aarch64", f"{counts[-1][0]} passed, {len(programs)} programs")


def aarch64(score):
    emulator = DEPS / "qemu/qemu-aarch64"
    if not emulator.exists() or not shutil.which("debootstrap"):
        print("aarch64: left out, it requires qemu and debootstrap (scripts/deps.sh chroots)")
        return
    root = foreign_system()
    if not score.check(root, "Debian for aarch64"):
        return
    # A processor without SME, whose kernels of ONNX Runtime turn infinities into the greatest float.
    emulated = [str(emulator), "-cpu", "neoverse-n1", "-L", str(root)]
    site, installed = foreign_packages(root)
    if not score.check(installed, "pip install for aarch64"):
        return
    told = run(*emulated, "-E", f"PYTHONPATH={site}", root / "usr/bin/python3.11", "-c", "import baryon; print(len(baryon.presets()))")
    score.check(told.returncode == 0 and int(told.stdout) > 50, f"Python of aarch64: {told.stderr[-1000:]}")
    foreign = {**os.environ, "BARYON_CBLAS": "own", "BARYON_ONNXRUNTIME": str(site / "onnxruntime/capi")}
    foreign_units(score, emulated, foreign)
    folder = WORK / "same"
    place_samples(folder)
    own = {**os.environ, "BARYON_CBLAS": "own", "BARYON_ONNXRUNTIME": str(DEPS / "onnxruntime/lib")}
    native = [str(ROOT / f"build/{NATIVE}/wheel/baryon")]
    run(*native, "calibrate", "model.onnx", "-o", "model.stats", "--data", "pictures", "--size", SIZE, cwd=folder, env=own)
    here, _ = quantizations(score, folder, native, own)
    there, seconds = quantizations(score, folder, [*emulated, str(site / "baryon/lib/baryon")], foreign)
    for name, _ in SAME:
        score.check(name in here and here[name] == there.get(name), f"{name}: other bytes on aarch64 than on x86-64")
    score.note(f"aarch64 under qemu: {', '.join(name for name, _ in SAME)}", f"quantized in {seconds:.0f} s, bytes as on x86-64")


# ---- musl


def musl(score):
    """Its own loader runs the program; Python and ONNX Runtime for it are not to be had here."""
    loader = next(iter(sorted(Path("/lib").glob("ld-musl-*.so.1"))), None)
    wheel = wheel_of("musllinux-x86_64")
    if not loader or not wheel or platform.machine() != "x86_64":
        print("musl: left out, it requires Debian's package musl (scripts/deps.sh chroots) and the wheel")
        return
    folder = WORK / "musl"
    place_samples(folder)
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder)
    program = folder / "baryon/lib/baryon"
    program.chmod(0o755)
    convert = ["convert", "model.onnx", "--to", "fp16", "--no-verify", "-o"]
    alone = {**os.environ, "BARYON_ONNXRUNTIME": str(folder)}
    for words in (["version"], ["check", "model.onnx"], [*convert, "musl.onnx"]):
        done = run(program, *words, cwd=folder, env=alone)
        score.check(done.returncode == 0, f"musl: {words}: {done.stdout[-500:]} {done.stderr[-1000:]}")
    native = run(ROOT / f"build/{NATIVE}/wheel/baryon", *convert, "glibc.onnx", cwd=folder, env=alone)
    same = native.returncode == 0 and (folder / "musl.onnx").read_bytes() == (folder / "glibc.onnx").read_bytes()
    if score.check(same, "musl: other bytes than with glibc"):
        score.note("musl on x86-64", "check and convert, bytes as with glibc")


PARTS = {"files": files, "again": again, "chroots": chroots, "deb": deb, "aarch64": aarch64, "musl": musl}
PAGE = """# Packages

What `tests/wheels.py --record` measured, {date}, on {machine}: `make check-wheels RECORD=FILE` writes this page, with the
row that `make check-windows` left. Times are of one run, beside other programs; those of pip are with downloads, under
Wine without.

| what | |
|---|---|
{rows}
"""


def keep_rows(part, rows):
    """What a part found stays for the page, with its date."""
    (WORK / f"{part}.json").write_text(json.dumps([time.strftime("%Y-%m-%d"), rows]), encoding="utf-8")


def known_rows():
    """Of all parts, and of tests/windows.py."""
    kept = [WORK / f"{part}.json" for part in PARTS] + [ROOT / "build/windows/python.json"]
    found = [json.loads(path.read_text("utf-8")) for path in kept if path.exists()]
    today = time.strftime("%Y-%m-%d")
    return [(what, value if date == today else f"{value} ({date})") for date, rows in found for what, value in rows]


def processor():
    told = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"))
    return f"{os.cpu_count()} cores of {told[1] if told else platform.machine()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART")
    parser.add_argument("--record", type=Path, help="the page that has times and sizes")
    parser.add_argument("--fast", action="store_true")
    options = parser.parse_args()
    if options.fast and not (DEPS / "zig").exists():
        print("left out, missing: zig; scripts/deps.sh wheels installs it")
        return 0
    if options.fast:
        options.parts = ["files"] if make(f"FLAVOUR={NATIVE}", "libraries") and make(f"FLAVOUR={NATIVE}", "wheel") else []
    WORK.mkdir(parents=True, exist_ok=True)
    score = Score()
    for part in options.parts:
        before = score.failed
        score.rows = []
        PARTS[part](score)
        if score.failed == before:
            keep_rows(part, score.rows)
    if options.record and not score.failed:
        rows = "\n".join(f"| {what} | {value} |" for what, value in known_rows())
        options.record.write_text(PAGE.format(date=time.strftime("%Y-%m-%d"), machine=processor(), rows=rows), "utf-8")
    score.check(options.parts, "the wheel is built")
    print(f"{score.passed} passed, {score.failed} failed")
    return 1 if score.failed else 0


if __name__ == "__main__":
    sys.exit(main())

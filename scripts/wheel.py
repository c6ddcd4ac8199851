#!/usr/bin/env python3
"""Puts the Python package, the libraries and those that they need into a wheel.

    scripts/wheel.py VERSION LIBBARYON LIBBARYON_OPS PROGRAM FOLDER
    scripts/wheel.py --windows LIBRARIES VERSION BARYON.DLL BARYON_OPS.DLL BARYON.EXE FOLDER

The wheel stands alone but for the C library and what every system has beside it; its tag names the
version of the C library of this machine. That for Windows has nothing beside itself: what it needs is
linked into it, and LIBRARIES has the texts of the licences. Prints the wheel's path.
"""

import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What every Linux has with its C library.
SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|pthread|rt|gcc_s))\.so.*")
METADATA = """Metadata-Version: 2.1
Name: baryon
Version: {version}
Summary: Quantizes trained models in ONNX
License: MIT AND {libraries}
{files}
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: run
Requires-Dist: onnxruntime>=1.20; extra == 'run'
Description-Content-Type: text/markdown

Baryon is under the MIT licence. In `baryon/lib` {place}, with licences of their own; their texts are beside this file, in `licenses`:

{rows}

Nothing of them has to be installed. Products of matrices come from a BLAS where the system has one (none
is in the wheel), else from loops of Baryon's own.
"""
# What is put into the wheel, and under which licences (SPDX) that may be done.
LICENCES = {
    "libyaml": "MIT", "libturbojpeg": "IJG AND BSD-3-Clause AND Zlib", "libpng16": "libpng-2.0",
    "libz": "Zlib", "libxxhash": "BSD-2-Clause", "libpng": "libpng-2.0", "libtre": "BSD-2-Clause",
    "libwinpthread": "MIT AND BSD-3-Clause",
}  # fmt: skip
WHEEL = """Wheel-Version: 1.0
Generator: scripts/wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def needed(library):
    """Files of the libraries that it asks for, by the names that it asks for them."""
    told = subprocess.run(["ldd", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    for name, path in re.findall(r"^\s*(\S+) => (\S+)", told, re.M):
        if not SYSTEM.fullmatch(name):
            yield name, path


def licence(path):
    """Debian's copyright of the package that a library comes from; None elsewhere."""
    real = os.path.realpath(path)
    for place in (real, real.removeprefix("/usr")):
        done = subprocess.run(["dpkg-query", "--search", place], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            package = done.stdout.split(":")[0]
            found = Path("/usr/share/doc") / package / "copyright"
            return (package, found) if found.exists() else None
    return None


def metadata(version, names, files, place):
    """names: of the libraries; files: texts of licences; place: where the libraries are."""
    known = {}
    for name in names:
        stem = re.match(r"[^.-]+", name)[0]
        if stem not in LICENCES:
            sys.exit(f"{name}: add its licence to LICENCES in scripts/wheel.py")
        known[name] = LICENCES[stem]
    every = sorted({part for text in known.values() for part in text.split(" AND ")} - {"MIT"})
    return METADATA.format(version=version, place=place, libraries=" AND ".join(every),
                           files="\n".join(f"License-File: {name}" for name in files),
                           rows="\n".join(f"- {name}: {text}" for name, text in known.items()))  # fmt: skip


# Beside the library, or in it.
BESIDE = "are libraries that it needs, as the system has them\nthat the wheel was built on"
WITHIN = "are programs that contain the libraries which they need"
COMMAND = "[console_scripts]\nbaryon = baryon._command:main\n"


def tag(windows):
    if windows:
        return "py3-none-win_amd64"
    libc = "_".join(os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")[:2])
    return f"py3-none-manylinux_{libc}_{platform.machine()}"


def dependencies(library, windows):
    """Names of libraries, those of them that are files, and texts of licences by their names."""
    if windows:
        texts = {path.stem: path.read_bytes() for path in sorted((Path(windows) / "licenses").glob("*.txt"))}
        return list(texts), {}, texts
    files = dict(needed(library))
    found = [one for path in files.values() if (one := licence(path))]
    return list(files), files, {package: path.read_bytes() for package, path in found}


def members(version, binaries, windows):
    """Names in the wheel, and what they hold."""
    for path in sorted((ROOT / "python").rglob("*.py")):
        yield path.relative_to(ROOT / "python").as_posix(), path.read_bytes()
    yield "baryon/py.typed", b""
    for path in binaries:
        yield f"baryon/lib/{Path(path).name}", Path(path).read_bytes()
    info = f"baryon-{version}.dist-info"
    names, files, texts = dependencies(binaries[0], windows)
    for name, path in files.items():
        yield f"baryon/lib/{name}", Path(path).read_bytes()
    yield f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes()
    for package, text in texts.items():
        yield f"{info}/licenses/{package}.txt", text
    listed = ["LICENSE", *(f"{package}.txt" for package in texts)]
    yield f"{info}/METADATA", metadata(version, names, listed, WITHIN if windows else BESIDE).encode()
    yield f"{info}/WHEEL", WHEEL.format(tag=tag(windows)).encode()
    yield f"{info}/entry_points.txt", COMMAND.encode()


def add(wheel, name, content):
    row = zipfile.ZipInfo(name)  # always the same date
    row.compress_type = zipfile.ZIP_DEFLATED
    row.external_attr = (0o100755 if name.startswith("baryon/lib/") else 0o100644) << 16
    wheel.writestr(row, content)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def main():
    arguments = sys.argv[1:]
    windows = arguments[1] if arguments[0] == "--windows" else None
    version, *binaries, folder = arguments[2 if windows else 0 :]
    path = Path(folder) / f"baryon-{version}-{tag(windows)}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as wheel:
        rows = [add(wheel, *member) for member in members(version, binaries, windows)]
        record = f"baryon-{version}.dist-info/RECORD"
        add(wheel, record, "\n".join([*rows, f"{record},,", ""]).encode())
    print(path)


if __name__ == "__main__":
    main()

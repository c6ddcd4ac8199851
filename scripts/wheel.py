#!/usr/bin/env python3
"""Puts the Python package, the libraries and those that they need into a wheel.

    scripts/wheel.py VERSION LIBBARYON LIBBARYON_OPS PROGRAM FOLDER
    scripts/wheel.py --within LIBRARIES TAG VERSION LIBBARYON LIBBARYON_OPS PROGRAM FOLDER

The wheel stands alone but for the C library and what every system has beside it; its tag names the
version of the C library of this machine. With --within the libraries that ours need are linked into
them: LIBRARIES is the folder of scripts/libraries.sh, TAG names the systems. Prints the wheel's path.
"""

import base64
import hashlib
import os
import platform
import sys
import zipfile
from pathlib import Path

import parts
import sbom

ROOT = Path(__file__).resolve().parents[1]
METADATA = """Metadata-Version: 2.1
Name: baryon
Version: {version}
Summary: Quantizes trained models in ONNX
License: MIT AND {libraries}
{files}
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: run
Requires-Dist: onnxruntime>=1.19; extra == 'run'
Description-Content-Type: text/markdown

Baryon is under the MIT licence. In `baryon/lib` {place}, with licences of their own; their texts are beside this file, in `licenses`:

{rows}

Nothing of them has to be installed. Products of matrices come from a BLAS where the system has one (none
is in the wheel), else from loops of Baryon's own.
"""
WHEEL = """Wheel-Version: 1.0
Generator: scripts/wheel.py
Root-Is-Purelib: false
{tags}
"""
# Beside the library, or in it.
BESIDE = "are libraries that it needs, as the system has them\nthat the wheel was built on"
WITHIN = "are programs that contain the libraries which they need"
COMMAND = "[console_scripts]\nbaryon = baryon._command:main\n"


def metadata(version, names, files, place):
    """names: of the libraries; files: texts of licences; place: where the libraries are."""
    known = {name: parts.licence_name(name) for name in names}
    every = sorted({part for text in known.values() for part in text.split(" AND ")} - {"MIT"})
    return METADATA.format(version=version, place=place, libraries=" AND ".join(every),
                           files="\n".join(f"License-File: {name}" for name in files),
                           rows="\n".join(f"- {name}: {text}" for name, text in known.items()))  # fmt: skip


def host_tag():
    libc = "_".join(os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")[:2])
    return f"manylinux_{libc}_{platform.machine()}"


def lines_of_tags(tag):
    """A tag may be several systems, with dots between them: then it is as many lines."""
    return "\n".join(f"Tag: py3-none-{system}" for system in tag.split("."))


def dependencies(library, libraries):
    """Names of libraries, those of them that are files, and texts of licences by their names."""
    if libraries:
        texts = parts.texts(libraries)
        return list(texts), {}, texts
    files = dict(parts.needed(library))
    found = [one for path in files.values() if (one := parts.licence(path))]
    return list(files), files, {package: path.read_bytes() for package, path in found}


def list_of_parts(version, library, libraries):
    rows = sbom.built(libraries) if libraries else sbom.needed(library)
    return sbom.text(version, rows, "STATIC_LINK" if libraries else "CONTAINS").encode()


def members(version, binaries, libraries, tag):
    """Names in the wheel, and what they hold."""
    for path in sorted((ROOT / "python").rglob("*.py")):
        yield path.relative_to(ROOT / "python").as_posix(), path.read_bytes()
    yield "baryon/py.typed", b""
    for path in binaries:
        yield f"baryon/lib/{Path(path).name}", Path(path).read_bytes()
    for name in () if "win_" in tag else ("baryon_mpi.c", "baryon_mpi.h"):  # `baryon doctor` says what compiles it
        yield f"baryon/mpi/{name}", (ROOT / "mpi" / name).read_bytes()
    info = f"baryon-{version}.dist-info"
    names, files, texts = dependencies(binaries[0], libraries)
    for name, path in files.items():
        yield f"baryon/lib/{name}", Path(path).read_bytes()
    yield f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes()
    for package, text in texts.items():
        yield f"{info}/licenses/{package}.txt", text
    yield f"{info}/sboms/baryon.spdx.json", list_of_parts(version, binaries[0], libraries)
    listed = ["LICENSE", *(f"{package}.txt" for package in texts)]
    yield f"{info}/METADATA", metadata(version, names, listed, WITHIN if libraries else BESIDE).encode()
    yield f"{info}/WHEEL", WHEEL.format(tags=lines_of_tags(tag)).encode()
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
    libraries, tag = arguments[1:3] if arguments[0] == "--within" else (None, host_tag())
    version, *binaries, folder = arguments[3 if libraries else 0 :]
    path = Path(folder) / f"baryon-{version}-py3-none-{tag}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as wheel:
        rows = [add(wheel, *member) for member in members(version, binaries, libraries, tag)]
        record = f"baryon-{version}.dist-info/RECORD"
        add(wheel, record, "\n".join([*rows, f"{record},,", ""]).encode())
    print(path)


if __name__ == "__main__":
    main()

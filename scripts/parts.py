"""What Baryon links and hands on with itself: names, files, licences, versions. Used by wheel.py, sbom.py and tar.sh."""

import os
import re
import subprocess
from pathlib import Path

# What every Linux has with its C library.
SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|pthread|rt|gcc_s))\.so.*")
# Under which licences (SPDX) a library is handed on, by the beginning of its name.
LICENCES = {
    "libyaml": "MIT", "libturbojpeg": "IJG AND BSD-3-Clause AND Zlib", "libpng16": "libpng-2.0",
    "libz": "Zlib", "libxxhash": "BSD-2-Clause", "libpng": "libpng-2.0", "libtre": "BSD-2-Clause",
    "libwinpthread": "MIT AND BSD-3-Clause",
    "zig": "MIT",
}  # fmt: skip


def licence_name(name):
    """The licences of a library, by the name of its file or its own."""
    stem = re.match(r"[^.-]+", name)[0]
    if stem not in LICENCES:
        raise SystemExit(f"{name}: add its licence to LICENCES in scripts/parts.py")
    return LICENCES[stem]


def needed(library):
    """Files of the libraries that it asks for, by the names that it asks for them."""
    told = subprocess.run(["ldd", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    for name, path in re.findall(r"^\s*(\S+) => (\S+)", told, re.M):
        if not SYSTEM.fullmatch(name):
            yield name, path


def licence(path):
    """The Debian package that a library comes from, and Debian's copyright of it; None elsewhere."""
    real = os.path.realpath(path)
    for place in (real, real.removeprefix("/usr")):
        done = subprocess.run(["dpkg-query", "--search", place], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            package = done.stdout.split(":")[0]
            found = Path("/usr/share/doc") / package / "copyright"
            return (package, found) if found.exists() else None
    return None


def texts(libraries):
    """Texts of licences of the libraries that scripts/libraries.sh built, by their names."""
    return {path.stem: path.read_bytes() for path in sorted((Path(libraries) / "licenses").glob("*.txt"))}


def sources(libraries):
    """Of each of them: the source archive, its sha256, the name of the Debian source."""
    path = Path(libraries) / "sources.txt"
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines()) if path.exists() else ()
    return {name: (archive, digest, package) for name, archive, digest, package in rows}

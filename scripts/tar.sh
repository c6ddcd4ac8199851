#!/usr/bin/env bash
# Makes build/baryon-VERSION-linux-MACHINE.tar.gz: program, libraries, headers, manual pages, completions, the Python
# package, the libraries that they need with their licences, and a list of all of it (SPDX). It runs where it is unpacked.
# The same files give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(make -s version)
name=baryon-$version-linux-$(uname -m)
out=$PWD/build/tar
root=$out/$name
build=build/package
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

rm -rf "$out"
# Nothing of this machine is in it: libraries are found from where the program is, and what debuggers need goes away.
flags=(BUILD="$build" CC="${CC:-gcc}" PREFIX=/usr/local LIBDIR=/usr/local/lib OPSDIR=/usr/local/lib
  ORT_FOLDERS=/usr/local/lib/baryon MPI= ORT_LIBRARY= LDFLAGS='-Wl,-rpath,\$$ORIGIN/../lib:\$$ORIGIN -Wl,--build-id=none')
make --no-print-directory --silent -j"$(nproc)" "${flags[@]}" all
make --no-print-directory --silent "${flags[@]}" DESTDIR="$out/stage" install >/dev/null
mkdir -p "$root"
mv "$out"/stage/usr/local/* "$root"
rm -rf "$out/stage"
sed -i 's|^prefix=.*|prefix=${pcfiledir}/../..|; s|^libdir=.*|libdir=${prefix}/lib|' "$root/lib/pkgconfig/baryon.pc"
strip "$root/bin/baryon" "$root"/lib/*.so.* "$root/lib/libbaryon_ops.so"
strip --strip-debug --enable-deterministic-archives "$root/lib/libbaryon.a"
mkdir -p "$root/python"
(cd python && find baryon -name '*.py' -exec cp --parents {} "$root/python" \;)
python3 scripts/sbom.py --bundled "$version" "$root/lib/libbaryon.so.$version" "$root/sbom.spdx.json"
python3 - "$root" <<'PYTHON'
import pathlib, shutil, sys
sys.path.insert(0, "scripts")
import parts
root = pathlib.Path(sys.argv[1])
(root / "licences").mkdir()
shutil.copy("LICENSE", root / "licences/baryon.txt")
for name, path in parts.needed(next((root / "lib").glob("libbaryon.so.*.*"))):
    shutil.copy(path, root / "lib" / name)
    if found := parts.licence(path):
        shutil.copy(found[1], root / "licences" / f"{found[0]}.txt")
PYTHON
cat >"$root/README.txt" <<TEXT
Baryon $version. bin/baryon runs from here. "bin/baryon doctor" says what is missing and how to install it.
Python: PYTHONPATH=$name/python BARYON_LIBRARY=$name/lib/libbaryon.so.0
C: PKG_CONFIG_PATH=$name/lib/pkgconfig, or cmake -DCMAKE_PREFIX_PATH=$name
licences/ has the licences of all that is in lib/, sbom.spdx.json the list of it.
TEXT
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode='u+w,go=rX' \
  --directory="$out" --create "$name" | gzip --no-name -9 >"build/$name.tar.gz"
printf '%s KiB installed\nbuild/%s.tar.gz\n' "$(du -sk --apparent-size "$root" | cut -f1)" "$name"

#!/usr/bin/env bash
# Makes the Debian packages and the archive twice, compares the bytes, and uses what is in them as a stranger would: the
# program, the Python package, CMake, the list of parts. scripts/deps.sh package installs what it needs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

work=$PWD/build/packages
passed=0
failed=0
LIMIT_KIB=20480 # of what is installed

try() {
  local what=$1 output
  shift
  if output=$("$@" 2>&1); then
    passed=$((passed + 1))
    echo "ok $what"
  else
    failed=$((failed + 1))
    echo "FAILED $what: $*"
    echo "$output"
  fi
}

same_files() { diff <(cd "$1" && sha256sum -- $3) <(cd "$2" && sha256sum -- $3); }

small() { (($(du -sk --apparent-size "$1" | cut -f1) < LIMIT_KIB)); }

# Nothing of the machine that built it is in there.
clean() { ! grep -rlF "$PWD" "$1"; }

only_depends_on_libraries() { dpkg-deb -f "$1" Depends | grep -q 'libyaml-0-2.*libturbojpeg0\|libturbojpeg0.*libyaml-0-2'; }

builds_with_cmake() {
  cat >"$work/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(example C)
find_package(Baryon 0.1 REQUIRED)
add_executable(shared weights.c)
target_link_libraries(shared Baryon::baryon)
add_executable(fixed weights.c)
target_link_libraries(fixed Baryon::static)
CMAKE
  cp examples/weights.c "$work"
  cmake -S "$work" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$1" && cmake --build "$work/cmake" &&
    LD_LIBRARY_PATH=$1/lib "$work/cmake/shared" "$model" && "$work/cmake/fixed" "$model"
}

refuses_another_version() {
  sed -i 's/Baryon 0.1/Baryon 0.2/' "$work/CMakeLists.txt"
  ! cmake -S "$work" -B "$work/cmake2" -DCMAKE_PREFIX_PATH="$1"
}

# Of a folder with the Python package, and one with the library.
python_works() {
  PYTHONPATH=$1 BARYON_LIBRARY=$2/libbaryon.so.0 build/venv/bin/python -c '
import baryon
assert "XINT8" in baryon.presets(), baryon.presets()'
}

lists_its_parts() {
  python3 - "$1" <<'PYTHON'
import hashlib, json, pathlib, sys
root = pathlib.Path(sys.argv[1])
told = json.loads((root / "sbom.spdx.json").read_text())
assert told["spdxVersion"] == "SPDX-2.3" and told["dataLicense"] == "CC0-1.0"
names = {row["SPDXID"] for row in told["packages"]} | {"SPDXRef-DOCUMENT"}
for row in told["relationships"]:
    assert {row["spdxElementId"], row["relatedSpdxElement"]} <= names, row
parts = {row["packageFileName"]: row for row in told["packages"] if "packageFileName" in row}
bundled = {path.name for path in (root / "lib").glob("*.so*") if "baryon" not in path.name}
assert bundled == set(parts), (bundled, set(parts))
for name, row in parts.items():
    digest = hashlib.sha256((root / "lib" / name).read_bytes()).hexdigest()
    assert row["checksums"][0]["checksumValue"] == digest, name
    assert (root / "licences" / (row["name"] + ".txt")).exists(), name
PYTHON
}

rm -rf "$work"
mkdir -p "$work"
model=build/zoo/models/ppocr_cls.onnx
if command -v dh >/dev/null && command -v lintian >/dev/null; then
  try "Debian packages, lintian has nothing to say" scripts/deb.sh build/deb
  try "Debian packages again" scripts/deb.sh "$work/deb"
  try "the packages have the same bytes" same_files build/deb "$work/deb" '*.deb'
  for package in build/deb/*.deb; do try "$package unpacks" dpkg-deb -x "$package" "$work/unpacked"; done
  try "the packages are small" small "$work/unpacked"
  try "the packages name no folder of this machine" clean "$work/unpacked"
  try "the program of the packages runs" "$work/unpacked/usr/bin/baryon" version
  try "the Python package of the packages works" python_works "$work/unpacked/usr/lib/python3/dist-packages" \
    "$(dirname "$(compgen -G "$work/unpacked/usr/lib/*/libbaryon.so.0")")"
  try "the library depends on libraries" only_depends_on_libraries build/deb/libbaryon0_*.deb
else
  echo "skipped: scripts/deps.sh package installs what makes Debian packages"
fi
try "the archive" scripts/tar.sh
archive=$(compgen -G "build/baryon-*-linux-*.tar.gz")
cp "$archive" "$work/first.tar.gz"
try "the archive again" scripts/tar.sh
try "both have the same bytes" cmp "$archive" "$work/first.tar.gz"
mkdir -p "$work/elsewhere"
tar --extract --file="$archive" --directory="$work/elsewhere"
root=$(compgen -G "$work/elsewhere/baryon-*")
try "the archive is small" small "$root"
try "the archive names no folder of this machine" clean "$root"
try "the program of the archive runs" env -i PATH=/usr/bin "$root/bin/baryon" version
try "it checks a model" env -i PATH=/usr/bin "$root/bin/baryon" check "$model"
try "its Python package works" python_works "$root/python" "$root/lib"
try "the list of parts is right" lists_its_parts "$root"
if command -v cmake >/dev/null; then
  try "an example builds with CMake" builds_with_cmake "$root"
  try "CMake refuses another version" refuses_another_version "$root"
else
  echo "skipped: there is no cmake"
fi
rm -rf "$work"
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]

#!/usr/bin/env bash
# Installs into a scratch folder and uses what is there as a stranger would:
# exported names, pkg-config, shared and static linking, the program, uninstalling.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

stage=$PWD/build/stage
prefix=${PREFIX:-/usr/local} # as it was built for: other tests are running what would be built anew
lib=$stage${LIBDIR:-$prefix/lib}
passed=0
failed=0

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

quiet_make() { make --no-print-directory --silent "$@" "DESTDIR=$stage" "PREFIX=$prefix"; }

only_public_names() {
  local exported others
  exported=$(nm -D --defined-only "$1" | awk '{print $3}')
  others=$(grep -v '^baryon_' <<<"$exported")
  [[ -z $others ]] || { echo "exports $others"; return 1; }
  # All that the headers declare is there.
  local name missing=0
  for name in $(grep -Pzoh 'BARYON_API[^;(]*\b\Kbaryon_\w+(?=\()' include/baryon/*.h | tr '\0' ' '); do
    grep -qx "$name" <<<"$exported" || { echo "lacks $name"; missing=1; }
  done
  return "$missing"
}

has_soname() { readelf -d "$1" | grep -q "SONAME.*\[$2\]"; }

flags() { PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$stage pkg-config "$@" baryon; }

compile_shared() {
  # shellcheck disable=SC2046  # words are wanted
  cc -std=c17 -Wall -Wextra -Wpedantic -Werror "$1" -o "$2" $(flags --cflags --libs)
}

compile_static() {
  # The static archive in place of -lbaryon; the rest as pkg-config says.
  # shellcheck disable=SC2046
  cc -std=c17 "$1" -o "$2" $(flags --cflags) "$lib/libbaryon.a" \
    $(flags --static --libs | sed "s|-L$lib||; s|-lbaryon||")
}

compile_cpp() {
  command -v c++ >/dev/null || return 0
  echo "#include <$1>" >"$stage/header.cc"
  # shellcheck disable=SC2046
  c++ -Wall -Wextra -Werror -fsyntax-only $(flags --cflags) "$stage/header.cc"
}

compile_alone() {
  echo "#include <$1>" >"$stage/header.c"
  # shellcheck disable=SC2046
  cc -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(flags --cflags) "$stage/header.c"
}

# The version that a program says is the one of the header, and of pkg-config.
says_version() { [[ $(LD_LIBRARY_PATH=$lib "$1") == "$(flags --modversion)" ]]; }

# ONNX Runtime looks for one name; all else stays inside.
only_the_entry() { [[ $(nm -D --defined-only "$1" | awk '{print $3}') == RegisterCustomOps ]]; }

finds_operators_beside_library() { [[ $("$stage$prefix/bin/baryon" version --ops-path) == "$lib/libbaryon_ops.so" ]]; }

# Installed elsewhere than it was built for, as it is here.
finds_runtime_beside_itself() { "$stage$prefix/bin/baryon" doctor | grep -F "$lib/baryon/libonnxruntime.so"; }

nothing_left() { local left; left=$(find "$stage$prefix" ! -type d); [[ -z $left ]] || { echo "$left"; return 1; }; }

rm -rf "$stage"
mkdir -p "$stage"
cat >"$stage/version.c" <<'C'
#include <baryon.h>
#include <stdio.h>

int main(void)
{
    puts(baryon_version());
    return 0;
}
C
try "make install" quiet_make install
try "exports only baryon_ names" only_public_names "$lib/libbaryon.so"
try "operators export one name" only_the_entry "$lib/libbaryon_ops.so"
try "soname" has_soname "$lib/libbaryon.so" libbaryon.so.0
try "shared program compiles" compile_shared "$stage/version.c" "$stage/shared"
try "shared program runs" says_version "$stage/shared"
try "static program compiles" compile_static "$stage/version.c" "$stage/static"
try "static program runs" says_version "$stage/static"
for header in baryon.h baryon/{error,model,walk,edit,run,calibrate,statistics,quantize}.h; do
  try "<$header> stands alone" compile_alone "$header"
  try "<$header> is C++ too" compile_cpp "$header"
done
for example in weights insert run calibrate; do
  try "examples/$example.c compiles" compile_shared "examples/$example.c" "$stage/$example"
done
export LD_LIBRARY_PATH=$lib
model=build/zoo/models/ppocr_cls.onnx
try "examples/insert.c runs" "$stage/insert" "$model" "$stage/edited.onnx"
try "examples/weights.c runs" "$stage/weights" "$stage/edited.onnx"
try "examples/run.c runs" "$stage/run" "$stage/edited.onnx" 48
try "examples/calibrate.c runs" "$stage/calibrate" "$model" minmax int8 \
  random=3 shape=x:0=1 shape=x:2=48 shape=x:3=96 per-channel out="$stage/api.stats"
unset LD_LIBRARY_PATH
try "program calibrates" "$stage$prefix/bin/baryon" calibrate -q "$model" --random 3 \
  --shape x:0=1 --shape x:2=48 --shape x:3=96 --per-channel -o "$stage/cli.stats"
try "both give the same statistics" cmp "$stage/api.stats" "$stage/cli.stats"
try "program runs" "$stage$prefix/bin/baryon" version
try "program finds ONNX Runtime" finds_runtime_beside_itself
try "program finds the operators" finds_operators_beside_library
for page in "$stage$prefix"/share/man/man1/*.1; do
  grep -q '^\.TH BARYON' "$page" || try "$page has a title" false
done
try "make uninstall" quiet_make uninstall
try "nothing is left" nothing_left
rm -rf "$stage"
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]

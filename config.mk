# What the build can be told, and what it finds out by itself.

PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
BUILD   ?= build
DEPS    ?= $(BUILD)/deps
CC      ?= cc
AR      ?= ar

# A folder with include/ and lib/ of ONNX Runtime; `make deps` fills the default.
ONNXRUNTIME_ROOT ?= $(DEPS)/onnxruntime

VERSION  := $(shell sed -n 's/^.define BARYON_VERSION_[A-Z]* \([0-9]*\)$$/\1/p' include/baryon.h | paste -sd.)
ABI      := 0

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
CFLAGS   ?= -O2 -g
PACKAGES := jansson yaml-0.1 libturbojpeg libpng zlib libxxhash
ORT_HEADERS := $(ONNXRUNTIME_ROOT)/include
BY_CFLAGS = -std=c17 -D_GNU_SOURCE $(WARNINGS) -fvisibility=hidden -fPIC -ffp-contract=off \
            -Iinclude -Isrc -I. -isystem $(ORT_HEADERS) \
            $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null) $(SANITIZE) $(EXTRA_CFLAGS)
BY_LIBS   = $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -lm -lpthread -ldl $(SANITIZE)

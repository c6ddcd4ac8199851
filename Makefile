# Baryon. `make demo` and `make check` do everything from a bare machine;
# `make help` lists the rest. What can be set is in config.mk.

include config.mk

LIB_SRC   := $(wildcard src/*.c src/*/*.c)
CLI_SRC   := $(wildcard cli/*.c)
TEST_SRC  := $(wildcard tests/unit/test_*.c tests/fault/test_*.c)
FUZZ_SRC  := $(wildcard tests/fuzz/fuzz_*.c)
LIB_OBJ   := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ   := $(CLI_SRC:%.c=$(BUILD)/%.o)
UNITS     := $(patsubst %.c,$(BUILD)/%,$(filter tests/unit/%,$(TEST_SRC)))
FAULTS    := $(patsubst %.c,$(BUILD)/%,$(filter tests/fault/%,$(TEST_SRC)))
REPLAYS   := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/replay/%)
FUZZERS   := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/%)
ARCHIVE   := $(BUILD)/libbaryon.a
SONAME    := libbaryon.so.$(ABI)
SHARED    := $(BUILD)/$(SONAME)

all: lib cli ## build the library and the program (the default)

lib: $(ARCHIVE) $(SHARED) $(BUILD)/libbaryon.so $(BUILD)/baryon.pc ## build/libbaryon.a, .so and baryon.pc

cli: $(BUILD)/baryon ## build/baryon

deps: ## install what is missing: Debian packages, ONNX Runtime
	@scripts/deps.sh

demo: ## look at, check, run and copy a real model on real pictures
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory -s all
	@scripts/demo.sh

check: ## all tests that every change has to pass
	@scripts/deps.sh build test
	@tests/check.py

check-all: ## check, then clang, sanitizers, valgrind, faults, fuzzing, analysers
	@scripts/deps.sh build test all
	@tests/check.py --all

unit: $(UNITS) ## unit tests alone
	@tests/run_units.py $^

units: $(UNITS)
faults: $(FAULTS)
replays: $(REPLAYS)
fuzzers: $(FUZZERS)

fuzz: ## run all fuzz targets, SECONDS=60 each
	@$(MAKE) --no-print-directory -s FLAVOUR=fuzz fuzzers
	@tests/run_fuzz.py --seconds $(SECONDS)

lint: ## layers, banned calls, sizes, format
	@tests/lint.py

format: ## clang-format on all C files
	@$(CLANG_FORMAT) -i $$(git ls-files '*.[ch]')

# Objects follow the flags: a changed flag builds them again.

$(BUILD)/flags: FORCE
	@$(if $(MISSING),echo 'missing: $(MISSING). Try: make deps' >&2; exit 1)
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS) $(BY_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS) $(BY_CFLAGS)' >$@

$(BUILD)/place: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX) $(LIBDIR) $(VERSION) $(ORT_FOLDERS)' | cmp -s - $@ || echo '$(PREFIX) $(LIBDIR) $(VERSION) $(ORT_FOLDERS)' >$@

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(BY_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/src/engine/ort.o: BY_CFLAGS += -DBY_ORT_FOLDERS='"$(ORT_FOLDERS)"'
$(BUILD)/src/engine/ort.o: $(BUILD)/place

$(ARCHIVE): $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

$(SHARED): $(LIB_OBJ) src/libbaryon.map
	$(CC) $(CFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script,src/libbaryon.map -o $@ $(LIB_OBJ) $(BY_LIBS)

$(BUILD)/libbaryon.so: $(SHARED)
	ln -sf $(SONAME) $@

$(BUILD)/baryon.pc: src/baryon.pc.in $(BUILD)/place
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|; s|@PACKAGES@|$(PACKAGES)|' $< >$@

$(BUILD)/baryon: $(CLI_OBJ) $(ARCHIVE)
	$(CC) $(CFLAGS) -o $@ $^ $(BY_LIBS)

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(ARCHIVE)
	$(CC) $(CFLAGS) -o $@ $^ -lcmocka $(BY_LIBS)

$(BUILD)/replay/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/replay.o $(ARCHIVE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ $(BY_LIBS)

$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(ARCHIVE)
	$(CC) $(CFLAGS) -fsanitize=fuzzer -o $@ $^ $(BY_LIBS)

clean: ## remove what was built, keep what was downloaded
	rm -rf $(addprefix $(BUILD)/,src cli tests bench replay flags place baryon baryon.pc libbaryon.*)
	rm -rf $(addprefix build/,$(FLAVOURS))

distclean: ## remove build/ altogether
	rm -rf build

help: ## this text
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | awk -F'\t' '{printf "  make %-11s %s\n", $$1, $$2}'

.PHONY: all lib cli deps demo check check-all unit units faults replays fuzzers fuzz lint format \
        clean distclean help FORCE
.SECONDARY:
.DELETE_ON_ERROR:

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(TEST_SRC:%.c=$(BUILD)/%.d) $(FUZZ_SRC:%.c=$(BUILD)/%.d)

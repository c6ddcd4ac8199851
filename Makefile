# Baryon. `make demo` and `make check` do everything from a bare machine;
# `make help` lists the rest. What can be set is in config.mk.

include config.mk

sources    = $(wildcard $(1)/*.c)
built      = $(patsubst %.c,$(BUILD)/%,$(1))
# src/port/SYSTEM has what that system lacks. A file in a folder below it is in the place of the file
# of the same folder and name below src/.
PORTED    := $(if $(SYSTEM),$(wildcard src/port/$(SYSTEM)/*/*.c))
PROGRAM   := $(filter src/port/$(SYSTEM)/program/%,$(PORTED))
LIB_SRC   := $(filter-out src/ops/% src/port/% $(PORTED:src/port/$(SYSTEM)/%=src/%),$(call sources,src/*) $(call sources,src/*/*)) \
             $(foreach p,$(PORTS),$(wildcard src/port/$p/*.c)) $(filter-out $(PROGRAM),$(PORTED))
LIB_OBJ   := $(addsuffix .o,$(call built,$(LIB_SRC)))
OPS_OBJ   := $(addsuffix .o,$(call built,$(call sources,src/ops)))
OPS       := $(BUILD)/$(OPS_NAME)
CLI_OBJ   := $(addsuffix .o,$(call built,$(call sources,cli) $(PROGRAM)))
CLI       := $(BUILD)/libcli.a
# test_misuse asks glibc 2.33 for the memory in use.
LEFT_OUT  := $(if $(filter-out windows,$(SYSTEM)),tests/unit/test_misuse.c) $(if $(EXE),$(shell sed -n 's|^unit \([a-z_0-9]*\) .*|tests/unit/test_\1.c|p' tests/windows_left_out.txt))
UNITS     := $(addsuffix $(EXE),$(call built,$(filter-out $(LEFT_OUT),$(wildcard tests/unit/test_*.c))))
VECTORS   := $(addprefix tests/unit/test_,bins_squares descent_paths dtype_paths fold ggml_blocks half ops_tanh paths sketch sketch_property weights)
AVX512    := $(BUILD)/avx512
AVX512_OBJ := $(patsubst %.c,$(AVX512)/%.o,$(wildcard src/*/*_avx512.c) src/moments/fold.c)
FAULTS    := $(addsuffix $(EXE),$(call built,$(wildcard tests/fault/test_*.c)))
TOOLS     := $(call built,$(call sources,tests/tools))
STUBS     := $(patsubst %,$(BUILD)/%.so,$(basename $(if $(EXE),$(filter-out %/mpi.c,$(wildcard tests/stub/*.c)),$(wildcard tests/stub/*.c))))
UNITS_LIB := $(if $(EXE),$(BUILD)/tests/lib/windows_units.o)
TORTURE   := $(call built,$(call sources,tests/torture))
MPI       := $(if $(SYSTEM),,$(foreach f,openmpi mpich,$(if $(shell command -v $(MPICC_$f)),$(BUILD)/libbaryon_mpi_$f.so)))
EXAMPLES  := $(call built,$(call sources,examples))
FUZZ_SRC  := $(wildcard tests/fuzz/fuzz_*.c)
REPLAYS   := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/replay/%)
FUZZERS   := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/%)
ARCHIVE   := $(BUILD)/libbaryon.a
CMAKE     := $(BUILD)/BaryonConfig.cmake $(BUILD)/BaryonConfigVersion.cmake
SHARED    := $(BUILD)/$(SONAME)
HERE      := @$(MAKE) --no-print-directory -s

all: lib cli ops mpi ## build the library and the program (the default)

lib: $(ARCHIVE) $(SHARED) $(if $(SYSTEM),,$(BUILD)/libbaryon.so $(BUILD)/baryon.pc $(CMAKE)) ## build/libbaryon.a and .so

cli: $(BUILD)/baryon$(EXE) ## build/baryon

ops: $(OPS) ## build/libbaryon_ops.so, the operators that ONNX Runtime loads

mpi: $(MPI) ## build/libbaryon_mpi_*.so, one for each MPI whose mpicc is there

deps: ## install what is missing: Debian packages, ONNX Runtime
	@scripts/deps.sh

IN_WHEEL := $(if $(EXE),$(SHARED) $(OPS) $(BUILD)/baryon.exe,$(addprefix $(BUILD)/wheel/,libbaryon$(SO) libbaryon_ops$(SO) baryon))
wheel: $(IN_WHEEL) ## the Python package with the libraries and the program, in build/wheel
	@scripts/wheel.py $(if $(SYSTEM),--within $(LIBRARIES) $(WHEEL_TAG_$(FLAVOUR))) $(VERSION) $^ $(BUILD)/wheel

WHEELS := $(ZIG_FLAVOURS) windows
wheels: ## for all systems, in build/wheels; WHEELS=manylinux-aarch64: for that alone
	@scripts/deps.sh wheels $(filter windows,$(WHEELS))
	@mkdir -p build/wheels
	@for f in $(WHEELS); do make="$(MAKE) --no-print-directory -s FLAVOUR=$$f"; \
	    $$make libraries && $$make wheel && cp build/$$f/wheel/*.whl build/wheels || exit; done

libraries: ## those that a build for another system links: FLAVOUR=windows, into build/deps/windows
	@scripts/libraries.sh $(DEPS) $(LIBRARIES) '$(CC)' '$(AR)' $(SYSTEM)

check-windows: ## tests of the build for Windows, under Wine
	@scripts/deps.sh test windows
	$(HERE) all
	@tests/windows.py $(if $(ONNXRUNTIME_DLL),--runtime $(ONNXRUNTIME_DLL))

check-wheels: ## installs the wheels in empty systems and runs them there; RECORD=FILE: writes times and sizes
	@scripts/deps.sh wheels chroots
	$(HERE) WHEELS="$(ZIG_FLAVOURS)" wheels
	@tests/zoo/fetch.sh
	@tests/wheels.py $(if $(RECORD),--record $(RECORD))

deb: ## Debian packages, in build/deb
	@scripts/deps.sh package
	@scripts/deb.sh

tar: ## an archive of everything that runs where it is unpacked, in build
	@scripts/deps.sh
	@scripts/tar.sh

demo: ## find the cheapest quantization of a text detector, show what each step finds
	@mkdir -p $(BUILD) && date +%s >$(BUILD)/demo.begin
	@scripts/deps.sh
	$(HERE) all
	@scripts/demo.sh

check: ## all tests that every change has to pass
	@scripts/deps.sh test site
	@tests/check.py

check-all: ## check; then clang, sanitizers, valgrind, faults, fuzzing, analysers
	@scripts/deps.sh test site analyse package mpi
	@tests/check.py --all

CHOSEN := $(if $(TEST),$(TEST:%=$(BUILD)/tests/unit/test_%),$(UNITS))
unit: $(CHOSEN) ## the unit tests alone; TEST=calib: those of tests/unit/test_calib.c
	@tests/run_programs.py --build $(BUILD) $(CHOSEN)

fuzz: ## all fuzz targets, SECONDS=60 each
	$(HERE) FLAVOUR=fuzz fuzzers
	@tests/run_fuzz.py --seconds $(SECONDS)

mutants: all units tools ## plant mistakes, one at a time, and tell which no test notices; PART=1/4: a quarter of them
	@tests/mutants.py --part $(or $(PART),1/1)

bench: export ORT_DISABLE_TELEMETRY := 1
bench: all ## measurements, beside the peers' where they are installed
	@$(VENV)/bin/python bench/io.py
	@$(VENV)/bin/python bench/calibrate.py
	@$(VENV)/bin/python bench/quantize.py

peers: ## the peers that benches run beside ours, into build/peers (3 GB)
	@test -x build/peers/bin/python || python3 -m venv build/peers
	@VENV=build/peers scripts/pip.sh install --requirement bench/peers.txt

zoo: ## fourteen real models with samples into build/zoo-all, for benches (600 MB, installs torch)
	@bench/zoo/fetch.sh

objects: $(LIB_OBJ) $(CLI_OBJ) $(OPS_OBJ)
units: $(UNITS)
vectors: $(addprefix $(BUILD)/,$(VECTORS))
avx512: $(addprefix $(AVX512)/,$(VECTORS))
faults: $(FAULTS)
tools: $(TOOLS)
torture: $(TORTURE)
replays: $(REPLAYS)
fuzzers: $(FUZZERS)

lint: ## layers, banned calls, sizes, format
	@tests/lint.py

format: ## clang-format on all C files
	@$(VENV)/bin/clang-format -i $$(git ls-files '*.[ch]')

docs: cli ## write manual pages, docs/commands.md and completions anew
	@scripts/docs.sh $(BUILD)/baryon .

docs-check: cli
	@rm -rf $(BUILD)/pages && scripts/docs.sh $(BUILD)/baryon $(BUILD)/pages
	@for page in $$(cd $(BUILD)/pages && find . -type f); do \
	    diff -u $$page $(BUILD)/pages/$$page || { echo 'outdated: make docs'; exit 1; }; done

site: ## the documentation as a static site, in build/site
	@scripts/deps.sh site
	@build/site-venv/bin/python scripts/site.py build/site

version:
	@echo $(VERSION)

examples: $(EXAMPLES) ## build the programs in examples/

# ---- Objects follow the flags: a changed flag builds them again.

comma := ,
# V=1 shows the commands, -s nothing.
quiet = $(or $(V),$(findstring s,$(firstword -$(MAKEFLAGS))))
say  = $(if $(quiet),,@echo '  $(1) $@';)
keep = @mkdir -p $(@D); echo '$(1)' | cmp -s - $@ || echo '$(1)' >$@

$(BUILD)/flags: FORCE
	@$(if $(MISSING),echo 'missing: $(MISSING). Try: make deps' >&2; exit 1)
	$(call keep,$(CC) $(CFLAGS) $(BY_CFLAGS))

$(BUILD)/place: FORCE
	$(call keep,$(PREFIX) $(LIBDIR) $(OPSDIR) $(VERSION) $(ORT_FOLDERS))

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(CFLAGS) $(BY_CFLAGS) -MMD -MP -c -o $@ $<

# The programs of the unit tests are compiled in a third of the time, and what they call is optimized.
$(addsuffix .o,$(basename $(UNITS) $(FAULTS))): private CFLAGS += -O0 $(if $(EXE),-include tests/lib/windows_units.h)
# Calls that take paths of another type there, and longs of another width: Linux warns of the rest.
$(if $(EXE),$(addsuffix .o,$(basename $(UNITS) $(STUBS)))): private CFLAGS += -w

$(BUILD)/src/engine/ort_find.o: BY_CFLAGS += -DBY_ORT_FOLDERS='"$(ORT_FOLDERS)"'
$(BUILD)/src/engine/ort_find.o: $(BUILD)/place

$(BUILD)/src/engine/ops_find.o: BY_CFLAGS += -DBY_OPS_FOLDER='"$(if $(EXE),,$(OPSDIR))"'
$(BUILD)/src/engine/ops_find.o: $(BUILD)/place

$(BUILD)/cli/mpi_find.o: BY_CFLAGS += -DBY_MPI_FOLDER='"$(LIBDIR)/baryon"'
$(BUILD)/cli/mpi_find.o: $(BUILD)/place

# It has these files in itself, which the compiler does not say.
$(BUILD)/src/report/html/assets.o: $(wildcard src/report/html/assets/*)

# Plain, whatever the flavour: sanitizers and MPI do not go together.
$(BUILD)/libbaryon_mpi_%.so: mpi/baryon_mpi.c mpi/baryon_mpi.h $(BUILD)/flags
	$(call say,MPI )$(MPICC_$*) -std=c17 $(CFLAGS) $(WARNINGS) -fvisibility=hidden -fPIC -I. \
	    -DBARYON_MPI_FLAVOUR=$* -shared -o $@ $< $(LDFLAGS)

$(ARCHIVE): $(LIB_OBJ)
	@rm -f $@
	$(call say,AR  )$(AR) rcs $@ $^

# Names that a library exports: a script of the linker, or for Windows a list of those that it describes.
exports = $(if $(filter windows,$(SYSTEM)),$(BUILD)/$(1).def,src/$(1).map)
exporting = $(if $(filter windows,$(SYSTEM)),$(BUILD)/$(1).def,$(if $(filter macos,$(SYSTEM)),,-Wl,--version-script,src/$(1).map))
# What a library is called by those that link it, and where it and the program look for libraries first.
called    = -Wl,$(if $(filter macos,$(SYSTEM)),-install_name$(comma)@rpath/,-soname$(comma))$(1)
BESIDE   := -Wl,-rpath,$(if $(filter macos,$(SYSTEM)),@loader_path,'$$ORIGIN')

$(BUILD)/%.def: src/%.map $(LIB_OBJ) $(OPS_OBJ)
	@mkdir -p $(@D)
	@names=$$(sed -n 's/^ *\([a-zA-Z_]*\)\(\*\{0,1\}\);$$/^\1\2$$/p' $< | sed 's/\*/.*/' | grep -v '^^$$\|^^\.' | paste -sd'|'); \
	    (echo EXPORTS; $(NM) -g --defined-only $(LIB_OBJ) $(OPS_OBJ) | awk 'NF == 3 {print $$3}' | grep -xE "$$names" | sort -u) >$@

$(SHARED): $(LIB_OBJ) $(call exports,api/libbaryon)
	$(call say,LINK)$(CC) $(CFLAGS) -shared $(if $(EXE),-s,$(call called,$(SONAME))) $(call exporting,api/libbaryon) -o $@ \
	    $(LIB_OBJ) $(LDFLAGS) $(BY_LIBS)

# In a wheel it finds the libraries that it needs beside itself, and no folder of this machine.
$(BUILD)/wheel/ort_find.o: src/engine/ort_find.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(CFLAGS) $(BY_CFLAGS) -c -o $@ $<

$(BUILD)/wheel/libbaryon$(SO): $(filter-out %/engine/ort_find.o,$(LIB_OBJ)) $(BUILD)/wheel/ort_find.o src/api/libbaryon.map
	$(call say,LINK)$(CC) $(CFLAGS) -shared -s $(call called,$(SONAME)) $(call exporting,api/libbaryon) $(BESIDE) -o $@ $(filter %.o,$^) $(LDFLAGS) $(BY_LIBS)

$(BUILD)/wheel/baryon: $(BUILD)/cli/main.o $(CLI) $(filter-out %/engine/ort_find.o,$(LIB_OBJ)) $(BUILD)/wheel/ort_find.o
	$(call say,LINK)$(CC) $(CFLAGS) -pie -s $(BESIDE) -o $@ $(BUILD)/cli/main.o $(CLI) $(filter-out %/main.o,$(filter %.o,$^)) $(LDFLAGS) $(BY_LIBS)

$(BUILD)/wheel/libbaryon_ops$(SO): $(OPS_OBJ) $(ARCHIVE) src/ops/libbaryon_ops.map
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) -shared -s $(call called,$(OPS_NAME)) $(call exporting,ops/libbaryon_ops) -o $@ $(filter %.o,$^) $(ARCHIVE) $(LDFLAGS) $(SYSTEM_LIBS)

$(BUILD)/libbaryon.so: $(SHARED)
	@ln -sf $(SONAME) $@

# It stands alone: whatever it needs of ours comes out of the archive.
$(OPS): $(OPS_OBJ) $(ARCHIVE) $(call exports,ops/libbaryon_ops)
	$(call say,LINK)$(CC) $(CFLAGS) -shared $(call exporting,ops/libbaryon_ops) \
	    $(if $(SANITIZE)$(EXE)$(filter macos,$(SYSTEM)),$(if $(EXE),-s),-Wl,-z,defs) -o $@ $(OPS_OBJ) $(ARCHIVE) $(LDFLAGS) $(SYSTEM_LIBS) $(SANITIZE)

$(BUILD)/baryon.pc: src/api/baryon.pc.in $(BUILD)/place
	@sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@OPSDIR@|$(patsubst $(LIBDIR)%,$${libdir}%,$(OPSDIR))|; s|@VERSION@|$(VERSION)|; s|@PACKAGES@|$(PACKAGES)|' $< >$@

# The include folder, seen from the library's.
$(CMAKE): $(BUILD)/%.cmake: src/api/%.cmake.in $(BUILD)/place
	@sed 's|@VERSION@|$(VERSION)|g; s|@ABI@|$(ABI)|; s|@PACKAGES@|$(PACKAGES)|; s|@INCLUDE@|$(shell \
	    realpath -m --relative-to=$(LIBDIR) $(PREFIX)/include)|' $< >$@

link = $(call say,LINK)$(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(filter $(CLI),$^) $(filter $(ARCHIVE),$^) $(LDFLAGS)

# The program but for main(), for the tests of its parts.
$(CLI): $(filter-out %/main.o,$(CLI_OBJ))
	@rm -f $@
	$(call say,AR  )$(AR) rcs $@ $^

$(BUILD)/baryon$(EXE): $(BUILD)/cli/main.o $(CLI) $(ARCHIVE)
	$(link) $(if $(EXE),-municode -s -Wl$(comma)--stack$(comma)8388608) $(BY_LIBS)

$(if $(EXE),$(BUILD)/cli/main.o): BY_CFLAGS += -Dmain=by_main

$(patsubst %,$(BUILD)/tests/unit/test_%$(EXE),changed commands opt out progress): $(CLI)
$(BUILD)/tests/fault/test_ranks$(EXE) $(BUILD)/tests/tools/served: $(CLI)
$(BUILD)/tests/fault/test_ops$(EXE): $(OPS_OBJ)
$(BUILD)/tests/unit/test_ops_tanh$(EXE): $(filter %/tanh_avx512.o,$(OPS_OBJ))
$(BUILD)/tests/unit/test_ops_tanh$(EXE) $(AVX512)/tests/unit/test_ops_tanh: $(filter %/tanh.o %/tanh_vector.o %/tanh_avx2.o,$(OPS_OBJ))

# Calls of all public functions.
$(BUILD)/misuse_calls.h: tests/misuse.py include/baryon.h $(wildcard include/baryon/*.h)
	$(call say,MAKE)tests/misuse.py $@

$(BUILD)/tests/unit/test_misuse.o: private BY_CFLAGS += -I$(BUILD)
$(BUILD)/tests/unit/test_misuse.o: $(BUILD)/misuse_calls.h

$(UNITS) $(FAULTS): $(BUILD)/%$(EXE): $(BUILD)/%.o $(UNITS_LIB) $(ARCHIVE)
	$(link) $(FAST_LINK) $(if $(SYSTEM),$(LIBRARIES)/lib/libcmocka.a,-lcmocka) $(BY_LIBS)

# AVX-512 in plain C, for processors without: these come before what the archive has.
$(AVX512)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(CFLAGS) $(BY_CFLAGS) -Wno-psabi -Itests/avx512 -include immintrin.h -MMD -MP -c -o $@ $<

$(addprefix $(AVX512)/,$(VECTORS)): $(AVX512)/%: $(BUILD)/%.o $(AVX512_OBJ) $(ARCHIVE)
	@mkdir -p $(@D)
	$(link) $(FAST_LINK) -lcmocka $(BY_LIBS)

# Libraries that tests load: operators, and an ONNX Runtime that fails on demand.
$(STUBS): $(BUILD)/%.so: $(BUILD)/%.o
	$(CC) $(CFLAGS) -shared -o $@ $< $(LDFLAGS) $(SANITIZE) $(if $(EXE),$(ARCHIVE) $(SYSTEM_LIBS),-ldl)

$(UNITS) $(FAULTS): | $(STUBS)
$(if $(EXE),$(STUBS)): $(ARCHIVE)

$(TOOLS) $(TORTURE) $(EXAMPLES): $(BUILD)/%: $(BUILD)/%.o $(ARCHIVE)
	$(link) $(FAST_LINK) $(BY_LIBS)

$(REPLAYS): $(BUILD)/replay/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/replay.o $(ARCHIVE)
	@mkdir -p $(@D)
	$(link) $(BY_LIBS)

$(FUZZERS): $(BUILD)/%: $(BUILD)/tests/fuzz/%.o $(ARCHIVE)
	$(link) -fsanitize=fuzzer $(BY_LIBS)

# ---- Installing: DESTDIR, PREFIX and LIBDIR are obeyed.

BINDIR  := $(DESTDIR)$(PREFIX)/bin
HEADERS := $(DESTDIR)$(PREFIX)/include
LIBS    := $(DESTDIR)$(LIBDIR)
SHARE   := $(DESTDIR)$(PREFIX)/share
INSTALL := install -D -m 644

install: all ## into DESTDIR, PREFIX, LIBDIR
	install -D -m 755 $(BUILD)/baryon $(BINDIR)/baryon
	install -D -m 755 $(SHARED) $(LIBS)/libbaryon.so.$(VERSION)
	ln -sf libbaryon.so.$(VERSION) $(LIBS)/$(SONAME)
	ln -sf $(SONAME) $(LIBS)/libbaryon.so
	$(INSTALL) $(ARCHIVE) $(LIBS)/libbaryon.a
	install -D -m 755 $(OPS) $(DESTDIR)$(OPSDIR)/libbaryon_ops.so
	$(INSTALL) $(BUILD)/baryon.pc $(LIBS)/pkgconfig/baryon.pc
	$(INSTALL) -t $(LIBS)/cmake/Baryon $(CMAKE)
	$(INSTALL) include/baryon.h $(HEADERS)/baryon.h
	$(INSTALL) -t $(HEADERS)/baryon include/baryon/*.h
	$(INSTALL) -t $(SHARE)/man/man1 man/*.1
	$(INSTALL) completions/baryon.bash $(SHARE)/bash-completion/completions/baryon
	$(INSTALL) completions/_baryon $(SHARE)/zsh/site-functions/_baryon
	$(INSTALL) completions/baryon.fish $(SHARE)/fish/vendor_completions.d/baryon.fish
	$(foreach library,$(MPI),install -D $(library) $(LIBS)/baryon/$(notdir $(library));)
ifneq ($(ORT_LIBRARY),)
	$(INSTALL) $(ORT_LIBRARY) $(LIBS)/baryon/$(notdir $(ORT_LIBRARY))
	-$(INSTALL) -t $(SHARE)/doc/baryon/onnxruntime $(ONNXRUNTIME_ROOT)/share/*
endif

uninstall: ## take out what install put there
	rm -f $(BINDIR)/baryon $(LIBS)/libbaryon.* $(DESTDIR)$(OPSDIR)/libbaryon_ops.so $(LIBS)/pkgconfig/baryon.pc
	rm -f $(HEADERS)/baryon.h $(SHARE)/man/man1/baryon*.1
	rm -f $(SHARE)/bash-completion/completions/baryon $(SHARE)/zsh/site-functions/_baryon
	rm -f $(SHARE)/fish/vendor_completions.d/baryon.fish
	rm -rf $(HEADERS)/baryon $(LIBS)/baryon $(LIBS)/cmake/Baryon $(SHARE)/doc/baryon

clean: ## remove what was built, keep what was downloaded
	rm -rf $(filter-out build/deps build/venv build/site-venv build/zoo build/peers build/bench,$(wildcard build/*))

help: ## this text
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | awk -F'\t' '{printf "  make %-10s %s\n", $$1, $$2}'

.PHONY: all lib cli ops mpi wheel wheels libraries deb tar deps demo check check-all check-wheels check-windows unit fuzz mutants bench zoo peers objects units vectors avx512 faults tools torture replays fuzzers \
        lint format docs docs-check site version examples install uninstall clean help FORCE
.SECONDARY:
.DELETE_ON_ERROR:

-include $(shell find $(addprefix $(BUILD)/,src cli tests examples avx512) -name '*.d' 2>/dev/null)

# Baryon. `make help` lists what there is.

include config.mk

SOURCES  := $(wildcard src/*.c src/*/*.c)
OBJECTS  := $(SOURCES:%.c=$(BUILD)/%.o)
CLI_SRC  := $(wildcard cli/*.c)
CLI_OBJ  := $(CLI_SRC:%.c=$(BUILD)/%.o)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNITS    := $(UNIT_SRC:%.c=$(BUILD)/%)

all: lib cli

lib: $(BUILD)/libbaryon.a

cli: $(BUILD)/baryon

$(BUILD)/libbaryon.a: $(OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/baryon: $(CLI_OBJ) $(BUILD)/libbaryon.a
	$(CC) $(CFLAGS) -o $@ $^ $(BY_LIBS)

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/libbaryon.a
	$(CC) $(CFLAGS) -o $@ $^ -lcmocka $(BY_LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(BY_CFLAGS) -MMD -MP -c -o $@ $<

unit: $(UNITS)
	@set -e; for test in $(UNITS); do $$test; done

clean:
	rm -rf $(BUILD)/src $(BUILD)/cli $(BUILD)/tests $(BUILD)/libbaryon.* $(BUILD)/baryon

.PHONY: all lib cli unit clean
.SECONDARY:

-include $(OBJECTS:.o=.d) $(CLI_OBJ:.o=.d) $(UNITS:%=%.d)

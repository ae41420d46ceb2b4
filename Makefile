# Moonshift: `make help` lists the targets.
CC       ?= gcc
LUA      ?= lua5.4
BUILD    ?= build
prefix   ?= /usr/local
VERSION  := 0.1.0

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion \
	-Wmissing-prototypes -Wstrict-prototypes -Wold-style-definition -Wpointer-arith \
	-Wwrite-strings -Wundef -Wformat=2 -Wvla -Werror
CFLAGS   ?= -O2 -g
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -DMOONSHIFT_VERSION='"$(VERSION)"' $(WARN) -fPIC -Icore \
	-I/usr/include/lua5.4 $(CFLAGS) $(SANITIZE)
LIBS     := -lsqlite3 -lev -ljansson -lpthread -lm

SOURCES  := $(filter-out core/main.c core/host.c,$(wildcard core/*.c core/*/*.c core/*/*/*.c))
OBJECTS  := $(SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/gen/embedded.o
EMBED    := $(sort $(wildcard lua/moonshift/*.lua scripts/*/*.lua core/store/sqlite/*.sql))

all: $(BUILD)/moonshift $(BUILD)/lua/moonshift/core.so ## build the program and the Lua module

$(BUILD)/moonshift: $(BUILD)/core/main.o $(OBJECTS)
	@echo LINK $@
	@$(CC) $(SANITIZE) -o $@ $^ $(LIBS) -llua5.4 -Wl,-E

$(BUILD)/lua/moonshift/core.so: $(OBJECTS)
	@echo LINK $@
	@mkdir -p $(@D)
	@$(CC) $(SANITIZE) -shared -Wl,-z,nodelete -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c
	@echo CC $<
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -MMD -c -o $@ $<

$(BUILD)/gen/embedded.o: $(BUILD)/gen/embedded.c
	@echo CC $<
	@$(CC) $(ALL_CFLAGS) -c -o $@ $<

# The Lua half, the stock scripts and the schema travel inside the binary.
$(BUILD)/gen/embedded.c: core/base/embed.lua $(EMBED)
	@mkdir -p $(@D)
	@$(LUA) core/base/embed.lua $(EMBED) > $@

clean: ## remove what was built
	rm -rf $(BUILD)

.PHONY: all clean
-include $(OBJECTS:.o=.d) $(BUILD)/core/main.d

# Moonshift: `make help` lists the targets.
VERSION  := 0.1.0
CC       := $(if $(filter default,$(origin CC)),gcc,$(CC))
LUA      ?= lua5.4
BUILD    ?= build
DESTDIR  ?=
prefix   ?= /usr/local
bindir   ?= $(prefix)/bin
luadir   ?= $(prefix)/share/lua/5.4
cmoddir  ?= $(prefix)/lib/lua/5.4
datadir  ?= $(prefix)/share
mandir   ?= $(datadir)/man
pkgconfigdir ?= $(prefix)/lib/pkgconfig
unitdir  ?= $(prefix)/lib/systemd/system
zshdir   ?= $(datadir)/zsh/site-functions
ifeq ($(MAKELEVEL)$(findstring -j,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion \
	-Wno-missing-field-initializers -Wmissing-prototypes -Wstrict-prototypes \
	-Wold-style-definition -Wpointer-arith -Wwrite-strings -Wundef -Wformat=2 -Wvla -Wswitch-enum
# What a packager sets: CC, CPPFLAGS, CFLAGS and LDFLAGS reach every compile and every link; WERROR=
# lets a compiler warn that nobody has met yet. pkg-config says where headers are and what is linked.
# What it does not know has Debian's name. LUA_INCDIR, LUA_LIBS, LPEG_LIBS and PQ_INCDIR win over it.
WERROR   ?= -Werror
CFLAGS   ?= -O2 -g
PKG_CONFIG ?= pkg-config
# $(call known,FLAG,NAME,OTHERWISE), and $(call unless_given,VARIABLE,VALUE): both ask once.
known = $(shell $(PKG_CONFIG) $(1) $(2) 2>/dev/null || echo '$(3)')
unless_given = $(if $(filter undefined,$(origin $(1))),$(2),$($(1)))
LUA_PC   := $(or $(firstword $(shell for name in lua5.4 lua-5.4 lua54 lua; do \
	$(PKG_CONFIG) --exists "$$name >= 5.4 $$name < 5.5" 2>/dev/null && echo $$name; done)),lua5.4)
LUA_CFLAGS := $(if $(LUA_INCDIR),-I$(LUA_INCDIR),$(call known,--cflags,$(LUA_PC),-I/usr/include/lua5.4))
LUA_LIBS := $(call unless_given,LUA_LIBS,$(call known,--libs,$(LUA_PC),-llua5.4))
PQ_CFLAGS := $(if $(PQ_INCDIR),-I$(PQ_INCDIR),$(call known,--cflags,libpq,-I/usr/include/postgresql))
# LPeg is linked where it is a library with a header; else `require "lpeg"` finds the installed module.
has_lpeg = $(CC) $(LUA_CFLAGS) $(CPPFLAGS) -E -include lua-lpeg.h -x c /dev/null >/dev/null 2>&1
LPEG_LIBS := $(filter-out $(filter -l%,$(LUA_LIBS)),$(call unless_given,LPEG_LIBS,$(or \
	$(call known,--libs,lua5.4-lpeg),$(shell $(has_lpeg) && echo -llua5.4-lpeg))))
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -DMOONSHIFT_VERSION='"$(VERSION)"' $(WARN) $(WERROR) -Icore \
	$(if $(LPEG_LIBS),,-DLPEG_BY_REQUIRE) $(LUA_CFLAGS) $(PQ_CFLAGS) $(LIB_CFLAGS) \
	$(CPPFLAGS) $(filter-out -pie,$(CFLAGS)) -fPIC $(SANITIZE)
LIB_CFLAGS := $(foreach name,sqlite3 libev jansson libmd expat libcurl,$(call known,--cflags,$(name)))
LINK     = $(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS)
LINK_SHARED = $(CC) $(filter-out -pie,$(CFLAGS)) $(SANITIZE) $(filter-out -pie,$(LDFLAGS)) -shared
SQLITE_LIBS := $(call known,--libs,sqlite3,-lsqlite3)
LIBS     := $(SQLITE_LIBS) $(call known,--libs,libev,-lev) $(call known,--libs,jansson,-ljansson) \
	$(call known,--libs,libmd,-lmd) $(call known,--libs,expat,-lexpat) $(LPEG_LIBS) -lpthread -lm -ldl

SOURCES  := $(filter-out core/main.c core/host.c,$(wildcard core/*.c core/*/*.c core/*/*/*.c core/*/*/*/*.c))
OBJECTS  := $(SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/gen/embedded.o
STOCK    := $(wildcard scripts/*/*.lua scripts/*/*/*.lua)
FIRST    := $(wildcard examples/first/*.* examples/first/*/*.lua)
LUA_HALF := $(wildcard lua/moonshift/*.lua lua/moonshift/*/*.lua lua/moonshift/*/*/*.lua)
EMBED    := $(sort $(filter-out %/meta.lua,$(LUA_HALF)) $(wildcard core/store/*/*.sql core/http/ui/* core/bench/*.lua core/bench/*/*.lua) $(STOCK) $(FIRST))
CONTRACT_FILES := $(wildcard spec/*/*/*_contract.c spec/*/*/*/*_contract.c spec/*/*/*/*/*_contract.c)
CONTRACTS := $(CONTRACT_FILES:%.c=$(BUILD)/%)
ASKER    := $(BUILD)/spec/core/http/api/asker
FUZZED   := $(patsubst %.c,$(BUILD)/%.o,spec/fuzz/fuzz.c $(wildcard spec/fuzz/targets/*.c))
C_FILES  := $(wildcard core/*.[ch] core/*/*.[ch] core/*/*/*.[ch] core/*/*/*/*.[ch] \
	spec/*/*.[ch] spec/*/*/*.[ch] spec/*/*/*/*.[ch] spec/*/*/*/*/*.[ch])
LUA_FILES := core/base/embed.lua core/bench docs/api.lua docs/reference.lua docs/rooms.lua docs/terminal.lua lua scripts examples spec spec/run spec/verbs/run \
	spec/postgres/specs examples/orders/report \
	examples/orders/generate examples/nightly/night examples/thumbnails/generate \
	examples/thumbnails/report examples/api-client/generate examples/api-client/report \
	examples/order-process/report

COMPLETIONS := $(addprefix $(BUILD)/gen/completions/,moonshift _moonshift moonshift.fish)

BUILD_PACKAGES := gcc libc6-dev lua5.4 liblua5.4-dev lua-lpeg-dev libsqlite3-dev libpq-dev libcurl4-openssl-dev libev-dev libjansson-dev libmd-dev libexpat1-dev tzdata
CHECK_PACKAGES := $(BUILD_PACKAGES) lua-busted lua-check clang clang-format sqlite3 \
	strace faketime python3 openssl curl mount e2fsprogs lua5.1 luajit zsh fish postgresql pgbouncer \
	debhelper lintian pkgconf
FUZZ_PACKAGES := $(BUILD_PACKAGES) clang libclang-rt-14-dev python3
SOAK_PACKAGES := $(BUILD_PACKAGES) sqlite3 faketime python3 mount e2fsprogs
SERVER_PROGRAM := $(or $(PROGRAM),$(BUILD)/soak/moonshift)
PROGRAM  ?= $(BUILD)/moonshift
SOAK     := python3 -B spec/soak/soak.py --program $(PROGRAM) --probe $(BUILD)/soak/probe.so \
	--root $(BUILD)/soak/run
SERVER_SOAK := $(SOAK)-server --server --program $(SERVER_PROGRAM)

all: $(BUILD)/moonshift $(BUILD)/lua/moonshift/core.so ## build the program and the Lua module

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 23

demo: deps ## install what is missing, build, run the orders example to its end
	@$(MAKE) --no-print-directory all
	@MOONSHIFT=$(BUILD)/moonshift LUA=$(LUA) sh examples/orders/run.sh

faults: check-deps ## errors and death at COUNT=25 calls of each kind, death at every crash point
	@$(MAKE) --no-print-directory all testing $(BUILD)/faults/memory.so
	@LUA=$(LUA) BUILD=$(BUILD) SPEC_FAULTS=$(or $(COUNT),25) LIMIT=7200 $(LUA) spec/run \
	  spec/faults/syscalls_spec.lua spec/faults/memory_spec.lua spec/faults/crash_points_spec.lua

testing: $(BUILD)/testing/moonshift ## build the program with its crash points, in build/testing

# What is quick enough for every change, and what is worth a longer wait.
QUICK := CUTS=500 HISTORIES=5 SPEC_HITS=0 SPEC_FAULTS=1
WHOLE := LIMIT=7200 CUTS=10000 HISTORIES=25 SPEC_FAULTS=4 SPEC_KILLS=100 SPEC_INSTANCES=10000 \
	SPEC_MIXES=20 SPEC_PROCESSES=20000 SPEC_TRACES=100 SPEC_CELLS=25 SPEC_SEED=$(shell date +%s)

check: check-deps ## install what is missing, build with gcc, check with clang, lint, run every spec
	@$(MAKE) --no-print-directory checked LENGTH="$(QUICK)" SOAKED=20

test: ## build, and run every spec that can run with what is installed; installs and fetches nothing
	@$(MAKE) --no-print-directory checked LENGTH="$(QUICK)" SOAKED=20 AS_IS=--as-is

check-all: check-deps ## the same with everything at full length
	@$(MAKE) --no-print-directory checked LENGTH="$(WHOLE)" SOAKED=180

# Specs that open stores: they hold over PostgreSQL as well. Of the command line those are left out
# that are about its words, about folders and layout, or about files. Of the faults those are left out
# that break a file, that start a server of their own, or that are asked in SQLite's words.
WORDS  := backup bench check cli completion flags help init output process_order process settings setup \
	store table
CLI_SPECS := $(sort $(wildcard spec/core/cli/*_spec.lua spec/core/cli/*/*_spec.lua spec/core/cli/*/*/*_spec.lua))
STORED := spec/life spec/lua spec/core/run/loop_spec.lua spec/core/run/account_spec.lua \
	spec/core/lua/api_spec.lua spec/core/http \
	$(filter-out $(foreach word,$(WORDS),$(filter %/$(word)_spec.lua,$(CLI_SPECS))),$(CLI_SPECS)) \
	$(patsubst %,spec/examples/%_spec.lua,api_client booking embedded hello migration \
	  order_process orders receipts thumbnails workers) \
	$(patsubst %,spec/faults/%_spec.lua,bad_rows executors given_up hooks instance_batches intakes keys \
	  kept_messages kill limit outside \
	  process_commands process_conflicts process_exclusive process_kill process_lanes process_matrix process_model \
	  overrides process_neighbours process_orders process_reload process_second_lane \
	  process_traces queue rate refused reload requests rollback schedules together traces unique)

# Twice as many steps at a time as there are processors: half of them wait for something.
# A step is no part of this make: a process that a spec leaves behind would hold its job server open,
# and make would wait for it.
STEP_MAKE = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $(MAKE) -s --no-print-directory BUILD=$(BUILD)

checked: all contracts testing $(BUILD)/spec/fuzz/replay $(BUILD)/faults/memory.so $(BUILD)/soak/probe.so \
	$(BUILD)/soak/moonshift
	@$(LENGTH) LUA=$(LUA) BUILD=$(BUILD) $(LUA) spec/run $(AS_IS) --jobs $$((2 * $$(nproc))) $(SPECS) \
	  --step "PostgreSQL keeps the contracts of the store" \
	    "$(LUA) spec/postgres/contracts $(SERVED)" \
	  --step "the specs that open stores hold over PostgreSQL" \
	    "BUILD=$(BUILD) LUA=$(LUA) spec/postgres/specs --jobs 2 $(STORED)" \
	  --step "a soak of $(SOAKED) seconds" "$(SOAK) --seconds $(SOAKED) --seed 2" \
	  --step "a soak over PostgreSQL" "$(SERVER_SOAK) --seconds $$(($(SOAKED) / 2)) --seed 2" \
	  $(foreach contract,$(CONTRACTS),--step $(contract:$(BUILD)/%=%.c) $(contract)) \
	  --step "clang reads it without a warning" "$(STEP_MAKE) syntax CC=clang" \
	  --step "clang-format and luacheck have nothing to say" \
	    "$(STEP_MAKE) lint" \
	  --step "every saved input of the fuzz targets keeps its promises" \
	    "$(BUILD)/spec/fuzz/replay spec/fuzz/corpus" \
	  --step "PostgreSQL prepares every statement of the rules" \
	    "$(STEP_MAKE) postgres-check" \
	  --step spec/bench/yardstick.c "$(BUILD)/yardstick -q -n 1000 -l 5 -f $(BUILD)/yardstick.db" \
	  --step "the soak's checker sees what it should" \
	    "python3 -B spec/soak/checker_test.py" \
	  --step "the sources have the text of every mutant" "python3 -B spec/mutants/run --only-read"

INITDB := $(firstword $(wildcard /usr/lib/postgresql/*/bin/initdb))

# Contracts that hold over PostgreSQL as well.
SERVED := $(patsubst %.c,$(BUILD)/%,$(wildcard spec/core/store/*_contract.c spec/core/store/postgres/*_contract.c \
	spec/core/store/postgres/*/*_contract.c spec/core/engine/process/*_contract.c \
	spec/core/http/who/callers_contract.c spec/core/engine/create_list_contract.c))

postgres-contracts: $(SERVED) ## run the contracts of the store over PostgreSQL, where it is installed
	@$(LUA) spec/postgres/contracts $(SERVED)

QUESTIONS := $(BUILD)/questions
ASKING := $(addprefix $(BUILD)/spec/core/store/,query_contract why_contract batch_contract logtail_contract deployment_contract searched_contract)

# Contracts ask the questions that are made of filters; they are remembered on the way.
postgres-specs: all $(ASKER) ## run the specs that open stores over PostgreSQL, where it is installed (SPECS=)
	@BUILD=$(BUILD) LUA=$(LUA) spec/postgres/specs --jobs $$(nproc) $(or $(SPECS),$(STORED))

postgres-check: $(QUESTIONS).so $(ASKING) ## PostgreSQL, where it is installed, prepares every statement of the rules
	@rm -f $(QUESTIONS) && touch $(QUESTIONS)
	@$(foreach one,$(ASKING),HISTORIES=1 QUESTIONS=$(QUESTIONS) LD_PRELOAD=$(QUESTIONS).so $(one) >/dev/null &&) true
	@$(if $(INITDB),$(LUA) spec/postgres/check \
	  "$(CC) $(filter-out $(WARN),$(ALL_CFLAGS))" $(QUESTIONS), \
	  echo "  pending no initdb in /usr/lib/postgresql: no statement was prepared"; \
	  echo "0 passed, 0 failed")

$(QUESTIONS).so: spec/postgres/questions.c
	@echo CC $<
	@mkdir -p $(@D)
	@$(CC) $(filter-out $(SANITIZE) -pie,$(ALL_CFLAGS) $(LDFLAGS)) -shared -o $@ $<

# Reads every file and compiles nothing. One process reads many: clang takes as long to start as to
# read a file, and starts another process for each file that it is given itself.
syntax:
	@printf -- '-Xclang %s ' $(SOURCES) | xargs -P $$(nproc) -n $$((2 * ($(words $(SOURCES)) / $$(nproc) + 1))) \
	  $(CC) $(ALL_CFLAGS) -fsyntax-only core/main.c

asan: check-deps ## run the suite with the address and undefined behaviour sanitizers
	@$(MAKE) --no-print-directory sanitized NAME=asan \
	  SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"

tsan: check-deps ## run the suite with the thread sanitizer
	@$(MAKE) --no-print-directory sanitized NAME=tsan SANITIZE=-fsanitize=thread

# Sanitized, gcc does not see how large a number can be and suspects every formatted one.
sanitized:
	@$(MAKE) --no-print-directory BUILD=build/$(NAME) \
	  CFLAGS="-O1 -g -Wno-format-truncation -DTESTING" all contracts build/$(NAME)/host
	@LUA=build/$(NAME)/host BUILD=build/$(NAME) TESTING=build/$(NAME) LIMIT=1800 \
	  SPEC_PROGRAM=$(CURDIR)/build/$(NAME)/moonshift \
	  SPEC_HITS=1 SPEC_FAULTS=1 CUTS=500 \
	  ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 \
	  TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 $(LUA) spec/run --jobs $$(nproc) $(SPECS) \
	  --step "PostgreSQL keeps the contracts of the store" \
	    "$(LUA) spec/postgres/contracts $(patsubst $(BUILD)/%,build/$(NAME)/%,$(SERVED))" \
	  --step "the specs that open stores hold over PostgreSQL" \
	    "$(LUA) spec/postgres/specs --jobs 2 $(STORED)" \
	  $(foreach contract,$(CONTRACT_FILES), \
	    --step $(contract) build/$(NAME)/$(contract:.c=))

fuzz: fuzz-deps ## every fuzz target for SECONDS=60, from the saved inputs on (TARGETS="cron span")
	@$(MAKE) --no-print-directory BUILD=build/fuzz CC=clang CFLAGS="-O1 -g" \
	  SANITIZE="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" \
	  build/fuzz/spec/fuzz/fuzz
	@python3 spec/fuzz/run --program build/fuzz/spec/fuzz/fuzz --work build/fuzz \
	  --seconds $(or $(SECONDS),60) $(TARGETS)

soak: ## two executors under faults for SECONDS=180, then the records are checked (SEED=, PROGRAM=)
	@$(call install-packages,$(SOAK_PACKAGES))
	@$(MAKE) --no-print-directory all $(BUILD)/soak/probe.so
	@$(SOAK) --seconds $(or $(SECONDS),180) $(if $(SEED),--seed $(SEED))

soak-server: ## five executors of PostgreSQL servers under faults for MINUTES=3 (SEED=, PROGRAM=)
	@$(call install-packages,$(SOAK_PACKAGES) postgresql pgbouncer)
	@$(MAKE) --no-print-directory all $(BUILD)/soak/probe.so $(SERVER_PROGRAM)
	@$(SERVER_SOAK) --seconds $$((60 * $(or $(MINUTES),3))) $(if $(SEED),--seed $(SEED))

# YARDSTICK= another program that takes the same flags and prints the same line.
YARDSTICK ?= $(BUILD)/yardstick
ROUNDS    ?= 5
JOBS      ?= 200000
DIR       ?= $(BUILD)
bench: deps ## compare with the yardstick (YARDSTICK=, ROUNDS=5, JOBS=200000, DIR=)
	@$(MAKE) --no-print-directory all $(BUILD)/yardstick
	@LUA_PATH="lua/?.lua;lua/?/init.lua;;" LUA_CPATH="$(BUILD)/lua/?.so;;" $(LUA) \
	  spec/bench/compare.lua $(BUILD)/moonshift $(YARDSTICK) $(ROUNDS) $(JOBS) $(DIR)

yardstick: $(BUILD)/yardstick ## build what `make bench` compares with

mutants: ## break the program on purpose; a test must catch each of spec/mutants (SECONDS=60, MUTANTS=)
	@$(call install-packages,$(SOAK_PACKAGES))
	@$(MAKE) --no-print-directory all contracts $(BUILD)/soak/probe.so
	@python3 -B spec/mutants/run --build $(BUILD) --seconds $(or $(SECONDS),60) \
	  $(if $(SEED),--seed $(SEED)) $(MUTANTS)
mutants: export MUTANT_COMPILE = $(CC) $(ALL_CFLAGS) -w -c
mutants: export MUTANT_LINK = $(CC) $(LDFLAGS)
mutants: export MUTANT_OBJECTS = $(OBJECTS)
mutants: export MUTANT_LIBS = $(LIBS)
mutants: export MUTANT_LUA = $(LUA_LIBS)
mutants: export MUTANT_EMBED = $(EMBED)

power: check-deps ## cut the store's power CUTS=1000000 times (SEED=)
	@$(MAKE) --no-print-directory $(BUILD)/spec/core/store/sqlite/power_contract
	@$(BUILD)/spec/core/store/sqlite/power_contract $(or $(CUTS),1000000) $(SEED)

valgrind: ## real runs under valgrind: no error, no leak
	@$(call install-packages,$(BUILD_PACKAGES) valgrind)
	@$(MAKE) --no-print-directory all
	@PROGRAM=$(PROGRAM) LUA=$(LUA) BUILD=$(BUILD) sh spec/valgrind/run.sh

lint: ## clang-format and luacheck, changing nothing
	@clang-format --dry-run -Werror $(C_FILES)
	@luacheck -q --no-color $(LUA_FILES)

picture: all ## write docs/rooms.svg from the table of rooms and the calls, and docs/terminal.svg from a run
	@$(LUA) docs/rooms.lua >$(BUILD)/rooms.svg && mv $(BUILD)/rooms.svg docs/rooms.svg
	@$(LUA) docs/terminal.lua >$(BUILD)/terminal.svg && mv $(BUILD)/terminal.svg docs/terminal.svg

reference: $(BUILD)/moonshift ## write docs/reference.md from the annotations in lua/moonshift, and docs/api.md from the routes
	@LUA_CPATH="$(BUILD)/lua/?.so;;" $(LUA) docs/api.lua $(BUILD)/moonshift >$(BUILD)/api.md && mv $(BUILD)/api.md docs/api.md
	@$(LUA) docs/reference.lua >$(BUILD)/reference.md && mv $(BUILD)/reference.md docs/reference.md

format: ## let clang-format rewrite the C files
	@clang-format -i $(C_FILES)

deps: ## on Debian, as root: install the packages that building needs and that are missing
	@$(call install-packages,$(BUILD_PACKAGES))

check-deps: ## the same for the packages that `make check` needs
	@$(call install-packages,$(CHECK_PACKAGES))

fuzz-deps:
	@$(call install-packages,$(FUZZ_PACKAGES))

# Says nothing and takes a hundredth of a second when nothing is missing.
define install-packages
command -v dpkg-query >/dev/null || { echo "no dpkg here, expecting to find: $(1)"; exit 0; }; \
missing=$$(for name in $(1); do dpkg-query -W -f '$${Status}' $$name 2>/dev/null | \
  grep -q ' installed' || echo $$name; done); missing=$$(echo $$missing); \
[ -n "$$missing" ] || exit 0; \
if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
  echo "missing packages: $$missing (run as root: apt-get install $$missing)" >&2; exit 1; fi; \
echo "installing $$missing"; export DEBIAN_FRONTEND=noninteractive; \
get() { apt-get install -qq -y --no-install-recommends $$missing </dev/null 2>&1; }; \
log=$$(get) || { apt-get -qq update; log=$$(get); } || { echo "$$log" >&2; exit 1; }
endef

install: all $(BUILD)/gen/moonshift.pc $(BUILD)/gen/moonshift@.service $(COMPLETIONS) ## install program, module, manual and the rest (DESTDIR=, prefix=, bindir=, luadir=, cmoddir=)
	@sh -e -c 'put() { [ "$$2" ] || return 0; mode=$$1; to="$(DESTDIR)$$2"; shift 2; \
	  install -d "$$to"; install -m $$mode "$$@" "$$to"; }; $(each-installed); \
	  $(STRIP) "$(DESTDIR)$(bindir)/moonshift" "$(DESTDIR)$(cmoddir)/moonshift/core.so"'
	@$(if $(DESTDIR),,$(say-what-to-export))

uninstall: ## remove what `make install` put there, and nothing else (the same variables)
	@sh -e -c 'put() { to="$(DESTDIR)$$2"; shift 2; for file; do rm -f "$$to/$${file##*/}"; done; }; \
	  $(each-installed); for folder in "$(cmoddir)" "$(luadir)" "$(datadir)"; do \
	    folder="$(DESTDIR)$$folder/moonshift"; \
	    [ ! -d "$$folder" ] || find "$$folder" -depth -type d -empty -delete; done'

# Of 12 MB nine are for a debugger. What names functions in a backtrace stays. STRIP=: leaves all.
STRIP ?= strip --strip-debug

# `put MODE FOLDER FILE...` for everything that is installed: install and uninstall say what put does.
# What has no folder is left out (unitdir=).
define each-installed
put 755 "$(bindir)" $(BUILD)/moonshift; \
put 644 "$(cmoddir)/moonshift" $(BUILD)/lua/moonshift/core.so; \
for folder in $(patsubst lua/%/,%,$(sort $(dir $(LUA_HALF)))); do \
  put 644 "$(luadir)/$$folder" lua/$$folder/*.lua; done; \
for folder in $(patsubst %/,%,$(sort $(dir $(STOCK)))); do \
  put 644 "$(datadir)/moonshift/$$folder" $$folder/*.lua; done; \
put 644 "$(mandir)/man1" docs/moonshift.1; \
put 644 "$(pkgconfigdir)" $(BUILD)/gen/moonshift.pc; \
put 644 "$(unitdir)" $(BUILD)/gen/moonshift@.service; \
put 644 "$(datadir)/bash-completion/completions" $(BUILD)/gen/completions/moonshift; \
put 644 "$(zshdir)" $(BUILD)/gen/completions/_moonshift; \
put 644 "$(datadir)/fish/vendor_completions.d" $(BUILD)/gen/completions/moonshift.fish
endef

# Says nothing where the shell, the interpreter and pkg-config look there anyway.
define say-what-to-export
path=$$($(LUA) -e "io.write(package.path, ';')"); cpath=$$($(LUA) -e "io.write(package.cpath, ';')"); \
say() { echo "export $$1"; }; \
case ":$$PATH:" in *":$(bindir):"*) ;; *) say 'PATH="$(bindir):$$PATH"';; esac; \
case "$$path" in *"$(luadir)/?.lua;"*) ;; *) \
  say 'LUA_PATH="$(luadir)/?.lua;$(luadir)/?/init.lua;$${LUA_PATH-;}"';; esac; \
case "$$cpath" in *"$(cmoddir)/?.so;"*) ;; *) say 'LUA_CPATH="$(cmoddir)/?.so;$${LUA_CPATH-;}"';; esac
endef

# Packages of the sources as they are. REUSE=1 takes what is built here instead of building anew.
# Of build-essential no more is needed than is here.
DEB_TREE := $(BUILD)/deb/moonshift-$(VERSION)
deb: $(if $(REUSE),all) ## build Debian packages in build/deb, where debhelper is (DEBFULLNAME=, DEBEMAIL=, REUSE=1)
	@for tool in dpkg-buildpackage dh; do command -v $$tool >/dev/null || { \
	  echo "make deb: there is no $$tool (expected the package debhelper)" >&2; exit 1; }; done
	@rm -rf $(BUILD)/deb && mkdir -p $(DEB_TREE)
	@tar -c --exclude='*.db*' Makefile README.md core docs examples lua scripts spec | tar -xC $(DEB_TREE)
	@mv $(DEB_TREE)/docs/debian $(DEB_TREE)/debian
	@$(if $(DEBEMAIL),sed -i 's|Moonshift packagers <.*>|$(DEBFULLNAME) <$(DEBEMAIL)>|' \
	  $(DEB_TREE)/debian/control $(DEB_TREE)/debian/changelog)
	@$(if $(REUSE),mkdir $(DEB_TREE)/build && \
	  tar -c --exclude='*.d' -C $(BUILD) core gen lua moonshift | tar -xC $(DEB_TREE)/build)
	@cd $(DEB_TREE) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD \
	  dpkg-buildpackage -us -uc --ignore-builtin-builddeps

ROCKSPEC := moonshift-$(VERSION)-1.rockspec
rockspec: ## write the rockspec to build/ with a source that others can fetch (SOURCE=git+https://…)
	@mkdir -p $(BUILD)
	@sed 's|git+file://\.|$(or $(SOURCE),$(error SOURCE= is missing, expecting the URL of a repository with the tag v$(VERSION)))|' \
	  docs/$(ROCKSPEC) >$(BUILD)/$(ROCKSPEC)

$(BUILD)/gen/moonshift.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(prefix)' 'bindir=$(bindir)' 'luadir=$(luadir)' 'cmoddir=$(cmoddir)' \
	  'datadir=$(datadir)/moonshift' '' 'Name: moonshift' \
	  'Description: A durable job executor scripted in Lua, as a module for Lua 5.4' \
	  'Version: $(VERSION)' 'Requires: $(LUA_PC)' >$@

$(COMPLETIONS): $(BUILD)/moonshift
	@mkdir -p $(@D)
	@$< completion $(if $(filter _%,$(@F)),zsh,$(if $(filter %.fish,$@),fish,bash)) >$@

$(BUILD)/gen/moonshift@.service: docs/moonshift@.service FORCE
	@mkdir -p $(@D)
	@sed 's|/usr/local/bin/|$(bindir)/|' $< >$@

clean: ## remove what was built
	@rm -rf $(BUILD)

contracts: $(CONTRACTS) $(ASKER) $(BUILD)/yardstick

$(BUILD)/moonshift: $(BUILD)/core/main.o $(OBJECTS)
	@echo LINK $@
	@$(LINK) -o $@ $^ $(LIBS) $(LUA_LIBS)

$(BUILD)/host: $(BUILD)/core/host.o $(OBJECTS)
	@echo LINK $@
	@$(LINK) -o $@ $^ $(LIBS) $(LUA_LIBS)

# Of the program with crash points only those files are compiled again that have any.
CRASHING := $(shell grep -lE 'CRASH_POINT|TESTING' $(SOURCES))
TESTING_OBJECTS := $(CRASHING:%.c=$(BUILD)/testing/%.o)
$(BUILD)/testing/moonshift: $(BUILD)/core/main.o $(TESTING_OBJECTS) \
	$(filter-out $(CRASHING:%.c=$(BUILD)/%.o),$(OBJECTS))
	@echo LINK $@
	@$(LINK) -o $@ $^ $(LIBS) $(LUA_LIBS) -Wl,-E

$(BUILD)/testing/%.o: %.c
	@echo CC $< with crash points
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -DTESTING -MMD -MP -c -o $@ $<

# Never unloaded: an executor's threads may outlive the Lua state. Not linked to liblua: the module uses
# the host's. It exports its entry points alone, so that a function of the host that has the name of
# one of ours is never called in its place.
$(BUILD)/lua/moonshift/core.so: $(OBJECTS) core/exports.map
	@echo LINK $@
	@mkdir -p $(@D)
	@$(LINK_SHARED) -Wl,-z,nodelete,--version-script=core/exports.map -o $@ $(OBJECTS) $(LIBS)

# What handlers under test write their log with; never instrumented.
$(BUILD)/faults/memory.so: spec/faults/memory.c
	@echo CC $<
	@mkdir -p $(@D)
	@$(CC) $(filter-out $(SANITIZE) -pie,$(ALL_CFLAGS) $(LDFLAGS)) -shared -o $@ $<

# To this program a turn with two ends of runs is a long one: then a soak uses two connections, too.
$(BUILD)/soak/moonshift: $(BUILD)/core/main.o $(BUILD)/soak/reader.o \
	$(filter-out %/postgres/turn/reader.o,$(OBJECTS))
	@echo LINK $@
	@ln -sfn ../lua $(@D)/lua
	@$(LINK) -o $@ $^ $(LIBS) $(LUA_LIBS)

$(BUILD)/soak/reader.o: core/store/postgres/turn/reader.c
	@echo CC $< for a soak
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -DREADER_LONG=2 -MMD -MP -c -o $@ $<

$(BUILD)/soak/probe.so: spec/soak/probe.c
	@echo CC $<
	@mkdir -p $(@D)
	@$(CC) $(filter-out $(SANITIZE) -pie,$(ALL_CFLAGS) $(LDFLAGS)) -shared -o $@ $<

# A disk under the store that loses its power.
POWER := $(patsubst %.c,$(BUILD)/%.o,$(filter-out %_contract.c,$(wildcard spec/core/store/sqlite/power_*.c)))
$(BUILD)/spec/core/store/sqlite/power_contract: $(POWER)
$(BUILD)/spec/core/store/sqlite/power_walk_contract: $(POWER)
$(BUILD)/spec/core/store/sqlite/error_contract: $(POWER) $(BUILD)/spec/core/store/sqlite/error_memory.o
$(BUILD)/spec/core/store/sqlite/error_contract: \
	DOUBLE := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
$(BUILD)/spec/core/run/pool/work_item_contract: DOUBLE := -Wl,--wrap=acquire_before
$(BUILD)/spec/core/process/models_contract $(BUILD)/spec/core/run/pool/models_contract: \
	DOUBLE := -Wl,--wrap=XML_ParserCreateNS
$(BUILD)/spec/core/run/pool/warm_contract: DOUBLE := -Wl,--wrap=script_open,--wrap=script_close

# Linked once for all contracts, and to each of those few in which functions are replaced.
$(BUILD)/contracts.so: $(OBJECTS)
	@echo LINK $@
	@$(LINK_SHARED) -o $@ $^ $(LIBS) $(LUA_LIBS)

DOUBLED := $(addprefix $(BUILD)/spec/core/,process/models_contract run/back_off_contract \
	run/pool/models_contract run/pool/warm_contract run/pool/work_item_contract \
	store/sqlite/error_contract)
$(DOUBLED): %: %.o $(OBJECTS)
	@echo LINK $@
	@$(LINK) $(DOUBLE) -o $@ $^ $(LIBS) $(LUA_LIBS)

$(BUILD)/spec/%_contract: $(BUILD)/spec/%_contract.o $(BUILD)/contracts.so
	@echo LINK $@
	@$(LINK) -Wl,-rpath,$(abspath $(BUILD)) -o $@ $^ $(LIBS) $(LUA_LIBS)

# Answers requests of specs without a socket.
$(ASKER): $(BUILD)/spec/core/http/api/asker.o $(BUILD)/contracts.so
	@echo LINK $@
	@$(LINK) -Wl,-rpath,$(abspath $(BUILD)) -o $@ $^ $(LIBS) $(LUA_LIBS)

$(BUILD)/spec/fuzz/replay: $(BUILD)/spec/fuzz/replay.o $(FUZZED) $(OBJECTS)
	@echo LINK $@
	@$(LINK) -o $@ $^ $(LIBS) $(LUA_LIBS)

$(BUILD)/spec/fuzz/fuzz: $(BUILD)/spec/fuzz/libfuzzer.o $(FUZZED) $(OBJECTS)
	@echo LINK $@
	@$(LINK) -fsanitize=fuzzer -o $@ $^ $(LIBS) $(LUA_LIBS)

YARDSTICK_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard spec/bench/*.c spec/bench/*/*.c))
$(BUILD)/yardstick: $(YARDSTICK_OBJECTS)
	@echo LINK $@
	@$(LINK) -o $@ $^ $(SQLITE_LIBS) $(LUA_LIBS) -lpthread -lm

# What checks need not be as fast as what is checked.
$(BUILD)/spec/core/%.o: CFLAGS += -O1

$(BUILD)/%.o: %.c
	@echo CC $<
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/gen/embedded.o: $(BUILD)/gen/embedded.c
	@echo CC $<
	@$(CC) $(ALL_CFLAGS) -Wno-overlength-strings -c -o $@ $<

# The Lua half, the stock scripts and the schema travel inside the binary.
$(BUILD)/gen/embedded.c: core/base/embed.lua $(EMBED)
	@mkdir -p $(@D)
	@$(LUA) core/base/embed.lua $(EMBED) > $@.new && mv $@.new $@

.PHONY: postgres-check postgres-contracts postgres-specs all help demo faults testing test check check-all checked syntax asan tsan sanitized lint picture reference format deps check-deps install uninstall deb rockspec clean \
	contracts FORCE
.PHONY: bench yardstick fuzz fuzz-deps soak soak-server mutants power valgrind
.PRECIOUS: $(BUILD)/%.o
-include $(OBJECTS:.o=.d) $(TESTING_OBJECTS:.o=.d) $(BUILD)/soak/reader.d $(BUILD)/core/main.d $(BUILD)/core/host.d $(CONTRACTS:=.d) $(ASKER).d \
	$(YARDSTICK_OBJECTS:.o=.d) $(FUZZED:.o=.d) $(BUILD)/spec/fuzz/replay.d $(BUILD)/spec/fuzz/libfuzzer.d \
	$(POWER:.o=.d) $(BUILD)/spec/core/store/sqlite/error_memory.d

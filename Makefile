# SPDX-License-Identifier: GPL-2.0-or-later
#
#   make            build into build/
#   make deps       install what building and testing need (Debian; NO_DEPS=1 skips it)
#   make check      every test; SANITIZE=1: unit and host tests under ASan and UBSan
#   make check-crash  the long form of the power cuts: POINTS=500 KILLS=20, half an hour
#   make lint       formatting, the dependency rule between stages, shell scripts
#   make bench      the measurements of docs/measurements.md
#   make demo       the main job in a throw-away guest
#   make install    DESTDIR=, PREFIX= and the directories below are honoured
#
# V=1 shows the commands.

VERSION    := 0.1.0
PREFIX     ?= /usr
SBINDIR    ?= $(PREFIX)/sbin
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
DATADIR    ?= $(PREFIX)/share
SYSCONFDIR ?= /etc
DOCDIR     ?= $(DATADIR)/doc/fs-tuned
# dbus-daemon reads policies below /usr/share and /etc alone: with a PREFIX like /usr/local,
# DBUSDIR=/etc/dbus-1/system.d makes the name on the system bus ours. Only newer brokers look
# below /usr/local/share; the private socket, which root's clients use, needs no policy.
DBUSDIR    ?= $(DATADIR)/dbus-1/system.d

CC         ?= gcc
CLANG      ?= clang
LLVM_STRIP ?= $(firstword $(shell command -v llvm-strip llvm-strip-14 llvm-strip-19 2>/dev/null) llvm-strip)
BPFTOOL    ?= $(firstword $(shell command -v bpftool /usr/sbin/bpftool 2>/dev/null) bpftool)
PKGS       := libbpf libsystemd json-c mount blkid smartcols

BUILD      := build$(if $(SANITIZE),-asan)
CFLAGS     ?= -O2 -g
WARN       := -Wall -Wextra -Werror -Wformat=2 -Wmissing-prototypes -Wstrict-prototypes \
	      -Wshadow -Wvla -Wno-format-nonliteral
CPPFLAGS   += -D_GNU_SOURCE -DFSTUNED_VERSION='"$(VERSION)"' -I$(BUILD) \
	      $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
ALL_CFLAGS  = -std=gnu17 $(WARN) $(CFLAGS) $(SAN) -fno-common -pthread
ifdef SANITIZE
SAN        := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
LDLIBS     := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -pthread
# The compiler's target, so that a cross build gets it right, in libbpf's words (bpf_tracing.h).
TRIPLET    := $(shell $(CC) -dumpmachine 2>/dev/null)
BPF_ARCH   ?= $(shell echo $(TRIPLET) | sed -E 's/-.*//; s/x86_64|i.86/x86/; s/aarch64.*/arm64/; \
	      s/^arm([^6].*|$$)/arm/; s/(powerpc|ppc).*/powerpc/; s/s390x/s390/; s/riscv.*/riscv/; \
	      s/loongarch.*/loongarch/; s/mips.*/mips/')
BPF_CFLAGS := -target bpf -mcpu=v2 -g -O2 -Wall -Wextra -Wno-unused-parameter -Werror \
	      -D__TARGET_ARCH_$(BPF_ARCH) -I/usr/include/$(TRIPLET)

ifeq ($(V),1)
Q    :=
msg   =
else
Q    := @
msg   = @printf '  %-7s %s\n' '$(1)' '$(patsubst $(CURDIR)/%,%,$(2))';
endif

DAEMON_SRC := $(wildcard daemon/*.c daemon/base/*.c daemon/observe/*.c daemon/decide/*.c \
	      daemon/act/*.c daemon/publish/*.c)
BASE_SRC   := $(wildcard daemon/base/*.c)
CLI_SRC    := $(wildcard cli/*.c)
BPF_SRC    := $(wildcard bpf/*.bpf.c)
UNIT_SRC   := $(wildcard tests/unit/test-*.c)
FUZZ_SRC   := $(wildcard tests/fuzz/fuzz-*.c)
CRASH_SRC  := $(filter-out tests/vm/crash/crash-%,$(wildcard tests/vm/crash/*.c))

# What is compiled in of the above; written only when it changes.
PATHS      := $(BUILD)/paths.h
SKEL       := $(BPF_SRC:bpf/%.bpf.c=$(BUILD)/bpf/%.skel.h)
LIB_OBJ    := $(patsubst %.c,$(BUILD)/%.o,$(filter-out daemon/main.c,$(DAEMON_SRC)))
PROGRAMS   := $(BUILD)/fs-tuned $(BUILD)/fstunectl
UNIT       := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/unit/%)
FUZZ       := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/tests/fuzz/%)
CRASH_OBJ  := $(CRASH_SRC:%.c=$(BUILD)/%.o)
CRASH      := $(BUILD)/tests/vm/crash/crash-load $(BUILD)/tests/vm/crash/crash-check

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: FORCE all deps unit fuzz check check-unit check-host check-vm check-fuzz check-crash crash \
	lint format bench demo install clean

all: $(PROGRAMS)

# --- BPF objects and their skeletons -------------------------------------------------------

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@.tmp -MF $(@:.o=.d) -MT $@
	$(Q)$(LLVM_STRIP) -g -o $@ $@.tmp && rm -f $@.tmp

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst .,_,$*)_bpf > $@

# --- user space ----------------------------------------------------------------------------

$(PATHS): FORCE
	$(Q)mkdir -p $(@D)
	$(Q)printf '#define FSTUNED_%s "%s"\n' VENDOR_DIR '$(LIBDIR)/fs-tuned' \
		ADMIN_DIR '$(SYSCONFDIR)/fs-tuned' > $@.tmp
	$(Q)cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@

$(BUILD)/%.o: %.c | $(SKEL) $(PATHS)
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/libfs-tuned.a: $(LIB_OBJ)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/fs-tuned: $(BUILD)/daemon/main.o $(BUILD)/libfs-tuned.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(BUILD)/fstunectl: $(CLI_SRC:%.c=$(BUILD)/%.o) $(BASE_SRC:%.c=$(BUILD)/%.o)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/libfs-tuned.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS) -lcmocka -lm -o $@

# These run or contain the client.
$(BUILD)/tests/unit/test-fstunectl: | $(BUILD)/fstunectl
$(BUILD)/tests/unit/test-cli: $(patsubst %.c,$(BUILD)/%.o,$(filter-out cli/fstunectl.c,$(CLI_SRC)))

$(filter $(BUILD)/tests/unit/test-crash-%,$(UNIT)): $(CRASH_OBJ)

# For guests, which have no libraries.
$(BUILD)/tests/vm/crash/crash-%: $(BUILD)/tests/vm/crash/crash-%.o $(CRASH_OBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -static $^ -o $@

# Fuzz targets: everything once more, instrumented, in an archive of its own.
FUZZ_FLAGS := -std=gnu17 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_OBJ   := $(patsubst %.c,$(BUILD)/fuzz-obj/%.o,$(filter-out daemon/main.c,$(DAEMON_SRC)) \
	      cli/argv.c cli/suggest.c)

$(BUILD)/fuzz-obj/%.o: %.c | $(SKEL) $(PATHS)
	$(call msg,CC-FUZZ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@

$(BUILD)/fuzz-obj/all.a: $(FUZZ_OBJ)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/tests/fuzz/%: $(BUILD)/fuzz-obj/tests/fuzz/%.o $(BUILD)/fuzz-obj/all.a
	$(call msg,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer $^ $(LDLIBS) -o $@

-include $(shell [ -d $(BUILD) ] && find $(BUILD) -name '*.d')

unit: $(UNIT)
fuzz: $(FUZZ)
crash: $(CRASH)

# --- the rest is in scripts ----------------------------------------------------------------

deps:
	$(Q)tests/deps

format:
	$(Q)git ls-files '*.c' '*.h' | xargs clang-format -i

lint:
	$(Q)tests/lint

check:
	$(Q)tests/check

check-unit: unit
	$(Q)prove $(UNIT)

check-host: all
	$(Q)prove tests/host/t

check-vm: all crash
	$(Q)prove tests/vm/t

check-fuzz: fuzz
	$(Q)tests/fuzz/run

# POINTS power cuts and KILLS killed guests; goes on where it was interrupted.
POINTS ?= 500
KILLS  ?= 20
check-crash: crash
	$(Q)tests/vm/crash-run --patched --points $(POINTS) --kills $(KILLS) --state $(BUILD)/crash

bench:
	$(Q)tests/bench/run

demo:
	$(Q)tests/vm/demo

# --- installation --------------------------------------------------------------------------

UNITS := fs-tuned.service fs-tuned-restore.service
MAN   := $(wildcard docs/man/*.[158])
# Texts name the directories as they are by default.
PLACE := sed -e 's,@SBINDIR@,$(SBINDIR),g' -e 's,/usr/lib/fs-tuned,$(LIBDIR)/fs-tuned,g' \
	 -e 's,/etc/fs-tuned,$(SYSCONFDIR)/fs-tuned,g'

install: all
	$(call msg,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)install -D -m 755 $(BUILD)/fs-tuned $(DESTDIR)$(SBINDIR)/fs-tuned
	$(Q)install -D -m 755 $(BUILD)/fstunectl $(DESTDIR)$(BINDIR)/fstunectl
	$(Q)install -d $(DESTDIR)$(LIBDIR)/systemd/system $(DESTDIR)$(SYSCONFDIR)/fs-tuned/fs-tuned.conf.d
	$(Q)for u in $(UNITS); do $(PLACE) systemd/$$u \
		> $(DESTDIR)$(LIBDIR)/systemd/system/$$u; done
	$(Q)install -D -m 644 /dev/null $(DESTDIR)$(LIBDIR)/fs-tuned/fs-tuned.conf
	$(Q)$(PLACE) systemd/fs-tuned.conf > $(DESTDIR)$(LIBDIR)/fs-tuned/fs-tuned.conf
	$(Q)install -D -m 644 systemd/org.fstuned1.conf $(DESTDIR)$(DBUSDIR)/org.fstuned1.conf
	$(Q)case '$(DBUSDIR)' in /usr/share/*|/etc/*) ;; *) \
		echo 'note: dbus-daemon may not read $(DBUSDIR): see DBUSDIR in the Makefile';; esac
	$(Q)install -D -m 644 systemd/fstunectl.bash \
		$(DESTDIR)$(DATADIR)/bash-completion/completions/fstunectl
	$(Q)install -D -m 644 systemd/_fstunectl $(DESTDIR)$(DATADIR)/zsh/vendor-completions/_fstunectl
	$(Q)install -d $(DESTDIR)$(DOCDIR)/docs && cp -r README.md patches $(DESTDIR)$(DOCDIR) && \
		cp -r docs/*.md docs/decisions $(DESTDIR)$(DOCDIR)/docs
	$(Q)for f in $(MAN); do to=$(DESTDIR)$(DATADIR)/man/man$${f##*.}/$${f##*/}; \
		install -D -m 644 /dev/null $$to && $(PLACE) $$f > $$to || exit 1; done

clean:
	$(Q)rm -rf build build-asan

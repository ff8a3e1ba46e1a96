# gpuconc: PGXS build.  See README.md for what the targets are for.
#
#   make demo, make check      set up what is missing, build, demonstrate or test
#   make check-full            the same with all of PostgreSQL's own tests
#   make deb, make dist        Debian's packages, and the archive for PGXN, in dist/
#   make, make install         for the server of PG_CONFIG
#   make installcheck          regression, isolation and TAP tests of what is installed:
#     make installcheck REGRESS=types              that one only, on a running server
#     make installcheck ISOLATION=x                  that has gpuconc preloaded
#     make prove_installcheck PROVE_TESTS=t/x.pl   on servers that the test starts

# These set up whatever is missing, PGXS included, so they come without it.
GC_SCRIPTED = demo check check-full deb dist
ifneq ($(filter $(GC_SCRIPTED),$(MAKECMDGOALS)),)

.PHONY: $(GC_SCRIPTED)
demo check deb dist:
	scripts/$@

check-full:
	scripts/check --full

else

MODULE_big = gpuconc
EXTENSION = gpuconc
DATA = $(wildcard sql/*.sql)
PGFILEDESC = "gpuconc - analytic queries of many sessions on one GPU"

SRCS = $(wildcard src/*.c src/*/*.c src/*/*/*.c)
OBJS = $(SRCS:.c=.o)

# Processes that compile kernels for a GPU, installed beside the library (src/device/compilers.h).
GC_COMPILER = gpuconc_compiler
GC_COMPILER_OBJS = compiler/gpuconc_compiler.o src/device/nvrtc.o src/device/dynlib.o src/status_text.o

# The device library travels inside the extension as text.
include $(dir $(lastword $(MAKEFILE_LIST)))cuda/devlib.mk
DEVLIB = $(addprefix cuda/,$(DEVLIB_FILES))
DEVLIB_TEXT = src/codegen/devlib_text.h

# Naming tests of one kind leaves the other kinds out.
ifeq ($(origin REGRESS)$(origin ISOLATION),undefinedundefined)
REGRESS = $(sort $(notdir $(basename $(wildcard regress/sql/*.sql))))
ISOLATION = $(sort $(notdir $(basename $(wildcard regress/specs/*.spec))))
TAP_TESTS = 1
endif
REGRESS_OPTS = --inputdir=$(srcdir)/regress --outputdir=$(OUTPUT) --encoding=UTF8 --no-locale
ISOLATION_OPTS = --inputdir=$(srcdir)/regress --outputdir=$(OUTPUT)/output_iso --encoding=UTF8 --no-locale

# The library knows which version it belongs to, and SQL scripts ask for it.
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" gpuconc.control)
PG_CPPFLAGS = -I$(srcdir)/src -DGC_VERSION='"$(EXTVERSION)"'
PG_CFLAGS = -std=gnu11 -MMD -MP -Wall -Wextra -Wno-unused-parameter \
	-Wno-missing-field-initializers -Wno-sign-compare $(GC_CFLAGS)
SHLIB_LINK = -lpthread -ldl -lm
EXTRA_CLEAN = $(DEVLIB_TEXT) $(OBJS:.o=.d) $(GC_COMPILER) compiler/*.o compiler/*.d results output_iso tmp_check regression.diffs regression.out

PG_CONFIG ?= pg_config
# Bitcode for the server's JIT would only slow the build down.
override with_llvm = no
# From 16 on, functions would be hidden, but tests/modules calls some.
override CFLAGS_SL_MODULE =
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# Each object names the headers that it was made of (-MMD), so a changed header makes those objects anew.
-include $(OBJS:.o=.d) compiler/gpuconc_compiler.d

all: $(GC_COMPILER)
$(GC_COMPILER): $(GC_COMPILER_OBJS)
	$(CC) $(CFLAGS) $(GC_COMPILER_OBJS) $(LDFLAGS) -ldl -o $@

install: install-compiler
uninstall: uninstall-compiler
.PHONY: install-compiler uninstall-compiler
install-compiler: $(GC_COMPILER) installdirs
	$(INSTALL_PROGRAM) $(GC_COMPILER) '$(DESTDIR)$(pkglibdir)/'
uninstall-compiler:
	rm -f '$(DESTDIR)$(pkglibdir)/$(GC_COMPILER)'

src/codegen/kernel/prologue.o: $(DEVLIB_TEXT)

# What names the version.
src/settings.o src/report.o src/worker/worker.o compiler/gpuconc_compiler.o: gpuconc.control

$(DEVLIB_TEXT): $(DEVLIB) src/codegen/embed.sh
	$(SHELL) $(srcdir)/src/codegen/embed.sh $(addprefix $(srcdir)/,$(DEVLIB)) >$@.tmp && mv $@.tmp $@

# Tests of an installed gpuconc.  Servers refuse to run as root, and know no role of
# that name, so root runs the tests as TEST_USER, with their output in OUTPUT.
TEST_USER ?= postgres
ifeq ($(shell id -u),0)
AS_USER = runuser -u $(TEST_USER) -- env HOME=/tmp
OUTPUT ?= /tmp/gpuconc_installcheck
OUTPUT_OWNER = chown -R $(TEST_USER) $(OUTPUT) && $(AS_USER) test -r $(CURDIR)/Makefile || \
	{ echo "User $(TEST_USER) must be able to read $(CURDIR), and own $(OUTPUT): as root, tests run as that user."; exit 1; }
else
OUTPUT ?= $(CURDIR)
OUTPUT_OWNER = true
endif

pg_regress_installcheck = $(AS_USER) $(top_builddir)/src/test/regress/pg_regress \
	--bindir='$(bindir)' $(EXTRA_REGRESS_OPTS)
pg_isolation_regress_installcheck = $(AS_USER) $(top_builddir)/src/test/isolation/pg_isolation_regress \
	--bindir='$(bindir)' $(EXTRA_REGRESS_OPTS)

define prove_installcheck
rm -rf '$(OUTPUT)/tmp_check' && \
$(AS_USER) $(MKDIR_P) '$(OUTPUT)/tmp_check' && \
cd $(srcdir) && \
$(AS_USER) env TESTDIR='$(OUTPUT)' TESTLOGDIR='$(OUTPUT)/tmp_check/log' \
	TESTDATADIR='$(OUTPUT)/tmp_check' PATH="$(bindir):$$PATH" PGPORT='6$(DEF_PGPORT)' \
	PG_REGRESS='$(top_builddir)/src/test/regress/pg_regress' \
	$(or $(PROVE),prove) -I $(top_srcdir)/src/test/perl $(PROVE_FLAGS) $(or $(PROVE_TESTS),t/*.pl)
endef

.PHONY: prove_installcheck test-output
installcheck: test-output

test-output:
	@mkdir -p '$(OUTPUT)/output_iso'
	@$(OUTPUT_OWNER)

prove_installcheck: test-output
	$(prove_installcheck)

endif

# gpuconc: PGXS build.  See README.md for what the targets are for.

# These two set up whatever is missing, PGXS included, so they come without it.
GC_SCRIPTED = demo check
ifneq ($(filter $(GC_SCRIPTED),$(MAKECMDGOALS)),)

.PHONY: $(GC_SCRIPTED)
$(GC_SCRIPTED):
	scripts/$@

else

MODULE_big = gpuconc
EXTENSION = gpuconc
DATA = sql/gpuconc--1.0.sql
PGFILEDESC = "gpuconc - analytic queries of many sessions on one GPU"

SRCS = $(wildcard src/*.c src/*/*.c)
OBJS = $(SRCS:.c=.o)

# The device library travels inside the extension as text.
DEVLIB = cuda/gc_abi.h cuda/gc_target.h cuda/gc_value.h cuda/gc_tile.h \
	cuda/gc_table.h cuda/gc_agg.h
DEVLIB_TEXT = src/codegen/devlib_text.h

PG_CPPFLAGS = -I$(srcdir)/src
PG_CFLAGS = -std=gnu11 -Wall -Wextra -Wno-unused-parameter \
	-Wno-missing-field-initializers -Wno-sign-compare $(GC_CFLAGS)
SHLIB_LINK = -lpthread -ldl -lm
EXTRA_CLEAN = $(DEVLIB_TEXT)

PG_CONFIG ?= pg_config
# Bitcode for the server's JIT would only slow the build down.
override with_llvm = no
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

$(OBJS): $(wildcard src/*.h src/*/*.h cuda/*.h)

src/codegen/kernel.o: $(DEVLIB_TEXT)

$(DEVLIB_TEXT): $(DEVLIB) src/codegen/embed.sh
	$(SHELL) $(srcdir)/src/codegen/embed.sh $(addprefix $(srcdir)/,$(DEVLIB)) >$@.tmp && mv $@.tmp $@

endif

/* numeric_quick_test.c: numeric_test.c as in quick kernels, which divide bit by bit. */
#define GC_QUICK
#define NRANDOM		200000
#include "numeric_test.c"

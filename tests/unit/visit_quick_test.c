/* visit_quick_test.c: visit_test.c as in quick kernels, with rows one by one. */
#define GC_QUICK
#include "visit_test.c"

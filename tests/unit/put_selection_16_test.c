/* put_selection_16_test.c: put_selection_test.c with 16 rows for a thread. */
#define GC_SELECT_ROWS	16
#include "put_selection_test.c"

/* put_marks_16_test.c: put_marks_test.c with 16 rows for a thread. */
#define GC_MARK_ROWS	16
#include "put_marks_test.c"

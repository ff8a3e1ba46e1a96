/*-------------------------------------------------------------------------
 *
 * gc_stop.h
 *	  How a kernel is told that nobody wants its result any more.
 *
 * gc_a.scan.stop is the address of a word, or 0.  The launch is to end once the word is
 * gc_a.scan.ticket.  Then the kernel leaves its loops, and its results are worth nothing.
 *
 * Loops whose length the data decide ask for it.  They are chains of rows with one key, lists that are
 * searched, and the like.  GC_GO_ON asks once in GC_TURNS turns of all such loops of a thread.  Once it
 * was false, it stays so.  A scan asks for each of its units of work where that is not shared by
 * threads (GC_SCAN_STOPPED).  On a GPU it does not for tiles: their threads have to stay together, and a
 * scan whose inner loops end at once is short.
 *
 *-------------------------------------------------------------------------
 */
#define GC_TURNS	256

#define GC_STOPPED \
	(gc_a.scan.stop && GC_LOAD_FRESH32((const u32 *) gc_a.scan.stop) == gc_a.scan.ticket)

/* gc_turns: left until the next look, 1 at least. */
#define GC_COUNT_TURNS	u32 gc_turns = GC_TURNS; (void) gc_turns;
#define GC_GO_ON		(--gc_turns != 0 || (gc_turns = GC_STOPPED ? 1 : GC_TURNS) != 1)

#if GC_CUDA
#define GC_SCAN_STOPPED	0
#else
#define GC_SCAN_STOPPED	GC_STOPPED
#endif

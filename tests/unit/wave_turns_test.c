/*-------------------------------------------------------------------------
 *
 * wave_turns_test.c
 *	  That each scan in waves comes to its turn, small ones soon, and that waves displace little of what is cached.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "../../src/worker/waves/turns.h"

#define MOST	16
#define MB		((uint64_t) 1 << 20)

typedef struct Scan
{
	GcWaveClaim claim;
	int			left;			/* waves that it has to lead; 0: there is none */
} Scan;

static Scan scans[MOST];
static uint32_t number;

/* As gc_wave_begin(): it starts with the least of the others. */
static void
begin(int i, int waves)
{
	double		least = -1;

	for (int k = 0; k < MOST; k++)
	{
		if (k != i && scans[k].left > 0 && (least < 0 || scans[k].claim.got < least))
			least = scans[k].claim.got;
	}
	scans[i] = (Scan) {{least < 0 ? 0 : least, number}, waves};
}

/* One wave, which serves its leader alone; returns that. */
static int
wave(void)
{
	int			turn = -1;

	for (int i = 0; i < MOST; i++)
	{
		if (scans[i].left > 0 && (turn < 0 || gc_wave_comes_before(number, &scans[i].claim, &scans[turn].claim)))
			turn = i;
	}
	number++;
	scans[turn].left--;
	scans[turn].claim.got += MB;
	return turn;
}

static void
forget(uint32_t first)
{
	memset(scans, 0, sizeof(scans));
	number = first;
}

/* One of 50 waves, beside small ones without end: each is followed by another one. */
static void
test_nobody_starves(void)
{
	static const uint32_t begins[] = {0, 1, UINT32_MAX - 30};

	for (int b = 0; b < 3; b++)
	{
		int			waves = 0;

		forget(begins[b]);
		begin(0, 50);
		for (int i = 1; i < MOST; i++)
			begin(i, 1);
		for (; scans[0].left > 0 && waves < 1000; waves++)
		{
			const int	turn = wave();

			if (scans[turn].left == 0 && turn > 0)
				begin(turn, 1);
		}
		ok(waves <= 101, "one of 50 waves beside small ones is done after %d waves, from wave %u on", waves, begins[b]);
	}
}

/* Beside one that began long before, and one that reads as much. */
static void
test_small_ones(void)
{
	int			waves = 0;

	forget(0);
	begin(0, 1000);
	begin(1, 1000);
	for (int i = 0; i < 40; i++)
		wave();
	begin(2, 3);
	for (; scans[2].left > 0 && waves < 1000; waves++)
		wave();
	ok(waves <= 12, "one of three waves is done after %d", waves);
	for (int i = 0; i < 100; i++)
		wave();
	ok(scans[1].left < 960, "the younger of two has its turns, too: %d waves left", scans[1].left);
}

/* Each wave moves four chunks, one of which would displace another one if it may. */
static void
test_displaced(void)
{
	const uint64_t pool = 64 * MB;
	GcDisplaced displaced = {0};
	uint64_t	bytes = 0;
	uint64_t	moved = 0;

	for (int w = 0; w < 10000; w++)
	{
		if (gc_may_displace(&displaced, pool))
		{
			gc_note_displaced(&displaced, MB);
			bytes += MB;
		}
		gc_note_moved(&displaced, 4 * MB);
		moved += 4 * MB;
		if (w == 41)
			ok(bytes >= pool / 2, "half of the pool may be displaced at once: %d MB", (int) (bytes / MB));
	}
	ok(bytes <= moved / 16 + pool / 2 + MB, "%d MB are displaced by waves of %d MB", (int) (bytes / MB), (int) (moved / MB));
	ok(bytes >= moved / 16, "and no less than may be");
	gc_note_moved(&displaced, 1e12);
	gc_note_displaced(&displaced, pool / 2 - MB);
	ok(gc_may_displace(&displaced, pool), "no more than that is saved up: some");
	gc_note_displaced(&displaced, MB);
	ok(!gc_may_displace(&displaced, pool), "and then none");
}

int
main(void)
{
	tap_start();
	test_nobody_starves();
	test_small_ones();
	test_displaced();
	return tap_done();
}

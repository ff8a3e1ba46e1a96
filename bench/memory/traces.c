/*-------------------------------------------------------------------------
 *
 * traces.c
 *	  Traces of requests: of queries' column sets, in an order that is made, or as recorded.
 *
 * See README.md for the format of a trace, and for the orders.
 *
 *-------------------------------------------------------------------------
 */
#include "traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/worker/memory/replacement.h"

Unit		units[MOST_UNITS];
int			nunits = 0;
Query		queries[MOST_QUERIES];
int			nqueries = 0;
Access	   *sequence = NULL;
uint32_t	naccesses = 0;
int		   *query_of = NULL;

static uint32_t most_accesses = 0;
static uint64_t random_state = 1;

void
seed_traces(uint64_t seed)
{
	random_state = seed * 2654435761u + 88172645463325252ULL;
}

static double
random_part(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double) (random_state >> 11) / 9007199254740992.0;
}

void
die(const char *what)
{
	fprintf(stderr, "memory: %s\n", what);
	exit(1);
}

/*-------------------------------------------------------------------------
 * Reading column sets
 *-------------------------------------------------------------------------
 */

static int
find_unit(const Unit *u)
{
	static int	chain[MOST_UNITS];	/* number of a unit, plus 1 */
	static int	next[MOST_UNITS];
	const uint64_t key = gc_history_key(u->db, (uint64_t) u->rel << 16 | (uint16_t) u->att, u->place) % MOST_UNITS;

	for (int i = chain[key] - 1; i >= 0; i = next[i] - 1)
	{
		if (units[i].db == u->db && units[i].rel == u->rel && units[i].att == u->att && units[i].place == u->place)
		{
			units[i].bytes = u->bytes > units[i].bytes ? u->bytes : units[i].bytes;
			return i;
		}
	}
	if (nunits == MOST_UNITS)
		die("too many parts of columns");
	units[nunits] = *u;
	next[nunits] = chain[key];
	chain[key] = nunits + 1;
	return nunits++;
}

static Query *
new_query(const char *name)
{
	Query	   *q = &queries[nqueries];

	if (nqueries++ == MOST_QUERIES)
		die("too many queries");
	snprintf(q->name, sizeof(q->name), "%s", name);
	return q;
}

static void
add_unit(Query *q, int unit)
{
	for (int i = 0; i < q->n; i++)
	{
		if (q->unit[i] == unit)
			return;
	}
	if (q->n % 64 == 0)
		q->unit = realloc(q->unit, (q->n + 64) * sizeof(int));
	q->unit[q->n++] = unit;
}

/* Units in the order of a scan by waves: smaller tables first, part by part, with all columns of a part. */
static uint64_t rel_bytes[MOST_UNITS];

static int
compare_units(const void *a, const void *b)
{
	const Unit *ua = &units[*(const int *) a];
	const Unit *ub = &units[*(const int *) b];

	if (ua->db != ub->db || ua->rel != ub->rel)
	{
		const uint64_t ba = rel_bytes[(ua->db + ua->rel) % MOST_UNITS];
		const uint64_t bb = rel_bytes[(ub->db + ub->rel) % MOST_UNITS];

		return ba != bb ? (ba > bb) - (ba < bb) : ua->rel != ub->rel ? (ua->rel > ub->rel) - (ua->rel < ub->rel) : 0;
	}
	if (ua->place != ub->place)
		return (ua->place > ub->place) - (ua->place < ub->place);
	return (ua->att > ub->att) - (ua->att < ub->att);
}

void
read_queries(const char *path, bool labelled)
{
	FILE	   *file = fopen(path, "r");
	char		line[256];
	Query	   *q = NULL;

	if (file == NULL)
		die("cannot open the trace");
	while (fgets(line, sizeof(line), file))
	{
		char		name[64];
		Unit		u;
		unsigned long long bytes;

		if (labelled && sscanf(line, "n %63s", name) == 1)
			q = new_query(name);
		else if (!labelled && line[0] == 'r')
			q = new_query("request");
		else if (q && sscanf(line, "c %u %u %d %u %llu", &u.db, &u.rel, &u.att, &u.place, &bytes) == 5)
		{
			u.bytes = bytes;
			add_unit(q, find_unit(&u));
		}
	}
	fclose(file);
	for (int i = 0; i < nunits; i++)
		rel_bytes[(units[i].db + units[i].rel) % MOST_UNITS] += units[i].bytes;
	for (int i = 0; i < nqueries; i++)
	{
		qsort(queries[i].unit, queries[i].n, sizeof(int), compare_units);
		queries[i].bytes = 0;
		for (int k = 0; k < queries[i].n; k++)
			queries[i].bytes += units[queries[i].unit[k]].bytes;
	}
}

/*-------------------------------------------------------------------------
 * Making traces
 *-------------------------------------------------------------------------
 */

static void
shuffle(int *order, int n)
{
	for (int i = n - 1; i > 0; i--)
	{
		const int	k = (int) (random_part() * (i + 1));
		const int	swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
}

uint64_t
union_bytes(const int *order, int n)
{
	static bool	seen[MOST_UNITS];
	uint64_t	bytes = 0;

	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < n; i++)
	{
		const Query *q = &queries[order[i]];

		for (int k = 0; k < q->n; k++)
		{
			bytes += seen[q->unit[k]] ? 0 : units[q->unit[k]].bytes;
			seen[q->unit[k]] = true;
		}
	}
	return bytes;
}

static int
compare_sizes(const void *a, const void *b)
{
	const uint64_t ba = queries[*(const int *) a].bytes;
	const uint64_t bb = queries[*(const int *) b].bytes;

	return (ba > bb) - (ba < bb);
}

void
begin_choice(Choice *c, Kind kind, uint64_t memory, int requests)
{
	c->kind = kind;
	c->n = nqueries;
	c->asked = 0;
	c->requests = requests;
	for (int i = 0; i < nqueries; i++)
		c->order[i] = i;
	if (kind == RECORDED)
		return;
	if (kind == HUNGRY)
	{
		/* The smaller half, and the largest now and then. */
		qsort(c->order, c->n, sizeof(int), compare_sizes);
		c->largest = c->order[c->n - 1];
		c->n /= 2;
	}
	shuffle(c->order, c->n);
	/* As few queries as have somewhat more than fits. */
	for (int n = 1; kind == CYCLE && n < c->n; n++)
	{
		if (union_bytes(c->order, n) > memory + memory / 10)
			c->n = n;
	}
}

static int
zipf(const Choice *c)
{
	double		sum = 0;
	double		at;

	for (int i = 0; i < c->n; i++)
		sum += 1.0 / (i + 1);
	at = random_part() * sum;
	for (int i = 0; i < c->n; i++)
	{
		at -= 1.0 / (i + 1);
		if (at < 0)
			return c->order[i];
	}
	return c->order[c->n - 1];
}

static int
next_query(Choice *c)
{
	const int	asked = c->asked++;

	if (c->kind == RECORDED || c->kind == CYCLE)
		return c->order[asked % c->n];
	if (c->kind == UNIFORM)
		return c->order[(int) (random_part() * c->n)];
	if (c->kind == PHASE && asked == c->requests / 2)
		shuffle(c->order, c->n);
	if (c->kind == HUNGRY && asked % 8 == 7)
		return c->largest;
	return zipf(c);
}

static void
add_access(uint32_t request, uint32_t unit)
{
	if (naccesses == most_accesses)
	{
		most_accesses = most_accesses ? 2 * most_accesses : 65536;
		sequence = realloc(sequence, most_accesses * sizeof(Access));
	}
	sequence[naccesses++] = (Access) {.request = request,.unit = unit};
}

void
make_sequence(Choice *c, int sessions, int requests)
{
	int			query[MOST_SESSIONS];
	int			at[MOST_SESSIONS] = {0};
	uint32_t	request[MOST_SESSIONS];
	uint32_t	begun = 0;
	int			left = requests;
	int			working = sessions;

	naccesses = 0;
	query_of = realloc(query_of, (requests + 1) * sizeof(int));
	for (int s = 0; s < sessions; s++)
		query[s] = -1;
	while (working > 0)
	{
		working = 0;
		for (int s = 0; s < sessions; s++)
		{
			const Query *q;
			const Unit *first;

			if (query[s] < 0 && left > 0)
			{
				query[s] = next_query(c);
				request[s] = ++begun;
				query_of[begun] = query[s];
				at[s] = 0;
				left--;
			}
			if (query[s] < 0)
				continue;
			working++;
			q = &queries[query[s]];
			if (at[s] < q->n)
			{
				first = &units[q->unit[at[s]]];
				for (; at[s] < q->n && units[q->unit[at[s]]].rel == first->rel && units[q->unit[at[s]]].db == first->db &&
					 units[q->unit[at[s]]].place == first->place; at[s]++)
					add_access(request[s], q->unit[at[s]]);
			}
			if (at[s] >= q->n)
				query[s] = -1;
		}
	}
}

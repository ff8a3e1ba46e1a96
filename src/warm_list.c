/*-------------------------------------------------------------------------
 *
 * warm_list.c
 *	  The list of tables in gpuconc.warm_tables.  See warm_list.h.
 *
 *-------------------------------------------------------------------------
 */
#include "warm_list.h"

#include "nodes/pg_list.h"
#include "utils/varlena.h"

/* The end of the first item of a list: a comma outside of quotes, or the list's end. */
static char *
item_end(char *text)
{
	bool		quoted = false;

	while (*text != '\0' && (quoted || *text != ','))
		quoted ^= *text++ == '"';
	return text;
}

/* One table's names; false: it is not three identifiers. */
static bool
parse_table(char *item, GcWarmTable *table)
{
	List	   *names;
	bool		good = SplitIdentifierString(item, '.', &names) && list_length(names) == lengthof(table->names);

	for (int i = 0; i < lengthof(table->names) && good; i++)
		table->names[i] = list_nth(names, i);
	list_free(names);
	return good;
}

GcWarmTable *
gc_warm_list(const char *text, int *n)
{
	char	   *rest = pstrdup(text);
	GcWarmTable  *tables = palloc0((strlen(text) + 1) * sizeof(GcWarmTable));

	*n = 0;
	if (strspn(text, " \t\n") == strlen(text))
		return tables;
	for (bool more = true; more;)
	{
		char	   *end = item_end(rest);

		more = *end != '\0';
		*end = '\0';
		tables[*n].place = *n;
		if (!parse_table(rest, &tables[(*n)++]))
			return NULL;
		rest = end + 1;
	}
	return tables;
}

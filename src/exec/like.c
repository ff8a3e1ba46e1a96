/*-------------------------------------------------------------------------
 *
 * like.c
 *	  LIKE with a constant pattern, of each value of a dictionary.
 *
 * PostgreSQL would evaluate its expression millions of times.  This does the same for encodings of
 * single bytes and UTF-8, and for ILIKE where case is that of ASCII.  A pattern for which
 * PostgreSQL may raise an error is left to it.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "like.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "lookup.h"

#define GC_FN	static inline
#include "../../cuda/gc_like.h"

#define INTERRUPT_MASK	0xfff

static bool
known_function(Oid funcid, uint32 *flags)
{
	switch (funcid)
	{
		case F_TEXTLIKE:
			*flags = 0;
			return true;
		case F_TEXTNLIKE:
			*flags = GC_LIKE_NOT;
			return true;
		case F_TEXTICLIKE:
			*flags = GC_LIKE_FOLD;
			return true;
		case F_TEXTICNLIKE:
			*flags = GC_LIKE_FOLD | GC_LIKE_NOT;
			return true;
		default:
			return false;
	}
}

/* Is this the table's argument as it is, a text that is not blank-padded? */
static bool
is_plain_argument(const GcLookupWork *w, Node *node)
{
	Oid			type = getBaseType(w->lut->argtype);

	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, Var) && (type == TEXTOID || type == VARCHAROID);
}

/* The pattern as items.  False: it ends with an escape character. */
static bool
compile_pattern(const char *pattern, int len, GcLike *like)
{
	like->nitems = 0;
	like->items = palloc((len + 1) * sizeof(uint16));
	for (int i = 0; i < len; i++)
	{
		uint16		item = (unsigned char) pattern[i];

		if (item == '\\')
		{
			if (++i == len)
				return false;
			item = (unsigned char) pattern[i];
		}
		else if (item == '_')
			item = GC_LIKE_ANY;
		else if (item == '%')
			item = GC_LIKE_MANY;
		if (item < GC_LIKE_ANY)
			item = gc_like_byte(item, like->flags);
		else if (item == GC_LIKE_MANY && like->nitems > 0 && like->items[like->nitems - 1] == item)
			continue;
		like->items[like->nitems++] = item;
	}
	return true;
}

bool
gc_like_compile(const GcLookupWork *w, GcLike *like)
{
	OpExpr	   *op;
	Const	   *pattern;
	text	   *t;

	if (w->lut->type != GC_LUT_EXPR || w->argkind != GC_TEXT || w->kind != GC_BOOL)
		return false;
	op = (OpExpr *) w->b->node->exprs[w->lut->expr]->expr;
	if (!IsA(op, OpExpr) || list_length(op->args) != 2 || !known_function(op->opfuncid, &like->flags) ||
		!is_plain_argument(w, linitial(op->args)) || !IsA(lsecond(op->args), Const))
		return false;
	pattern = lsecond_node(Const, op->args);
	if (pattern->constisnull || !OidIsValid(op->inputcollid) || !get_collation_isdeterministic(op->inputcollid))
		return false;
	if ((like->flags & GC_LIKE_FOLD) && op->inputcollid != C_COLLATION_OID)
		return false;
	if (GetDatabaseEncoding() == PG_UTF8)
		like->flags |= GC_LIKE_UTF8;
	else if (pg_database_encoding_max_length() > 1)
		return false;
	t = DatumGetTextPP(pattern->constvalue);
	return compile_pattern(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t), like);
}

void
gc_like_fill(const GcLookupWork *w, const GcLike *like, GcLookup *l)
{
	const int	negate = (like->flags & GC_LIKE_NOT) != 0;

	for (uint32 i = l->first; i < l->count; i++)
	{
		uint32		len;
		const char *bytes;

		if ((i & INTERRUPT_MASK) == 0)
			CHECK_FOR_INTERRUPTS();
		l->nulls[i - l->first] = i == 0;
		l->values[i - l->first] = 0;
		if (i == 0)
			continue;
		bytes = gc_dict_get(w->from, i - 1, &len);
		l->values[i - l->first] = gc_like((const u8 *) bytes, len, like->items, like->nitems, like->flags) ^ negate;
	}
}

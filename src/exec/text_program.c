/*-------------------------------------------------------------------------
 *
 * text_program.c
 *	  Expressions of one text as text programs, and what they make of each value of a dictionary.
 *
 * PostgreSQL would evaluate its expression millions of times.  A text program (cuda/gc_text.h) does
 * the same for encodings of single bytes and UTF-8, where letters' case and order are those of
 * bytes.  It is made from the inside out: a chain of functions around the text, each with constants.
 * Whatever PostgreSQL may raise an error for is left to it.  Of a bytea it takes the digest, and goes on with that.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "compute.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "common/md5.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"

#define GC_FN	static inline
#include "../columns/encode/pgkinds.h"
#include "../compat.h"
#include "../plan/base/builtins.h"
#include "../../cuda/gc_like.h"
#include "../../cuda/gc_md5.h"
#include "../../cuda/gc_text.h"

/* An operation takes a few instructions for each value, however useless. */
#define MAX_OPS			32

typedef struct Compiler
{
	GcTextOp	ops[MAX_OPS];
	int			nops;
	StringInfoData constants;
	bool		utf8;
	bool		cut;			/* something was cut off since a constant was concatenated */
	int			before;			/* operation that prepends, and that appends; -1: none */
	int			after;
	uint32		fold;
	int64		added;			/* bytes of these constants */
} Compiler;

static bool compile_text(Compiler *c, Node *node, bool padded);

/*-------------------------------------------------------------------------
 * Parts of programs
 *-------------------------------------------------------------------------
 */
static bool
add_op(Compiler *c, uint32 op, uint32 a, uint32 b)
{
	if (c->nops == MAX_OPS)
		return false;
	c->ops[c->nops++] = (GcTextOp) {.op = op,.a = a,.b = b};
	return true;
}

/* An operation with a constant of its own. */
static bool
add_op_of(Compiler *c, uint32 op, uint32 a, uint32 b, const void *bytes, Size n)
{
	static const char padding[8] = {0};

	if (!add_op(c, op, a, b))
		return false;
	c->ops[c->nops - 1].at = c->constants.len;
	appendBinaryStringInfo(&c->constants, bytes, n);
	appendBinaryStringInfo(&c->constants, padding, TYPEALIGN(8, n) - n);
	return true;
}

/* Something is cut off. */
static bool
add_cut(Compiler *c, uint32 op, uint32 a)
{
	c->cut = true;
	return add_op(c, op, a, 0);
}

/* A constant argument that is not NULL. */
static bool
constant(Node *node, Datum *value)
{
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	if (!IsA(node, Const) || ((Const *) node)->constisnull)
		return false;
	*value = ((Const *) node)->constvalue;
	return true;
}

/* A constant's bytes; false if it is none, or NULL. */
static bool
constant_text(Node *node, const char **bytes, int *len)
{
	Datum		value;
	text	   *t;

	if (!constant(node, &value))
		return false;
	t = DatumGetTextPP(value);
	*bytes = VARDATA_ANY(t);
	*len = VARSIZE_ANY_EXHDR(t);
	return true;
}

/* A constant of type int4; false if it is none, or NULL. */
static bool
constant_int(Node *node, int32 *value)
{
	Datum		datum;

	if (exprType(node) != INT4OID || !constant(node, &datum))
		return false;
	*value = DatumGetInt32(datum);
	return true;
}

/*-------------------------------------------------------------------------
 * Functions whose results are texts
 *-------------------------------------------------------------------------
 */

/* text_substring().  A negative length is an error. */
static bool
compile_substring(Compiler *c, List *args)
{
	int32		from;
	int32		length;
	int32		end;

	if (!constant_int(lsecond(args), &from))
		return false;
	if (from > 1 && !add_cut(c, GC_TEXT_DROP, from - 1))
		return false;
	if (list_length(args) == 2)
		return true;
	if (!constant_int(lthird(args), &length) || length < 0)
		return false;
	if (pg_add_s32_overflow(from, length, &end))
		return true;
	return add_cut(c, GC_TEXT_KEEP, Max(end - Max(from, 1), 0));
}

/* text_left() and text_right() */
static bool
compile_side(Compiler *c, List *args, bool left)
{
	int32		n;

	if (!constant_int(lsecond(args), &n) || n == PG_INT32_MIN)
		return false;
	if (left)
		return n < 0 ? add_cut(c, GC_TEXT_DROP_LAST, -n) : add_cut(c, GC_TEXT_KEEP, n);
	return n < 0 ? add_cut(c, GC_TEXT_DROP, -n) : add_cut(c, GC_TEXT_KEEP_LAST, n);
}

/* Letters of constants that were concatenated are folded here. */
static void
fold_constant(Compiler *c, int op, uint32 fold)
{
	char	   *p = c->constants.data + c->ops[Max(op, 0)].at;

	for (uint32 i = 0; op >= 0 && i < c->ops[op].a; i++)
		p[i] = gc_text_fold((unsigned char) p[i], fold);
}

/* str_toupper() and str_tolower() by ASCII alone */
static bool
compile_fold(Compiler *c, Oid collation, uint32 fold)
{
	if (!OidIsValid(collation) || !GC_CTYPE_IS_C(collation))
		return false;
	fold_constant(c, c->before, fold);
	fold_constant(c, c->after, fold);
	c->fold = fold;
	return add_op(c, GC_TEXT_FOLD, fold, 0);
}

/* textcat() with a constant on one side; it joins the constant that is already there. */
static bool
compile_concatenation(Compiler *c, const char *bytes, int len, bool before)
{
	int		   *op = before ? &c->before : &c->after;
	StringInfoData all;

	if ((c->before >= 0 || c->after >= 0) && c->cut)
		return false;
	c->cut = false;
	c->added += len;
	initStringInfo(&all);
	if (before)
		appendBinaryStringInfo(&all, bytes, len);
	if (*op >= 0)
		appendBinaryStringInfo(&all, c->constants.data + c->ops[*op].at, c->ops[*op].a);
	if (!before)
		appendBinaryStringInfo(&all, bytes, len);
	if (!add_op_of(c, before ? GC_TEXT_PREPEND : GC_TEXT_APPEND, all.len, 0, all.data, all.len))
		return false;
	*op = c->nops - 1;
	return true;
}

/* md5_text().  It raises an error where the server's cryptographic library refuses MD5. */
static bool
compile_md5(Compiler *c)
{
	char		digits[MD5_PASSWD_LEN + 1];
	const char *problem = NULL;

	if (!pg_md5_hash("", 0, digits, &problem))
		return false;
	c->before = c->after = -1;
	c->cut = false;
	c->fold = 0;
	c->added = 0;
	return add_op(c, GC_TEXT_MD5, 0, 0);
}

/* A text and a constant, in either order; *len is the constant's. */
static bool
compile_with_constant(Compiler *c, List *args, bool padded, const char **bytes, int *len, bool *constant_first)
{
	if (list_length(args) != 2)
		return false;
	*constant_first = constant_text(linitial(args), bytes, len);
	if (!*constant_first && !constant_text(lsecond(args), bytes, len))
		return false;
	return compile_text(c, *constant_first ? lsecond(args) : linitial(args), padded);
}

/* A column of bytea, of which no character matters. */
static bool
compile_bytes(Node *node)
{
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, Var) && gc_base_type(exprType(node)) == BYTEAOID;
}

/* A function of texts, by the table of built-ins.  False: PostgreSQL computes it. */
static bool
compile_text_function(Compiler *c, Oid funcid, Oid collation, List *args)
{
	const GcBuiltin *b = gc_builtin(funcid);
	const char *bytes;
	int			len;
	bool		first;

	if (b->text_of == GC_OF_BYTES)
		return b->text == GC_TEXT_MD5 && compile_bytes(linitial(args)) && compile_md5(c);
	if (b->text == GC_TEXT_APPEND)
		return compile_with_constant(c, args, false, &bytes, &len, &first) &&
			compile_concatenation(c, bytes, len, first);
	/* The cast strips blanks, which the dictionary's values do not have. */
	if (!compile_text(c, linitial(args), b->text == GC_TEXT_SAME))
		return false;
	switch (b->text)
	{
		case GC_TEXT_SAME:
			return true;
		case GC_TEXT_DROP:
			return compile_substring(c, args);
		case GC_TEXT_KEEP:
		case GC_TEXT_KEEP_LAST:
			return compile_side(c, args, b->text == GC_TEXT_KEEP);
		case GC_TEXT_TRIM:
			return add_cut(c, GC_TEXT_TRIM, b->text_with);
		case GC_TEXT_FOLD:
			return compile_fold(c, collation, b->text_with);
		case GC_TEXT_MD5:
			return compile_md5(c);
		default:
			return false;
	}
}

/* padded: may it be a blank-padded text, of which the function ignores the blanks? */
static bool
compile_text(Compiler *c, Node *node, bool padded)
{
	Oid			type = gc_base_type(exprType(node));

	if (type != TEXTOID && type != VARCHAROID && !(padded && type == BPCHAROID))
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			return true;
		case T_RelabelType:
			return compile_text(c, (Node *) ((RelabelType *) node)->arg, padded);
		case T_FuncExpr:
			return ((FuncExpr *) node)->args != NIL &&
				compile_text_function(c, ((FuncExpr *) node)->funcid, ((FuncExpr *) node)->inputcollid,
									  ((FuncExpr *) node)->args);
		case T_OpExpr:
			return compile_text_function(c, ((OpExpr *) node)->opfuncid, ((OpExpr *) node)->inputcollid,
										 ((OpExpr *) node)->args);
		default:
			return false;
	}
}

/*-------------------------------------------------------------------------
 * Functions whose results are numbers or truth values
 *-------------------------------------------------------------------------
 */

/* The pattern as items.  False: it ends with an escape character. */
static bool
compile_pattern(const char *pattern, int len, uint32 flags, uint16 *items, uint32 *nitems)
{
	uint32		n = 0;

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
			item = gc_like_byte(item, flags);
		else if (item == GC_LIKE_MANY && n > 0 && items[n - 1] == item)
			continue;
		items[n++] = item;
	}
	*nitems = n;
	return true;
}

/* LIKE and ILIKE with a constant pattern. */
static bool
compile_like(Compiler *c, Oid collation, List *args, bool ignore_case, bool negate)
{
	uint32		flags = (c->utf8 ? GC_LIKE_UTF8 : 0) | (negate ? GC_LIKE_NOT : 0);
	uint32		fold = ignore_case ? GC_LIKE_FOLD : 0;
	const char *pattern;
	int			len;
	uint16	   *items;
	uint32		n;

	if (!compile_text(c, linitial(args), false) || c->before >= 0 || c->after >= 0 ||
		!constant_text(lsecond(args), &pattern, &len) || (ignore_case && !GC_CTYPE_IS_C(collation)))
		return false;
	items = palloc((len + 1) * sizeof(uint16));
	if (!compile_pattern(pattern, len, fold, items, &n))
		return false;
	if (!ignore_case && c->fold)
		fold = c->fold == GC_TEXT_TO_UPPER ? GC_LIKE_UPPER : GC_LIKE_FOLD;
	return add_op_of(c, GC_TEXT_LIKE, n, flags | fold, items, n * sizeof(uint16));
}

/* Which results of a comparison of bytes are true?  0: it is none, or has another order. */
static uint32
comparison(const GcBuiltin *b, Oid collation)
{
	if (b->text != GC_TEXT_COMPARE)
		return 0;
	return b->text_with == GC_TEXT_EQUAL || b->text_with == (GC_TEXT_LESS | GC_TEXT_GREATER) ||
		GC_COLLATE_IS_C(collation) ? b->text_with : 0;
}

/* The length without blanks at the end. */
static int
without_blanks(const char *bytes, int len)
{
	while (len > 0 && bytes[len - 1] == ' ')
		len--;
	return len;
}

/* A comparison with a constant; blanks at the end of bpchar do not count. */
static bool
compile_comparison(Compiler *c, const GcBuiltin *b, Oid collation, List *args)
{
	const bool	padded = b->text_of == GC_OF_PADDED;
	uint32		truth = comparison(b, collation);
	const char *bytes;
	int			len;
	bool		first;

	if (truth == 0 || !compile_with_constant(c, args, padded, &bytes, &len, &first))
		return false;
	if (padded)
		len = without_blanks(bytes, len);
	if (first)
		truth = (truth & GC_TEXT_EQUAL) | (truth & GC_TEXT_LESS ? GC_TEXT_GREATER : 0) |
			(truth & GC_TEXT_GREATER ? GC_TEXT_LESS : 0);
	return add_op_of(c, GC_TEXT_COMPARE, len, truth, bytes, len);
}

/* Order for qsort(): by bytes, then by length. */
static int
compare_constants(const void *x, const void *y)
{
	const text *a = *(text *const *) x;
	const text *b = *(text *const *) y;
	int			cmp = memcmp(VARDATA_ANY(a), VARDATA_ANY(b), Min(VARSIZE_ANY_EXHDR(a), VARSIZE_ANY_EXHDR(b)));

	return cmp != 0 ? cmp : (int) VARSIZE_ANY_EXHDR(a) - (int) VARSIZE_ANY_EXHDR(b);
}

/* Constants as where each ends, and their bytes. */
static void
write_constants(StringInfo to, text **t, int n)
{
	uint32		end = 0;

	for (int i = 0; i < n; i++)
	{
		end += VARSIZE_ANY_EXHDR(t[i]);
		appendBinaryStringInfo(to, (char *) &end, sizeof(end));
	}
	for (int i = 0; i < n; i++)
		appendBinaryStringInfo(to, VARDATA_ANY(t[i]), VARSIZE_ANY_EXHDR(t[i]));
}

/* IN and NOT IN.  A list with NULL may yield NULL, and an empty one does not even of NULL: both are PostgreSQL's. */
static bool
compile_in(Compiler *c, ScalarArrayOpExpr *s)
{
	const GcBuiltin *b = gc_builtin(s->opfuncid);
	const bool	padded = b->text_of == GC_OF_PADDED;
	uint32		truth = OidIsValid(s->inputcollid) ? comparison(b, s->inputcollid) : 0;
	StringInfoData list;
	ArrayType  *array;
	Datum		value;
	Datum	   *elems;
	int			n;

	if (truth != (s->useOr ? GC_TEXT_EQUAL : GC_TEXT_LESS | GC_TEXT_GREATER) ||
		!get_collation_isdeterministic(s->inputcollid) ||
		!compile_text(c, linitial(s->args), padded) || !constant(lsecond(s->args), &value))
		return false;
	array = DatumGetArrayTypeP(value);
	if (array_contains_nulls(array) || ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == 0)
		return false;
	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_INT, &elems, NULL, &n);
	for (int i = 0; i < n; i++)
	{
		text	   *t = DatumGetTextPP(elems[i]);

		elems[i] = padded ? PointerGetDatum(cstring_to_text_with_len(VARDATA_ANY(t), without_blanks(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t))))
			: PointerGetDatum(t);
	}
	qsort(elems, n, sizeof(Datum), compare_constants);
	initStringInfo(&list);
	write_constants(&list, (text **) elems, n);
	return add_op_of(c, GC_TEXT_IN, n, !s->useOr, list.data, list.len);
}

/* Functions of one text, and with a constant, that make a number or a truth value. */
static bool
compile_end(Compiler *c, Oid funcid, Oid collation, List *args)
{
	const GcBuiltin *b = gc_builtin(funcid);
	const char *bytes;
	int			len;

	if (b->text == GC_TEXT_LENGTH || b->text == GC_TEXT_BYTES)
		return (b->text_of == GC_OF_BYTES ? compile_bytes(linitial(args)) :
				compile_text(c, linitial(args), b->text_of == GC_OF_PADDED)) && add_op(c, b->text, 0, 0);
	/* The others look at a collation, and raise an error if there is none. */
	if (!OidIsValid(collation) || !get_collation_isdeterministic(collation))
		return false;
	switch (b->text)
	{
		case GC_TEXT_POSITION:
		case GC_TEXT_STARTS:
			return compile_text(c, linitial(args), false) && constant_text(lsecond(args), &bytes, &len) &&
				(len > 0 || b->text == GC_TEXT_STARTS) && add_op_of(c, b->text, len, 0, bytes, len);
		case GC_TEXT_LIKE:
			return compile_like(c, collation, args, b->text_with & GC_LIKE_FOLD, b->text_with & GC_LIKE_NOT);
		default:
			return compile_comparison(c, b, collation, args);
	}
}

/*-------------------------------------------------------------------------
 * Programs
 *-------------------------------------------------------------------------
 */
static void
write_program(const Compiler *c, GcTextProgram *program)
{
	const GcTextOp *end = c->nops > 0 ? &c->ops[c->nops - 1] : NULL;
	Size		ops = c->nops * sizeof(GcTextOp);

	program->nops = c->nops;
	program->utf8 = c->utf8;
	program->bytes = ops + c->constants.len;
	program->data = palloc0(program->bytes + sizeof(uint64));
	program->most = GC_DICT_MAX_LENGTH + c->added;
	program->pattern = end && (end->op == GC_TEXT_LIKE || end->op == GC_TEXT_POSITION) ? end->a : 0;
	memcpy(program->data, c->ops, ops);
	memcpy(program->data + ops, c->constants.data, c->constants.len);
	for (int i = 0; i < c->nops; i++)
		((GcTextOp *) program->data)[i].at += ops;
}

bool
gc_text_compile(const GcLookupWork *w, GcTextProgram *program)
{
	Compiler	c = {.before = -1,.after = -1,.utf8 = GetDatabaseEncoding() == PG_UTF8};
	Node	   *node;
	bool		known;

	if (w->lut->type != GC_LUT_EXPR || (w->argkind != GC_TEXT && w->argkind != GC_BYTES) ||
		(!c.utf8 && pg_database_encoding_max_length() > 1))
		return false;
	initStringInfo(&c.constants);
	node = (Node *) w->b->node->exprs[w->lut->expr]->expr;
	if (w->kind == GC_TEXT)
		known = compile_text(&c, node, false);
	else if (w->kind != GC_BOOL && w->kind != GC_INT4)
		known = false;
	else if (IsA(node, OpExpr))
		known = compile_end(&c, ((OpExpr *) node)->opfuncid, ((OpExpr *) node)->inputcollid, ((OpExpr *) node)->args);
	else if (IsA(node, FuncExpr) && ((FuncExpr *) node)->args != NIL)
		known = compile_end(&c, ((FuncExpr *) node)->funcid, ((FuncExpr *) node)->inputcollid,
							((FuncExpr *) node)->args);
	else
		known = IsA(node, ScalarArrayOpExpr) && compile_in(&c, (ScalarArrayOpExpr *) node);
	if (known)
		write_program(&c, program);
	pfree(c.constants.data);
	return known;
}

/* Code of a text in the dictionary of the results; -1: no room. */
static int64
intern_result(GcDictView *dict, const GcText *t, StringInfo buf)
{
	if (t->nbefore == 0 && t->nafter == 0 && t->fold == 0)
		return t->n > GC_DICT_MAX_LENGTH ? -1 : gc_dict_intern(dict, (const char *) t->s, t->n);
	if (gc_text_bytes(t) > GC_DICT_MAX_LENGTH)
		return -1;
	resetStringInfo(buf);
	appendBinaryStringInfo(buf, (const char *) t->before, t->nbefore);
	for (uint64 i = 0; i < t->n; i++)
		appendStringInfoCharMacro(buf, gc_text_fold(t->s[i], t->fold));
	appendBinaryStringInfo(buf, (const char *) t->after, t->nafter);
	return gc_dict_intern(dict, buf->data, buf->len);
}

bool
gc_text_fill(const GcLookupWork *w, const GcTextProgram *program, GcLookup *l)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (uint32 i = l->first; i < l->count; i++)
	{
		GcText		t = {0};
		uint32		len;
		int64		value;

		/* LIKE of a long pattern takes a second for a long text. */
		CHECK_FOR_INTERRUPTS();
		l->nulls[i - l->first] = i == 0;
		l->values[i - l->first] = 0;
		if (i == 0)
			continue;
		t.s = (const u8 *) gc_dict_get(w->from, i - 1, &len);
		t.n = len;
		value = gc_text_execute(&t, program->data, program->nops, program->utf8);
		if (w->kind == GC_TEXT && (value = intern_result(l->dict, &t, &buf)) < 0)
			return false;
		l->values[i - l->first] = value;
	}
	pfree(buf.data);
	return true;
}

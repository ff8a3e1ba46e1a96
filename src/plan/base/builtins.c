/*-------------------------------------------------------------------------
 *
 * builtins.c
 *	  Properties of PostgreSQL's built-in functions, aggregates, window functions and operators': one table, by Oid.
 *
 * The compiler warns of a row that is there twice (-Woverride-init).  Functions that not all servers have are between
 * #ifdef.
 *
 * Planner and executor, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "builtins.h"

#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "../../compat.h"
#include "../../program/functions.h"
#define GC_FN	static inline
#include "../../../cuda/gc_like.h"
#include "../../../cuda/gc_md5.h"
#include "../../../cuda/gc_text.h"

static const GcBuiltin builtins[] = {
	/* Numbers */
	[F_ROUND_FLOAT8] = {GC_HOW_CALL, 1, GC_CALL_RINT},
	[F_TRUNC_FLOAT8] = {GC_HOW_CALL, 1, GC_CALL_TRUNC},
	[F_FLOOR_FLOAT8] = {GC_HOW_CALL, 1, GC_CALL_FLOOR},
	[F_CEIL_FLOAT8] = {GC_HOW_CALL, 1, GC_CALL_CEIL},
	[F_CEILING_FLOAT8] = {GC_HOW_CALL, 1, GC_CALL_CEIL},
	[F_SIGN_FLOAT8] = {GC_HOW_CALL, 1, GC_CALL_SIGN},
	[F_SQRT_FLOAT8] = {GC_HOW_CALL, 1, GC_CALL_SQRT},
	[F_DSQRT] = {GC_HOW_CALL, 1, GC_CALL_SQRT},
	[F_ABS_INT2] = {GC_HOW_ABS, 1},
	[F_ABS_INT4] = {GC_HOW_ABS, 1},
	[F_ABS_INT8] = {GC_HOW_ABS, 1},
	[F_ABS_NUMERIC] = {GC_HOW_ABS, 1},
	[F_ABS_FLOAT4] = {GC_HOW_ABS, 1},
	[F_ABS_FLOAT8] = {GC_HOW_ABS, 1},
	[F_SIGN_NUMERIC] = {GC_HOW_SIGN, 1},
	[F_NUMERIC_NUMERIC_INT4] = {GC_HOW_TYPMOD, 1},
	[F_ROUND_NUMERIC] = {GC_HOW_ROUND, 1},
	[F_ROUND_NUMERIC_INT4] = {GC_HOW_ROUND, 1},
	[F_TRUNC_NUMERIC] = {GC_HOW_ROUND, 1, GC_CAST_DOWN | GC_CAST_UP},
	[F_TRUNC_NUMERIC_INT4] = {GC_HOW_ROUND, 1, GC_CAST_DOWN | GC_CAST_UP},
	[F_FLOOR_NUMERIC] = {GC_HOW_WHOLE, 1, GC_CAST_DOWN},
	[F_CEIL_NUMERIC] = {GC_HOW_WHOLE, 1, GC_CAST_UP},
	[F_CEILING_NUMERIC] = {GC_HOW_WHOLE, 1, GC_CAST_UP},
	[F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4] = {GC_HOW_WIDTH_BUCKET},
	[F_NUMERIC_UMINUS] = {.digits = GC_DIGITS_OF_ARGUMENT},
	[F_NUMERIC_UPLUS] = {.digits = GC_DIGITS_OF_ARGUMENT},
	[F_NUMERIC_ABS] = {.digits = GC_DIGITS_OF_ARGUMENT},
	[F_NUMERIC_ADD] = {.digits = GC_DIGITS_OF_SUM},
	[F_NUMERIC_SUB] = {.digits = GC_DIGITS_OF_SUM},
	[F_NUMERIC_MUL] = {.digits = GC_DIGITS_OF_PRODUCT},
	[F_NUMERIC_DIV] = {.digits = GC_DIGITS_OF_QUOTIENT},
	[F_INT4DIV] = {.flags = GC_SAFE_MOVED, .safe_if = GC_IF_POSITIVE},
	[F_INT4MOD] = {.flags = GC_SAFE_MOVED, .safe_if = GC_IF_POSITIVE},

	/* Casts of numbers */
	[F_INT4_INT2] = {.flags = GC_SAFE_OF_TEXTS | GC_SAFE_MOVED | GC_SAFE_OF_GROUPS},
	[F_INT8_INT2] = {.flags = GC_SAFE_MOVED | GC_SAFE_OF_GROUPS},
	[F_INT8_INT4] = {.flags = GC_SAFE_MOVED | GC_SAFE_OF_GROUPS},
	[F_NUMERIC_INT2] = {.flags = GC_SAFE_MOVED | GC_SAFE_OF_GROUPS, .digits = GC_DIGITS_OF_INTEGER},
	[F_NUMERIC_INT4] = {.flags = GC_SAFE_MOVED | GC_SAFE_OF_GROUPS, .digits = GC_DIGITS_OF_INTEGER},
	[F_NUMERIC_INT8] = {.flags = GC_SAFE_MOVED | GC_SAFE_OF_GROUPS, .digits = GC_DIGITS_OF_INTEGER},
	[F_FLOAT8_INT2] = {GC_HOW_INT_AS_FLOAT, .flags = GC_SAFE_OF_GROUPS},
	[F_FLOAT8_INT4] = {GC_HOW_INT_AS_FLOAT, .flags = GC_SAFE_OF_GROUPS},
	[F_FLOAT8_INT8] = {.flags = GC_SAFE_OF_GROUPS},
	[F_NUMERIC_FLOAT4] = {GC_HOW_FLOAT_AS_NUMERIC},
	[F_NUMERIC_FLOAT8] = {GC_HOW_FLOAT_AS_NUMERIC},

	/* Dates, times and timestamps */
	[F_EXTRACT_TEXT_TIMESTAMP] = {GC_HOW_FIELD, 2, .date = GC_DATE_BY_FIELD},
	[F_DATE_PART_TEXT_TIMESTAMP] = {GC_HOW_FIELD, 2, .date = GC_DATE_BY_FIELD},
	[F_EXTRACT_TEXT_TIMESTAMPTZ] = {GC_HOW_FIELD, 2, .zone = GC_ZONE_OF_SESSION, .date = GC_DATE_BY_FIELD},
	[F_DATE_PART_TEXT_TIMESTAMPTZ] = {GC_HOW_FIELD, 2, .zone = GC_ZONE_OF_SESSION, .date = GC_DATE_BY_FIELD},
	[F_EXTRACT_TEXT_DATE] = {GC_HOW_DATE_FIELD, 2},
	[F_EXTRACT_TEXT_TIME] = {GC_HOW_TIME_FIELD, 2},
	[F_DATE_PART_TEXT_TIME] = {GC_HOW_TIME_FIELD, 2},
	[F_EXTRACT_TEXT_INTERVAL] = {GC_HOW_TIME_FIELD, 2},
	[F_DATE_PART_TEXT_INTERVAL] = {GC_HOW_TIME_FIELD, 2},
	[F_DATE_TRUNC_TEXT_TIMESTAMP] = {GC_HOW_TRUNCATE, 2, .date = GC_DATE_BY_UNIT, .near = GC_NEAR_SECOND},
	[F_DATE_TRUNC_TEXT_TIMESTAMPTZ] = {GC_HOW_TRUNCATE, 2, .zone = GC_ZONE_OF_SESSION, .date = GC_DATE_BY_UNIT,
	.near = GC_NEAR_SECOND},
	[F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT] = {GC_HOW_TRUNCATE, 2, .zone = GC_ZONE_THIRD},
	[F_DATE_TIMESTAMP] = {.date = GC_DATE_ALWAYS, .near = GC_NEAR_FIRST},
	[F_DATE_TIMESTAMPTZ] = {GC_HOW_DATE, 1, .zone = GC_ZONE_OF_SESSION, .date = GC_DATE_ALWAYS, .near = GC_NEAR_FIRST},
	[F_TIME_TIMESTAMP] = {GC_HOW_TIME_OF_DAY, 1},
	[F_TIME_TIMESTAMPTZ] = {GC_HOW_TIME_OF_DAY, 1, .zone = GC_ZONE_OF_SESSION},
	[F_TIMESTAMP_DATE] = {.near = GC_NEAR_FIRST},
	[F_TIMESTAMP_TIMESTAMPTZ] = {GC_HOW_LOCAL, 1, .zone = GC_ZONE_OF_SESSION, .near = GC_NEAR_FIRST},
	[F_TIMEZONE_TEXT_TIMESTAMPTZ] = {GC_HOW_LOCAL, 2, .zone = GC_ZONE_FIRST, .flags = GC_SEES_ZONE},
	[F_TIMESTAMPTZ_DATE] = {GC_HOW_INSTANT, 1, .zone = GC_ZONE_OF_SESSION, .near = GC_NEAR_FIRST},
	[F_TIMESTAMPTZ_TIMESTAMP] = {GC_HOW_INSTANT, 1, .zone = GC_ZONE_OF_SESSION, .near = GC_NEAR_FIRST},
	[F_TIMEZONE_TEXT_TIMESTAMP] = {GC_HOW_INSTANT, 2, .zone = GC_ZONE_FIRST, .flags = GC_SEES_ZONE},
	[F_TO_CHAR_TIMESTAMP_TEXT] = {.date = GC_DATE_BY_FORMAT},
	[F_TO_CHAR_TIMESTAMPTZ_TEXT] = {.zone = GC_ZONE_OF_SESSION, .date = GC_DATE_BY_FORMAT},
	[F_ISFINITE_DATE] = {GC_HOW_FINITE, 1},
	[F_ISFINITE_TIMESTAMP] = {GC_HOW_FINITE, 1},
	[F_ISFINITE_TIMESTAMPTZ] = {GC_HOW_FINITE, 1},
	[F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP] = {GC_HOW_DATE_BIN},
	[F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ] = {GC_HOW_DATE_BIN},
	[F_NOW] = {.near = GC_NEAR_NOW},
	[F_TRANSACTION_TIMESTAMP] = {.near = GC_NEAR_NOW},
	[F_STATEMENT_TIMESTAMP] = {.near = GC_NEAR_NOW},
	[F_DATE_PLI] = {.near = GC_NEAR_IF_SHORT},
	[F_DATE_MII] = {.near = GC_NEAR_IF_SHORT},

	/* Intervals */
	[F_AGE_TIMESTAMP_TIMESTAMP] = {GC_HOW_AGE},
	[F_AGE_TIMESTAMPTZ_TIMESTAMPTZ] = {GC_HOW_AGE, .flags = GC_SEES_ZONE},
	[F_TIMESTAMP_MI] = {GC_HOW_DIFFERENCE},
	[F_TIMESTAMPTZ_MI] = {GC_HOW_DIFFERENCE},
	[F_MAKE_INTERVAL] = {GC_HOW_MAKE_INTERVAL},
	[F_DATE_PL_INTERVAL] = {GC_HOW_ADD_INTERVAL, .with = GC_OP_ADD, .near = GC_NEAR_IF_SHORT, .flags = GC_SAFE_MOVED,
	.safe_if = GC_IF_MODEST},
	[F_TIME_PL_INTERVAL] = {GC_HOW_ADD_INTERVAL, .with = GC_OP_ADD},
	[F_TIMESTAMP_PL_INTERVAL] = {GC_HOW_ADD_INTERVAL, .with = GC_OP_ADD, .near = GC_NEAR_IF_SHORT},
	[F_TIMESTAMPTZ_PL_INTERVAL] = {GC_HOW_ADD_INTERVAL, .with = GC_OP_ADD, .near = GC_NEAR_IF_SHORT},
	[F_DATE_MI_INTERVAL] = {GC_HOW_ADD_INTERVAL, .with = GC_OP_SUB, .near = GC_NEAR_IF_SHORT, .flags = GC_SAFE_MOVED,
	.safe_if = GC_IF_MODEST},
	[F_TIME_MI_INTERVAL] = {GC_HOW_ADD_INTERVAL, .with = GC_OP_SUB},
	[F_TIMESTAMP_MI_INTERVAL] = {GC_HOW_ADD_INTERVAL, .with = GC_OP_SUB, .near = GC_NEAR_IF_SHORT},
	[F_TIMESTAMPTZ_MI_INTERVAL] = {GC_HOW_ADD_INTERVAL, .with = GC_OP_SUB, .near = GC_NEAR_IF_SHORT},
	[F_INTERVAL_PL] = {GC_HOW_SPAN, .with = GC_OP_ADD},
	[F_INTERVAL_MI] = {GC_HOW_SPAN, .with = GC_OP_SUB},
	[F_INTERVAL_UM] = {GC_HOW_SPAN, .with = GC_OP_SUB},
	[F_INTERVAL_MUL] = {GC_HOW_PRODUCT, .with = 1},
	[F_MUL_D_INTERVAL] = {GC_HOW_PRODUCT, .with = 2},

	/* Texts */
	[F_TEXTCAT] = {.text = GC_TEXT_APPEND, .flags = GC_SAFE_OF_TEXTS},
	[F_CONCAT] = {.flags = GC_SAFE_OF_TEXTS, .safe_if = GC_IF_TEXTS},
	[F_CONCAT_WS] = {.flags = GC_SAFE_OF_TEXTS, .safe_if = GC_IF_TEXTS},
	[F_REPLACE] = {.flags = GC_SAFE_OF_TEXTS},
	[F_TRANSLATE] = {.flags = GC_SAFE_OF_TEXTS},
	[F_INITCAP] = {.flags = GC_SAFE_OF_TEXTS},
	[F_REVERSE_TEXT] = {.flags = GC_SAFE_OF_TEXTS},
	[F_SPLIT_PART] = {.flags = GC_SAFE_OF_TEXTS, .safe_if = GC_IF_POSITIVE},
	[F_SUBSTR_TEXT_INT4] = {.text = GC_TEXT_DROP, .flags = GC_SAFE_OF_TEXTS},
	[F_SUBSTRING_TEXT_INT4] = {.text = GC_TEXT_DROP, .flags = GC_SAFE_OF_TEXTS},
	[F_SUBSTR_TEXT_INT4_INT4] = {.text = GC_TEXT_DROP, .flags = GC_SAFE_OF_TEXTS | GC_SAFE_MOVED | GC_SAFE_OF_GROUPS,
	.safe_if = GC_IF_LENGTH},
	[F_SUBSTRING_TEXT_INT4_INT4] = {.text = GC_TEXT_DROP, .flags = GC_SAFE_OF_TEXTS | GC_SAFE_MOVED | GC_SAFE_OF_GROUPS,
	.safe_if = GC_IF_LENGTH},
	[F_LEFT] = {.text = GC_TEXT_KEEP, .flags = GC_SAFE_OF_TEXTS},
	[F_RIGHT] = {.text = GC_TEXT_KEEP_LAST, .flags = GC_SAFE_OF_TEXTS},
	[F_LTRIM_TEXT] = {.text = GC_TEXT_TRIM, .text_with = 1, .flags = GC_SAFE_OF_TEXTS},
	[F_RTRIM_TEXT] = {.text = GC_TEXT_TRIM, .text_with = 2, .flags = GC_SAFE_OF_TEXTS},
	[F_BTRIM_TEXT] = {.text = GC_TEXT_TRIM, .text_with = 3, .flags = GC_SAFE_OF_TEXTS},
	[F_LTRIM_TEXT_TEXT] = {.flags = GC_SAFE_OF_TEXTS},
	[F_RTRIM_TEXT_TEXT] = {.flags = GC_SAFE_OF_TEXTS},
	[F_BTRIM_TEXT_TEXT] = {.flags = GC_SAFE_OF_TEXTS},
	[F_UPPER_TEXT] = {.text = GC_TEXT_FOLD, .text_with = GC_TEXT_TO_UPPER, .flags = GC_SAFE_OF_TEXTS},
	[F_LOWER_TEXT] = {.text = GC_TEXT_FOLD, .text_with = GC_TEXT_TO_LOWER, .flags = GC_SAFE_OF_TEXTS},
	[F_MD5_TEXT] = {.text = GC_TEXT_MD5, .flags = GC_SAFE_OF_TEXTS},
	[F_MD5_BYTEA] = {.text = GC_TEXT_MD5, .text_of = GC_OF_BYTES},
	[F_TEXT_BPCHAR] = {.text = GC_TEXT_SAME, .text_of = GC_OF_PADDED, .flags = GC_SAFE_OF_TEXTS | GC_SAFE_MOVED},
	[F_TEXT_BOOL] = {.flags = GC_SAFE_OF_TEXTS},
	[F_LENGTH_TEXT] = {.text = GC_TEXT_LENGTH, .flags = GC_SAFE_OF_TEXTS},
	[F_CHAR_LENGTH_TEXT] = {.text = GC_TEXT_LENGTH, .flags = GC_SAFE_OF_TEXTS},
	[F_CHARACTER_LENGTH_TEXT] = {.text = GC_TEXT_LENGTH, .flags = GC_SAFE_OF_TEXTS},
	[F_TEXTLEN] = {.text = GC_TEXT_LENGTH},
	[F_LENGTH_BPCHAR] = {.text = GC_TEXT_LENGTH, .text_of = GC_OF_PADDED},
	[F_CHAR_LENGTH_BPCHAR] = {.text = GC_TEXT_LENGTH, .text_of = GC_OF_PADDED},
	[F_CHARACTER_LENGTH_BPCHAR] = {.text = GC_TEXT_LENGTH, .text_of = GC_OF_PADDED},
	[F_OCTET_LENGTH_TEXT] = {.text = GC_TEXT_BYTES, .flags = GC_SAFE_OF_TEXTS},
	[F_LENGTH_BYTEA] = {.text = GC_TEXT_BYTES, .text_of = GC_OF_BYTES},
	[F_OCTET_LENGTH_BYTEA] = {.text = GC_TEXT_BYTES, .text_of = GC_OF_BYTES},
	[F_STRPOS] = {.text = GC_TEXT_POSITION, .flags = GC_SAFE_OF_TEXTS},
	[F_POSITION_TEXT_TEXT] = {.text = GC_TEXT_POSITION, .flags = GC_SAFE_OF_TEXTS},
	[F_STARTS_WITH] = {.text = GC_TEXT_STARTS, .flags = GC_SAFE_OF_TEXTS},
	[F_TEXTLIKE] = {.text = GC_TEXT_LIKE, .flags = GC_SAFE_OF_TEXTS | GC_SAFE_MOVED, .safe_if = GC_IF_PATTERN},
	[F_TEXTNLIKE] = {.text = GC_TEXT_LIKE, .text_with = GC_LIKE_NOT, .flags = GC_SAFE_OF_TEXTS | GC_SAFE_MOVED,
	.safe_if = GC_IF_PATTERN},
	[F_TEXTICLIKE] = {.text = GC_TEXT_LIKE, .text_with = GC_LIKE_FOLD},
	[F_TEXTICNLIKE] = {.text = GC_TEXT_LIKE, .text_with = GC_LIKE_FOLD | GC_LIKE_NOT},
	[F_BPCHARLIKE] = {.flags = GC_SAFE_MOVED, .safe_if = GC_IF_PATTERN},
	[F_BPCHARNLIKE] = {.flags = GC_SAFE_MOVED, .safe_if = GC_IF_PATTERN},
	[F_TEXTEQ] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_EQUAL, .flags = GC_SAFE_OF_TEXTS},
	[F_TEXTNE] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_LESS | GC_TEXT_GREATER, .flags = GC_SAFE_OF_TEXTS},
	[F_TEXT_LT] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_LESS, .flags = GC_SAFE_OF_TEXTS},
	[F_TEXT_LE] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_LESS | GC_TEXT_EQUAL, .flags = GC_SAFE_OF_TEXTS},
	[F_TEXT_GT] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_GREATER, .flags = GC_SAFE_OF_TEXTS},
	[F_TEXT_GE] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_GREATER | GC_TEXT_EQUAL, .flags = GC_SAFE_OF_TEXTS},
	[F_BPCHAREQ] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_EQUAL, .text_of = GC_OF_PADDED},
	[F_BPCHARNE] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_LESS | GC_TEXT_GREATER, .text_of = GC_OF_PADDED},
	[F_BPCHARLT] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_LESS, .text_of = GC_OF_PADDED},
	[F_BPCHARLE] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_LESS | GC_TEXT_EQUAL, .text_of = GC_OF_PADDED},
	[F_BPCHARGT] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_GREATER, .text_of = GC_OF_PADDED},
	[F_BPCHARGE] = {.text = GC_TEXT_COMPARE, .text_with = GC_TEXT_GREATER | GC_TEXT_EQUAL, .text_of = GC_OF_PADDED},

	/* Aggregates */
	[F_COUNT_] = {.over = GC_OVER_COUNT, .flags = GC_SAFE_MOVED},
	[F_COUNT_ANY] = {.over = GC_OVER_COUNT, .flags = GC_SAFE_MOVED},
	[F_BOOL_AND] = {.flags = GC_SAFE_MOVED},
	[F_BOOL_OR] = {.flags = GC_SAFE_MOVED},
	[F_EVERY] = {.flags = GC_SAFE_MOVED},
	[F_SUM_INT2] = {.over = GC_OVER_SUM, .flags = GC_SAFE_MOVED},
	[F_SUM_INT4] = {.over = GC_OVER_SUM, .flags = GC_SAFE_MOVED},
	[F_SUM_INT8] = {.over = GC_OVER_SUM, .flags = GC_SAFE_MOVED, .digits = GC_DIGITS_OF_INTEGER_ROWS},
	[F_SUM_NUMERIC] = {.over = GC_OVER_SUM, .digits = GC_DIGITS_OF_ROWS},
	[F_AVG_INT2] = {.over = GC_OVER_SUM, .flags = GC_IS_AVERAGE | GC_SAFE_MOVED, .digits = GC_DIGITS_OF_INTEGER_ROWS},
	[F_AVG_INT4] = {.over = GC_OVER_SUM, .flags = GC_IS_AVERAGE | GC_SAFE_MOVED, .digits = GC_DIGITS_OF_INTEGER_ROWS},
	[F_AVG_INT8] = {.over = GC_OVER_SUM, .flags = GC_IS_AVERAGE | GC_SAFE_MOVED, .digits = GC_DIGITS_OF_INTEGER_ROWS},
	[F_AVG_NUMERIC] = {.over = GC_OVER_SUM, .flags = GC_IS_AVERAGE, .digits = GC_DIGITS_OF_ROWS},
	[F_VAR_POP_INT2] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE},
	[F_VAR_POP_INT4] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE},
	[F_VAR_POP_INT8] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE},
	[F_VAR_POP_NUMERIC] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE},
	[F_VAR_SAMP_INT2] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE},
	[F_VAR_SAMP_INT4] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE},
	[F_VAR_SAMP_INT8] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE},
	[F_VAR_SAMP_NUMERIC] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE},
	[F_VARIANCE_INT2] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE},
	[F_VARIANCE_INT4] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE},
	[F_VARIANCE_INT8] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE},
	[F_VARIANCE_NUMERIC] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE},
	[F_STDDEV_POP_INT2] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_ROOT},
	[F_STDDEV_POP_INT4] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_ROOT},
	[F_STDDEV_POP_INT8] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_ROOT},
	[F_STDDEV_POP_NUMERIC] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_ROOT},
	[F_STDDEV_SAMP_INT2] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE | GC_IS_ROOT},
	[F_STDDEV_SAMP_INT4] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE | GC_IS_ROOT},
	[F_STDDEV_SAMP_INT8] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE | GC_IS_ROOT},
	[F_STDDEV_SAMP_NUMERIC] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE | GC_IS_ROOT},
	[F_STDDEV_INT2] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE | GC_IS_ROOT},
	[F_STDDEV_INT4] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE | GC_IS_ROOT},
	[F_STDDEV_INT8] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE | GC_IS_ROOT},
	[F_STDDEV_NUMERIC] = {.over = GC_OVER_SUM, .flags = GC_IS_VARIANCE | GC_IS_OF_SAMPLE | GC_IS_ROOT},
	[F_MIN_INT2] = {.over = GC_OVER_MIN},
	[F_MIN_INT4] = {.over = GC_OVER_MIN},
	[F_MIN_INT8] = {.over = GC_OVER_MIN},
	/* Which spelling of equal values it is depends on the order of rows. */
	[F_MIN_NUMERIC] = {.over = GC_OVER_MIN, .digits = GC_DIGITS_OF_ARGUMENT},
	[F_MIN_DATE] = {.over = GC_OVER_MIN},
	[F_MIN_TIMESTAMP] = {.over = GC_OVER_MIN},
	[F_MAX_INT2] = {.over = GC_OVER_MAX},
	[F_MAX_INT4] = {.over = GC_OVER_MAX},
	[F_MAX_INT8] = {.over = GC_OVER_MAX},
	[F_MAX_NUMERIC] = {.over = GC_OVER_MAX, .digits = GC_DIGITS_OF_ARGUMENT},
	[F_MAX_DATE] = {.over = GC_OVER_MAX},
	[F_MAX_TIMESTAMP] = {.over = GC_OVER_MAX},

	/* Window functions */
	[F_ROW_NUMBER] = {.over = GC_OVER_ROW_NUMBER},
	[F_RANK_] = {.over = GC_OVER_RANK},
	[F_DENSE_RANK_] = {.over = GC_OVER_DENSE_RANK},
	[F_PERCENT_RANK_] = {.over = GC_OVER_PERCENT_RANK},
	[F_CUME_DIST_] = {.over = GC_OVER_CUME_DIST},
	[F_NTILE] = {.over = GC_OVER_NTILE},
	[F_LAG_ANYELEMENT] = {.over = GC_OVER_LAG},
	[F_LAG_ANYELEMENT_INT4] = {.over = GC_OVER_LAG},
	[F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE] = {.over = GC_OVER_LAG},
	[F_LEAD_ANYELEMENT] = {.over = GC_OVER_LEAD},
	[F_LEAD_ANYELEMENT_INT4] = {.over = GC_OVER_LEAD},
	[F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE] = {.over = GC_OVER_LEAD},
	[F_FIRST_VALUE] = {.over = GC_OVER_FIRST},
	[F_LAST_VALUE] = {.over = GC_OVER_LAST},
	[F_NTH_VALUE] = {.over = GC_OVER_NTH},

	/* Others */
	[F_DOMAIN_IN] = {.flags = GC_IS_TOLD_CODE},
	[F_RECORD_IN] = {.flags = GC_IS_TOLD_CODE},
	[F_ARRAY_IN] = {.flags = GC_IS_TOLD_CODE},
	[F_RANGE_IN] = {.flags = GC_IS_TOLD_CODE},
	[F_MULTIRANGE_IN] = {.flags = GC_IS_TOLD_CODE},
#ifdef F_PG_INPUT_IS_VALID
	[F_PG_INPUT_IS_VALID] = {.flags = GC_IS_TOLD_CODE},
#endif
	[F_TABLE_TO_XML] = {.flags = GC_IS_TOLD_CODE},
	[F_TABLE_TO_XML_AND_XMLSCHEMA] = {.flags = GC_IS_TOLD_CODE},
	[F_SCHEMA_TO_XML] = {.flags = GC_IS_TOLD_CODE},
	[F_SCHEMA_TO_XML_AND_XMLSCHEMA] = {.flags = GC_IS_TOLD_CODE},
	[F_DATABASE_TO_XML] = {.flags = GC_IS_TOLD_CODE},
	[F_DATABASE_TO_XML_AND_XMLSCHEMA] = {.flags = GC_IS_TOLD_CODE},
#ifdef F_DATE_ADD_TIMESTAMPTZ_INTERVAL_TEXT
	[F_DATE_ADD_TIMESTAMPTZ_INTERVAL_TEXT] = {.flags = GC_SEES_ZONE},
	[F_DATE_SUBTRACT_TIMESTAMPTZ_INTERVAL_TEXT] = {.flags = GC_SEES_ZONE},
#endif
	[F_PG_COLUMN_SIZE] = {.flags = GC_SEES_STORAGE},
	[F_PG_COLUMN_COMPRESSION] = {.flags = GC_SEES_STORAGE},
#ifdef F_PG_COLUMN_TOAST_CHUNK_ID
	[F_PG_COLUMN_TOAST_CHUNK_ID] = {.flags = GC_SEES_STORAGE},
#endif
};

const GcBuiltin *
gc_builtin(Oid function)
{
	/* No function has Oid 0. */
	return &builtins[function < lengthof(builtins) ? function : InvalidOid];
}

/*
 * PostgreSQL's first_value() and its like take the row for its peers that EXCLUDE TIES leaves out of a frame.  Where
 * that frame does not have the row itself, they find NULL, or raise an error.
 */
GcOver
gc_window_over(const Query *query, const WindowFunc *func)
{
	const GcOver over = gc_builtin(func->winfnoid)->over;
	const int	frame = list_nth_node(WindowClause, query->windowClause, func->winref - 1)->frameOptions;
	const bool	in_frame = over == GC_OVER_FIRST || over == GC_OVER_LAST || over == GC_OVER_NTH;

	return in_frame && (frame & FRAMEOPTION_EXCLUDE_TIES) && (frame & FRAMEOPTION_ROWS) &&
		(frame & (FRAMEOPTION_START_OFFSET_FOLLOWING | FRAMEOPTION_END_OFFSET_PRECEDING)) ? GC_OVER_NONE : over;
}

const GcBuiltin *
gc_builtin_called(const Node *node, List **args)
{
	if (IsA(node, FuncExpr))
	{
		*args = ((const FuncExpr *) node)->args;
		return gc_builtin(((const FuncExpr *) node)->funcid);
	}
	if (IsA(node, OpExpr))
	{
		*args = ((const OpExpr *) node)->args;
		return gc_builtin(get_opcode(((const OpExpr *) node)->opno));
	}
	*args = NIL;
	return gc_builtin(InvalidOid);
}

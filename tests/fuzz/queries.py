"""queries.py: random expressions and queries of the fuzzer over its tables."""
import collections
import re

from tables import PLAIN_TYPES, SQL_TYPES, WORDS, Column


# ----------------------------------------------------------------------------
# Expressions
# ----------------------------------------------------------------------------

INTS = ("int2", "int4", "int8")
FLOATS = ("float4", "float8")


class Expressions:
    """Random expressions over the columns in scope."""

    def __init__(self, rng, scope):
        self.rng = rng
        self.scope = scope       # list of (alias, Column)
        self.params = None       # list to which parameters are appended, or None

    def columns(self, types, want=lambda c: True):
        return [(a, c) for a, c in self.scope if c.type in types and want(c)]

    def column(self, types, want=lambda c: True):
        found = self.columns(types, want)
        if not found:
            return None
        alias, column = self.rng.choice(found)
        return "%s.%s" % (alias, column.name)

    def constant(self, text, type_):
        """A constant, at times as a parameter of the prepared statement."""
        if self.params is not None and self.rng.random() < 0.3:
            value = "NULL" if self.rng.random() < 0.08 else text
            self.params.append((value, type_))
            return "$%d" % len(self.params)
        return text

    def any(self, depth):
        type_ = self.rng.choice(["int", "int", "numeric", "float", "date", "timestamp", "timestamptz", "text", "bool", "bpchar", *PLAIN_TYPES])
        return self.of(type_, depth), type_

    def of(self, type_, depth):
        return self.plain(type_, depth) if type_ in PLAIN_TYPES else getattr(self, "gen_" + type_)(depth)

    def plain(self, type_, depth):
        if depth > 0 and self.rng.random() < 0.2:
            return self.choice_of(type_, depth)
        found = self.column((type_,))
        if found and self.rng.random() < 0.85:
            return found
        return self.constant("'%s'::%s" % (self.rng.choice(PLAIN_TYPES[type_]), type_), type_)

    def choice_of(self, type_, depth):
        """Forms that every type has."""
        rng = self.rng
        a, b = self.of(type_, depth - 1), self.of(type_, depth - 1)
        form = rng.randint(0, 4)
        if form == 0:
            return "CASE WHEN %s THEN %s ELSE %s END" % (self.gen_bool(depth - 1), a, b)
        if form == 1:
            return "CASE WHEN %s THEN %s WHEN %s THEN %s END" % (
                self.gen_bool(depth - 1), a, self.gen_bool(depth - 2), b)
        if form == 2:
            return "COALESCE(%s, %s)" % (a, b)
        if form == 3:
            return "NULLIF(%s, %s)" % (a, b)
        if rng.random() < 0.5:
            return "%s(%s, %s)" % (rng.choice(["GREATEST", "LEAST"]), a, b)
        return "CASE %s WHEN %s THEN %s ELSE %s END" % (a, b, b, a)

    def gen_int(self, depth):
        rng = self.rng
        roll = rng.random()
        if depth <= 0 or roll < 0.35:
            # mostly columns that can be calculated with
            found = self.column(INTS, lambda c: c.small or rng.random() < 0.25)
            if found and rng.random() < 0.85:
                return found
            value = rng.choice([0, 1, 2, 3, 7, 10, -1, 100, rng.randint(-1000, 1000)])
            if rng.random() < 0.03:
                value = rng.choice([32767, -32768, 2147483647, -2147483648, 9223372036854775807])
            type_ = "int8" if abs(value) > 2**31 - 1 else rng.choice(["int4", "int4", "int4", "int8"])
            return self.constant("%d" % value if value >= 0 else "(%d)" % value, type_)
        if roll < 0.65:
            op = rng.choice(["+", "+", "-", "-", "*", "*", "/", "%"])
            right = self.gen_int(depth - 1)
            if op in "/%" and rng.random() < 0.8:
                right = rng.choice(["NULLIF(%s, 0)" % right, "%d" % rng.randint(1, 20), "(-1)",
                                    "(%s * 2 + 1)" % right])
            return "(%s %s %s)" % (self.gen_int(depth - 1), op, right)
        if roll < 0.72:
            return rng.choice(["(- %s)", "abs(%s)", "(+ %s)", "(@ %s)"]) % self.gen_int(depth - 1)
        if roll < 0.86:
            return self.choice_of("int", depth)
        if roll < 0.90:
            return "%s::%s" % (self.gen_int(depth - 1), rng.choice(["int4", "int8", "int8", "int2"]))
        form = rng.choice([0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 7, 7, 8])
        if form == 8:
            return "extract(%s FROM age(%s, %s))::int4" % (rng.choice(["year", "month", "day", "hour", "decade"]),
                                                           self.gen_timestamp(depth - 1), self.gen_timestamp(0))
        if form == 7:
            return self.tabulated()
        if form == 0:
            return "(%s - %s)" % (self.gen_date(0), self.gen_date(0))
        if form == 1:
            return "extract(%s FROM %s)::int4" % (rng.choice(["year", "month", "day", "dow", "quarter", "doy", "week"]),
                                                   self.gen_date(0))
        if form == 2:
            return "length(%s)" % self.gen_text(0)
        if form == 3:
            return "(%s)::int4" % self.gen_bool(depth - 1)
        if form == 4:
            return "(%s)::%s" % (self.gen_numeric(depth - 1), rng.choice(INTS))
        if form == 5:
            return "(%s)::%s" % (self.gen_float(depth - 1), rng.choice(INTS))
        return "(%s::int8 * %s)" % (self.gen_int(depth - 1), self.gen_int(depth - 1))

    def tabulated(self):
        """An expression that PostgreSQL computes of each value that a column may have: rather one of groups."""
        rng = self.rng
        type_ = rng.choice([("date",), ("int2", "int4")])
        column = self.column(type_, lambda c: c.name[0] == "k") if rng.random() < 0.8 else None
        column = column or self.column(type_)
        if column is None:
            return "7"
        return rng.choice(["extract(week FROM %s)::int4", "extract(isodow FROM %s)::int4"] if type_ == ("date",) else
                          ["length(%s::text)", "length(to_hex(%s::int4))"]) % column

    def gen_numeric(self, depth):
        rng = self.rng
        roll = rng.random()
        if depth <= 0 or roll < 0.4:
            found = self.column(("numeric",), lambda c: c.small or rng.random() < 0.4)
            if found and rng.random() < 0.85:
                return found
            return self.constant(rng.choice(["0.0", "1.0", "0.5", "1", "2.50", "-0.001", "100", "19.99", "1e3", "0"])
                                 + "::numeric", "numeric")
        if roll < 0.7:
            return "(%s %s %s)" % (self.gen_numeric(depth - 1), rng.choice(["+", "-", "*", "*"]),
                                    self.gen_numeric(depth - 1))
        if roll < 0.74:
            return rng.choice(["(- %s)", "abs(%s)"]) % self.gen_numeric(depth - 1)
        if roll < 0.78:
            return rng.choice(["(%s / nullif(%s, 0))", "(%s / (abs(%s) + 1))"]) % (self.gen_numeric(depth - 1), self.gen_numeric(depth - 1))
        if roll < 0.87:
            return self.choice_of("numeric", depth)
        if roll < 0.95:
            return "%s::numeric" % self.gen_int(depth - 1)
        if roll < 0.98:
            if rng.random() < 0.4:
                return rng.choice(["round(%s::numeric, 2)", "%s::numeric(30,3)", "trunc(%s::numeric, 1)"]) % self.gen_float(depth - 1)
            return "%s::numeric(%d,%d)" % ((self.gen_numeric(depth - 1),) + rng.choice([(20, 2), (10, 0), (30, 8), (6, 1)]))
        return rng.choice(["round(%s, 1)", "(%s / 3)", "(%s %% 7)", "trunc(%s)", "trunc(%s, 2)", "floor(%s)", "ceil(%s)", "sign(%s)",
                           "mod(%s, 0.3)"]) % self.gen_numeric(depth - 1)

    def gen_float(self, depth):
        rng = self.rng
        roll = rng.random()
        if depth <= 0 or roll < 0.45:
            found = self.column(FLOATS, lambda c: c.small or rng.random() < 0.4)
            if found and rng.random() < 0.85:
                return found
            return self.constant(rng.choice(["0.5", "-1.25", "100", "0", "'NaN'", "'-0'", "'Infinity'"]) + "::float8", "float8")
        if roll < 0.7:
            return "(%s %s %s)" % (self.gen_float(depth - 1), rng.choice(["+", "-", "*", "/"]), self.gen_float(depth - 1))
        if roll < 0.75:
            return rng.choice(["(- %s)", "abs(%s)"]) % self.gen_float(depth - 1)
        if roll < 0.88:
            return self.choice_of("float", depth)
        if roll < 0.94:
            return "%s::%s" % (self.gen_int(depth - 1), rng.choice(FLOATS))
        if roll < 0.96:
            return "%s::%s" % (self.gen_numeric(depth - 1), rng.choice(FLOATS))
        return rng.choice(["%s::float8", "%s::float4", "floor(%s)", "ceil(%s)", "trunc(%s)", "round(%s)", "sign(%s)", "sqrt(abs(%s))", "width_bucket(%s, -10, 10, 7)::float8"]) % self.gen_float(depth - 1)

    def gen_date(self, depth):
        rng = self.rng
        roll = rng.random()
        if depth <= 0 or roll < 0.5:
            found = self.column(("date",))
            if found and rng.random() < 0.85:
                return found
            return self.constant("date '%s'" % rng.choice(["1995-01-01", "1998-07-31", "2000-02-29", "infinity"]), "date")
        if roll < 0.7:
            return "(%s %s %s)" % (self.gen_date(depth - 1), rng.choice("+-"),
                                    rng.choice(["1", "30", "-400", self.gen_int(0)]))
        if roll < 0.85:
            return self.choice_of("date", depth)
        if roll < 0.93:
            return "(%s + interval '%s')::date" % (self.gen_date(0), rng.choice(["1 month", "90 days", "-1 year", "1 day 3 hours"]))
        return "%s::date" % self.gen_timestamp(depth - 1)

    def gen_timestamp(self, depth):
        rng = self.rng
        roll = rng.random()
        if depth <= 0 or roll < 0.55:
            found = self.column(("timestamp",))
            if found and rng.random() < 0.85:
                return found
            return self.constant("timestamp '%s'" % rng.choice(["1998-01-01", "1998-06-15 12:00:00", "-infinity"]), "timestamp")
        if roll < 0.7:
            return "%s::timestamp" % self.gen_date(depth - 1)
        if roll < 0.85:
            return self.choice_of("timestamp", depth)
        if roll < 0.88:
            return "(%s %s %s * interval '%s')" % (rng.choice([self.gen_date, self.gen_timestamp])(0), rng.choice("+-"),
                                                   self.column(("int2", "int4")) or "3", rng.choice(["1 day", "1 month", "90 minutes"]))
        if roll < 0.95:
            return "(%s %s interval '%s')" % (rng.choice([self.gen_date, self.gen_timestamp])(0), rng.choice("+-"),
                                              rng.choice(["1 month", "3 hours", "13 months 2 days"]))
        if roll < 0.97:
            return "date_bin('%s', %s, %s)" % (rng.choice(["1 day", "90 minutes", "7 days"]), self.gen_timestamp(depth - 1),
                                               rng.choice(["'1998-01-01'", "'2040-02-29 12:30'", self.gen_timestamp(0)]))
        return "date_trunc('%s', %s)" % (rng.choice(["month", "year", "hour", "week", "decade"]), self.gen_timestamp(depth - 1))

    def gen_timestamptz(self, depth):
        found = self.column(("timestamptz",))
        if depth > 1 and self.rng.random() < 0.2:
            return self.choice_of("timestamptz", depth)
        if found and self.rng.random() < 0.8:
            return found
        return self.constant("timestamptz '%s'" % self.rng.choice(["1998-03-01 00:00:00+00", "infinity"]), "timestamptz")

    def quoted(self):
        word = self.rng.choice(WORDS + ["same", "v1", "v17", "v2999"])
        return "'%s'" % word.replace("'", "''")

    def gen_text(self, depth):
        rng = self.rng
        roll = rng.random()
        found = self.column(("text",))
        if depth > 0 and roll < 0.03 and found:
            return rng.choice(["(%s || '/' || %s || %s)", "concat(%s, %s, '-', %s)", "concat_ws('-', %s, %s, %s)",
                               "concat_ws('', %s, upper(%s), %s)"]) % (found, self.column(("text",)), self.column(("text",)))
        number = self.column(("int2", "int4")) if depth > 0 and roll < 0.05 else None
        if number and found:
            return rng.choice(["left(%s, %s)", "right(%s, %s)", "substr(%s, %s)", "substr(%s, %s, 2)", "(%s || %s)",
                               "upper(concat(%s, '/', %s))", "concat_ws('-', %s, 'x', %s)", "(%s || (%s %% 7)::text)"]) % (found, number)
        if depth > 0 and roll < 0.08 and found:
            return rng.choice(["(%s || %s)", "concat(%s, %s)", "(%s || '-' || %s)", "concat_ws(',', %s, %s)", "replace(%s, %s, 'q')",
                               "split_part(%s, %s, 1)", "btrim(%s, %s)"]) % (found, self.column(("text",)))
        if depth <= 0 or roll < 0.6:
            if found and rng.random() < 0.9:
                return found
            return self.constant(self.quoted() + "::text", "text")
        if roll < 0.75 and found:
            return rng.choice(["upper(%s)", "lower(%s)", "substring(%s FROM 1 FOR 2)", "substr(%s, 2)", "(%s || 'x')",
                               "left(%s, 1)", "right(%s, 2)", "reverse(%s)", "ltrim(%s)", "replace(%s, 'a', 'b')"]) % found
        if roll < 0.9:
            return self.choice_of("text", depth)
        if roll < 0.94:
            return "%s::text" % self.gen_int(0)
        if roll < 0.97:
            return "to_char(%s, '%s')" % (self.column(("timestamp",)) or self.gen_date(0), rng.choice(["YYYY-MM", "Dy", "DD/MM/YYYY"]))
        return "(%s || %s)" % (self.gen_text(0), self.gen_text(0))

    def gen_bpchar(self, depth):
        found = self.column(("bpchar",))
        if found and self.rng.random() < 0.9:
            return found
        return self.constant(self.rng.choice(["'a'", "'a  '", "''", "'zz'", "'é'"]) + "::char(5)", "bpchar")

    def gen_bool(self, depth):
        rng = self.rng
        roll = rng.random()
        if roll < 0.05 and self.column(("bool",)):
            return self.column(("bool",))
        if depth > 0 and roll < 0.25:
            return "(%s %s %s)" % (self.gen_bool(depth - 1), rng.choice(["AND", "OR"]), self.gen_bool(depth - 1))
        if depth > 0 and roll < 0.31:
            return "(NOT %s)" % self.gen_bool(depth - 1)
        if depth > 0 and roll < 0.35:
            return "((%s) IS %s)" % (self.gen_bool(depth - 1), rng.choice(
                ["TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "UNKNOWN", "NOT UNKNOWN"]))
        if roll < 0.36 and depth < 2:
            return rng.choice(["true", "false", "NULL::bool"])
        if depth > 1 and roll < 0.41:
            return self.choice_of("bool", depth) if rng.random() < 0.6 else "(%s = %s)" % (
                self.gen_bool(depth - 2), self.gen_bool(depth - 2))
        if roll < 0.55 and self.column(("text",)):
            text = self.column(("text",))
            return rng.choice([
                "%s LIKE '%%a%%'", "%s NOT LIKE 'v1%%'", "%s ILIKE 'A%%'", "%s ~ '^v[0-9]*5$'", "%s !~ 'a'", "%s LIKE 'x\\_%%'",
                "%s < 'm'", "%s >= 'b'", "length(%s) > 2", "%s <> ''", "%s LIKE ''", "%s ~* 'ä'",
                "%s BETWEEN 'a' AND 'v2'", "starts_with(%s, 'v')"]) % text
        type_ = rng.choice(["int", "int", "int", "numeric", "float", "date", "timestamp", "timestamptz", "text", "bpchar", *PLAIN_TYPES])
        a = self.of(type_, depth - 1)
        if "." not in a:
            # mostly not of constants alone
            a = self.column((type_,) if type_ not in ("int", "float") else INTS if type_ == "int" else FLOATS) or a
        form = rng.random()
        if form < 0.5:
            ops = ["=", "<>", "<", "<=", ">", ">="]
            if type_ == "text" and rng.random() < 0.6:
                ops = ["=", "<>"]
            return "(%s %s %s)" % (a, rng.choice(ops), self.of(type_, depth - 1))
        if form < 0.62:
            return "(%s IS %sNULL)" % (a, rng.choice(["", "NOT "]))
        if form < 0.72:
            return "(%s IS %sDISTINCT FROM %s)" % (a, rng.choice(["", "NOT "]), self.of(type_, depth - 1))
        if form < 0.82 and type_ not in ("text", "bpchar"):
            return "(%s %sBETWEEN %s AND %s)" % (a, rng.choice(["", "NOT "]), self.of(type_, 0), self.of(type_, 0))
        if type_ == "date" and rng.random() < 0.3:
            return "(%s %s %s)" % (a, rng.choice(["=", "<", ">="]), self.gen_timestamp(0))
        return "(%s %sIN (%s))" % (a, rng.choice(["", "NOT "]), self.literals(type_))

    def literals(self, type_):
        rng = self.rng
        n = rng.choice([1, 2, 3, 3, 10, 40])
        make = {
            "int": lambda: str(rng.randint(-20, 40)),
            "numeric": lambda: rng.choice(["0.5", "1.00", "-2.25", "100", "3.1"]),
            "float": lambda: rng.choice(["0.5", "1.25", "-2", "100"]),
            "date": lambda: "date '199%d-0%d-1%d'" % (rng.randint(5, 9), rng.randint(1, 9), rng.randint(0, 9)),
            "timestamp": lambda: "timestamp '1998-0%d-11 1%d:00'" % (rng.randint(1, 9), rng.randint(0, 9)),
            "timestamptz": lambda: "timestamptz '1998-0%d-11 1%d:00+00'" % (rng.randint(1, 9), rng.randint(0, 9)),
            "text": self.quoted,
            **{t: lambda t=t: "'%s'::%s" % (rng.choice(PLAIN_TYPES[t]), t) for t in PLAIN_TYPES},
            "bpchar": lambda: rng.choice(["'a'", "'zz  '", "''"]),
        }[type_]
        values = [make() for _ in range(n)]
        if rng.random() < 0.1:
            values.append("NULL")
        return ", ".join(values)


# ----------------------------------------------------------------------------
# Queries
# ----------------------------------------------------------------------------

# How an output column is compared.
EXACT, TOLERANT, ZERO_SIGN, VALUE = "exact", "tolerant", "zero sign", "value"

# Joins of which nothing but the outer side's rows is left.
TESTS = ("EXISTS", "NOT EXISTS")

Relation = collections.namedtuple("Relation", "alias text columns")


class Query:
    """Parts of a query, so that it can be reduced."""

    def __init__(self):
        self.relations = []      # (Relation, [join conditions])
        self.kinds = {}          # by alias: how it is joined, if not by JOIN
        self.where = []
        self.keys = []           # group keys
        self.sets = "%s"         # GROUP BY in terms of them: ROLLUP (%s), say
        self.distinct = ""
        self.outputs = []        # (text, how to compare)
        self.having = []
        self.params = []         # (value, type)
        self.prefix = ""         # WITH
        self.suffix = ""         # ORDER BY, LIMIT
        self.grouped = False
        self.comma = False       # joins in WHERE
        self.mode = "auto"

    def body(self):
        where = list(self.where)
        joined = [(r, on) for r, on in self.relations if self.kinds.get(r.alias) not in TESTS]
        if self.comma and not self.kinds:
            tables = ", ".join(r.text for r, _ in joined)
            where = [c for _, on in joined for c in on] + where
        else:
            tables = joined[0][0].text
            where = list(joined[0][1]) + where
            for relation, on in joined[1:]:
                tables += " %s %s ON %s" % (self.kinds.get(relation.alias, "JOIN"), relation.text, " AND ".join(on) or "true")
        for relation, on in self.relations:
            if self.kinds.get(relation.alias) in TESTS:
                where.append("%s (SELECT FROM %s WHERE %s)" % (self.kinds[relation.alias], relation.text, " AND ".join(on) or "true"))
        text = "%sSELECT %s%s FROM %s" % (self.prefix, self.distinct, ", ".join(o for o, _ in self.outputs), tables)
        if where:
            text += " WHERE " + " AND ".join(where)
        if self.keys:
            text += " GROUP BY " + self.sets % ", ".join(self.keys)
        if self.having:
            text += " HAVING " + " AND ".join(self.having)
        return text + self.suffix

    def in_any_order(self):
        """The query, compared as if its rows came in no order: which of equal numbers a group shows, 0.0 or 0.00, depends on it."""
        def how(text, how):
            picked = self.distinct or text in self.keys or text.startswith(("min(", "max("))
            return VALUE if how is EXACT and picked and not re.fullmatch(r"\w+\.\w+", text) else how
        self.outputs = [(text, how(text, h)) for text, h in self.outputs]
        return self

    def conditions(self):
        return len(self.where) + sum(len(on) for _, on in self.relations)

    def statements(self):
        """Statements to run before, the query, statements to run after."""
        if not self.params:
            return [], self.body() + ";", []
        types = ", ".join(SQL_TYPES[t] for _, t in self.params)
        values = ", ".join("NULL" if v == "NULL" else v for v, _ in self.params)
        return (["SET plan_cache_mode = %s;" % self.mode, "PREPARE fuzz (%s) AS %s;" % (types, self.body())],
                "EXECUTE fuzz (%s);" % values, ["DEALLOCATE fuzz;", "RESET plan_cache_mode;"])

    def __str__(self):
        before, query, _ = self.statements()
        return "\n".join(before + [query])

    def compare(self):
        return [how for _, how in self.outputs]

    def copy(self):
        other = Query()
        other.__dict__.update({k: list(v) if isinstance(v, list) else v for k, v in self.__dict__.items()})
        return other

    def variants(self):
        """Smaller queries, biggest steps first."""
        for name in ("outputs", "where", "having"):
            parts = getattr(self, name)
            if len(parts) > (1 if name == "outputs" else 0):
                for i in range(len(parts)):
                    smaller = self.copy()
                    del getattr(smaller, name)[i]
                    yield smaller
        for i in range(len(self.keys)):
            smaller = self.copy()
            key = smaller.keys.pop(i)
            smaller.outputs = [o for o in smaller.outputs if o[0] != key] or [("count(*)", EXACT)]
            yield smaller
        for i, (relation, on) in enumerate(self.relations):
            for j in range(len(on)):
                if i > 0 and len(on) == 1:
                    continue
                smaller = self.copy()
                smaller.relations[i] = (relation, on[:j] + on[j + 1:])
                yield smaller
        for i in range(len(self.relations)):
            if len(self.relations) == 1:
                break
            smaller = self.copy()
            gone = smaller.relations.pop(i)[0].alias + "."
            if smaller.relations[0][0].alias in smaller.kinds:
                continue
            smaller.relations = [(r, [c for c in on if gone not in c]) for r, on in smaller.relations]
            smaller.where = [w for w in smaller.where if gone not in w]
            smaller.having = [w for w in smaller.having if gone not in w]
            smaller.keys = [k for k in smaller.keys if gone not in k]
            smaller.outputs = [o for o in smaller.outputs if gone not in o[0]]
            if smaller.outputs:
                yield smaller
        if self.suffix:
            smaller = self.copy()
            smaller.suffix = ""
            yield smaller


def kind_of(column):
    if column.type in INTS:
        return "int"
    if column.type in FLOATS:
        return "float"
    return column.type


class Generator:
    def __init__(self, rng, tables, unions=0.05):
        self.rng, self.tables, self.unions = rng, tables, unions

    def relation(self, alias, first):
        """A table, now and then some other source of rows."""
        rng = self.rng
        table = rng.choice([t for t in self.tables if not first or t.rows >= 100 or rng.random() < 0.1])
        roll = rng.random()
        if roll > 1 - self.unions:
            return self.union(alias), ""
        if roll > (0.9 if first else 0.82):
            return self.groups(alias, table, 1), ""
        if first or roll < 0.75:
            return Relation(alias, "%s AS %s" % (table.name, alias), table.columns), ""
        form = rng.randint(0, 4)
        name = rng.choice(table.columns)
        key = Column("k", name.type, name.sql_type)
        key.small, key.tame = name.small, name.tame
        if form == 0:
            number = Column("k", "int4", "int4")
            return Relation(alias, "generate_series(%d, %d) AS %s(k)" % (rng.randint(-5, 5), rng.randint(0, 50), alias),
                            [number]), ""
        if form == 1:
            number, word = Column("k", "int4", "int4"), Column("w", "text", "text")
            values = ", ".join("(%s, '%s')" % (rng.choice(["NULL"] + [str(i) for i in range(-3, 20)]), rng.choice(["a", "ab", "v1"]))
                               for _ in range(rng.randint(1, 12)))
            return Relation(alias, "(VALUES %s) AS %s(k, w)" % (values, alias), [number, word]), ""
        if form == 2:
            count = Column("n", "int8", "int8")
            return Relation(alias, "(SELECT %s AS k, count(*) AS n FROM %s GROUP BY %s) AS %s" % (
                name.name, table.name, name.name, alias), [key, count]), ""
        if form == 3:
            return Relation(alias, "(SELECT %s AS k FROM %s ORDER BY %s LIMIT 50) AS %s" % (
                name.name, table.name, ", ".join(c.name for c in [name] + table.columns), alias), [key]), ""
        cte = "cte_" + alias
        return (Relation(alias, "%s AS %s" % (cte, alias), [key]),
                "WITH %s AS MATERIALIZED (SELECT %s AS k FROM %s) " % (cte, name.name, table.name))

    def groups(self, alias, table, depth):
        """A grouped subquery: of a table or of another one; or of all rows; or DISTINCT."""
        rng = self.rng
        inner = Relation("i", "%s AS i" % table.name, table.columns)
        if depth > 0 and rng.random() < 0.25:
            inner = self.groups("i", table, depth - 1)
        ex = Expressions(rng, [("i", c) for c in inner.columns])
        kinds = ("int2", "int4", "int8", "date", "text", "numeric", "timestamp")
        found = [c for c in inner.columns if c.type in kinds and (c.name != "pk" or rng.random() < 0.5)]
        keys = rng.sample(found, min(len(found), rng.choice([0, 1, 1, 1, 1, 2, 2, 3])))
        columns, texts = [], []
        for n, c in enumerate(keys):
            columns.append(Column("k%d" % n, c.type, c.sql_type))
            columns[-1].small, columns[-1].tame = c.small, c.tame
            texts.append("i.%s AS k%d" % (c.name, n))
        distinct = keys and rng.random() < 0.15
        for n in range(0 if distinct else rng.randint(0 if keys else 1, 3)):
            text, type_ = self.inner_aggregate(ex)
            if rng.random() < 0.15:
                text += " FILTER (WHERE %s)" % ex.gen_bool(0)
            columns.append(Column("a%d" % n, type_, type_))
            columns[-1].small = False
            texts.append("%s AS a%d" % (text, n))
        where = " WHERE %s" % ex.gen_bool(rng.choice([0, 1])) if rng.random() < 0.4 else ""
        group = " GROUP BY %s" % ", ".join("i.%s" % c.name for c in keys) if keys and not distinct else ""
        having = " HAVING %s" % self.having(ex) if not distinct and rng.random() < 0.2 else ""
        return Relation(alias, "(SELECT %s%s FROM %s%s%s%s) AS %s" % (
            "DISTINCT " if distinct else "", ", ".join(texts), inner.text, where, group, having, alias), columns)

    def union(self, alias):
        """UNION ALL of tables, joins and grouped subqueries; other set operations where equal values have one spelling."""
        rng = self.rng
        types = ["int4"] + [rng.choice(["int4", "int8", "numeric", "date", "text", "float8"]) for _ in range(rng.randint(0, 3))]
        arms = []
        for _ in range(rng.choice([2, 2, 3, 4])):
            table, other = rng.choice(self.tables), rng.choice(self.tables)
            inner = self.groups("i", table, 0) if rng.random() < 0.3 else Relation("i", "%s AS i" % table.name, table.columns)
            scope, text = [("i", c) for c in inner.columns], inner.text
            joined = Relation("j", "%s AS j" % other.name, other.columns)
            on = self.join_condition(scope, joined) if rng.random() < 0.7 else None
            if on and "pk" in on:
                text += " %s %s ON %s" % (rng.choice(["JOIN", "JOIN", "JOIN", "LEFT JOIN", "FULL JOIN"]), joined.text, on)
                scope = scope + [("j", c) for c in joined.columns]
            ex = Expressions(rng, scope)
            outputs = ", ".join("%s AS c%d" % (ex.column((t,)) or "NULL::%s" % t, n) for n, t in enumerate(types))
            where = " WHERE %s" % ex.gen_bool(rng.choice([0, 1])) if rng.random() < 0.5 else ""
            arms.append("SELECT %s FROM %s%s" % (outputs, text, where))
        columns = [Column("c%d" % n, t, t) for n, t in enumerate(types)]
        for column in columns:
            column.small = False
        exact = not set(types) & {"numeric", "float8"}
        words = [rng.choice(["UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]) if exact else "UNION ALL" for _ in arms[1:]]
        text = arms[0] + "".join(" %s %s" % pair for pair in zip(words, arms[1:]))
        return Relation(alias, "(%s) AS %s" % (text, alias), columns)

    def inner_aggregate(self, ex):
        """(text, type) of an aggregate that has the same value in whatever order rows come."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.25:
            return rng.choice(["count(*)", "count(%s)" % ex.any(0)[0]]), "int8"
        if roll < 0.6:
            type_ = rng.choice(["int2", "int4", "int8", "numeric"])
            arg = ex.column((type_,), lambda c: c.small or rng.random() < 0.3)
            if arg:
                fn = rng.choice(["sum", "sum", "avg"])
                return "%s(%s)" % (fn, arg), "int8" if fn == "sum" and type_ in ("int2", "int4") else "numeric"
        type_ = rng.choice(["int4", "int8", "numeric", "date", "timestamp", "text"])
        arg = ex.column((type_,))
        return ("%s(%s)" % (rng.choice(["min", "max"]), arg), type_) if arg else ("count(*)", "int8")

    def having(self, ex):
        rng = self.rng
        number = ex.column(INTS + ("numeric",)) or "1"
        return rng.choice(["count(*) > %d" % rng.randint(0, 20), "min(%s) IS NOT NULL" % ex.any(0)[0], "sum(%s) > 0" % ex.gen_int(0),
                           "NOT (max(%s) < 5)" % ex.gen_int(0), "avg(%s) > %d" % (number, rng.randint(-5, 20)),
                           "sum(%s) %% 3 = 1" % number, "max(%s)::text LIKE '%%1%%'" % number,
                           "avg(%s) <= max(%s)" % (number, ex.column(("numeric",)) or "0.5"), "count(DISTINCT %s) > 1" % number])

    def order(self, query):
        """The first few: in an order that is total, since equal rows are the same."""
        rng = self.rng
        columns = list(range(1, len(query.outputs) + 1))
        rng.shuffle(columns)
        text = ", ".join("%d%s%s" % (c, rng.choice(["", " DESC"]), rng.choice(["", "", " NULLS FIRST", " NULLS LAST"])) for c in columns)
        return " ORDER BY %s LIMIT %d%s" % (text, rng.choice([0, 1, 2, 7, 33, 1000]), rng.choice(["", "", " OFFSET 3"]))

    def carried(self, query, scope):
        """Columns of the first few rows, in an order that all relations' keys make total; False if one has none."""
        rng = self.rng
        keys = ["%s.pk" % alias for alias, column in scope if column.name == "pk"]
        columns = ["%s.%s" % (alias, column.name) for alias, column in scope]
        if len(keys) < len({alias for alias, _ in scope}):
            return False
        query.outputs = [(c, EXACT) for c in rng.sample(columns, rng.randint(1, min(len(columns), 12)))]
        order = rng.sample(columns, min(len(columns), rng.choice([0, 1, 1, 2]))) + keys
        query.suffix = " ORDER BY %s LIMIT %d%s" % (
            ", ".join("%s%s%s" % (c, rng.choice(["", " DESC"]), rng.choice(["", " NULLS FIRST", " NULLS LAST"])) for c in order),
            rng.choice([1, 3, 20, 100]), rng.choice(["", "", " OFFSET 5"]))
        return True

    def join_condition(self, scope, relation):
        """An equality of a column of relation with one in scope, or None."""
        rng = self.rng
        pairs = []
        for column in relation.columns:
            for alias, other in scope:
                same = kind_of(column) == kind_of(other)
                dates = {column.type, other.type} == {"date", "timestamp"}
                if (same and column.type not in FLOATS + ("bool",)) or dates:
                    weight = 4 if column.name == "pk" or other.name == "pk" else 1
                    pairs += [("%s.%s" % (alias, other.name), "%s.%s" % (relation.alias, column.name))] * weight
        if not pairs:
            return None
        a, b = rng.choice(pairs)
        if rng.random() < 0.05:
            return "%s = %s + 0" % (b, a) if "pk" in a else "%s = %s" % (b, a)
        return "%s = %s" % ((a, b) if rng.random() < 0.5 else (b, a))

    def from_clause(self, query):
        rng = self.rng
        scope = []
        count = rng.choice([1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5])
        fanout = 1
        for n in range(count):
            relation, prefix = self.relation("r%d" % n, n == 0)
            on = []
            if n > 0:
                condition = self.join_condition(scope, relation)
                if condition is None:
                    continue
                on.append(condition)
                if rng.random() < 0.25:
                    more = self.join_condition(scope, relation)
                    if more and more != condition:
                        on.append(more)
                kind = rng.choice(["JOIN"] * 6 + ["LEFT JOIN"] * 3 + ["FULL JOIN"] * 2 + list(TESTS) * 2)
                if rng.random() < (0.05 if kind == "JOIN" else 0.25):
                    on.append(Expressions(rng, scope + [(relation.alias, c) for c in relation.columns]).gen_bool(1))
                if "pk" not in condition and kind not in TESTS:
                    fanout += 1
                if fanout > 2:
                    continue
            if query.prefix and prefix:
                prefix = ", " + prefix[len("WITH "):]
                query.prefix = query.prefix.rstrip() + prefix
            else:
                query.prefix += prefix
            query.relations.append((relation, on))
            if n > 0 and kind != "JOIN":
                query.kinds = dict(query.kinds, **{relation.alias: kind})
            if n == 0 or kind not in TESTS:
                scope += [(relation.alias, c) for c in relation.columns]
        query.comma = rng.random() < 0.5
        return scope

    def aggregate(self, ex):
        """(text, how to compare)"""
        rng = self.rng
        roll = rng.random()
        how = EXACT
        if roll < 0.2:
            text = "count(*)"
        elif roll < 0.3:
            text = "count(%s)" % ex.any(1)[0]
        elif roll < 0.62:
            fn = rng.choice(["sum", "sum", "avg"])
            type_ = rng.choice(["int", "int", "numeric", "numeric", "float"])
            if type_ == "float":
                arg = ex.column(FLOATS, lambda c: c.tame) or "0.5::float8"
                if rng.random() < 0.5:
                    arg = "(%s %s %s)" % (arg, rng.choice("+-*"), ex.column(FLOATS, lambda c: c.tame) or "2")
                how = TOLERANT
            elif rng.random() < 0.08 and ex.column(("money",)):
                fn, arg = "sum", ex.column(("money",))
            elif rng.random() < 0.06:
                arg = "(%s - %s)" % (ex.of("timestamp", 0), ex.of("timestamp", rng.randint(0, 1)))
            else:
                arg = ex.of(type_, rng.randint(0, 2))
            text = "%s(%s)" % (fn, arg)
        elif roll < 0.88:
            fn = rng.choice(["min", "max"])
            type_ = rng.choice(["int", "numeric", "float", "date", "timestamp", "timestamptz", "text", "bpchar", "fuzz_enum", "oid", "time", "money", "timetz", "pg_lsn"])
            arg = ex.of(type_, rng.randint(0, 1))
            if "." not in arg and rng.random() < 0.9:
                arg = ex.column(("text", "int4", "date", "int8"))
            text = "%s(%s)" % (fn, arg or "1")
            if type_ == "float":
                how = ZERO_SIGN
        else:
            text, how = self.rarer_aggregate(ex)
        if rng.random() < 0.2:
            text += " FILTER (WHERE %s)" % ex.gen_bool(1)
        if how is EXACT and rng.random() < 0.15 and text.startswith("count"):
            text = "%s %s" % (text, rng.choice(["+ 1", "* 2", "> 10"]))
        return text, how

    def rarer_aggregate(self, ex):
        """Bits, booleans, variances, regressions, DISTINCT."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.35:
            arg = ex.column(INTS) if rng.random() < 0.5 else ex.any(1)[0] if rng.random() < 0.3 else \
                ex.column(("text", "int4", "date", "numeric", "bool", "float4", "float8"))
            return "%s(DISTINCT %s)" % ("count", arg or "1"), EXACT
        if roll < 0.45:
            return "%s(DISTINCT %s)" % (rng.choice(["sum", "avg", "stddev"]), ex.column(INTS) or "1"), EXACT
        if roll < 0.55:
            return "%s(%s)" % (rng.choice(["bool_and", "bool_or", "every"]), ex.gen_bool(1)), EXACT
        if roll < 0.65:
            return "%s(%s)" % (rng.choice(["bit_and", "bit_or", "bit_xor"]), ex.column(INTS) or ex.gen_int(1)), EXACT
        if roll < 0.75:
            tame = [ex.column(FLOATS, lambda c: c.tame) or ex.column(INTS) or "1" for _ in range(2)]
            return "regr_count(%s, %s)" % tuple(tame), EXACT
        if roll < 0.85:
            tame = [ex.column(FLOATS, lambda c: c.tame) or "0.5::float8" for _ in range(2)]
            return "%s(%s, %s)" % (rng.choice(["regr_avgx", "regr_avgy"]), *tame), TOLERANT
        name = rng.choice(["var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev"])
        return "%s(%s)" % (name, ex.of(rng.choice(["int", "numeric"]), rng.randint(0, 1))), EXACT

    def query(self):
        rng = self.rng
        query = Query()
        scope = self.from_clause(query)
        ex = Expressions(rng, scope)
        if rng.random() < 0.25:
            ex.params = query.params
            query.mode = rng.choice(["auto", "force_generic_plan", "force_custom_plan"])
        for _ in range(rng.choice([0, 0, 1, 1, 1, 2, 3])):
            query.where.append(ex.gen_bool(rng.choice([0, 1, 1, 2, 3])))
        form = rng.random()
        if form < 0.08 and self.carried(query, scope):
            return query
        if form < 0.25 and all("pk" in on[0] for _, on in query.relations[1:]):
            # plain rows
            for _ in range(rng.randint(1, 5)):
                query.outputs.append((ex.any(rng.choice([0, 0, 0, 1, 2]))[0], EXACT))
            if rng.random() < 0.3:
                # not of floats: which of 0 and -0 is there depends on the plan
                query.distinct = "DISTINCT "
                query.outputs = [(ex.of(rng.choice(["int", "date", "text", "bool", "numeric", "timestamp"]), rng.choice([0, 0, 1])), EXACT)
                                 for _ in query.outputs]
            while len(query.where) < 2:
                query.where.append(ex.gen_bool(1))
            if rng.random() < 0.1:
                query.suffix = " ORDER BY %s LIMIT %d" % (", ".join(str(i + 1) for i in range(len(query.outputs))),
                                                        rng.choice([0, 1, 10]))
            return query
        query.grouped = form < 0.75
        if query.grouped:
            for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5])):
                key = None
                if rng.random() < 0.7:
                    key = ex.column(("int2", "int4", "int8", "date", "text", "bool", "numeric", "timestamp", "timestamptz", "bpchar", *PLAIN_TYPES),
                                    lambda c: c.name != "pk" or rng.random() < 0.2)
                params, ex.params = ex.params, None
                key = key or ex.of(rng.choice(["int", "int", "date", "text", "bool", "numeric", "timestamp"]), 1)
                ex.params = params
                if key.strip("(-)").isdigit() or key in query.keys:
                    continue
                query.keys.append(key)
                if rng.random() < 0.9:
                    query.outputs.append((key, EXACT))
            if query.keys and rng.random() < 0.2:
                query.sets = rng.choice(["ROLLUP (%s)", "CUBE (%s)", "GROUPING SETS ((%s), ())", "GROUPING SETS (%s)"])
        for _ in range(rng.randint(0 if query.outputs else 1, 4)):
            query.outputs.append(self.aggregate(ex))
        if any(c.name[0] == "k" and c.name[1:].isdigit() for _, c in scope) and rng.random() < 0.3:
            query.outputs.append(("sum(%s)" % ex.tabulated(), EXACT))
        if rng.random() < 0.2:
            query.having.append(self.having(ex))
        # PostgreSQL sorts grouping sets by no key that it finds to be a constant, such as COALESCE(3, x)
        plain = query.sets == "%s" or all(re.fullmatch(r"\w+\.\w+", key) for key in query.keys)
        if rng.random() < 0.15 and plain and not any(how is not EXACT for _, how in query.outputs):
            query.suffix = self.order(query)
        return query

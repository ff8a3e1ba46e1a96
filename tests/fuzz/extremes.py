"""extremes.py: tables of extreme values, and statements about them that other parts of the fuzzer lack.

Values are numerics of many scales and of more than thirty digits, int8 at both ends and infinite dates.  Keys are
mostly NULL, and texts in collations of ICU, one of which is not deterministic.

Windows have every frame and several orders, and stand over each other and over grouping sets.  Joins and conditions
read standard deviations.  Others are LATERAL, CTEs that are read twice, set operations, DISTINCT ON and ordered-set
aggregates.  Each is asked alone, with parameters of all types, in PL/pgSQL, by a cursor, or in a transaction.  That has
changed the tables, and taken some of it back.

Values that are equal and not the same (0.5 and 0.50, 'a' and 'A') are given as one of them.
"""
from cases import Case, cursor_case
from leaves import quote
from tables import literal_copy
from world import null_some

COLLATIONS = """
CREATE COLLATION fuzz_icu (provider = icu, locale = 'de-u-kn-true');
CREATE COLLATION fuzz_nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
"""
TYPES = {"id": "int4 PRIMARY KEY", "k": "int4", "m": "int2", "b": "int8", "n": "numeric", "w": "numeric", "d": "date", "s": "timestamp",
         "c": 'text COLLATE "C"', "i": "text COLLATE fuzz_icu", "o": "text COLLATE fuzz_nocase", "f": "float8"}
CASTS = {"k": "int4", "m": "int2", "b": "int8", "n": "numeric", "w": "numeric", "d": "date", "s": "timestamp", "c": "text", "i": "text", "o": "text", "f": "float8"}
WORDS = ["", "a", "A", "b", "a10", "a9", "A9", "Äpfel", "äpfel", "z", "ß", "SS", "ss", "日本", "long" * 20, " a", "a "]
VALUES = {
    "k": ["1", "2", "3", "7"],
    "m": ["-32768", "32767", "0", "-1", "5"],
    "b": ["-9223372036854775808", "9223372036854775807", "0", "-1", "1", "4611686018427387904", "12", "100"],
    "n": ["0", "0.0", "0.50", "0.5", "-0.0000000001", "1.1234567891", "12345678.9", "100", "1e2", "-7.25", "3", "3.000"],
    "w": ["1234567890123456789012345678901234567890.12", "-1234567890123456789012345678901234567890.12", "0", "1e35", "-0.00000000000000000000000000000001",
          "99999999999999999999999999999999999999", "1.5", "-2"],
    "d": ["infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "1999-12-31", "2000-01-01", "2000-02-29", "2000-03-01"],
    "s": ["infinity", "-infinity", "294276-12-31 23:59:59.999999", "2000-01-01 00:00:00", "2000-01-01 00:00:00.000001", "1999-12-31 23:59:59.999999"],
    "c": WORDS, "i": WORDS, "o": WORDS,
    "f": ["NaN", "Infinity", "-Infinity", "-0", "0", "1.5", "1e300", "-1e-300"],
}
SUMMED = ("k", "m", "b", "n", "w")


def shown(text, column):
    """What equal values have in common."""
    return {"n": "trim_scale(%s)", "w": "trim_scale(%s)", "o": 'lower(%s COLLATE fuzz_icu)', "f": "(%s + 0.0::float8)"}.get(column, "%s") % text


def make_rows(rng, name, rows):
    """COPY of rows of which some columns are mostly empty, and some hold only a few of the values."""
    hole = {c: rng.choice([0, 0, 0.1, 0.5, 0.9]) for c in VALUES}
    kept = {c: rng.sample(v, rng.randint(1, len(v))) for c, v in VALUES.items()}
    # without what has no 128 bits, the device sums it
    kept["w"] = kept["w"] if rng.random() < 0.5 else ["1.5", "-2", "123456789012345678.123456", "-0.000000000001"]
    lines = ["\t".join([str(i)] + [literal_copy(null_some(rng, rng.choice(kept[c]), hole[c])) for c in VALUES]) + "\n" for i in range(rows)]
    return "COPY %s FROM stdin;\n%s\\.\n" % (name, "".join(lines))


def make_extremes(rng):
    """Statements that make x0, x1, x2 and the partitioned xp."""
    columns = ", ".join("%s %s" % pair for pair in TYPES.items())
    yield COLLATIONS
    for name, sizes in (("x0", [700, 2000]), ("x1", [33, 300]), ("x2", [0, 1, 31])):
        yield "CREATE TABLE %s (%s) WITH (autovacuum_enabled = off);" % (name, columns)
        yield make_rows(rng, name, rng.choice(sizes))
    yield "CREATE TABLE xp (%s) PARTITION BY RANGE (id);" % columns
    for n, bound in enumerate(("FROM (MINVALUE) TO (100)", "FROM (100) TO (500)", "FROM (500) TO (MAXVALUE)")):
        yield "CREATE TABLE xp_%d PARTITION OF xp FOR VALUES %s WITH (autovacuum_enabled = off);" % (n, bound)
    yield make_rows(rng, "xp", 800)
    yield "VACUUM (FREEZE, ANALYZE) x0, x2, xp_0, xp_1; ANALYZE x1, xp;"


class Asked(Case):
    """Executed with changing parameters, prepared or as a function's query."""

    kind = "parameters of all types"

    def __init__(self, text, tags, types, values, function, plan_cache):
        Case.__init__(self, text, tags)
        self.types, self.values, self.function, self.plan_cache = types, values, function, plan_cache

    def before(self):
        types = "(%s)" % ", ".join(self.types)
        if not self.function:
            return ["SET plan_cache_mode = %s;" % self.plan_cache, "PREPARE fuzz%s AS %s;" % (types if self.types else "", self.text)]
        return ["SET plan_cache_mode = %s;" % self.plan_cache,
                "CREATE FUNCTION pg_temp.fuzz%s RETURNS SETOF text LANGUAGE plpgsql AS $f$ DECLARE answer record; BEGIN FOR answer IN %s LOOP RETURN NEXT answer::text; "
                "END LOOP; END $f$;" % (types, self.text)]

    def steps(self):
        return [("SELECT * FROM pg_temp.fuzz(%s);" if self.function else "EXECUTE fuzz(%s);" if self.types else "EXECUTE fuzz;%s") % ", ".join(v) for v in self.values]

    def after(self):
        return ["DROP FUNCTION pg_temp.fuzz;" if self.function else "DEALLOCATE fuzz;", "RESET plan_cache_mode;"]


class Changed(Case):
    """Asked in a transaction that changes the tables: after each change, and after some were taken back."""

    kind = "own changes"

    def __init__(self, text, tags, changes):
        Case.__init__(self, text, tags)
        self.changes = changes

    def before(self):
        return ["BEGIN;", self.changes[0]]

    def steps(self):
        first, second, third = self.changes
        query = self.text + ";"
        return [query, "SAVEPOINT a;", second, query, "ROLLBACK TO a;", query,
                "DO $d$ BEGIN %s RAISE EXCEPTION 'back'; EXCEPTION WHEN raise_exception THEN NULL; END $d$;" % third, query, third, query]

    def after(self):
        return ["ROLLBACK;"]


class Extremes:
    """A statement at random."""

    def __init__(self, rng):
        self.rng, self.tags, self.params, self.names = rng, {"extremes"}, None, 0

    def alias(self):
        self.names += 1
        return "e%d" % self.names

    def table(self):
        return self.rng.choice(["x0", "x0", "x1", "x2", "xp"])

    def value(self, column):
        text = "%s::%s" % (quote(self.rng.choice(VALUES[column])), CASTS[column])
        if self.params is None or self.rng.random() < 0.4:
            return text
        self.params.append(column)
        return "$%d::%s" % (len(self.params), CASTS[column])

    def column(self, alias, among=tuple(VALUES)):
        c = self.rng.choice(among)
        return "%s.%s" % (alias, c), c

    def condition(self, alias):
        rng = self.rng
        name, c = self.column(alias)
        form = rng.random()
        if form < 0.2:
            return "%s IS %sNULL" % (name, rng.choice(["", "NOT "]))
        if form < 0.4:
            return "%s %sIN (%s)" % (name, rng.choice(["", "NOT "]), ", ".join(self.value(c) for _ in range(rng.randint(1, 4))))
        if form < 0.5:
            return "%s IS %sDISTINCT FROM %s" % (name, rng.choice(["", "NOT "]), self.value(c))
        if form < 0.6:
            return "%s BETWEEN %s AND %s" % (name, self.value(c), self.value(c))
        return "%s %s %s" % (name, rng.choice(["=", "<>", "<", "<=", ">", ">="]), self.value(c))

    def where(self, *aliases):
        found = [self.condition(a) for a in aliases if self.rng.random() < 0.4]
        return " WHERE " + " AND ".join(found) if found else ""

    def joined(self):
        """(FROM, aliases): a table, or two of which some rows match."""
        rng = self.rng
        a, b = self.alias(), self.alias()
        if rng.random() < 0.55:
            return "%s AS %s" % (self.table(), a), [a]
        key = rng.choice(["id", "id", "id", "o", "i", "d", "b", "k"])
        other = "(SELECT DISTINCT ON (%s) * FROM %s ORDER BY %s, id)" % (key, self.table(), key) if key != "id" else self.table()
        self.tags.add("extremes: joined by " + key)
        return "%s AS %s %sJOIN %s AS %s ON %s.%s = %s.%s" % (self.table(), a, rng.choice(["", "", "LEFT "]), other, b, a, key, b, key), [a, b]

    # Windows

    def frame(self, by):
        """A frame of rows, of groups, or of the values of one column, or none."""
        rng = self.rng
        if rng.random() < 0.2:
            return ""
        mode = rng.choice(["ROWS", "ROWS", "GROUPS", "RANGE"] if by else ["ROWS", "GROUPS"])
        size = lambda: rng.choice(["0", "1", "2", "5", "9223372036854775807"])
        if mode == "RANGE":
            many = {"k": ["0", "1", "2"], "m": ["0", "1", "32767"], "b": ["0", "1", "9223372036854775807"], "n": ["0", "0.5", "0.0000000001", "1e20"],
                    "d": ["'1 day'", "'0'", "'1 mon'", "'3000 years'"], "s": ["'0'", "'1 microsecond'", "'1 day'"], "f": ["0", "1.5", "'Infinity'"]}[by]
            size = lambda: rng.choice(many) + ("::interval" if by in "ds" else "::float8" if by == "f" else "")
        ends = ["UNBOUNDED PRECEDING", "%s PRECEDING" % size(), "CURRENT ROW", "%s FOLLOWING" % size(), "UNBOUNDED FOLLOWING"]
        first = rng.randint(0, 3)
        last = rng.randint(max(first, 1), 4)
        return " %s BETWEEN %s AND %s%s" % (mode, ends[first], ends[last], rng.choice(["", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES", " EXCLUDE NO OTHERS"]))

    def direction(self):
        return self.rng.choice(["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"])

    def over(self, alias, total, ordered=False):
        """(OVER's parentheses); total: columns that tell rows apart, which is what a frame of rows needs."""
        rng = self.rng
        part = "PARTITION BY %s" % ", ".join(self.column(alias)[0] for _ in range(rng.choice([1, 1, 2]))) if rng.random() < 0.6 else ""
        if rng.random() < 0.3 and not ordered:
            name, by = self.column(alias, ("k", "m", "b", "n", "d", "s", "f"))
            frame = self.frame(by)
            if "RANGE" in frame or "GROUPS" in frame or not frame:
                return "(%s ORDER BY %s%s%s)" % (part, name, self.direction(), frame)
        order = ", ".join(t + self.direction() for t in ([self.column(alias)[0]] if rng.random() < 0.6 else []) + total)
        return "(%s ORDER BY %s%s)" % (part, order, self.frame(None))

    def window(self, alias, total):
        rng = self.rng
        roll = rng.random()
        name, c = self.column(alias)
        if roll < 0.35:
            number, _ = self.column(alias, SUMMED)
            fn = rng.choice(["var_pop", "var_samp", "stddev_pop", "stddev_samp", "variance", "stddev", "avg", "sum"])
            filtered = " FILTER (WHERE %s)" % self.condition(alias) if rng.random() < 0.2 else ""
            return "%s(%s)%s OVER %s" % (fn, number, filtered, self.over(alias, total))
        if roll < 0.6:
            text = "%s(%s) OVER %s" % (rng.choice(["min", "max", "count"]), name, self.over(alias, total))
            return shown(text, c) if text[0] == "m" else text
        if roll < 0.8:
            fn = rng.choice(["first_value(%s)", "last_value(%s)", "nth_value(%s, 2)", "lag(%s)", "lead(%s, 3)", "lag(%s, -1)"]) % name
            return shown("%s OVER %s" % (fn, self.over(alias, total, ordered=True)), c)
        return "%s OVER %s" % (rng.choice(["rank()", "dense_rank()", "percent_rank()", "cume_dist()", "count(*)"]), self.over(alias, total)) if roll < 0.9 else \
            "%s OVER %s" % (rng.choice(["row_number()", "ntile(3)"]), self.over(alias, total, ordered=True))

    def windows(self):
        source, aliases = self.joined()
        total = [a + ".id" for a in aliases]
        self.tags.add("extremes: windows")
        made = [self.window(self.rng.choice(aliases), total) for _ in range(self.rng.choice([1, 1, 2, 3]))]
        return "SELECT %s FROM %s%s" % (", ".join(total + made), source, self.where(*aliases)), len(total + made)

    def windows_over_windows(self):
        self.tags.add("extremes: windows over windows")
        a, w = self.alias(), self.alias()
        inner = self.window(a, [a + ".id"])
        return "SELECT %s.id, x, %s FROM (SELECT *, %s AS x FROM %s AS %s%s) AS %s" % (
            w, self.window(w, [w + ".id"]), inner, self.table(), a, self.where(a), w), 3

    # Groups

    def aggregate(self, a):
        rng = self.rng
        name, c = self.column(a)
        roll = rng.random()
        filtered = " FILTER (WHERE %s)" % self.condition(a) if rng.random() < 0.15 else ""
        if roll < 0.45:
            number, _ = self.column(a, SUMMED)
            return "%s(%s%s)%s" % (rng.choice(["var_pop", "var_samp", "stddev_pop", "stddev_samp", "avg", "sum", "sum"]), rng.choice([""] * 6 + ["DISTINCT "]), number, filtered)
        if roll < 0.7:
            return shown("%s(%s)%s" % (rng.choice(["min", "max"]), name, filtered), c)
        if roll < 0.85:
            return "count(%s)%s" % (rng.choice(["*", name, "DISTINCT " + name]), filtered)
        self.tags.add("extremes: ordered-set")
        fn = rng.choice(["percentile_disc(%s)" % rng.choice(["0", "0.5", "1"]), "mode()"])
        return shown("%s WITHIN GROUP (ORDER BY %s%s)%s" % (fn, name, self.direction(), filtered), c)

    def groups(self, sets=True, most=3):
        """(text, names of outputs)"""
        rng = self.rng
        source, aliases = self.joined()
        keys = []
        for _ in range(rng.randint(1, 2)):
            key = self.column(rng.choice(aliases), tuple("kmbndscio"))
            keys += [key] if key not in keys else []
        names = ", ".join(k for k, _ in keys)
        outputs = [shown(k, c) for k, c in keys] + [self.aggregate(rng.choice(aliases)) for _ in range(rng.randint(1, most))]
        group = names
        if sets and rng.random() < 0.35:
            self.tags.add("extremes: grouping sets")
            group = rng.choice(["ROLLUP (%s)", "CUBE (%s)", "GROUPING SETS ((%s), ())"]) % names
            outputs.append("GROUPING(%s)" % names)
        having = " HAVING %s" % rng.choice(["count(*) > 1", "stddev_samp(%s.b) > 0" % aliases[0], "min(%s) IS NOT NULL" % self.column(aliases[0])[0],
                                            "var_pop(%s.n) < 100" % aliases[0]]) if rng.random() < 0.3 else ""
        self.tags.add("extremes: groups")
        return "SELECT %s FROM %s%s GROUP BY %s%s" % (", ".join("%s AS c%d" % (o, i) for i, o in enumerate(outputs)), source, self.where(*aliases), group, having), len(outputs)

    def windows_over_groups(self):
        rng = self.rng
        self.tags.add("extremes: windows over groups")
        a = self.alias()
        key, c = self.column(a, tuple("kmbndsci"))
        other, c2 = self.column(a, tuple("kmbndsci"))
        group = rng.choice(["%s, %s", "ROLLUP (%s, %s)", "CUBE (%s, %s)"]) % (key, other)
        number, _ = self.column(a, SUMMED)
        over = rng.choice(["PARTITION BY %s" % key, "PARTITION BY GROUPING(%s)" % key, ""])
        window = rng.choice(["rank() OVER (%s ORDER BY stddev_samp(%s) DESC)" % (over, number), "avg(sum(%s)) OVER (%s)" % (number, over),
                             "stddev_pop(count(*)) OVER (%s)" % over, "var_samp(sum(%s)) OVER (%s)" % (number, over),
                             "sum(sum(%s)) OVER (%s ORDER BY count(*) RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)" % (number, over)])
        return "SELECT %s, %s, GROUPING(%s, %s), count(*), %s FROM %s AS %s%s GROUP BY %s%s" % (
            shown(key, c), shown(other, c2), key, other, window, self.table(), a, self.where(a), group, rng.choice(["", " HAVING count(*) > 1"])), 5

    def deviations(self):
        """Standard deviations of a CTE that is read once or twice, by conditions and joins."""
        rng = self.rng
        self.tags.add("extremes: deviations of a CTE")
        a, key = self.alias(), rng.choice("kmbdci")
        number = "%s.%s" % (a, rng.choice(SUMMED))
        cte = "WITH q AS %s(SELECT %s.%s AS g, %s.m AS h, %s(%s) AS s, avg(%s) AS v, count(*) AS n FROM %s AS %s%s GROUP BY 1, 2)" % (
            rng.choice(["", "", "MATERIALIZED ", "NOT MATERIALIZED "]), a, key, a, rng.choice(["stddev_samp", "stddev_pop", "var_samp", "stddev"]), number, number, self.table(), a, self.where(a))
        test = lambda q: "CASE %s.v WHEN 0 THEN 0 ELSE %s.s / %s.v END > %s" % (q, q, q, rng.choice(["0", "0.5", "-1"]))
        if rng.random() < 0.3:
            return "%s SELECT q.g, q.h, s, v, CASE v WHEN 0 THEN NULL ELSE s / v END FROM q WHERE %s" % (cte, test("q")), 5
        on = " AND ".join(["p.g = r.g", rng.choice(["p.h = r.h", "p.h < r.h", "p.n > r.n", test("p")])])
        return "%s SELECT p.g, p.h, p.s, p.v, r.h, r.s FROM q AS p %sJOIN q AS r ON %s%s" % (
            cte, rng.choice(["", "", "LEFT ", "FULL "]) if "p.h = r.h" in on else rng.choice(["", "LEFT "]), on, rng.choice(["", " WHERE " + test("p")])), 6

    # Rows

    def lateral(self):
        rng = self.rng
        self.tags.add("extremes: lateral")
        a, b = self.alias(), self.alias()
        key = rng.choice(["k", "o", "i", "d", "b", "n"])
        inner = rng.choice(["SELECT %s.id AS y FROM {t} AS %s WHERE {c} ORDER BY %s, %s.id LIMIT %d" % (b, b, self.column(b)[0], b, rng.randint(1, 4)),
                            "SELECT %s AS y FROM {t} AS %s WHERE {c}" % (self.aggregate(b), b)])
        inner = inner.replace("{t}", self.table()).replace("{c}", "%s.%s = %s.%s" % (b, key, a, key))
        return "SELECT %s.id, l.y FROM x1 AS %s %s LATERAL (%s) AS l ON true%s" % (a, a, rng.choice(["JOIN", "LEFT JOIN"]), inner, self.where(a)), 2

    def distinct_on(self):
        rng = self.rng
        self.tags.add("extremes: distinct on")
        source, aliases = self.joined()
        keys = [self.column(aliases[0], tuple("kmbndscio")) for _ in range(rng.randint(1, 2))]
        total = [a + ".id" for a in aliases]
        name, c = self.column(aliases[-1])
        return "SELECT DISTINCT ON (%s) %s FROM %s%s ORDER BY %s" % (
            ", ".join(k for k, _ in keys), ", ".join([shown(k, c) for k, c in keys] + [shown(name, c)] + total), source, self.where(*aliases),
            ", ".join(k + self.direction() for k in dict.fromkeys([k for k, _ in keys] + [name] + total))), len(keys) + 1 + len(total)

    def set_operation(self):
        rng = self.rng
        self.tags.add("extremes: set operations")
        key, arms = rng.choice("kmbdsci"), []
        for _ in range(rng.choice([2, 2, 3])):
            a = self.alias()
            value = rng.choice(["count(*) OVER (PARTITION BY %s.%s)" % (a, rng.choice("kbnoi")), "rank() OVER (ORDER BY %s.%s)" % (a, rng.choice("kbnoi")), "GROUP", "%s.id::int8" % a])
            group = " GROUP BY %s.%s" % (a, key) if value == "GROUP" else ""
            arms.append("SELECT %s.%s, %s FROM %s AS %s%s%s" % (a, key, "count(*)" if group else value, self.table(), a, self.where(a), group))
        words = [rng.choice(["UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]) for _ in arms[1:]]
        return "(%s)" % arms[0] + "".join(" %s (%s)" % pair for pair in zip(words, arms[1:])), 2

    def statement(self):
        """(text, number of outputs)"""
        forms = [self.windows] * 4 + [self.windows_over_windows] * 2 + [self.groups] * 3 + [self.windows_over_groups, self.deviations, self.deviations, self.lateral,
                                                                                             self.distinct_on, self.set_operation]
        return self.rng.choice(forms)()

    def changes(self):
        rng = self.rng
        for _ in range(3):
            table = rng.choice(["x0", "x1", "xp"])
            c = rng.choice(list(VALUES))
            rows = "id %% %d = %d" % (rng.choice([1, 3, 50]), 0)
            yield rng.choice(["DELETE FROM %s WHERE %s;" % (table, rows), "UPDATE %s SET %s = %s WHERE %s;" % (table, c, rng.choice(["NULL", "%s::%s" % (quote(rng.choice(VALUES[c])), CASTS[c])]), rows),
                              "INSERT INTO %s SELECT id + 1 + (SELECT max(id) FROM %s), %s FROM %s WHERE %s;" % (table, table, ", ".join(VALUES), table, rows)])


def make_case(rng):
    maker = Extremes(rng)
    roll = rng.random()
    if roll < 0.3:
        maker.params = []
    text, outputs = maker.statement()
    if roll < 0.3:
        types = [CASTS[c] for c in maker.params]
        values = [[("NULL" if rng.random() < 0.15 else quote(rng.choice(VALUES[c]))) for c in maker.params] for _ in range(rng.choice([2, 3, 7]))]
        case = Asked(text, maker.tags, types, values, rng.random() < 0.3, rng.choice(["auto", "force_generic_plan", "force_custom_plan"]))
    elif roll < 0.42:
        case = Changed(text, maker.tags, list(maker.changes()))
    elif roll < 0.47 and "DISTINCT ON" not in text:
        case = cursor_case(rng, maker, "SELECT * FROM (%s) AS q" % text if " ORDER BY " in text else text, [None] * outputs)
    else:
        case = Case(text, maker.tags)
    case.tags.add("kind: " + case.kind)
    return case

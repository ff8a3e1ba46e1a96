"""shapes.py: statements of many shapes, nested up to three levels.

A maker notes the constructs that it uses (tags), so that the share of each that is
offloaded can be told.  Sub-selects with LIMIT and rows of DISTINCT ON are ordered by
all that they give: what they hold does not depend on the plan.
"""
from leaves import KEY_KINDS, KINDS, Leaves
from sources import Sources
from subqueries import Subqueries, constant_column
from world import Col


class Maker(Sources, Subqueries):
    def __init__(self, rng, rels):
        self.rng, self.rels = rng, rels
        self.tags = set()
        self.hazards = 0          # parts that raise errors where they are evaluated
        self.traces = 0           # parts that leave a trace there
        self.place = "select list"
        self.ctes = []            # (name, cols) that may be used
        self.params = None        # values of a prepared statement's parameters
        self.volatile = False     # may have functions whose calls are counted
        self.names = 0

    def alias(self):
        self.names += 1
        return "r%d" % self.names

    def parameter(self, value):
        if self.params is None or self.rng.random() > 0.3:
            return None
        self.params.append(value)
        return "$%d" % len(self.params)

    def at(self, place):
        """Says where the expressions that follow will stand."""
        self.place = place

    # Parts

    def where(self, scope, conditions, depth, many=True):
        rng = self.rng
        self.at("where")
        for _ in range(rng.choice([0, 0, 0, 1] if self.lean else [0, 0, 0, 1, 1, 2]) if many else rng.choice([0, 1])):
            conditions = conditions + [Leaves(self, scope, depth).condition(1)]
        if self.wants_hazards and rng.random() < 0.3:
            conditions = conditions + [self.guarded_condition(scope)]
        if self.volatile and rng.random() < 0.1:
            self.tags.add("volatile in where")
            conditions = conditions + ["fuzz_note(%s::int8) > %s" % (Leaves(self, scope).simple("int"), rng.choice(["-5", "3"]))]
        return " WHERE " + " AND ".join(conditions) if conditions else ""

    @property
    def wants_hazards(self):
        return self.hazardous and self.hazards + self.traces < 2

    hazardous = False
    lean = False              # few joins and conditions: more rows are left to differ

    def output(self, scope, name, kind, depth):
        """(expression, Col) of a plain row."""
        rng = self.rng
        self.at("select list")
        roll = rng.random()
        if kind is None and roll < 0.1:
            return constant_column(rng, name)
        if kind in (None, "int") and self.wants_hazards and roll < 0.3:
            return self.guarded(scope), Col(name, "int")
        if kind is None and self.volatile and roll < 0.5:
            self.tags.add("volatile in select list")
            return rng.choice(["fuzz_note(%s::int8)", "fuzz_note(%s::int8)", "(nextval('fuzz_seq') > %s - 1000000)::int4"]) % \
                Leaves(self, scope).simple("int"), Col(name, "int")
        kind = kind or rng.choice(KEY_KINDS + ("float",))
        found = [(n, c) for n, c in scope if c.kind == kind]
        if found and rng.random() < 0.7:
            text, col = rng.choice(found)
            return text, col.named(name)
        return Leaves(self, scope, depth).of(kind, 1), Col(name, kind)

    def aggregate(self, scope, name, kind, depth):
        """(expression, Col) of a group."""
        rng = self.rng
        self.at("aggregate")
        leaves = Leaves(self, scope, depth)
        kind = kind or rng.choice(["int", "int", "int", "numeric", "text", "date", "float", "ratio", "wide"])
        filtered = " FILTER (WHERE %s)" % leaves.condition(0) if rng.random() < 0.12 else ""
        if kind == "bool":
            return "bool_or(%s)%s" % (leaves.condition(0), filtered), Col(name, "bool", distinct=2)
        if kind in ("wide", "ratio"):
            found = leaves.column("wide") if kind == "wide" else None
            if found:
                # too large for 128 bits where there is a large one: PostgreSQL's plan takes over
                self.tags.add("falls back")
                return "sum(%s * %s)%s" % (found[0], found[0], filtered), Col(name, "ratio")
            return "avg(%s)%s" % (leaves.small(), filtered), Col(name, "ratio")
        if kind == "int":
            return self.int_aggregate(scope, leaves) + filtered, Col(name, "int", [1, 2, 5, 100], distinct=50)
        if kind in ("text", "date", "float") and rng.random() < 0.3:
            return self.ordered_set(leaves, kind) + filtered, Col(name, kind)
        if kind in ("numeric", "float") and rng.random() < 0.5:
            found = leaves.column(kind, lambda c: c.small)
            if found:
                return "sum(%s)%s" % (found[0], filtered), Col(name, kind)
        col = leaves.column(kind)
        argument = col[0] if col and rng.random() < 0.8 else leaves.of(kind, 1)
        return "%s(%s)%s" % (rng.choice(["min", "max"]), argument, filtered), Col(name, kind, col[1].consts if col else ())

    def ordered_set(self, leaves, kind):
        """An aggregate of values in an order, of which equal ones are the same."""
        rng = self.rng
        self.tags.add("ordered-set aggregate")
        if kind == "float":
            return "percentile_cont(%s) WITHIN GROUP (ORDER BY %s%s)" % (rng.choice(["0.5", "0.9", "0", "1", "1e-5"]), leaves.small(), rng.choice(["", " DESC"]))
        direction = rng.choice(["", "", " DESC", " NULLS FIRST"])
        argument = leaves.small() if kind == "int" else leaves.of(kind, 0)
        return "%s WITHIN GROUP (ORDER BY %s%s)" % (
            rng.choice(["percentile_disc(0.5)", "percentile_disc(0.99)", "mode()"]), argument, direction)

    def int_aggregate(self, scope, leaves):
        rng = self.rng
        if rng.random() < 0.06:
            return self.ordered_set(leaves, "int")
        roll = rng.random()
        if self.wants_hazards and roll < 0.4:
            return "sum(%s)" % self.guarded(scope)
        if self.volatile and roll < 0.15:
            self.tags.add("volatile in aggregate")
            return "sum(fuzz_note(%s::int8))" % leaves.simple("int")
        if roll < 0.3:
            return "count(*)"
        if roll < 0.4:
            return "count(%s)" % leaves.of(rng.choice(KINDS), 0)
        if roll < 0.7:
            return "sum(%s)" % leaves.small()
        if roll < 0.76:
            return "count(DISTINCT %s)" % leaves.of(rng.choice(KINDS), 0)
        if roll < 0.85:
            return "sum(CASE WHEN %s THEN %s ELSE %s END)" % (leaves.condition(1), leaves.small(), leaves.constant("int"))
        return "%s(%s)" % (rng.choice(["min", "max"]), leaves.of("int", 1))

    def kinds_or_some(self, kinds, most=3):
        return kinds if kinds else [None] * self.rng.randint(1, most)

    @staticmethod
    def listed(outputs):
        return ", ".join("%s AS %s" % (text, col.name) for text, col in outputs)

    # Selects; each gives (text, outputs)

    def plain(self, kinds, depth, outer):
        rng = self.rng
        source, conditions, scope = self.from_clause(depth, outer)
        outputs = [self.output(scope, "c%d" % i, kind, depth) for i, kind in enumerate(self.kinds_or_some(kinds, 4))]
        where = self.where(scope, conditions, depth)
        lock = ""
        if rng.random() < 0.2 and self.lockable(source):
            lock = rng.choice([" FOR SHARE", " FOR UPDATE", " FOR KEY SHARE", " FOR NO KEY UPDATE"])
            self.tags.add("row locks")
        distinct = ""
        if not lock and rng.random() < 0.15:
            distinct = "DISTINCT "
            self.tags.add("distinct")
            if rng.random() < 0.6 and all(c.kind != "float" for _, c in outputs):
                self.tags.add("distinct on")
                numbers = range(1, len(outputs) + 1)
                return "SELECT DISTINCT ON (%s) %s FROM %s%s ORDER BY %s" % (
                    ", ".join(map(str, numbers[:rng.choice([1, 1, 2])])), self.listed(outputs), source, where,
                    ", ".join("%d%s" % (n, self.direction()) for n in numbers)), outputs
        return "SELECT %s%s FROM %s%s%s" % (distinct, self.listed(outputs), source, where, lock), outputs

    @staticmethod
    def lockable(source):
        return not any(word in source for word in ("GROUP", "UNION", "DISTINCT", "LEFT", "FULL", "RIGHT", "cte", "VALUES", "OVER",
                                                   "generate", "(SELECT", "fuzz_rows", "unnest"))

    def keys(self, scope):
        keys = []
        for _ in range(self.rng.choice([1, 1, 2, 2, 3])):
            key = Leaves(self, scope).group_key()
            if key not in keys:
                keys.append(key)
        return keys

    def grouped(self, kinds, depth, outer):
        rng = self.rng
        source, conditions, scope = self.from_clause(depth, outer)
        keys = self.keys(scope)
        windows = not kinds and rng.random() < 0.25
        if windows and rng.random() < 0.6:
            # an expression that windows can be over
            keys.append((Leaves(self, scope).more_int(), "int"))
        outputs = []
        if kinds:
            for i, kind in enumerate(kinds):
                found = [k for k in keys if k[1] == kind]
                outputs.append((found[0][0], Col("c%d" % i, kind)) if found and rng.random() < 0.6 else
                               self.aggregate(scope, "c%d" % i, kind, depth))
        else:
            outputs = [(text, Col("c%d" % i, kind)) for i, (text, kind) in enumerate(keys) if rng.random() < 0.9]
            for _ in range(rng.randint(0 if outputs else 1, 3)):
                outputs.append(self.aggregate(scope, "c%d" % len(outputs), None, depth))
        text = self.group_by(keys, outputs, scope, kinds)
        where = self.where(scope, conditions, depth)
        having = self.having(keys, scope, depth)
        if windows:
            self.windows_over_groups(keys, outputs)
        return "SELECT %s FROM %s%s%s%s" % (self.listed(outputs), source, where, text, having), outputs

    def group_by(self, keys, outputs, scope, kinds):
        """GROUP BY, perhaps of several sets, with GROUPING() among the outputs."""
        rng = self.rng
        names = [k for k, _ in keys]
        if rng.random() > 0.2:
            return " GROUP BY " + ", ".join(names)
        form = rng.choice(["ROLLUP (%s)", "CUBE (%s)", "GROUPING SETS ((%s), ())", "SETS", "GROUPING SETS ((%s))"])
        self.tags.add("grouping sets")
        self.sets = True
        if not all(any(name in key for name, _ in scope) for key in names):
            self.tags.add("constant in grouping sets")
        if not kinds and rng.random() < 0.6:
            self.tags.add("grouping()")
            outputs.append(("GROUPING(%s)" % ", ".join(rng.sample(names, rng.randint(1, len(names)))), Col("c%d" % len(outputs), "int", [0, 1])))
        if form == "SETS":
            return " GROUP BY GROUPING SETS (%s)" % ", ".join("(%s)" % n for n in names + rng.choice([[], [""]]))
        return " GROUP BY " + form % ", ".join(names)

    sets = False

    def having(self, keys, scope, depth):
        rng = self.rng
        self.at("having")
        sets, self.sets = self.sets, False
        if sets and rng.random() < 0.4:
            self.tags.add("grouping() in having")
            return " HAVING GROUPING(%s) = %d" % (rng.choice(keys)[0], rng.randint(0, 1))
        roll = rng.random()
        if roll < 0.75:
            return ""
        leaves = Leaves(self, scope)
        group = [(k, Col("k", kind, small=False)) for k, kind in keys]
        if self.wants_hazards and roll < 0.85:
            return " HAVING count(*) > %s" % self.guarded([(k, c) for k, c in group if c.kind == "int"])
        if depth > 0 and roll < 0.88:
            return " HAVING count(*) > %s" % self.scalar("int", group, depth - 1)
        return " HAVING " + rng.choice(["count(*) > %d" % rng.choice([0, 1, 10]), "min(%s) IS NOT NULL" % leaves.simple("text"),
                                        "sum(%s) > 0" % leaves.small(), Leaves(self, group).condition(0)])

    def windows_over_groups(self, keys, outputs):
        rng = self.rng
        self.tags.add("windows over groups")
        # an expression more often than a column
        first, kind = rng.choice(keys + [k for k in keys if k[0].startswith("(")] * 3)
        every = ", ".join(k for k, _ in keys)
        forms = ["row_number() OVER (ORDER BY %s)" % every, "rank() OVER (ORDER BY count(*) DESC)",
                 "sum(count(*)) OVER (ORDER BY %s)" % first, "count(*) OVER (PARTITION BY %s)" % first,
                 "max(count(*)) OVER ()", "lag(count(*)) OVER (ORDER BY %s)" % every, "dense_rank() OVER (ORDER BY %s)" % first]
        if kind != "bool":
            # the expression that is grouped by is an argument, too
            over = rng.choice(["ORDER BY %s" % first, "PARTITION BY %s" % rng.choice(keys)[0], ""])
            forms += ["%s(%s) OVER (%s)" % (rng.choice(["min", "max", "count"]), first, over)] * 5
        if kind == "int":
            forms += ["sum(%s) OVER (ORDER BY %s)" % (first, first)] * 10
        if self.tags & {"grouping sets"}:
            forms = ["rank() OVER (ORDER BY count(*) DESC)", "max(count(*)) OVER ()"] + [f for f in forms if f[:3] in ("min", "max", "sum")]      # keys alone do not tell groups of several sets apart
        outputs.append((rng.choice(forms), Col("c%d" % len(outputs), "int" if kind == "int" else "ratio")))

    def windowed(self, kinds, depth, outer):
        rng = self.rng
        self.tags.add("windows")
        text, outputs = self.plain_rows(depth, outer)
        scope = [(col.name, col) for _, col in outputs]
        part, by = rng.choice(scope)[0], rng.choice(scope)[0]
        leaves = Leaves(self, scope)
        window = "(PARTITION BY %s ORDER BY %s)" % (part, by) if rng.random() < 0.6 else "(PARTITION BY %s)" % part
        made = [(rng.choice(["rank() OVER (ORDER BY %s)" % by, "sum(%s) OVER %s" % (leaves.small(), window), "count(*) OVER " + window,
                             "max(%s) OVER %s" % (by, window), "dense_rank() OVER (PARTITION BY %s ORDER BY %s)" % (part, by)]))]
        made = [(made[0], Col("w", "int" if "max" not in made[0] else dict((n, c.kind) for n, c in scope)[by]))]
        if rng.random() < 0.6 and all(c.kind in ("int", "text", "date") for _, c in scope):
            made = [self.window_by_rows(leaves, part, scope) for _ in range(rng.choice([1, 1, 2, 3]))]
        made = [self.computed(w, leaves) if rng.random() < 0.3 else w for w in made]
        if not kinds:
            if made[0][1].kind in ("int", "text", "date") and rng.random() < 0.3:
                self.tags.add("texts of windows")
                made[0] = "(%s)::text || %s" % (made[0][0], leaves.simple("text")), Col("w", "text")
            made += [(col.name, col) for _, col in outputs[:2]]
        else:
            made = [made[0] if made[0][1].kind == kind else (Leaves(self, scope).of(kind, 0), Col("", kind)) for kind in kinds]
        made = [(t, c.named("c%d" % i)) for i, (t, c) in enumerate(made)]
        return "SELECT %s FROM (%s) AS %s" % (self.listed(made), text, self.alias()), made

    def computed(self, window, leaves):
        """An expression of a window function and a column of its kind."""
        text, col = window
        if col.kind not in KINDS:
            return window
        other = leaves.simple(col.kind)
        forms = ["COALESCE(%s, %s)" % (text, other), "CASE WHEN %s THEN %s ELSE %s END" % (leaves.condition(0), text, other)]
        return self.rng.choice(forms + ["%s || %s" % (text, other)] * 3 if col.kind == "text" else forms), col

    def window_by_rows(self, leaves, part, scope):
        """An expression of each row's place, in an order in which tied rows are equal; or of its frame alone."""
        rng = self.rng
        self.tags.add("windows by rows")
        over = rng.choice(["", "PARTITION BY %s " % part])
        ranged = [(name, c.kind) for name, c in scope if c.kind in ("date", "numeric") or c.kind == "int" and c.small]
        kind = rng.choice(["int", "int", "text", "date"])
        argument = leaves.small() if kind == "int" else leaves.simple(kind)
        if ranged and rng.random() < 0.3:
            name, by = rng.choice(ranged)
            self.tags.add("windows by range")
            size = lambda: rng.choice({"int": ["0", "1", "2", "7"], "numeric": ["0", "0.5", "0.505", "40.009"],
                                       "date": ["interval '%s'" % i for i in ("0", "1 month", "3 days", "100 years")]}[by])
            return self.aggregate_of_frame(argument, kind, leaves, "(%sORDER BY %s%s %s)" % (over, name, self.direction(), self.frame("RANGE", size)))
        names = [name for name, _ in scope]
        over = "(%sORDER BY %s %s)" % (over, ", ".join(n + self.direction() for n in rng.sample(names, len(names))),
                                       self.frame(rng.choice(["ROWS", "ROWS", "GROUPS"]), lambda: "%d" % rng.choice([0, 1, 1, 2, 3, 40, 2**63 - 1])))
        places = ["row_number()", "rank()", "dense_rank()", "ntile(%d)" % rng.randint(1, 5)]
        values = ["lag(%s%s)" % (argument, rng.choice(["", ", 2", ", 0", ", (%s)::int4" % leaves.small()])), "lead(%s, %d, %s)" % (argument, rng.randint(-1, 3), argument),
                  "first_value(%s)" % argument, "last_value(%s)" % argument, "nth_value(%s, %d)" % (argument, rng.randint(1, 4))]
        roll = rng.random()
        if roll < 0.3:
            return "%s OVER %s" % (rng.choice(places), over), Col("w", "int")
        if roll < 0.7:
            return "%s OVER %s" % (rng.choice(values), over), Col("w", kind)
        return self.aggregate_of_frame(argument, kind, leaves, over)

    def aggregate_of_frame(self, argument, kind, leaves, over):
        rng = self.rng
        condition = " FILTER (WHERE %s)" % leaves.condition(0) if rng.random() < 0.2 else ""
        forms = [("count(*)", "int"), ("count(%s)" % argument, "int"), ("min(%s)" % argument, kind), ("max(%s)" % argument, kind),
                 ("sum(%s)" % leaves.small(), "int"), ("avg(%s)" % leaves.small(), "ratio"), ("percent_rank()", "ratio"), ("cume_dist()", "ratio"),
                 ("%s(%s)" % (rng.choice(["var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev"]), leaves.small()), "ratio"),
                 ("%s((%s)::float8)" % (rng.choice(["sum", "avg"]), leaves.small()), "ratio")]
        form, result = rng.choice(forms)
        return "%s%s OVER %s" % (form, condition if result != "ratio" else "", over), Col("w", result)

    def direction(self):
        return self.rng.choice(["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"])

    def frame(self, mode, size):
        """A frame of a window, or none; it may be empty, or exclude rows."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.15:
            return ""
        starts = ["UNBOUNDED PRECEDING", "CURRENT ROW"] + ["%s PRECEDING" % size() for _ in range(3)]
        if roll < 0.4:
            return "%s %s" % (mode, rng.choice(starts))
        between = [("%s PRECEDING" % size(), "%s FOLLOWING" % size()), ("%s PRECEDING" % size(), "%s PRECEDING" % size()),
                   ("%s FOLLOWING" % size(), "%s FOLLOWING" % size()), ("%s FOLLOWING" % size(), "UNBOUNDED FOLLOWING"),
                   ("UNBOUNDED PRECEDING", "%s FOLLOWING" % size()), ("CURRENT ROW", "UNBOUNDED FOLLOWING"), ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING")]
        return "%s BETWEEN %s AND %s" % ((mode,) + rng.choice(between)) + rng.choice([""] * 9 + [" EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"])

    def plain_rows(self, depth, outer):
        """As most plain selects, for windows above it."""
        source, conditions, scope = self.from_clause(depth, outer)
        outputs = [self.output(scope, "x%d" % i, kind, 0) for i, kind in enumerate(["int"] + [None] * self.rng.randint(1, 3))]
        return "SELECT %s FROM %s%s" % (self.listed(outputs), source, self.where(scope, conditions, depth)), outputs

    def united(self, kinds, depth, outer):
        rng = self.rng
        kinds = kinds or [rng.choice(KINDS) for _ in range(rng.randint(1, 3))]
        word = rng.choice(["UNION ALL", "UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL"])
        self.tags.add("union all" if word == "UNION ALL" else "set operations")
        arms = []
        for _ in range(rng.choice([2, 2, 3])):
            text, outputs = self.form(depth)(kinds, max(depth - 1, 0), ())
            arms.append("(%s)" % text)
        return (" %s " % word).join(arms), [("", Col("c%d" % i, kind)) for i, kind in enumerate(kinds)]

    def one_table(self):
        """A plain select of a table, whose plan can go backward."""
        alias = self.alias()
        text, cols, _ = self.table(alias)
        scope = [("%s.%s" % (alias, c.name), c) for c in cols]
        outputs = [self.output(scope, "c%d" % i, None, 0) for i in range(self.rng.randint(1, 4))]
        return "SELECT %s FROM %s%s" % (self.listed(outputs), text, self.where(scope, [], 0)), [c for _, c in outputs]

    def one_group(self, kinds, depth, outer):
        """Aggregates without GROUP BY."""
        source, conditions, scope = self.from_clause(depth, outer)
        outputs = [self.aggregate(scope, "c%d" % i, kind, depth) for i, kind in enumerate(self.kinds_or_some(kinds))]
        return "SELECT %s FROM %s%s" % (self.listed(outputs), source, self.where(scope, conditions, depth)), outputs

    def form(self, depth):
        roll = self.rng.random()
        if roll < 0.36:
            return self.plain
        if roll < 0.7:
            return self.grouped
        if roll < 0.82:
            return self.one_group
        return self.windowed if roll < 0.9 or depth <= 0 else self.united

    def with_clause(self, depth):
        rng = self.rng
        parts, before = [], list(self.ctes)
        recursive = False
        for _ in range(rng.choice([1, 1, 2])):
            name = "cte%d" % (len(self.ctes) + self.names)
            self.names += 1
            if rng.random() < 0.1:
                recursive = True
                self.tags.add("recursive cte")
                parts.append("%s(c0) AS (SELECT 1 UNION ALL SELECT c0 + 1 FROM %s WHERE c0 < %d)" % (name, name, rng.choice([3, 20])))
                self.ctes.append((name, [Col("c0", "int", [1, 2], True, 20)]))
                continue
            how = rng.choice(["", "", "MATERIALIZED ", "NOT MATERIALIZED "])
            self.tags.add("cte" + ("" if how == "" else " " + how.strip().lower()))
            text, outputs = self.form(depth)(None, max(depth - 1, 0), ())
            parts.append("%s AS %s(%s)" % (name, how, text))
            self.ctes.append((name, [c for _, c in outputs]))
        return "WITH %s%s " % ("RECURSIVE " if recursive else "", ", ".join(parts)), before

    def select(self, depth, kinds=None, outer=(), top=False):
        """A select: (text, Cols of its outputs)"""
        rng = self.rng
        prefix, before = "", None
        if rng.random() < (0.2 if top else 0.06):
            prefix, before = self.with_clause(depth)
        text, outputs = self.form(depth)(kinds, depth, outer)
        if before is not None:
            self.ctes = before
        if not top:
            text = self.tail(text, outputs)
        return prefix + text, [c for _, c in outputs]

    def tail(self, text, outputs):
        """OFFSET 0 and LIMIT, which keep a sub-select from being pulled up."""
        rng = self.rng
        locks = " FOR " in text[-22:]
        roll = rng.random()
        if roll < 0.25 and not locks:
            return text + " OFFSET 0"
        if roll < 0.4 and not locks and "DISTINCT ON" not in text:
            self.tags.add("limit inside")
            return "%s ORDER BY %s LIMIT %d" % (text, ", ".join(str(i + 1) for i in range(len(outputs))), rng.choice([1, 5, 50, 300]))
        return text

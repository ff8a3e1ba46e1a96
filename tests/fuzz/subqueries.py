"""subqueries.py: sub-selects that are a value or a condition, and such as must not be evaluated."""
from leaves import KINDS, Leaves, quote
from world import Col

# How often a part that raises an error stands behind a condition that no row meets
GUARDED = 0.85


class Subqueries:
    """Mixed into the maker of statements, which has rng, rels, tags, alias() and select()."""

    def small_table(self, keyed=False):
        rng = self.rng
        found = [r for r in self.rels if (r.kind == "table" if keyed else r.rows <= 2000)]
        return rng.choice(found)

    def inner(self):
        """A table of a sub-select: (rel, alias, scope)."""
        rel, alias = self.small_table(), self.alias()
        return rel, alias, [("%s.%s" % (alias, c.name), c) for c in rel.cols]

    def correlation(self, inner, outer):
        """An equality of a column inside with one outside, or None."""
        pairs = [(a, b) for a, c in inner for b, d in outer
                 if c.kind == d.kind and c.kind in KINDS and (c.distinct >= 10 or self.rng.random() < 0.3)]
        if not pairs:
            return None
        self.tags.add("correlated")
        return "%s = %s" % self.rng.choice(pairs)

    def where_inside(self, inner, outer, correlated, depth):
        conditions = []
        if correlated:
            found = self.correlation(inner, outer)
            conditions += [found] if found else []
        if self.rng.random() < 0.6:
            conditions.append(Leaves(self, inner, depth).condition(0))
        return " WHERE " + " AND ".join(conditions) if conditions else ""

    def scalar(self, kind, outer, depth):
        """A sub-select that is one value of this kind."""
        rng = self.rng
        self.tags.add("scalar in " + self.place)
        roll = rng.random()
        if roll < 0.12 and depth > 0:
            text, _ = self.select(depth - 1, kinds=[kind])
            return "(SELECT min(q.c0) FROM (%s) AS q)" % text
        rel, alias, inner = self.inner()
        found = [n for n, c in inner if c.kind == kind]
        if not found:
            return Leaves(self, outer).of(kind, 0)
        correlated = rng.random() < 0.4
        if roll < 0.3 and rel.kind == "table":
            keys = [n for n, c in outer if c.kind == "int"] if correlated else []
            key = rng.choice(keys) if keys else str(rng.choice([1, 2, 30, -1]))
            return "(SELECT %s FROM %s AS %s WHERE %s.pk = %s)" % (rng.choice(found), rel.name, alias, alias, key)
        where = self.where_inside(inner, outer, correlated, depth)
        if roll < 0.45:
            name = rng.choice(found)
            return "(SELECT %s FROM %s AS %s%s ORDER BY %s LIMIT 1)" % (name, rel.name, alias, where, name)
        value = "%s(%s)" % (rng.choice(["min", "max"]), rng.choice(found))
        if kind == "int" and rng.random() < 0.4:
            value = rng.choice(["count(*)", "count(%s)", "count(DISTINCT %s)"]).replace("%s", rng.choice(found))
        return "(SELECT %s FROM %s AS %s%s)" % (value, rel.name, alias, where)

    def hazard(self, outer):
        """A whole number that raises an error where it is evaluated, or leaves a trace."""
        rng = self.rng
        rel, alias, inner = self.inner()
        ints = [n for n, c in inner if c.kind == "int"]
        correlated = self.correlation(inner, outer) if rng.random() < 0.3 else None
        where = " WHERE " + correlated if correlated else ""
        if self.volatile:
            self.tags.add("trace in " + self.place)
            self.traces += 1
            value = rng.choice(["fuzz_note(count(*))", "nextval('fuzz_seq') + count(*)"])
            return "(SELECT (%s)::int4 FROM %s AS %s%s)" % (value, rel.name, alias, where)
        self.tags.add("hazard in " + self.place)
        self.hazards += 1
        form = rng.randint(0, 3)
        if form == 0:
            return "(SELECT 1 / (count(*) - count(*)) FROM %s AS %s%s)" % (rel.name, alias, where)
        if form == 1:
            return "(SELECT %s FROM s0 AS %s WHERE %s.pk < 9)" % ("%s.pk" % alias, alias, alias)
        if form == 2:
            return "(SELECT max(1 / (%s - %s)) FROM %s AS %s%s)" % (ints[0], ints[0], rel.name, alias, where)
        return "(SELECT max('x' || %s)::int4 FROM %s AS %s%s)" % (ints[0], rel.name, alias, where)

    def guard(self, scope):
        """A condition that no row meets; now and then, one that some do."""
        rng = self.rng
        ints = [n for n, c in scope if c.kind == "int" and c.small]
        texts = [n for n, c in scope if c.kind == "text"]
        if rng.random() > GUARDED:
            return Leaves(self, scope).condition(0)
        if texts and rng.random() < 0.3:
            return "%s = 'nowhere'" % rng.choice(texts)
        return "%s < -1000" % rng.choice(ints) if ints else "1 = 0"

    def guarded(self, scope):
        """A whole number with a part that no row, mostly, needs."""
        rng = self.rng
        plain = Leaves(self, scope)
        if rng.random() < 0.75:
            self.tags.add("hazard in case in " + self.place)
            return "CASE WHEN %s THEN %s ELSE %s END" % (self.guard(scope), self.hazard(scope), plain.of("int", 0))
        return "COALESCE(%s, %s)" % (rng.choice(["1", plain.of("int", 0)]), self.hazard(scope))

    def guarded_condition(self, scope):
        rng = self.rng
        plain = Leaves(self, scope)
        roll = rng.random()
        if roll < 0.4:
            return "%s %s %s" % (plain.simple("int"), rng.choice(["<", ">", "<>"]), self.guarded(scope))
        if roll < 0.75:
            return "((%s) IS NOT TRUE OR %s > %s)" % (self.guard(scope), plain.simple("int"), self.hazard(scope))
        # a condition of one source of rows is no guard of one of another source
        source = rng.choice(scope)[0].split(".")[0]
        scope = [(n, c) for n, c in scope if n.split(".")[0] == source]
        return "(%s AND %s > %s)" % (self.guard(scope), Leaves(self, scope).simple("int"), self.hazard(scope))

    def exists(self, outer, depth):
        rng = self.rng
        word = rng.choice(["EXISTS", "EXISTS", "NOT EXISTS"])
        self.tags.add(word.lower())
        if rng.random() < 0.25 and depth > 0:
            text, cols = self.select(depth - 1)
            inner = [("q.%s" % c.name, c) for c in cols]
            found = self.correlation(inner, outer)
            return "%s (SELECT 1 FROM (%s) AS q%s)" % (word, text, " WHERE " + found if found else "")
        rel, alias, inner = self.inner()
        return "%s (SELECT %s FROM %s AS %s%s)" % (
            word, rng.choice(["1", "*", inner[0][0]]), rel.name, alias, self.where_inside(inner, outer, True, depth))

    def membership(self, outer, depth):
        """IN, NOT IN, ANY and ALL."""
        rng = self.rng
        scope = [(n, c) for n, c in outer if c.kind in KINDS]
        if not scope:
            return self.exists(outer, depth)
        name, col = rng.choice(scope)
        word = rng.choice(["IN", "IN", "IN", "NOT IN", "NOT IN", "= ANY", "<> ALL", "> ALL", "< ANY"])
        self.tags.add({"IN": "in", "NOT IN": "not in"}.get(word, "any, all"))
        roll = rng.random()
        if roll < 0.35 and depth > 0:
            text, _ = self.select(depth - 1, kinds=[col.kind])
            return "%s %s (%s)" % (name, word, text)
        rel, alias, inner = self.inner()
        found = [n for n, c in inner if c.kind == col.kind]
        if not found:
            return self.exists(outer, depth)
        where = self.where_inside(inner, outer, rng.random() < 0.2, depth)
        if roll < 0.45 and word in ("IN", "NOT IN") and len(scope) > 1:
            other, second = rng.choice(scope)
            also = [n for n, c in inner if c.kind == second.kind]
            if also:
                return "(%s, %s) %s (SELECT %s, %s FROM %s AS %s%s)" % (
                    name, other, word, rng.choice(found), rng.choice(also), rel.name, alias, where)
        tail = " OFFSET 0" if rng.random() < 0.15 else ""
        group = " GROUP BY 1" if rng.random() < 0.2 else ""
        return "%s %s (SELECT %s FROM %s AS %s%s%s%s)" % (name, word, rng.choice(found), rel.name, alias, where, group, tail)

    def predicate(self, outer, depth):
        roll = self.rng.random()
        if roll < 0.35:
            return self.exists(outer, depth)
        if roll < 0.75:
            return self.membership(outer, depth)
        kind = self.rng.choice(KINDS)
        return "%s %s %s" % (Leaves(self, outer).simple(kind), self.rng.choice(["<", ">", "=", "<>"]), self.scalar(kind, outer, depth))


def constant_column(rng, name):
    """A text that is the same in every row, typed or not: (expression, Col)"""
    word = rng.choice(["color1", "key7", "store", "a'b", ""])
    text = quote(word) + rng.choice(["", "::text", "::varchar(20)"])
    return text, Col(name, "text", [word], distinct=1)

"""sources.py: what stands in FROM: tables, partitions, functions, sub-selects, and their joins."""
from leaves import KINDS, Leaves
from world import Col


class Sources:
    """Mixed into the maker of statements."""

    level = 0     # how deep the sub-selects in FROM are nested here

    def table(self, alias):
        rng = self.rng
        plain = [r for r in self.rels if r.kind == "table"]
        others = [r for r in self.rels if r.kind != "table"]
        # partitions have several times the work for the same row count: fewer of them
        rel = rng.choice(others) if rng.random() < 0.18 else rng.choice(plain[:3] + plain)
        if rel.kind != "table":
            self.tags.add(rel.kind)
        return "%s AS %s" % (rel.name, alias), rel.cols, rel.rows

    def function(self, alias):
        rng = self.rng
        form = rng.randint(0, 3)
        number = Col("k", "int", range(1, 6), True, 20)
        if self.volatile and rng.random() < 0.5:
            self.tags.add("volatile function in from")
            return "fuzz_rows(%d) AS %s(k)" % (rng.randint(1, 20), alias), [number], 20
        self.tags.add("function or values")
        if form == 0:
            return "generate_series(%d, %d) AS %s(k)" % (rng.randint(-2, 3), rng.randint(1, 50), alias), [number], 20
        if form == 1:
            return "unnest(ARRAY['color1', 'color2', 'key3'], ARRAY[1, 2, 3]) AS %s(w, k)" % alias, [
                Col("w", "text", ["color1"]), number], 3
        values = ", ".join("(%s, '%s')" % (rng.choice(["NULL"] + [str(i) for i in range(1, 12)]), rng.choice(["color1", "color2", "key1", "x"]))
                           for _ in range(rng.randint(1, 8)))
        return "(VALUES %s) AS %s(k, w)" % (values, alias), [number, Col("w", "text", ["color1", "x"])], 8

    def sub_select(self, alias, depth, scope):
        rng = self.rng
        self.level += 1
        self.tags.add("sub-select in from, level %d" % self.level)
        lateral = bool(scope) and rng.random() < 0.2
        place = self.place
        if lateral:
            self.tags.add("lateral")
            text, cols = self.lateral_select(scope)
        else:
            text, cols = self.select(depth - 1)
            if self.volatile and "fuzz_" in text and "OFFSET" not in text and "LIMIT" not in text and "FOR " not in text:
                text += " OFFSET 0"
        self.place = place
        self.level -= 1
        if " UNION ALL " in text:
            self.tags.add("union all below")
        return "%s(%s) AS %s" % ("LATERAL " if lateral else "", text, alias), cols, 100

    def lateral_select(self, scope):
        rng = self.rng
        rel, alias, inner = self.inner()
        where = self.where_inside(inner, scope, True, 0)
        columns = [(n, c) for n, c in inner if c.kind in KINDS]
        name, col = rng.choice(columns)
        roll = rng.random()
        if roll < 0.5:
            return "SELECT max(%s) AS c0, count(*) AS c1 FROM %s AS %s%s" % (name, rel.name, alias, where), [
                col.named("c0"), Col("c1", "int", [0, 1, 2], True)]
        tail = " ORDER BY 1 LIMIT %d" % rng.randint(1, 3) if roll < 0.75 else rng.choice(["", " OFFSET 0"])
        return "SELECT %s AS c0 FROM %s AS %s%s%s" % (name, rel.name, alias, where, tail), [col.named("c0")]

    def source(self, depth, scope):
        """(text, columns with the alias before them, rows) of one item of FROM"""
        rng = self.rng
        alias = self.alias()
        roll = rng.random()
        if self.ctes and roll < 0.45:
            name, cols = rng.choice(self.ctes)
            self.tags.add("cte used twice" if name in self.used else "cte used")
            self.used.add(name)
            text, rows = "%s AS %s" % (name, alias), 100
        elif depth > 0 and roll < 0.75:
            text, cols, rows = self.sub_select(alias, depth, scope)
        elif roll < 0.85 and scope:
            text, cols, rows = self.function(alias)
        elif rng.random() < 0.12 and not self.lean:
            return self.nested_join()
        else:
            text, cols, rows = self.table(alias)
        return text, [("%s.%s" % (alias, c.name), c) for c in cols], rows

    def nested_join(self):
        """A join in parentheses, which is an input of another one."""
        rng = self.rng
        first, second = self.alias(), self.alias()
        text, cols, rows = self.table(first)
        other, more, also = self.table(second)
        scope = [("%s.%s" % (first, c.name), c) for c in cols]
        new = [("%s.%s" % (second, c.name), c) for c in more]
        self.tags.add("join in parentheses")
        self.tags |= {"self join"} if text.split()[0] == other.split()[0] else set()
        condition = self.join_condition(scope, new, False)
        if condition is None:
            return text, scope, rows
        word = rng.choice(["JOIN", "JOIN", "JOIN", "LEFT JOIN", "FULL JOIN"])
        return "(%s %s %s ON %s)" % (text, word, other, condition), scope + new, max(rows, also)

    @property
    def used(self):
        return self.__dict__.setdefault("used_ctes", set())

    def join_condition(self, scope, new, small):
        pairs = []
        for a, c in scope:
            for b, d in new:
                if self.joinable(c, d):
                    most = max(c.distinct, d.distinct)
                    if most >= 10 or small or self.rng.random() < 0.05:
                        pairs += [(a, b)] * (3 if most >= 50 else 1)
        return "%s = %s" % self.rng.choice(pairs) if pairs else None

    def joinable(self, c, d):
        """May equal values be expected?  Other pairs are joined now and then."""
        if c.kind != d.kind or c.kind not in KINDS:
            return False
        alike = set(c.consts) & set(d.consts) if c.kind == "text" else True
        return bool(alike) or self.rng.random() < 0.05

    def constant_equalities(self, scope, new):
        """Both columns equal one constant; the join has no other condition."""
        pairs = [(a, b, c) for a, c in scope for b, d in new if c.kind == d.kind and c.kind in KINDS and c.consts]
        if not pairs:
            return None
        a, b, col = self.rng.choice(pairs)
        value = Leaves(self, scope).constant(col.kind, col)
        self.tags.add("one constant on both sides")
        return ["%s = %s" % (a, value), "%s = %s" % (b, value)]

    def on_condition(self, scope, new, small, depth):
        """Conditions of a join, or None."""
        rng = self.rng
        self.at("join")
        if rng.random() < 0.08:
            found = self.constant_equalities(scope, new)
            if found:
                return found
        first = self.join_condition(scope, new, small)
        if first is None:
            return None
        conditions = [first]
        if rng.random() < 0.1:
            second = self.join_condition(scope, new, True)
            conditions += [second] if second and second != first else []
        if rng.random() < 0.12:
            conditions.append(Leaves(self, scope + new, depth).condition(0))
        if self.wants_hazards and rng.random() < 0.2:
            conditions.append(self.guarded_condition(scope + new))
        return conditions

    def from_clause(self, depth, outer):
        """(text, conditions for WHERE, scope)"""
        rng = self.rng
        text, scope, rows = self.source(depth, [])
        where = []
        for _ in range(rng.choice([0, 0, 1] if self.lean else [0, 0, 1, 1, 1, 2, 2, 3])):
            item, new, more = self.source(depth if rng.random() < 0.6 else 0, scope)
            conditions = self.on_condition(scope, new, more <= 30 or rows <= 30, depth)
            if conditions is None:
                continue
            self.tags.add("join")
            if item.split()[0] in text.split() and item[0] != "(":
                self.tags.add("self join")
            roll = rng.random()
            lateral = item.startswith("LATERAL")
            if roll < 0.62 or (lateral and roll > 0.8):
                if rng.random() < 0.5 or lateral:
                    text, where = "%s CROSS JOIN %s" % (text, item), where + conditions
                else:
                    text = "%s JOIN %s ON %s" % (text, item, " AND ".join(conditions))
            else:
                word = rng.choice(["LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]) if not lateral else "LEFT JOIN"
                if word == "FULL JOIN":
                    conditions = conditions[:1]
                self.tags.add("outer join" if "JOIN" not in text else "outer join over join")
                text = "%s %s %s ON %s" % (text, word, item, " AND ".join(conditions))
            scope, rows = scope + new, max(rows, more)
        if depth > 0 and outer:
            found = self.correlation(scope, outer)
            where += [found] if found else []
        return text, where, scope

"""leaves.py: expressions of the fuzzer that raise no error of their own.

Whatever a row holds, they have a value: an error then comes from a part that was made
to raise one (hazards of subqueries.py), not from the order in which rows are met.
"""

KINDS = ("int", "text", "numeric", "date")
KEY_KINDS = ("int", "int", "text", "numeric", "date", "bool")


def quote(text):
    return "'%s'" % str(text).replace("'", "''")


class Leaves:
    """Expressions over a scope: a list of (qualified name, Col)."""

    def __init__(self, maker, scope, depth=0):
        self.maker, self.rng, self.scope, self.depth = maker, maker.rng, scope, depth

    def column(self, kind, want=lambda c: True):
        found = [(name, c) for name, c in self.scope if c.kind == kind and want(c)]
        return self.rng.choice(found) if found else None

    def constant(self, kind, col=None):
        rng = self.rng
        if col is not None and col.consts and rng.random() < 0.85:
            value = rng.choice(col.consts)
        else:
            value = {"int": rng.choice([0, 1, 2, 3, 5, 50]), "text": rng.choice(["color1", "color2", "key3", "x"]),
                     "numeric": rng.choice(["0.50", "3.00", "-7.25"]), "date": rng.choice(["1995-03-01", "1996-07-01"]),
                     "float": "2.5", "bool": "true", "wide": "1.5"}[kind]
        if kind == "int":
            return self.maker.parameter(value) or ("%s" % value if int(value) >= 0 else "(%s)" % value)
        return {"text": "%s::text", "date": "date %s", "numeric": "%s::numeric", "float": "%s::float8", "bool": "%s::bool",
                "wide": "%s::numeric"}[kind] % quote(value)

    def simple(self, kind):
        """A column, or a constant where there is none."""
        found = self.column(kind)
        return found[0] if found and self.rng.random() < 0.93 else self.constant(kind)

    def of(self, kind, depth=1):
        rng = self.rng
        if kind in ("bool", "float", "wide"):
            return self.simple(kind) if kind != "bool" or rng.random() < 0.5 else self.condition(depth)
        roll = rng.random()
        if self.depth > 0 and roll < 0.07:
            return self.maker.scalar(kind, self.scope, self.depth - 1)
        if depth <= 0 or roll < 0.55:
            return self.simple(kind)
        if roll < 0.63:
            return "CASE WHEN %s THEN %s ELSE %s END" % (self.condition(depth - 1), self.of(kind, depth - 1), self.of(kind, depth - 1))
        if roll < 0.68:
            return "COALESCE(%s, %s)" % (self.of(kind, depth - 1), self.of(kind, depth - 1))
        if roll < 0.71:
            return "NULLIF(%s, %s)" % (self.of(kind, depth - 1), self.of(kind, depth - 1))
        return getattr(self, "more_" + kind)()

    def small(self):
        found = self.column("int", lambda c: c.small)
        return found[0] if found else self.constant("int")

    def more_int(self):
        rng = self.rng
        if rng.random() < 0.08:
            return "extract(%s FROM age(%s::timestamp, %s::timestamp))::int" % ((rng.choice(["year", "month", "day"]),) + self.dates(2))
        return rng.choice(["(%s::int8 + %s)", "(%s::int8 - %s)", "(%s::int8 * %s)"]) % (self.small(), self.small()) if rng.random() < 0.4 \
            else rng.choice(["(%s %% 2)", "(%s %% 3)", "(%s / 4)", "(%s::int8 + 1)", "abs(%s)"]) % self.small()

    def dates(self, n):
        """n columns of dates, the same perhaps; constants where there are none."""
        return tuple(self.simple("date") for _ in range(n))

    def more_text(self):
        roll = self.rng.random()
        if roll < 0.15:
            return "%s(%s, %s)" % (self.rng.choice(["GREATEST", "LEAST"]), self.simple("text"), self.simple("text"))
        if roll < 0.25:
            return "to_char(%s::timestamp, '%s')" % (self.dates(1) + (self.rng.choice(["YYYY-MM", "YYYY", "Dy", "IYYY-IW"]),))
        if roll < 0.4:
            return self.rng.choice(["(%s || %s)", "concat(%s, '/', %s)", "replace(%s, %s, '')"]) % (self.simple("text"), self.simple("text"))
        return self.rng.choice(["upper(%s)", "left(%s, 4)", "(%s || 'x')", "right(%s, 1)", "substr(%s, 2, 5)", "lower(%s)"]) % self.simple("text")

    def more_numeric(self):
        found = self.column("numeric", lambda c: c.small)
        name = found[0] if found else self.constant("numeric")
        return self.rng.choice(["(%s + 1.5)", "(%s * 2)", "(- %s)", "round(%s, 1)", "(%s - 0.25)"]) % name

    def more_date(self):
        found = self.column("date")
        if not found:
            return self.constant("date")
        return self.rng.choice(["(%s + 1)", "(%s - 30)", "date_trunc('month', %s)::date", "(%s + interval '1 month')::date",
                                "date_bin('10 days', %s::timestamp, '1996-02-01')::date"]) % found[0]

    def group_key(self):
        """(text, kind) of what rows may be grouped by; mostly a column with few values."""
        rng = self.rng
        if rng.random() < 0.7:
            found = [(n, c) for n, c in self.scope if c.kind in KEY_KINDS and c.distinct <= 100] or \
                    [(n, c) for n, c in self.scope if c.kind in KEY_KINDS]
            if found:
                name, col = rng.choice(found)
                return name, col.kind
        kind = rng.choice(("int", "int", "text"))
        return getattr(self, "more_" + kind)(), kind

    def condition(self, depth=1):
        rng = self.rng
        roll = rng.random()
        if depth > 0 and roll < 0.18:
            return "(%s %s %s)" % (self.condition(depth - 1), rng.choice(["AND", "OR"]), self.condition(depth - 1))
        if depth > 0 and roll < 0.23:
            return "(NOT %s)" % self.condition(depth - 1)
        if self.depth > 0 and roll < 0.36:
            return self.maker.predicate(self.scope, self.depth - 1)
        kind = rng.choice(KINDS + ("int", "text"))
        found = self.column(kind) or self.column("int")
        if not found:
            return rng.choice(["true", "true", "1 = 0"])
        return self.comparison(found[1].kind, found[0], found[1])

    def comparison(self, kind, name, col):
        rng = self.rng
        roll = rng.random()
        if roll < 0.15:
            return "%s IS %sNULL" % (name, rng.choice(["", "NOT ", "NOT ", "NOT "]))
        if roll < 0.3:
            return "%s %sIN (%s)" % (name, rng.choice(["", "NOT "]), ", ".join(self.constant(kind, col) for _ in range(rng.randint(1, 4))))
        if roll < 0.37 and kind == "text":
            return rng.choice(["%s LIKE 'color%%'", "%s LIKE '%%1'", "%s < 'd'", "length(%s) > 5", "%s ~ '[13]$'"]) % name
        if roll < 0.4 and kind == "date":
            return rng.choice(["age(%s::timestamp, %s::timestamp) %s interval '%s'", "age(%s::timestamp, %s::timestamp) * 2 %s interval '%s' + interval '9 days'",
                               "(%s::timestamp - %s::timestamp) * -3 - interval '1 mon' %s interval '%s'"]) % (name, self.simple("date"), rng.choice(["<", ">=", "<>"]),
                                                                           rng.choice(["1 mon", "30 days", "-2 years 3 days", "0"]))
        if roll < 0.42:
            return "%s IS %sDISTINCT FROM %s" % (name, rng.choice(["", "NOT "]), self.of(kind, 0))
        operator = rng.choice(["=", "<>", "<>", "<", "<=", "<=", ">", ">=", ">="])
        return "%s %s %s" % (name, operator, self.constant(kind, col) if rng.random() < 0.75 else self.of(kind, 0))

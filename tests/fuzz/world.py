"""world.py: tables of the fuzzer that statements of many shapes ask: keyed, partitioned, inherited.

Their values are tame, so that what they are calculated to neither overflows nor depends
on the order of rows; an error is then one that a statement was made to raise.
"""
from tables import literal_copy

WIDE = "90000000000000000.0123456789"


class Col:
    """A column of any source of rows."""

    def __init__(self, name, kind, consts=(), small=False, distinct=10):
        self.name, self.kind, self.consts = name, kind, tuple(consts)
        self.small = small          # sums and products of it do not overflow
        self.distinct = distinct    # about how many values it has

    def named(self, name):
        return Col(name, self.kind, self.consts, self.small, self.distinct)


class Rel:
    """A table that statements may ask."""

    beyond = 20000      # more than any pk

    def __init__(self, name, cols, rows, kind="table", stored=()):
        self.name, self.cols, self.rows, self.kind = name, cols, rows, kind
        self.stored = list(stored) or [name]     # the tables that have its rows


def null_some(rng, value, share):
    return None if rng.random() < share else value


def make_columns(rng, rows):
    """(Col, SQL type, function of the row's number) of a table; pk comes first."""
    few, keys = rng.choice([3, 5, 7]), rng.choice([10, 50, 100, 500])
    words = ["color%d" % i for i in range(few)] + rng.choice([[], [""], ["Äpfel"], ["b c", "it's"]])
    hole = rng.choice([0, 0, 0.1, 0.3])
    step = rng.choice([1, 1, 1, 2])
    made = [
        (Col("pk", "int", [1, 2, 7, 30], step == 1 or rows < 1000, rows), "int4 PRIMARY KEY", lambda i: i * step),
        (Col("fk", "int", [0, 1, 3, 9], True, keys), rng.choice(["int4", "int4", "int8", "int2"]),
         lambda i: null_some(rng, rng.randrange(keys), hole)),
        (Col("g", "int", [0, 1, 2, 3], True, few), rng.choice(["int4", "int2"]), lambda i: rng.randrange(few)),
        (Col("t", "text", words, distinct=len(words)), rng.choice(["text", "varchar(20)", 'text COLLATE "C"']),
         lambda i: null_some(rng, rng.choice(words), hole)),
        (Col("u", "text", ["key1", "key7", "key20"], distinct=keys), "text", lambda i: "key%d" % rng.randrange(keys)),
        (Col("v", "int", [-5, 0, 5], True, 40), rng.choice(["int8", "int4"]), lambda i: null_some(rng, rng.randint(-20, 20), hole)),
        (Col("n", "numeric", ["0.50", "-1.25", "5.00"], True, 80), "numeric(9,2)",
         lambda i: null_some(rng, "%.2f" % (rng.randint(-40, 40) / 4), hole)),
        (Col("d", "date", ["1995-03-01", "1997-01-01"], distinct=48), "date",
         lambda i: "%d-%02d-01" % (rng.randint(1994, 1997), rng.randint(1, 12))),
        (Col("f", "float", ["0.5", "1.25"], True, 100), "float8", lambda i: rng.randint(1, 100) / 8),
        (Col("b", "bool", distinct=2), "bool", lambda i: null_some(rng, rng.random() < 0.5, hole)),
    ]
    if rng.random() < 0.4:
        # Display scales differ; equal values have one.
        made[6] = (made[6][0], "numeric", lambda i: null_some(rng, "%g" % (rng.randint(-40, 40) / 4), hole))
    if rng.random() < 0.3:
        made.append((Col("w", "wide", distinct=3), "numeric(28,10)", lambda i: WIDE if rng.random() < 0.01 else "1.5"))
    gone = set(rng.sample(range(5, len(made)), rng.choice([0, 0, 1, 2])))
    return [m for i, m in enumerate(made) if i not in gone]


def copy_in(name, made, numbers):
    lines = "".join("\t".join(literal_copy(make(i)) for _, _, make in made) + "\n" for i in numbers)
    return "COPY %s (%s) FROM stdin;\n%s\\.\n" % (name, ", ".join(c.name for c, _, _ in made), lines)


def storage(rng, name, columns):
    """Vacuumed, partly changed since, or not vacuumed: cached pages, and rows read beside them."""
    state = rng.choice(["vacuumed", "vacuumed", "vacuumed", "mixed", "fresh"])
    if state != "fresh":
        yield "VACUUM (FREEZE, ANALYZE) %s;" % name
    if state == "mixed":
        yield "UPDATE %s SET g = g WHERE pk %% 17 = 0;" % name
    if state == "fresh" and rng.random() < 0.7:
        yield "ANALYZE %s;" % name


def definitions(made):
    return ", ".join("%s %s" % (c.name, sql_type) for c, sql_type, _ in made)


def plain_table(rng, name, rows):
    made = make_columns(rng, rows)
    rel = Rel(name, [c for c, _, _ in made], rows)
    statements = ["CREATE TABLE %s (%s) WITH (autovacuum_enabled = off);" % (name, definitions(made)),
                  copy_in(name, made, range(rows))]
    return rel, statements + list(storage(rng, name, made))


def partition_bounds(rng, method, rows):
    """(column, bounds of each partition)"""
    if method == "hash":
        count = rng.choice([2, 5, 16])
        return "fk", ["WITH (MODULUS %d, REMAINDER %d)" % (count, i) for i in range(count)]
    if method == "range":
        steps = sorted(rng.sample(range(1, max(rows, 5)), rng.choice([1, 3])))
        edges = ["MINVALUE"] + [str(s) for s in steps] + ["MAXVALUE"]
        return "pk", ["FROM (%s) TO (%s)" % pair for pair in zip(edges, edges[1:])]
    return "g", ["IN (0, 1)", "IN (2)", "DEFAULT"]


def partitioned_table(rng, name, rows, method):
    made = make_columns(rng, rows)
    column, bounds = partition_bounds(rng, method, rows)
    plain = definitions(made).replace(" PRIMARY KEY", "")
    statements = ["CREATE TABLE %s (%s) PARTITION BY %s (%s);" % (name, plain, method, column)]
    parts = ["%s_%d" % (name, i) for i in range(len(bounds))]
    for part, bound in zip(parts, bounds):
        values = bound if bound == "DEFAULT" else "FOR VALUES " + bound
        statements.append("CREATE TABLE %s PARTITION OF %s %s WITH (autovacuum_enabled = off);" % (part, name, values))
    statements.append(copy_in(name, made, range(rows)))
    for part in parts:
        statements += storage(rng, part, made)
    statements.append("ANALYZE %s;" % name)
    return Rel(name, [c for c, _, _ in made], rows, "partitioned", parts), statements


def inherited_table(rng, name, rows):
    made = make_columns(rng, rows)
    plain = definitions(made).replace(" PRIMARY KEY", "")
    statements = ["CREATE TABLE %s (%s) WITH (autovacuum_enabled = off);" % (name, plain)]
    numbers = list(range(rows))
    for child, share in (("%s" % name, numbers[::3]), ("%s_a" % name, numbers[1::3]), ("%s_b" % name, numbers[2::3])):
        if child != name:
            statements.append("CREATE TABLE %s (extra int) INHERITS (%s) WITH (autovacuum_enabled = off);" % (child, name))
        statements.append(copy_in(child, made, share))
        statements += storage(rng, child, made)
    return Rel(name, [c for c, _, _ in made], rows, "inherited", [name, name + "_a", name + "_b"]), statements


# fuzz_note() and fuzz_next() leave traces that can be counted after the statement
EXTRAS = """
CREATE TABLE fuzz_audit (v int8);
CREATE SEQUENCE fuzz_seq;
CREATE FUNCTION fuzz_note(v int8) RETURNS int8 VOLATILE LANGUAGE plpgsql AS $$BEGIN INSERT INTO fuzz_audit VALUES (v); RETURN v; END$$;
CREATE FUNCTION fuzz_rows(n int4) RETURNS SETOF int4 VOLATILE LANGUAGE plpgsql AS
  $$BEGIN FOR i IN 1..n LOOP INSERT INTO fuzz_audit VALUES (i); RETURN NEXT i; END LOOP; END$$;
CREATE FUNCTION fuzz_next() RETURNS bool VOLATILE LANGUAGE sql AS 'SELECT nextval(''fuzz_seq'') > 0';
"""


def make_world(rng):
    """(relations, statements that make them)"""
    sizes = [0, 1, 31, 33, 100, 300]
    made = [plain_table(rng, "s0", rng.choice([3000, 5000])), plain_table(rng, "s1", rng.choice([500, 1000, 2000])),
            plain_table(rng, "s2", rng.choice([33, 100, 300])), plain_table(rng, "s3", rng.choice(sizes))]
    for method in ("hash", "range", "list"):
        made.append(partitioned_table(rng, "p" + method, rng.choice([100, 1000, 2000]), method))
    made.append(inherited_table(rng, "inh", rng.choice([99, 900])))
    return [rel for rel, _ in made], [EXTRAS] + [s for _, more in made for s in more]

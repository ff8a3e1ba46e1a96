"""tables.py: random tables of the fuzzer: columns of every type, and what fills them."""
import decimal

NULL = "\x1d"

INT_RANGE = {"int2": 2**15, "int4": 2**31, "int8": 2**63}
WORDS = ["", "a", "b", "A", "ab", "abc", "Äpfel", "z ", " z", "日本", "x%y", "x_y", "q\\z", "MAIL", "SHIP",
         "12", "-7", "true", "1995-06-17", "'", "\"", "e\u0301", "\u00e9", "ß", "😀", "a\tb", "long" * 30]


class Column:
    def __init__(self, name, type_, sql_type, table=None):
        self.name, self.type, self.sql_type, self.table = name, type_, sql_type, table
        self.tame = True         # sums of it do not overflow, as floats are exact
        self.small = True        # products of it do not overflow either
        self.scale = 0
        self.make = None


def literal_copy(value):
    if value is None:
        return "\\N"
    return (str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n"))


def int_maker(rng, column, type_, rows):
    top = INT_RANGE[type_]
    style = rng.choice(["small", "small", "few", "mid", "mid", "full", "constant", "skew", "serial"])
    column.small = style in ("small", "few", "constant", "skew")
    column.tame = style != "full"
    if style == "small":
        return lambda i: rng.randint(-20, 20)
    if style == "few":
        values = [rng.randint(0, 100) for _ in range(rng.randint(1, 5))]
        return lambda i: rng.choice(values)
    if style == "mid":
        low = rng.randint(-top // 2, 0) // rng.choice([1, 7, 1000])
        return lambda i: low + rng.randint(0, min(10000, top // 2))
    if style == "full":
        ends = [-top, top - 1, -top + 1, 0, -1, 1]
        return lambda i: rng.choice(ends) if rng.random() < 0.3 else rng.randint(-top, top - 1)
    if style == "constant":
        value = rng.randint(-50, 50)
        return lambda i: value
    if style == "skew":
        return lambda i: 7 if rng.random() < 0.9 else rng.randint(0, 50)
    start = rng.randint(-100, 100)
    return lambda i: start + i


def float_maker(rng, column, type_):
    style = rng.choice(["eighths", "eighths", "wild"])
    column.tame = column.small = style == "eighths"
    if style == "eighths":
        return lambda i: rng.randint(-400, 400) / 8
    ends = ["NaN", "Infinity", "-Infinity", "-0", "0", "1e-30", "-1e30", "3.25"]
    if type_ == "float8":
        ends += ["1e300", "2.2250738585072014e-308", "0.1", "1e-320"]
    return lambda i: rng.choice(ends) if rng.random() < 0.5 else repr(rng.uniform(-1e6, 1e6))


def mixed_maker(rng, column):
    """Values that differ in display scale.  Equal ones have one: which of others a group shows, say, depends on the plan."""
    scales = rng.choice([(0, 1, 2), (0, 1, 2), (0, 2), (2, 2, 2, 3), (0, 4, 9), (0, 1, 12)])
    column.small = max(scales) < 10

    def make(i):
        n = rng.randint(-300, 300)
        return "{:f}".format(decimal.Decimal(n).scaleb(-scales[n % len(scales)]) if n % 10 else decimal.Decimal(n))
    return make


def numeric_maker(rng, column):
    if rng.random() < 0.4:
        return mixed_maker(rng, column)
    precision, scale = rng.choice([(5, 0), (9, 2), (12, 2), (12, 4), (18, 6), (28, 10), (4, 4), (8, 3), (15, 2)])
    column.sql_type = "numeric(%d,%d)" % (precision, scale)
    column.scale = scale
    style = rng.choice(["small", "small", "digits", "digits", "full", "few"])
    if style == "full" and precision > 18 and rng.random() < 0.7:
        style = "digits"
    column.tame = style != "full"
    column.small = style in ("small", "few")
    if style == "few":
        values = [decimal.Decimal(rng.randint(-500, 500)).scaleb(-scale) for _ in range(4)]
        return lambda i: rng.choice(values)
    if style == "small":
        limit = min(10**precision - 1, 10000)
        return lambda i: decimal.Decimal(rng.randint(-limit, limit)).scaleb(-scale)
    if style == "digits":
        limit = 10**min(precision, 12) - 1
        return lambda i: decimal.Decimal(rng.randint(-limit, limit)).scaleb(-scale)
    limit = 10**precision - 1
    nan = rng.random() < 0.1
    return lambda i: "NaN" if nan and rng.random() < 0.002 else decimal.Decimal(
        rng.choice([-limit, limit, rng.randint(-limit, limit)])).scaleb(-scale)


def date_maker(rng, column):
    style = rng.choice(["year", "year", "days", "wild"])
    column.tame = column.small = style != "wild"
    if style == "year":
        return lambda i: "%04d-%02d-%02d" % (1995 + rng.randint(0, 6), rng.randint(1, 12), rng.randint(1, 28))
    if style == "days":
        return lambda i: "2000-02-%02d" % rng.randint(1, 29)
    ends = ["infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "1999-12-31", "2000-01-01", "0001-01-01", "0001-12-31 BC"]
    return lambda i: rng.choice(ends)


def timestamp_maker(rng, column):
    style = rng.choice(["hours", "hours", "micros", "wild"])
    column.tame = column.small = style != "wild"
    if style == "hours":
        return lambda i: "1998-%02d-%02d %02d:00:00" % (rng.randint(1, 12), rng.randint(1, 28), rng.randint(0, 23))
    if style == "micros":
        return lambda i: "1998-01-01 00:00:00.%06d" % rng.randint(0, 5)
    ends = ["infinity", "-infinity", "4713-01-02 00:00:00 BC", "294276-12-31 23:59:59.999999",
            "1999-12-31 23:59:59.999999", "2000-01-01 00:00:00", "2000-01-01 00:00:00.000001", "0001-06-01 BC"]
    return lambda i: rng.choice(ends)


def text_maker(rng, column, type_):
    style = rng.choice(["words", "words", "many", "few", "constant"])
    if type_ == "bpchar":
        words = ["", "a", "a ", "ab", "é", "zz", "Zz", "b  "]
        return lambda i: rng.choice(words)
    if style == "constant":
        return lambda i: "same"
    if style == "many":
        return lambda i: "v%d" % rng.randint(0, 3000)
    words = WORDS if style == "words" else rng.sample(WORDS, 3)
    return lambda i: rng.choice(words)


def uuid_of(n):
    return "%08x-0000-4000-8000-%012x" % (n * 0x9e3779b1 % 2**32, n)


# Types that are compared, and no more: values of each, ends of its range among them.
PLAIN_TYPES = {
    "uuid": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"] + [uuid_of(n) for n in range(8)],
    "fuzz_enum": ["one", "two", "three", "before", "last"],
    "oid": ["0", "1", "7", "2147483647", "2147483648", "4294967295"],
    "time": ["00:00", "24:00", "12:00", "12:00:00.000001", "23:59:59.999999"],
    "name": ["", " ", "a", "A", "ab", "é", "zz", "n" * 63],
    "money": ["-92233720368547758.08", "92233720368547758.07", "0", "0.01", "-0.01", "7"],
    "timetz": ["00:00+15:59:59", "24:00-15:59:59", "24:00+00", "00:00+00", "12:00+00", "13:00+01", "12:00:00.000001-05"],
    "macaddr": ["00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "7f:ff:ff:ff:ff:ff", "80:00:00:00:00:00", "08:00:2b:01:02:03"],
    "macaddr8": ["00:00:00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff:ff:ff", "7f:ff:ff:ff:ff:ff:ff:ff", "80:00:00:00:00:00:00:00"],
    "pg_lsn": ["0/0", "FFFFFFFF/FFFFFFFF", "7FFFFFFF/FFFFFFFF", "80000000/0", "16/B374D848"],
}


def plain_maker(rng, type_):
    values = PLAIN_TYPES[type_]
    if type_ == "uuid" and rng.random() < 0.3:
        return lambda i: uuid_of(rng.randint(0, 3000))
    if type_ == "oid" and rng.random() < 0.5:
        return lambda i: rng.randint(0, 40)
    if type_ == "money" and rng.random() < 0.5:
        return lambda i: "%d.%02d" % (rng.randint(0, 40), rng.randint(0, 3))
    return lambda i: rng.choice(values)


SQL_TYPES = {"bool": "bool", "int2": "int2", "int4": "int4", "int8": "int8", "float4": "float4", "float8": "float8",
             "numeric": "numeric", "date": "date", "timestamp": "timestamp", "timestamptz": "timestamptz",
             "text": "text", "bpchar": "char(5)", **{t: t for t in PLAIN_TYPES}}


class Table:
    beyond = 10000000   # more than most pks

    @property
    def cols(self):
        return self.columns

    def __init__(self, rng, name, rows):
        self.name, self.rows = name, rows
        self.stored = [name]     # the tables that have its rows
        self.columns = []
        if rng.random() < 0.7:
            self.add(rng, "pk", "int4", unique=True)
        for n in range(rng.randint(4, 10)):
            self.add(rng, "c%d" % n, rng.choice(
                ["int4"] * 4 + ["text"] * 3 + ["int2", "int8", "int8", "numeric", "numeric", "numeric", "date", "date",
                                               "timestamp", "timestamptz", "float8", "float8", "float4", "bool", "bpchar", *PLAIN_TYPES]))
        self.data = [[c.make(i) for c in self.columns] for i in range(rows)]

    def add(self, rng, name, type_, unique=False):
        column = Column(name, type_, SQL_TYPES[type_], self)
        if unique:
            step = rng.choice([1, 1, 1, 3, 1000])
            column.small = step == 1
            column.make = lambda i: i * step
            column.sql_type += " PRIMARY KEY"
            self.columns.append(column)
            return
        if type_ in INT_RANGE:
            make = int_maker(rng, column, type_, self.rows)
            if rng.random() < 0.1 and type_ == "int4":
                column.sql_type = "fuzz_int"
        elif type_ in ("float4", "float8"):
            make = float_maker(rng, column, type_)
        elif type_ == "numeric":
            make = numeric_maker(rng, column)
        elif type_ == "date":
            make = date_maker(rng, column)
        elif type_ in ("timestamp", "timestamptz"):
            make = timestamp_maker(rng, column)
        elif type_ in ("text", "bpchar"):
            make = text_maker(rng, column, type_)
            if type_ == "text" and rng.random() < 0.4:
                column.sql_type = rng.choice(["varchar", "varchar(200)", "fuzz_text"])
            if type_ == "text" and rng.random() < 0.3:
                column.sql_type += ' COLLATE "C"'
        elif type_ in PLAIN_TYPES:
            make = plain_maker(rng, type_)
        else:
            make = lambda i: rng.random() < 0.5
        nulls = rng.choice([0, 0, 0, 0.1, 0.1, 0.5, 1 if rng.random() < 0.2 else 0.3])
        column.make = lambda i: None if nulls and rng.random() < nulls else make(i)
        self.columns.append(column)

    def columns_text(self, columns):
        return ", ".join("%s %s" % (c.name, c.sql_type) for c in columns)

    def partitions(self, rng):
        """Statements that make it a partitioned table; columns of partitions may be in another order."""
        # money is not hashed
        key = next(c for c in self.columns if c.type != "money").name
        count = rng.choice([1, 2, 3, 7])
        yield "CREATE TABLE %s (%s) PARTITION BY HASH (%s);" % (self.name, self.columns_text(self.columns), key)
        self.stored = ["%s_p%d" % (self.name, n) for n in range(count)]
        for n, name in enumerate(self.stored):
            bounds = "FOR VALUES WITH (MODULUS %d, REMAINDER %d)" % (count, n)
            if rng.random() < 0.5:
                yield "CREATE TABLE %s PARTITION OF %s %s WITH (autovacuum_enabled = off);" % (name, self.name, bounds)
                continue
            others = rng.sample(self.columns, len(self.columns))
            yield "CREATE TABLE %s (gone int, %s) WITH (autovacuum_enabled = off);" % (
                name, self.columns_text(others).replace(" PRIMARY KEY", " NOT NULL"))
            yield "ALTER TABLE %s DROP COLUMN gone;" % name
            yield "ALTER TABLE %s ATTACH PARTITION %s %s;" % (self.name, name, bounds)

    def statements(self, rng, layouts):
        layout = rng.choice(layouts)
        tables = [self.name]
        if layout == "partitions" and any(c.type != "money" for c in self.columns):
            yield from self.partitions(rng)
        else:
            yield "CREATE TABLE %s (%s) WITH (autovacuum_enabled = off);" % (self.name, self.columns_text(self.columns))
        if layout == "inherited":
            tables += ["%s_i%d" % (self.name, n) for n in range(rng.choice([1, 2]))]
            self.stored = tables
            for name in tables[1:]:
                yield "CREATE TABLE %s (more int) INHERITS (%s) WITH (autovacuum_enabled = off);" % (name, self.name)
        names = ", ".join(c.name for c in self.columns)
        for n, name in enumerate(tables):
            part = self.data[n * len(self.data) // len(tables):(n + 1) * len(self.data) // len(tables)]
            lines = "".join("\t".join(literal_copy(v) for v in row) + "\n" for row in part)
            yield "COPY %s (%s) FROM stdin;\n%s\\.\n" % (name, names, lines)
        state = rng.choice(["vacuumed", "vacuumed", "mixed", "fresh"])
        if state != "fresh":
            yield "VACUUM (FREEZE, ANALYZE) %s;" % ", ".join(tables)
        if state == "mixed":
            yield "UPDATE %s SET %s = %s WHERE ctid < '(1,0)' OR random() < 0.05;" % (
                self.name, self.columns[-1].name, self.columns[-1].name)
        if state == "fresh" and rng.random() < 0.5:
            yield "ANALYZE %s;" % self.name
        self.data = None


def make_tables(rng, count, most):
    sizes = [0, 1, 31, 32, 33, 100, 300, 1000, 2000, 5000, 8191, 8192, 8193, 12000]
    tables = []
    for n in range(count):
        size = min(rng.choice(sizes[4:]) if n < 2 else rng.choice(sizes), most)
        tables.append(Table(rng, "t%d" % n, size))
    return tables

#!/usr/bin/env python3
"""fuzz.py: random queries, answered by gpuconc and by PostgreSQL alone.

Makes tables (all types, NULLs, skew, duplicates, extremes; vacuumed, not, and in
between) in a schema of its own, then random queries within and a little outside of
what can be offloaded.  Each is run by two sessions, one with gpuconc and one
without, and the answers are compared as multisets of rows: byte for byte, but for
sums and averages of floats (relative tolerance) and the sign of a zero among the
extremes of floats.  Where PostgreSQL raises an error, so must gpuconc; which of
several errors comes first is not compared.

A mismatch is reduced (outputs, conditions, keys and relations are taken away while
it stays) and printed with the seed that makes it again.

    fuzz.py [--seconds N] [--queries N] [--seed S] [--tables N] [--verbose]

Connects as psql does (PG* environment); the server must have gpuconc preloaded.
Exit status: 0 all right; 1 a mismatch, a lost connection, or fewer than 40 % of the
queries offloaded.
"""
import argparse
import collections
import decimal
import json
import math
import os
import random
import select
import subprocess
import sys
import time

FIELD, RECORD, NULL = "\x1f", "\x1e", "\x1d"
SCHEMA = "gpuconc_fuzz"
MIN_SHARE, GOOD_SHARE = 0.40, 0.60
MAX_ROWS = 100000


# ----------------------------------------------------------------------------
# Sessions
# ----------------------------------------------------------------------------

class Lost(Exception):
    """The session or the server is gone, or hangs."""


class Session:
    """A psql process that is fed one statement at a time."""

    def __init__(self, settings):
        self.settings = settings
        self.open()

    def open(self):
        command = [os.environ.get("PSQL", "psql"), "-X", "-q", "-A", "-t", "-F", FIELD, "-R", RECORD,
                   "-P", "null=" + NULL, "-v", "VERBOSITY=terse", "-v", "SHOW_CONTEXT=never"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.buffer = bytearray()
        self.number = 0
        for setting in self.settings:
            self.run(setting)

    def run(self, sql, timeout=60):
        """Rows (lists of strings), or None and the error's (SQLSTATE, message)."""
        self.number += 1
        end = "\x02end %d " % self.number
        text = "%s\n\\echo '%s' :SQLSTATE\n" % (sql, end)
        try:
            self.process.stdin.write(text.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Lost("psql is gone")
        output, state = self.read_until(end.encode(), timeout)
        if state != "00000":
            return None, (state, output.strip().replace("\n", " "))
        output = output.rstrip("\n")
        if output == "":
            return [], None
        return [row.split(FIELD) for row in output.split(RECORD)], None

    def read_until(self, mark, timeout):
        deadline = time.monotonic() + timeout
        fd = self.process.stdout.fileno()
        start = 0
        while True:
            at = self.buffer.find(mark, start)
            newline = self.buffer.find(b"\n", at) if at >= 0 else -1
            if newline >= 0:
                output = self.buffer[:at].decode(errors="replace")
                state = self.buffer[at + len(mark):newline].decode().strip()
                del self.buffer[:newline + 1]
                return output, state
            start = max(0, len(self.buffer) - 100)
            ready, _, _ = select.select([fd], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise Lost("no answer within %d s" % timeout)
            data = os.read(fd, 1 << 16)
            if not data:
                raise Lost("psql ended: " + self.buffer.decode(errors="replace")[-500:])
            self.buffer += data

    def must(self, sql):
        rows, error = self.run(sql, 300)
        if error:
            sys.exit("fuzz: %s\n%s" % (error[1], sql[:2000]))
        return rows

    def close(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


# ----------------------------------------------------------------------------
# Tables
# ----------------------------------------------------------------------------

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


def numeric_maker(rng, column):
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


SQL_TYPES = {"bool": "bool", "int2": "int2", "int4": "int4", "int8": "int8", "float4": "float4", "float8": "float8",
             "numeric": "numeric", "date": "date", "timestamp": "timestamp", "timestamptz": "timestamptz",
             "text": "text", "bpchar": "char(5)"}


class Table:
    def __init__(self, rng, name, rows):
        self.name, self.rows = name, rows
        self.columns = []
        if rng.random() < 0.7:
            self.add(rng, "pk", "int4", unique=True)
        for n in range(rng.randint(4, 10)):
            self.add(rng, "c%d" % n, rng.choice(
                ["int4"] * 4 + ["text"] * 3 + ["int2", "int8", "int8", "numeric", "numeric", "numeric", "date", "date",
                                               "timestamp", "timestamptz", "float8", "float8", "float4", "bool", "bpchar"]))
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
        else:
            make = lambda i: rng.random() < 0.5
        nulls = rng.choice([0, 0, 0, 0.1, 0.1, 0.5, 1 if rng.random() < 0.2 else 0.3])
        column.make = lambda i: None if nulls and rng.random() < nulls else make(i)
        self.columns.append(column)

    def statements(self, rng):
        yield "CREATE TABLE %s (%s) WITH (autovacuum_enabled = off);" % (
            self.name, ", ".join("%s %s" % (c.name, c.sql_type) for c in self.columns))
        lines = "".join("\t".join(literal_copy(v) for v in row) + "\n" for row in self.data)
        yield "COPY %s FROM stdin;\n%s\\.\n" % (self.name, lines)
        state = rng.choice(["vacuumed", "vacuumed", "mixed", "fresh"])
        if state != "fresh":
            yield "VACUUM (FREEZE, ANALYZE) %s;" % self.name
        if state == "mixed":
            yield "UPDATE %s SET %s = %s WHERE ctid < '(1,0)' OR random() < 0.05;" % (
                self.name, self.columns[-1].name, self.columns[-1].name)
        if state == "fresh" and rng.random() < 0.5:
            yield "ANALYZE %s;" % self.name
        self.data = None


def make_tables(rng, count):
    sizes = [0, 1, 31, 32, 33, 100, 300, 1000, 2000, 5000, 8191, 8192, 8193, 12000]
    tables = []
    for n in range(count):
        size = rng.choice(sizes[4:]) if n < 2 else rng.choice(sizes)
        tables.append(Table(rng, "t%d" % n, size))
    return tables


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
        type_ = self.rng.choice(["int", "int", "numeric", "float", "date", "timestamp", "timestamptz", "text", "bool", "bpchar"])
        return self.of(type_, depth), type_

    def of(self, type_, depth):
        return getattr(self, "gen_" + type_)(depth)

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
        form = rng.randint(0, 6)
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
        if roll < 0.75:
            return rng.choice(["(- %s)", "abs(%s)"]) % self.gen_numeric(depth - 1)
        if roll < 0.87:
            return self.choice_of("numeric", depth)
        if roll < 0.95:
            return "%s::numeric" % self.gen_int(depth - 1)
        if roll < 0.98:
            return "%s::numeric(%d,%d)" % ((self.gen_numeric(depth - 1),) + rng.choice([(20, 2), (10, 0), (30, 8), (6, 1)]))
        return rng.choice(["round(%s, 1)", "(%s / 3)", "(%s %% 7)", "trunc(%s)"]) % self.gen_numeric(depth - 1)

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
        if roll < 0.97:
            return "%s::%s" % (self.gen_numeric(depth - 1), rng.choice(FLOATS))
        return "%s::%s" % (self.gen_float(depth - 1), rng.choice(FLOATS))

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
        if roll < 0.95:
            return "(%s + interval '%s')" % (self.gen_date(0), rng.choice(["1 month", "3 hours"]))
        return "date_trunc('%s', %s)" % (rng.choice(["month", "year", "hour"]), self.gen_timestamp(depth - 1))

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
            return "to_char(%s, '%s')" % (self.gen_date(0), rng.choice(["YYYY-MM", "Dy"]))
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
        type_ = rng.choice(["int", "int", "int", "numeric", "float", "date", "timestamp", "timestamptz", "text", "bpchar"])
        a = self.of(type_, depth - 1)
        if "." not in a:
            # mostly not of constants alone
            a = self.column((type_,) if type_ not in ("int", "float") else INTS if type_ == "int" else FLOATS) or a
        form = rng.random()
        if form < 0.5:
            ops = ["=", "<>", "<", "<=", ">", ">="]
            if type_ == "text" and rng.random() < 0.9:
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
EXACT, TOLERANT, ZERO_SIGN = "exact", "tolerant", "zero sign"

Relation = collections.namedtuple("Relation", "alias text columns")


class Query:
    """Parts of a query, so that it can be reduced."""

    def __init__(self):
        self.relations = []      # (Relation, [join conditions])
        self.where = []
        self.keys = []           # group keys
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
        if self.comma:
            tables = ", ".join(r.text for r, _ in self.relations)
            where = [c for _, on in self.relations for c in on] + where
        else:
            tables = self.relations[0][0].text
            where = list(self.relations[0][1]) + where
            for relation, on in self.relations[1:]:
                tables += " JOIN %s ON %s" % (relation.text, " AND ".join(on) or "true")
        text = "%sSELECT %s FROM %s" % (self.prefix, ", ".join(o for o, _ in self.outputs), tables)
        if where:
            text += " WHERE " + " AND ".join(where)
        if self.keys:
            text += " GROUP BY " + ", ".join(self.keys)
        if self.having:
            text += " HAVING " + " AND ".join(self.having)
        return text + self.suffix

    def conditions(self):
        return len(self.where) + sum(len(on) for _, on in self.relations)

    def statements(self):
        """What to run before, the query, what to run after."""
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
    def __init__(self, rng, tables):
        self.rng, self.tables = rng, tables

    def relation(self, alias, first):
        """A table, now and then some other source of rows."""
        rng = self.rng
        table = rng.choice([t for t in self.tables if not first or t.rows >= 100 or rng.random() < 0.1])
        if first or rng.random() < 0.85:
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
                if rng.random() < 0.05:
                    on.append(Expressions(rng, scope + [(relation.alias, c) for c in relation.columns]).gen_bool(1))
                if "pk" not in condition:
                    fanout += 1
                if fanout > 2:
                    continue
            if query.prefix and prefix:
                prefix = ", " + prefix[len("WITH "):]
                query.prefix = query.prefix.rstrip() + prefix
            else:
                query.prefix += prefix
            query.relations.append((relation, on))
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
            else:
                arg = ex.of(type_, rng.randint(0, 2))
            text = "%s(%s)" % (fn, arg)
        elif roll < 0.96:
            fn = rng.choice(["min", "max"])
            type_ = rng.choice(["int", "numeric", "float", "date", "timestamp", "timestamptz", "text", "bpchar"])
            arg = ex.of(type_, rng.randint(0, 1))
            if "." not in arg and rng.random() < 0.9:
                arg = ex.column(("text", "int4", "date", "int8"))
            text = "%s(%s)" % (fn, arg or "1")
            if type_ == "float":
                how = ZERO_SIGN
        else:
            text = rng.choice(["count(DISTINCT %s)", "bool_and(%s IS NULL)", "stddev(%s)", "bit_or(%s)"]) % (
                ex.column(INTS) or "1")
            how = TOLERANT if "stddev" in text else EXACT
        if rng.random() < 0.2:
            text += " FILTER (WHERE %s)" % ex.gen_bool(1)
        if how is EXACT and rng.random() < 0.15 and text.startswith("count"):
            text = "%s %s" % (text, rng.choice(["+ 1", "* 2", "> 10"]))
        return text, how

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
        if form < 0.2 and all("pk" in on[0] for _, on in query.relations[1:]):
            # plain rows
            for _ in range(rng.randint(1, 5)):
                query.outputs.append((ex.any(rng.choice([0, 0, 0, 1, 2]))[0], EXACT))
            while len(query.where) < 2:
                query.where.append(ex.gen_bool(1))
            if rng.random() < 0.1:
                query.suffix = " ORDER BY %s LIMIT %d" % (", ".join(str(i + 1) for i in range(len(query.outputs))),
                                                        rng.choice([0, 1, 10]))
            return query
        query.grouped = form < 0.7
        if query.grouped:
            for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5])):
                key = None
                if rng.random() < 0.7:
                    key = ex.column(("int2", "int4", "int8", "date", "text", "bool", "numeric", "timestamp", "timestamptz", "bpchar"),
                                    lambda c: c.name != "pk" or rng.random() < 0.2)
                params, ex.params = ex.params, None
                key = key or ex.of(rng.choice(["int", "int", "date", "text", "bool", "numeric", "timestamp"]), 1)
                ex.params = params
                if key.strip("(-)").isdigit() or key in query.keys:
                    continue
                query.keys.append(key)
                if rng.random() < 0.9:
                    query.outputs.append((key, EXACT))
        for _ in range(rng.randint(0 if query.outputs else 1, 4)):
            query.outputs.append(self.aggregate(ex))
        if rng.random() < 0.15:
            query.having.append(rng.choice(["count(*) > %d" % rng.randint(0, 20), "min(%s) IS NOT NULL" % ex.any(0)[0],
                                            "sum(%s) > 0" % ex.gen_int(0), "NOT (max(%s) < 5)" % ex.gen_int(0)]))
        if rng.random() < 0.05 and not any(how is not EXACT for _, how in query.outputs):
            query.suffix = " ORDER BY %s LIMIT 7" % ", ".join(str(i + 1) for i in range(len(query.outputs)))
        return query


# ----------------------------------------------------------------------------
# Comparison
# ----------------------------------------------------------------------------

def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def near(a, b):
    if a == b:
        return True
    x, y = number(a), number(b)
    if x is None or y is None:
        return False
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return abs(x - y) <= 1e-6 * max(abs(x), abs(y)) + 1e-6


def rows_differ(expected, got, how):
    """None, or what is wrong."""
    if len(expected) != len(got):
        return "%d rows, not %d" % (len(got), len(expected))
    exact = [i for i, h in enumerate(how) if h is EXACT]
    loose = [i for i, h in enumerate(how) if h is not EXACT]

    def key(row):
        return ([row[i] for i in exact],
                [(number(row[i]) if number(row[i]) is not None and not math.isnan(number(row[i])) else -1e309, row[i] == NULL)
                 for i in loose])
    expected, got = sorted(expected, key=key), sorted(got, key=key)
    for e, g in zip(expected, got):
        if len(e) != len(g):
            return "different columns"
        if any(e[i] != g[i] for i in exact) or any(
                not (near(e[i], g[i]) if how[i] is TOLERANT else
                     e[i] == g[i] or {e[i], g[i]} == {"0", "-0"}) for i in loose):
            show = lambda row: "|".join("NULL" if v == NULL else v[:60] for v in row)
            return "expected %s\n            got %s" % (show(e), show(g))
    return None


class Fuzzer:
    def __init__(self, options):
        self.options = options
        common = ["SET search_path = %s, public;" % SCHEMA, "SET timezone = 'UTC';", "SET extra_float_digits = 1;",
                  "SET statement_timeout = '50s';", "SET max_parallel_workers_per_gather = 0;", "SET jit = off;"]
        self.on = Session(common + ["SET gpuconc.enabled = on;"])
        self.off = Session(common + ["SET gpuconc.debug_offload = forbid;"])
        self.counts = collections.Counter()
        self.refusals = collections.Counter()
        self.mismatches = 0

    def reconnect(self):
        """After a crash: wait until the server is back."""
        deadline = time.monotonic() + 120
        for session in (self.on, self.off):
            session.close()
            while True:
                try:
                    session.open()
                    if session.run("SELECT 1;")[0] == [["1"]]:
                        break
                except Lost:
                    if time.monotonic() > deadline:
                        raise
                session.close()
                select.select([], [], [], 0.2)

    def offloaded(self):
        rows, _ = self.on.run("SELECT offloaded, fallbacks FROM gpuconc_stat_get();")
        return [int(v) for v in rows[0]]

    def ask(self, session, query, mode=None):
        before, text, after = query.statements()
        if mode:
            session.run("SET gpuconc.debug_offload = %s;" % mode)
        error = None
        for statement in before:
            _, error = session.run(statement)
            if error:
                break
        rows = None
        if error is None:
            rows, error = session.run(text)
        for statement in after:
            session.run(statement)
        return rows, error

    def ask_gpuconc(self, query, note=False):
        """First required, so that costs do not decide; if refused, allowed."""
        used = self.offloaded()
        rows, error = self.ask(self.on, query, "require")
        refused = error is not None and "is not offloaded although" in error[1]
        if refused:
            rows, error = self.ask(self.on, query, "allow")
        now = self.offloaded()
        if note:
            if now[0] > used[0]:
                self.counts["offloaded"] += 1
            elif now[1] > used[1]:
                self.counts["fell back"] += 1
                self.note_fallback(query)
            else:
                self.counts["not offloaded"] += 1
                if refused:
                    self.note_refusal(query)
        return rows, error

    def note_refusal(self, query):
        """Why; asked again, with the detail."""
        self.on.run("\\set VERBOSITY default")
        _, error = self.ask(self.on, query, "require")
        self.on.run("\\set VERBOSITY terse")
        detail = error[1].split("DETAIL:")[-1].strip() if error else "?"
        self.note_reason("refused", detail)

    def note_fallback(self, query):
        """Why; asked again, with the debugging message."""
        self.on.run("SET client_min_messages = debug1;\n\\set VERBOSITY default")
        before, text, after = query.statements()
        for statement in before:
            self.on.run(statement)
        output, _ = self.on.run(text)
        for statement in after:
            self.on.run(statement)
        self.on.run("\\set VERBOSITY terse\nSET client_min_messages = notice;")
        lines = [f for row in output or [] for f in row if "runs PostgreSQL's own plan" in f]
        detail = lines[0].split("own plan: ", 1)[1].split("\n") if lines else ["?"]
        self.note_reason("fell back", " ".join(d.replace("DETAIL:", "").strip() for d in detail[:2]))

    def note_reason(self, what, detail):
        reason = "%s: %s" % (what, detail[:110])
        self.refusals[reason] += 1
        if self.options.verbose:
            print("-- " + reason)

    def too_large(self, query):
        """Would it return more rows than are worth comparing?"""
        rows, error = self.off.run("EXPLAIN (FORMAT JSON) %s;" % query.body())
        if error or not rows:
            return False
        return json.loads("\n".join(FIELD.join(r) for r in rows))[0]["Plan"]["Plan Rows"] > MAX_ROWS

    def difference(self, query, note=False):
        """None if both agree, else what is wrong."""
        if not query.params and self.too_large(query):
            self.counts["too large"] += note
            return None
        expected, error = self.ask(self.off, query)
        if error and error[0] in ("42601", "42883", "42804", "42803", "42P01", "42703", "42846", "42P10", "42725", "42P18"):
            if note:
                self.counts["not a query"] += 1
                if self.options.verbose:
                    print("-- not a query: %s\n%s" % (error[1], query))
            return None
        if error and error[0] == "57014":
            self.counts["too slow"] += note
            return None
        got, got_error = self.ask_gpuconc(query, note)
        if note:
            self.counts["queries"] += 1
            self.counts["errors"] += error is not None
        if error is None and got_error is None:
            return rows_differ(expected, got, query.compare())
        if error and got_error:
            if error[0] == got_error[0] or (error[0][:2] == "22" and got_error[0][:2] == "22"):
                return None
            return "error %s, not %s" % (got_error, error)
        if error:
            # Which conditions a row meets first is not defined by SQL, and a row
            # that one condition drops never meets the others.
            if query.conditions() > 1 or len(query.relations) > 1:
                self.counts["missed errors"] += note
                return None
            return "no error, expected %s" % (error,)
        return "error %s" % (got_error,)

    def reduce(self, query):
        """Take parts away while a difference stays."""
        deadline = time.monotonic() + 60
        progress = True
        while progress and time.monotonic() < deadline:
            progress = False
            for smaller in query.variants():
                try:
                    if self.difference(smaller):
                        query, progress = smaller, True
                        break
                except ValueError:
                    continue
        return query

    def one_schema(self, seed, deadline):
        rng = random.Random(seed)
        tables = make_tables(rng, self.options.tables)
        self.off.must("SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuconc SCHEMA public; DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s;"
                      "CREATE DOMAIN fuzz_int AS int4; CREATE DOMAIN fuzz_text AS varchar(200);" % (SCHEMA, SCHEMA))
        for table in tables:
            for statement in table.statements(rng):
                self.off.must(statement)
        # analyzed or not, the two sessions plan with the same statistics
        for n in range(self.options.per_schema):
            if time.monotonic() > deadline or self.counts["queries"] >= self.options.queries:
                return False
            query = Generator(random.Random("%s/%d" % (seed, n)), tables).query()
            if self.options.only is not None and n != self.options.only:
                continue
            if self.options.verbose:
                print("-- seed %s query %d\n%s" % (seed, n, query), flush=True)
            try:
                wrong = self.difference(query, note=True)
            except Lost as lost:
                self.mismatches += 1
                print("LOST: seed %s, query %d: %s\n%s\n" % (seed, n, lost, query), flush=True)
                if self.mismatches >= self.options.max_mismatches:
                    return False
                self.reconnect()
                continue
            if wrong:
                self.mismatches += 1
                small = query if self.options.no_reduce else self.reduce(query)
                print("MISMATCH: seed %s, query %d: %s" % (seed, n, wrong))
                print("  reduced: %s\n%s" % (self.difference(small), small))
                print("  tables: %s\n" % "; ".join("%s(%s)" % (
                    t.name, ", ".join("%s %s" % (c.name, c.sql_type) for c in t.columns))
                    for t in tables if any(t.name + " " in r.text for r, _ in small.relations)), flush=True)
                if self.mismatches >= self.options.max_mismatches:
                    return False
        return True

    def run(self):
        started = time.monotonic()
        deadline = started + self.options.seconds
        seed = self.options.seed
        try:
            while self.one_schema(seed, deadline):
                if self.options.only is not None:
                    break
                seed += 1
        except Lost:
            pass
        queries = max(self.counts["queries"], 1)
        reached = self.counts["offloaded"] + self.counts["fell back"]
        share = reached / queries
        print("%d queries from seed %d in %d s: %d offloaded, %d fell back at execution, %d not offloaded, "
              "%d raised errors (%d only without gpuconc), %d were not queries, %d too slow, %d too large" % (
                  self.counts["queries"], self.options.seed, time.monotonic() - started, self.counts["offloaded"],
                  self.counts["fell back"], self.counts["not offloaded"], self.counts["errors"],
                  self.counts["missed errors"], self.counts["not a query"], self.counts["too slow"], self.counts["too large"]))
        for reason, count in self.refusals.most_common(30 if self.options.verbose else 8):
            print("  %5d  %s" % (count, reason))
        print("offloaded share: %.0f %%%s" % (100 * share, "" if share >= GOOD_SHARE else " (low)"))
        print("%d mismatches" % self.mismatches)
        if self.options.only is not None:
            return 1 if self.mismatches else 0
        return 1 if self.mismatches or (share < MIN_SHARE and self.counts["queries"] >= 50) else 0


def main():
    parser = argparse.ArgumentParser(description="differential query fuzzer of gpuconc")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--queries", type=int, default=1 << 30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=int, default=6)
    parser.add_argument("--per-schema", type=int, default=150, help="queries before new tables are made")
    parser.add_argument("--only", type=int, help="only this query of the seed's first tables")
    parser.add_argument("--max-mismatches", type=int, default=10)
    parser.add_argument("--no-reduce", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print every query")
    options = parser.parse_args()
    sys.exit(Fuzzer(options).run())


if __name__ == "__main__":
    main()

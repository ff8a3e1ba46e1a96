"""beside.py: queries about tables that a writer changes meanwhile, asked by new snapshots and by an old one."""
import random
import time

from compare import rows_differ
from queries import Generator
from session import Lost, Session

MIN_SHARE = 0.40
LAYOUTS = ("table", "partitions", "partitions", "inherited")


def rows_of(rng, most):
    """A condition that picks one row of so many, scattered, up to `most`, or all rows of a page."""
    if rng.random() < 0.2:
        return "ctid < '(1,0)'"
    share = rng.choice([3, 30, 300, most])
    return "abs(hashtext(ctid::text)) %% %d = %d" % (share, rng.randint(0, 2))


def change(rng, table):
    """A statement that changes the table, or one of those that have its rows; it may be an error."""
    name = table.name if rng.random() < 0.7 else rng.choice(table.stored)
    column = rng.choice(table.columns).name
    where = rows_of(rng, max(table.rows, 4))
    roll = rng.random()
    if roll < 0.25:
        return "DELETE FROM %s WHERE %s;" % (name, where)
    if roll < 0.4:
        return "UPDATE %s SET %s = NULL WHERE %s;" % (name, column, where)
    if roll < 0.8:
        value = "(SELECT %s FROM %s ORDER BY tableoid, ctid LIMIT 1 OFFSET %d)" % (column, name, rng.randint(0, 50))
        return "UPDATE %s SET %s = %s WHERE %s;" % (name, column, value, where)
    columns = ", ".join(c.name for c in table.columns)
    values = ", ".join("pk + 10000000 + %d" % rng.randint(0, 1 << 20) if c.name == "pk" else c.name for c in table.columns)
    return "INSERT INTO %s (%s) SELECT %s FROM %s WHERE %s;" % (table.name, columns, values, name, where)


class Beside:
    """Mixed into the fuzzer, which has the sessions and ask()."""

    def start_beside(self):
        self.writer = Session(self.off.settings)
        self.old = Session(self.on.settings)
        for session in (self.on, self.old):
            session.must("SET gpuconc.debug_hot_pages = 1;")
        # A query is asked many times.
        self.off.must("SET statement_timeout = '4s';")

    def versioned(self):
        return int(self.off.must("SELECT rows_versioned FROM gpuconc_stat;")[0][0])

    def changes(self, rng, tables):
        """What cannot be done is undone, and now and then what can."""
        for _ in range(rng.randint(1, 4)):
            self.writer.must("SAVEPOINT s;")
            _, error = self.writer.run(change(rng, rng.choice(tables)))
            if error or rng.random() < 0.1:
                self.writer.must("ROLLBACK TO s;")

    def old_difference(self, query):
        """None if the old snapshot's answers agree, else what is wrong."""
        answers = []
        for mode in ("forbid", "prefer", "prefer"):
            self.old.must("SAVEPOINT s;")
            answers.append(self.ask(self.old, query, mode))
            self.old.must("ROLLBACK TO s;")
        (expected, error), others = answers[0], answers[1:]
        for got, got_error in others:
            if error is None:
                wrong = "error %s" % (got_error,) if got_error else rows_differ(expected, got, query.compare())
                if wrong:
                    return "an old snapshot: " + wrong
        return None

    def states(self, rng, query, tables):
        """What is wrong in the first state of the tables in which something is."""
        self.old.must("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;")
        self.writer.must("BEGIN;")
        self.changes(rng, tables)
        # Hot pages are loaded at first, so it is asked again; then the changes are seen.
        for state in ("in progress", "in progress, again", "ended", "ended, again"):
            if state == "ended":
                self.writer.must("COMMIT;" if rng.random() < 0.8 else "ROLLBACK;")
            wrong = self.difference(query, note=True)
            if not wrong and "again" in state:
                wrong = self.old_difference(query)
            if wrong:
                return "%s: %s" % (state, wrong)
        return None

    def one_beside(self, seed, n, tables):
        rng = random.Random("%s/%d/beside" % (seed, n))
        query = Generator(rng, tables, unions=0.25).query()
        if self.options.verbose:
            print("-- seed %s query %d\n%s" % (seed, n, query), flush=True)
        read = [t for t in tables if t.name + " " in str(query)]
        if not read or self.ask(self.off, query)[1] or (not query.params and self.too_large(query)):
            return
        wrong = self.states(rng, query, read)
        if wrong:
            self.mismatches += 1
            print("MISMATCH: seed %s, beside a writer, query %d: %s\n%s" % (seed, n, wrong, query), flush=True)
            self.diagnose(self.on, query, [t.name for t in read])
        self.writer.must("ROLLBACK;")
        self.old.must("COMMIT;")
        if rng.random() < 0.3:
            self.writer.must("VACUUM %s;" % rng.choice(rng.choice(tables).stored))

    def schema_beside(self, seed, tables, deadline):
        for table in tables:
            self.off.must("VACUUM (FREEZE, ANALYZE) %s;" % ", ".join(table.stored))
        self.start_beside()
        try:
            for n in range(self.options.per_schema):
                if time.monotonic() > deadline or self.counts["queries"] >= self.options.queries:
                    return False
                # What the writer did before a query belongs to it.
                if self.options.only is not None and n > self.options.only:
                    return False
                self.one_beside(seed, n, tables)
                if self.mismatches >= self.options.max_mismatches:
                    return False
        except Lost as lost:
            self.mismatches += 1
            print("LOST: seed %s, beside a writer, query %d: %s\n" % (seed, n, lost), flush=True)
            self.reconnect()
            return self.mismatches < self.options.max_mismatches
        finally:
            self.writer.close()
            self.old.close()
        return True

    def report_beside(self, started):
        versioned = self.versioned() - self.versioned_before
        print("%d queries, beside a writer, from seed %d in %d s: %d offloaded, %d fell back at execution, %d rows versioned" % (
            self.counts["queries"], self.options.seed, time.monotonic() - started, self.counts["offloaded"],
            self.counts["fell back"], versioned))
        print("%d mismatches" % self.mismatches)
        few = self.counts["offloaded"] + self.counts["fell back"] < MIN_SHARE * self.counts["queries"] or versioned == 0
        return 1 if self.mismatches or (self.counts["queries"] >= 50 and few) else 0

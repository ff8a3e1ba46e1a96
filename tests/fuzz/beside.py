"""beside.py: queries about tables that a writer changes meanwhile, asked by new snapshots and by an old one; and
statements of many shapes, asked by new ones."""
import random
import re
import time

from cases import Change, Current, make_case
from compare import rows_differ
from queries import Generator
from session import Lost, Session
from statements import MODES

MIN_SHARE = 0.40
LAYOUTS = ("table", "partitions", "partitions", "inherited")
# A query is asked many times, so those that take PostgreSQL long are left out.
MAX_COST, OWN_TIMEOUT = 20000, "1s"
STATES = ("in progress", "in progress, again", "ended", "ended, again")
LOCKS = re.compile(r" FOR (SHARE|UPDATE|KEY SHARE|NO KEY UPDATE)")
QUOTED = re.compile(r"('(?:[^']|'')*')")
# Neither part of a name or a fraction, nor what an argument list or a type begins with.
NUMBER = re.compile(r"(?<![\w.$,\"])(?<!\w\()\d+(?![\w.])")


def rows_of(rng, most):
    """A condition that picks one row of so many, scattered, up to `most`, or all rows of a page."""
    if rng.random() < 0.2:
        return "ctid < '(1,0)'"
    share = rng.choice([3, 30, 300, most])
    return "abs(hashtext(ctid::text)) %% %d = %d" % (share, rng.randint(0, 2))


def change(rng, table):
    """A statement that changes the table, or one of those that have its rows; it may be an error."""
    name = table.name if rng.random() < 0.7 else rng.choice(table.stored)
    column = rng.choice(table.cols).name
    where = rows_of(rng, max(table.rows, 4))
    roll = rng.random()
    if roll < 0.25:
        return "DELETE FROM %s WHERE %s;" % (name, where)
    if roll < 0.4:
        return "UPDATE %s SET %s = NULL WHERE %s;" % (name, column, where)
    if roll < 0.8:
        value = "(SELECT %s FROM %s ORDER BY tableoid, ctid LIMIT 1 OFFSET %d)" % (column, name, rng.randint(0, 50))
        return "UPDATE %s SET %s = %s WHERE %s;" % (name, column, value, where)
    columns = ", ".join(c.name for c in table.cols)
    values = ", ".join("pk + %d" % (table.beyond * rng.randint(1, 100)) if c.name == "pk" else c.name for c in table.cols)
    return "INSERT INTO %s (%s) SELECT %s FROM %s WHERE %s;" % (table.name, columns, values, name, where)


def with_other_numbers(rng, query):
    """The query with other constants in WHERE and other parameters: mostly, its kernels stay."""
    def other(text):
        parts = QUOTED.split(text)
        parts[::2] = [NUMBER.sub(lambda m: str(rng.randint(0, 2 * int(m[0]) + 20)), p) for p in parts[::2]]
        return "".join(parts)
    query = query.copy()
    query.where = [other(w) for w in query.where]
    query.params = [(other(v), t) for v, t in query.params]
    return query


class Beside:
    """Mixed into the fuzzer, which has the sessions and ask()."""

    def start_beside(self):
        self.writer = Session(self.off.settings)
        self.old = Session(self.on.settings)
        for session in (self.on, self.old):
            session.must("SET gpuconc.debug_hot_pages = 1;")

    def versioned(self):
        return int(self.off.must("SELECT rows_versioned FROM gpuconc_stat;")[0][0])

    def changes(self, rng, tables):
        """Statements that fail are undone, and now and then others."""
        for _ in range(rng.randint(1, 4)):
            _, (_, error) = self.writer.run_all(["SAVEPOINT s;", change(rng, rng.choice(tables))])
            if error or rng.random() < 0.1:
                self.writer.must("ROLLBACK TO s;")

    def may_end(self, rng, state):
        """Before the state that comes behind it, the writer's transaction ends."""
        if state == "ended":
            self.writer.must("COMMIT;" if rng.random() < 0.8 else "ROLLBACK;")

    def old_difference(self, query):
        """None if the old snapshot's answers agree, else what is wrong."""
        steps, places = [], []
        for mode in ("forbid", "prefer", "prefer"):
            asking, at = self.steps_of(query, mode)
            places.append((len(steps) + 1, at))
            steps += ["SAVEPOINT s;", *asking, "ROLLBACK TO s;"]
        all_answers = self.old.run_all(steps)
        answers = [self.answer_of(all_answers[start:], at) for start, at in places]
        (expected, error), others = answers[0], answers[1:]
        for got, got_error in others:
            if error is None:
                self.counts["of an old snapshot"] += 1
                wrong = "error %s" % (got_error,) if got_error else rows_differ(expected, got, query.compare())
                if wrong:
                    return "an old snapshot: " + wrong
        return None

    def takes_long(self, query):
        """By cost; what has parameters is asked, and given up."""
        return not query.params and self.too_large(query, MAX_COST)

    def states(self, rng, query, tables):
        """The fault in the first state of the tables that has one; the transactions end if none has."""
        self.old.must("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;")
        self.writer.must("BEGIN;")
        self.changes(rng, tables)
        # Hot pages are loaded at first, so it is asked again; then the changes are seen.
        for state in STATES:
            self.may_end(rng, state)
            wrong = self.difference(query, note=True, fits=True)
            if not wrong and "again" in state:
                wrong = self.old_difference(query)
            if wrong:
                return "%s: %s" % (state, wrong)
        self.old.must("COMMIT;")
        return None

    def one_beside(self, seed, n, tables):
        rng = random.Random("%s/%d/beside" % (seed, n))
        # Hot pages come after the others.
        query = Generator(rng, tables, unions=0.25).query().in_any_order()
        if self.options.verbose:
            print("-- seed %s query %d\n%s" % (seed, n, query), flush=True)
        read = [t for t in tables if t.name + " " in str(query)]
        if not read or self.takes_long(query) or self.ask(self.off, query)[1]:
            return
        self.counts["shapes"] += 1
        before = self.counts["offloaded"]
        for number in range(self.options.rounds):
            if number and self.counts["offloaded"] == before:
                break
            wrong = self.states(rng, query, read)
            if wrong:
                self.mismatches += 1
                print("MISMATCH: seed %s, beside a writer, query %d: %s\n%s" % (seed, n, wrong, query), flush=True)
                self.diagnose(self.on, query, [t.name for t in read])
                self.writer.must("ROLLBACK;")
                self.old.must("ROLLBACK;")
                break
            query = with_other_numbers(rng, query)
        if rng.random() < 0.3:
            self.writer.must("VACUUM %s;" % rng.choice(rng.choice(tables).stored))

    def one_case_beside(self, seed, n, rels):
        """A statement of many shapes in each state.  False where there were too many mismatches."""
        rng = random.Random("%s/%d/case" % (seed, n))
        case = make_case(rng, rels)
        # These would wait for the writer.
        if isinstance(case, (Change, Current)) or LOCKS.search(case.text):
            return True
        case.mode = "prefer" if rng.random() < 0.75 else "allow"
        if self.options.verbose:
            print("-- seed %s query %d\n%s" % (seed, n, case), flush=True)
        read = [rel for rel in rels if re.search(r"\b%s\b" % rel.name, case.text)]
        self.writer.must("BEGIN;")
        self.changes(rng, read or rels)
        for state in STATES:
            self.may_end(rng, state)
            before = self.mismatches
            go_on = self.one_case(seed, n, case, rels)
            if self.mismatches > before:
                print("  beside a writer, whose transaction is " + state, flush=True)
                self.writer.must("ROLLBACK;")
                return go_on
        if rng.random() < 0.3:
            self.writer.must("VACUUM %s;" % rng.choice(rng.choice(rels).stored))
        return True

    def schema_beside(self, seed, tables, rels, deadline):
        for table in tables:
            self.off.must("VACUUM (FREEZE, ANALYZE) %s;" % ", ".join(table.stored))
        self.start_beside()
        if self.versioned_before is None:
            self.versioned_before = self.versioned()
        try:
            for n in range(self.options.per_schema):
                if time.monotonic() > deadline or self.counts["queries"] >= self.options.queries:
                    return False
                # The writer's work before a query belongs to it.
                if self.options.only is not None and n > self.options.only:
                    return False
                if random.Random("%s/%d/kind" % (seed, n)).random() < self.options.shapes:
                    go_on = self.one_case_beside(seed, n, rels)
                else:
                    self.on.must(MODES["reset"])
                    self.off.must("SET statement_timeout = '%s';" % OWN_TIMEOUT)
                    self.one_beside(seed, n, tables)
                    go_on = self.mismatches < self.options.max_mismatches
                if not go_on:
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
        versioned = self.versioned() - (self.versioned_before or 0)
        print("%d queries, beside a writer, from seed %d in %d s: %d offloaded, %d fell back at execution, %d rows versioned; "
              "%d shapes, %d answers of an old snapshot, %d statements of many shapes, %d raised errors (%d only without gpuconc)" % (
                  self.counts["queries"], self.options.seed, time.monotonic() - started, self.counts["offloaded"],
                  self.counts["fell back"], versioned, self.counts["shapes"], self.counts["of an old snapshot"],
                  self.counts["statements"], self.counts["errors"], self.counts["missed errors"]))
        for reason, count in self.refusals.most_common(8):
            print("  %5d  %s" % (count, reason))
        print("%d mismatches" % self.mismatches)
        few = self.counts["offloaded"] + self.counts["fell back"] < MIN_SHARE * self.counts["queries"] or versioned == 0
        return 1 if self.mismatches or (self.counts["queries"] >= 50 and few) else 0

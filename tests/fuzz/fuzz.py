#!/usr/bin/env python3
"""fuzz.py: random queries, answered by gpuconc and by PostgreSQL alone.

Makes tables in a schema of its own, then asks three kinds of queries:

- Queries within and a little outside of what can be offloaded (queries.py), over tables
  of all types with NULLs, skew, duplicates and extremes.  Answers are compared byte for
  byte, but for sums and averages of floats and the sign of a zero among their extremes.
- Statements of many shapes (cases.py, shapes.py), nested up to three levels, over tables
  with tame values (world.py): sub-selects everywhere, CTEs, set operations, grouping sets,
  windows, outer joins, partitions, cursors, prepared statements, and functions whose calls
  are counted.  Answers are compared byte for byte, and errors by SQLSTATE and message.
- Statements about extreme values, compared in the same way (extremes.py).

Answers are multisets of rows, unless ORDER BY is total.  PostgreSQL's own plan says what
is right.  An answer or error that some other plan of PostgreSQL's gives, too, depends on
the plan and is none; statements.py says how that is found out.

A mismatch is printed with what tells its cause (diagnosis.py), made smaller while it stays,
and printed with what makes it again.  So is a kernel that cannot be compiled.  After a crash the
fuzzer waits until the server is back, and goes on.

With --beside, the first two kinds are asked about tables, partitioned ones, inheritance trees and unions that a
writer changes: while its transaction is in progress and after it, by new snapshots, and those of the first
kind by one that is older.

With --together K, K sessions ask K queries of the first kind at the same time: they are
held back until all are ready, and share scans wherever they can, fused and marked ones by
turns (gpuconc.debug_hold_requests, gpuconc.debug_force_shared_scan; the settings are
changed for the whole server, by a superuser, and reset at the end).

    fuzz.py [--seconds N] [--queries N] [--seed S] [--tables N] [--rows N] [--together K] [--beside] [--rounds N]
            [--verbose] [--shapes SHARE] [--extremes SHARE] [--construct TEXT] [--only N] [--max-mismatches N] [--no-reduce]

Connects as psql does (PG* environment); the server must have gpuconc preloaded.
Exit status: 0 all right; 1 a mismatch, a lost connection, or fewer than 40 % of the
queries offloaded.
"""
import argparse
import collections
import json
import math
import random
import select
import sys
import time
import zlib

from beside import LAYOUTS, Beside
from cases import make_case
from compare import rows_differ
from diagnosis import Diagnosis
from extremes import make_case as make_extreme, make_extremes
from queries import Generator
from session import FIELD, PATIENCE, Lost, Session
from statements import MODES, Statements
from tables import make_tables
from together import Together
from world import make_world

SCHEMA = "gpuconc_fuzz"
COUNTERS = ("SELECT offloaded, fallbacks, (SELECT coalesce(sum(count), 0) FROM gpuconc_stat_get_fallbacks() "
            "WHERE reason = 'compilation failed') FROM gpuconc_stat_get();")
MIN_SHARE, GOOD_SHARE = 0.40, 0.60
MAX_ROWS = 100000


EDGES = ("auto", "fuse", "refill", "channel", "materialize", "channel", "materialize")


def edge_of(text):
    """How rows go through the statement's pipelines, and where: by its text, so that it is the same each time."""
    n = zlib.crc32(text.encode())
    return EDGES[n % len(EDGES)], n // 64 % 7 - 1


class Fuzzer(Statements, Together, Beside, Diagnosis):
    def __init__(self, options):
        self.options = options
        common = ["SET search_path = %s, public;" % SCHEMA, "SET timezone = 'UTC';", "SET extra_float_digits = 1;",
                  "SET max_parallel_workers_per_gather = 0;", "SET jit = off;"]
        # Queries that take PostgreSQL long are left out; only a query that hangs reaches the limit for gpuconc.
        self.off = Session(common + ["SET gpuconc.debug_offload = forbid;", MODES["reset_timeout"]])
        # The device's answers are compared, however long its kernels take.
        common += ["SET statement_timeout = '1h';", "SET gpuconc.cold = wait;"]
        self.on = Session(common + ["SET gpuconc.enabled = on;"])
        self.many = [Session(common + ["SET gpuconc.enabled = on;", "SET gpuconc.offload_cost = 0;"])
                     for _ in range(options.together)]
        self.counts = collections.Counter()
        self.refusals = collections.Counter()
        self.mismatches = 0
        self.start_statements()

    def reconnect(self):
        """After a crash: wait until the server is back."""
        deadline = time.monotonic() + PATIENCE
        self.counts["lost connections"] += 1
        while True:
            # A session that begins before the server has noticed the crash ends with it.
            select.select([], [], [], 0.3)
            try:
                for session in (self.on, self.off):
                    session.close()
                    session.open()
                self.settle(deadline)
                return
            except Lost:
                if time.monotonic() > deadline:
                    raise

    def settle(self, deadline):
        """Until the worker has its device, nothing is offloaded."""
        while self.off.run("SELECT state FROM gpuconc_devices;")[0] != [["ready"]] and time.monotonic() < deadline:
            select.select([], [], [], 0.1)
        for session in (self.on, self.off):
            if session.run("SELECT 1;")[0] != [["1"]]:
                raise Lost("the session does not answer")

    def counters(self):
        return self.counts_of(self.on.run(COUNTERS))

    def counts_of(self, answer):
        """How many requests were offloaded, how many fell back, and how many of these for a kernel that could not be compiled."""
        rows, error = answer
        if error:
            raise Lost("the session does not answer: %s" % error[1])
        return [int(v) for v in rows[0]]

    def steps_of(self, query, mode=None):
        """Statements that ask it, and which of them is the query itself."""
        before, text, after = query.statements()
        if mode:
            before = ["SET gpuconc.debug_offload = %s; SET gpuconc.debug_pipeline_edge = %s; SET gpuconc.debug_edge_step = %d;" % (mode, *edge_of(text))] + before
        return before + [text] + after, len(before)

    def answer_of(self, answers, at):
        """The first error, or the query's rows."""
        return next((a for a in answers[:at] if a[1]), answers[at])

    def ask(self, session, query, mode=None):
        steps, at = self.steps_of(query, mode)
        return self.answer_of(session.run_all(steps), at)

    def ask_counted(self, query, mode):
        """(rows, error), and the counters before and after it."""
        steps, at = self.steps_of(query, mode)
        answers = self.on.run_all([COUNTERS] + steps + [COUNTERS])
        return self.answer_of(answers[1:-1], at), self.counts_of(answers[0]), self.counts_of(answers[-1])

    def ask_gpuconc(self, query, note=False):
        """First required, so that costs do not decide; if refused, allowed.  Also says whether a kernel could not be compiled."""
        (rows, error), used, now = self.ask_counted(query, "require")
        refused = error is not None and "is not offloaded although" in error[1]
        if refused:
            (rows, error), _, now = self.ask_counted(query, "allow")
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
        return rows, error, now[2] > used[2]

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

    def too_large(self, query, max_cost=math.inf):
        """Would it return more rows than are worth comparing, or cost more?"""
        rows, error = self.off.run("EXPLAIN (FORMAT JSON) %s;" % query.body())
        if error or not rows:
            return False
        plan = json.loads("\n".join(FIELD.join(r) for r in rows))[0]["Plan"]
        return plan["Plan Rows"] > MAX_ROWS or plan["Total Cost"] > max_cost

    def difference(self, query, note=False, fits=False):
        """None if both agree, else what is wrong.  fits: known not to be too large."""
        if not fits and not query.params and self.too_large(query):
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
        got, got_error, uncompiled = self.ask_gpuconc(query, note)
        if note:
            self.counts["queries"] += 1
            self.counts["errors"] += error is not None
        if uncompiled:
            return "a kernel could not be compiled"
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

    def make_schema(self, seed):
        """(tables of queries within what is offloaded, tables of statements of many shapes)"""
        rng = random.Random(seed)
        tables = make_tables(rng, self.options.tables, self.options.rows)
        layouts = LAYOUTS if self.options.beside else ("table", "table", "table", "partitions", "inherited")
        self.off.must("SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuconc SCHEMA public; DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s;"
                      "CREATE DOMAIN fuzz_int AS int4; CREATE TYPE fuzz_enum AS ENUM ('one', 'two', 'three', 'last'); ALTER TYPE fuzz_enum ADD VALUE 'before' BEFORE 'two'; CREATE DOMAIN fuzz_text AS varchar(200); SET statement_timeout = '50s';" % (SCHEMA, SCHEMA))
        for table in tables:
            for statement in table.statements(rng, layouts):
                self.off.must(statement)
        rels, statements = make_world(random.Random("%s/world" % seed))
        if not self.options.beside:
            statements += make_extremes(random.Random("%s/extremes" % seed))
        if not self.options.together:
            for statement in statements:
                self.off.must(statement)
        return tables, rels

    def one_schema(self, seed, deadline):
        tables, rels = self.make_schema(seed)
        if self.options.together:
            return self.schema_together(seed, tables, deadline)
        if self.options.beside:
            return self.schema_beside(seed, tables, rels, deadline)
        # analyzed or not, the two sessions plan with the same statistics
        for n in range(self.options.per_schema):
            if time.monotonic() > deadline or self.counts["queries"] >= self.options.queries:
                return False
            if self.options.only is not None and n != self.options.only:
                continue
            rng = random.Random("%s/%d" % (seed, n))
            roll = rng.random()
            if roll < self.options.extremes + self.options.shapes * (1 - self.options.extremes):
                case = make_extreme(rng) if roll < self.options.extremes else make_case(rng, rels)
                if not any(self.options.construct in tag for tag in case.tags):
                    continue
                case.mode = "prefer" if rng.random() < 0.75 else "allow"
                if self.options.verbose:
                    print("-- seed %s query %d\n%s" % (seed, n, case), flush=True)
                go_on = self.one_case(seed, n, case, rels)
            else:
                go_on = self.one_query(seed, n, Generator(rng, tables).query(), tables)
            if not go_on:
                return False
        return True

    def one_query(self, seed, n, query, tables):
        """Asks it, and reports what is wrong.  False where there were too many mismatches."""
        if self.options.verbose:
            print("-- seed %s query %d\n%s" % (seed, n, query), flush=True)
        try:
            self.on.run(MODES["reset"])
            self.off.run(MODES["reset_timeout"])
            wrong = self.difference(query, note=True)
        except Lost as lost:
            self.mismatches += 1
            print("LOST: seed %s, query %d: %s\n%s\n" % (seed, n, lost, query), flush=True)
            if self.mismatches >= self.options.max_mismatches:
                return False
            self.reconnect()
            return True
        if not wrong:
            return True
        self.mismatches += 1
        print("MISMATCH: seed %s, query %d: %s\n%s" % (seed, n, wrong, query), flush=True)
        try:
            self.diagnose(self.on, query, [t.name for t in tables if t.name + " " in str(query)])
            small = query if self.options.no_reduce else self.reduce(query)
        except Lost:
            self.reconnect()
            return self.mismatches < self.options.max_mismatches
        print("  reduced: %s\n%s" % (self.difference(small), small))
        print("  tables: %s\n" % "; ".join("%s(%s)" % (
            t.name, ", ".join("%s %s" % (c.name, c.sql_type) for c in t.columns))
            for t in tables if any(t.name + " " in r.text for r, _ in small.relations)), flush=True)
        return self.mismatches < self.options.max_mismatches

    def run(self):
        started = time.monotonic()
        deadline = started + self.options.seconds
        seed = self.options.seed
        self.versioned_before = None
        try:
            while self.one_schema(seed, deadline):
                if self.options.only is not None:
                    break
                seed += 1
        except (Lost, KeyboardInterrupt):
            pass
        if self.options.together:
            return self.report_together(started)
        if self.options.beside:
            return self.report_beside(started)
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
        self.report_statements()
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
    parser.add_argument("--rows", type=int, default=12000, help="of a table, at most")
    parser.add_argument("--per-schema", type=int, default=150, help="queries before new tables are made")
    parser.add_argument("--only", type=int, help="only this query of the seed's first tables")
    parser.add_argument("--max-mismatches", type=int, default=10)
    parser.add_argument("--together", type=int, default=0, metavar="K", help="so many queries at the same time, by shared scans of both kinds")
    parser.add_argument("--beside", action="store_true", help="queries beside a writer, of tables and of several tables as one")
    parser.add_argument("--rounds", type=int, default=2, help="transactions of the writer beside each query, with other constants each time")
    parser.add_argument("--shapes", type=float, default=0.6, metavar="SHARE", help="share of statements of many shapes, of the others")
    parser.add_argument("--extremes", type=float, default=0.1, metavar="SHARE", help="share of statements about extreme values")
    parser.add_argument("--construct", default="", metavar="TEXT", help="only statements with a construct whose name contains this")
    parser.add_argument("--reduce-seconds", type=float, default=30)
    parser.add_argument("--no-reduce", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print every query")
    options = parser.parse_args()
    sys.exit(Fuzzer(options).run())


if __name__ == "__main__":
    main()

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

With --together K, K sessions ask K queries at the same time: they are held back until
all are ready, and share scans wherever they can, fused and marked ones by turns
(gpuconc.debug_hold_requests, gpuconc.debug_force_shared_scan; the settings are changed for the whole server, by a
superuser, and reset at the end).

    fuzz.py [--seconds N] [--queries N] [--seed S] [--tables N] [--together K] [--verbose]

Connects as psql does (PG* environment); the server must have gpuconc preloaded.
Exit status: 0 all right; 1 a mismatch, a lost connection, or fewer than 40 % of the
queries offloaded.
"""
import argparse
import collections
import json
import math
import os
import random
import select
import subprocess
import sys
import time

from queries import EXACT, TOLERANT, Generator
from tables import NULL, make_tables

FIELD, RECORD = "\x1f", "\x1e"
SCHEMA = "gpuconc_fuzz"
MIN_SHARE, GOOD_SHARE = 0.40, 0.60
MAX_ROWS = 100000
# Kinds of shared scans: setting of gpuconc.debug_force_shared_scan, and its name in the views
KINDS = (("fused", "shared scan"), ("marked", "marked scan"))


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
        self.send(sql)
        return self.answer(timeout)

    def send(self, sql):
        self.number += 1
        end = "\x02end %d " % self.number
        text = "%s\n\\echo '%s' :SQLSTATE\n" % (sql, end)
        try:
            self.process.stdin.write(text.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Lost("psql is gone")

    def answer(self, timeout=60):
        end = "\x02end %d " % self.number
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
# Comparison
# ----------------------------------------------------------------------------

def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def digits(text):
    return len("".join(c for c in text.split("e")[0] if c.isdigit()).strip("0"))


def near(a, b):
    if a == b:
        return True
    x, y = number(a), number(b)
    if x is None or y is None:
        return False
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    # PostgreSQL rounds a sum of reals, which is written with up to 9 digits, at every step
    tolerance = 1e-4 if digits(a) <= 9 and digits(b) <= 9 else 1e-6
    return abs(x - y) <= tolerance * max(abs(x), abs(y)) + 1e-6


def loose_key(value):
    """Sorts values that may differ a little; what is no number sorts as its text."""
    n = number(value)
    return (-math.inf, value) if n is None or math.isnan(n) else (n, "")


def rows_differ(expected, got, how):
    """None, or what is wrong."""
    if len(expected) != len(got):
        return "%d rows, not %d" % (len(got), len(expected))
    exact = [i for i, h in enumerate(how) if h is EXACT]
    loose = [i for i, h in enumerate(how) if h is not EXACT]

    def key(row):
        return [row[i] for i in exact], [loose_key(row[i]) for i in loose]
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
        self.many = [Session(common + ["SET gpuconc.enabled = on;", "SET gpuconc.offload_cost = 0;"])
                     for _ in range(options.together)]
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

    # Many at once

    def configure(self, **settings):
        """For the worker; who connects later has them, and so has the worker by then."""
        for name, value in settings.items():
            self.off.must("ALTER SYSTEM SET gpuconc.%s = %s;" % (name, value) if value is not None else
                          "ALTER SYSTEM RESET gpuconc.%s;" % name)
        self.off.must("SELECT pg_reload_conf();")
        for name, value in settings.items():
            while value is not None and self.off.run("SHOW gpuconc.%s;" % name)[0] != [[str(value)]]:
                pass

    def waiting(self, pids):
        """How many of these sessions wait for the device, and how many do something else."""
        rows = self.off.must("SELECT count(*) FILTER (WHERE wait_event_type = 'Extension'), count(*) FROM pg_stat_activity "
                             "WHERE pid IN (%s) AND state = 'active';" % ", ".join(pids))
        return int(rows[0][0]), int(rows[0][1])

    def ask_together(self, queries):
        """(rows, error) of each.  Not all of them need the device: as soon as those that
        are left wait for it, they are let go."""
        for session, query in zip(self.many, queries):
            for statement in query.statements()[0]:
                session.run(statement)
        pids = [session.must("SELECT pg_backend_pid();")[0][0] for session in self.many]
        self.configure(debug_hold_requests=len(queries))
        for session, query in zip(self.many, queries):
            session.send(query.statements()[1])
        deadline = time.monotonic() + 20
        before = None
        while time.monotonic() < deadline:
            now = self.waiting(pids)
            # twice the same, since one that waits may only be about to be answered
            if now[0] == now[1] and now == before:
                break
            before = now
        if now[0]:
            self.configure(debug_hold_requests=now[0])
        # When they are let go is not seen, but when the first of them has its answer.
        while now[0] and self.waiting(pids)[0] == now[0] and time.monotonic() < deadline:
            select.select([], [], [], 0.01)
        # Whoever has to ask again is not held back.
        self.configure(debug_hold_requests=0)
        answers = [session.answer() for session in self.many[:len(queries)]]
        for session, query in zip(self.many, queries):
            for statement in query.statements()[2]:
                session.run(statement)
        return answers

    def count_scans(self, kind, since):
        """How many scans and requests of them there were after a batch."""
        rows = self.off.must("SELECT count(DISTINCT (e -> 'args' ->> 'batch', e -> 'args' ->> 'scan')), count(*) "
                             "FROM jsonb_array_elements(gpuconc_timeline(64)::jsonb -> 'traceEvents') AS e "
                             "WHERE e ->> 'cat' = '%s' AND (e -> 'args' ->> 'batch')::bigint > %s;" % (dict(KINDS)[kind], since))
        self.counts[kind] += int(rows[0][0])
        self.counts[kind + " requests"] += int(rows[0][1])

    def differ_together(self, seed, numbers, queries, kind):
        expected = [self.ask(self.off, query) for query in queries]
        chosen = [i for i, query in enumerate(queries) if not expected[i][1] and
                  (query.params or not self.too_large(query))]
        since = self.off.must("SELECT coalesce(max(id), 0) FROM gpuconc_stat_batches;")[0][0]
        answers = self.ask_together([queries[i] for i in chosen])
        self.count_scans(kind, since)
        self.counts["together"] += len(chosen)
        for i, (got, error) in zip(chosen, answers):
            wrong = "error %s" % (error,) if error else rows_differ(expected[i][0], got, queries[i].compare())
            if wrong:
                self.mismatches += 1
                print("MISMATCH: seed %s, together (%s), query %d: %s\n%s" % (seed, kind, numbers[i], wrong, queries[i]))
                print("  beside queries %s; alone: %s\n" % ([numbers[k] for k in chosen], self.difference(queries[i])), flush=True)

    def schema_together(self, seed, tables, deadline):
        """The same few tables again and again, so that there is something to share."""
        rng = random.Random(seed)
        for table in tables:
            # cached, but for a few rows at most: only what is cached is shared
            self.off.must("VACUUM (FREEZE, ANALYZE) %s;" % table.name)
            if rng.random() < 0.5:
                self.off.must("UPDATE {0} SET {1} = {1} WHERE ctid < '(0,9)';".format(table.name, table.columns[-1].name))
        number = 0
        while number < self.options.per_schema:
            if time.monotonic() > deadline or self.counts["together"] >= self.options.queries:
                return False
            numbers = list(range(number, number + self.options.together))
            queries = [Generator(random.Random("%s/%d" % (seed, n)), tables).query() for n in numbers]
            number += self.options.together
            if self.options.verbose:
                print("-- seed %s queries %s\n%s" % (seed, numbers, "\n".join(str(q) for q in queries)), flush=True)
            # A table's first shapes keep their bodies: forget those of the last round.
            for table in tables:
                self.off.must("SELECT gpuconc_evict('{0}'); SELECT gpuconc_prewarm('{0}');".format(table.name))
            kind = KINDS[number // self.options.together % len(KINDS)][0]
            self.configure(debug_force_shared_scan=kind)
            try:
                self.differ_together(seed, numbers, queries, kind)
            except Lost as lost:
                self.mismatches += 1
                print("LOST: seed %s, together (%s), queries %s: %s\n%s\n" % (seed, kind, numbers, lost, "\n".join(str(q) for q in queries)), flush=True)
                raise
            if self.mismatches >= self.options.max_mismatches:
                return False
        return True

    def one_schema(self, seed, deadline):
        rng = random.Random(seed)
        tables = make_tables(rng, self.options.tables)
        self.off.must("SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuconc SCHEMA public; DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s;"
                      "CREATE DOMAIN fuzz_int AS int4; CREATE DOMAIN fuzz_text AS varchar(200);" % (SCHEMA, SCHEMA))
        for table in tables:
            for statement in table.statements(rng):
                self.off.must(statement)
        if self.options.together:
            return self.schema_together(seed, tables, deadline)
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
        if self.options.together:
            return self.report_together(started)
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


    def report_together(self, started):
        self.configure(debug_force_shared_scan=None, debug_hold_requests=None)
        print("%d queries, %d at a time, from seed %d in %d s: %s" % (
            self.counts["together"], self.options.together, self.options.seed, time.monotonic() - started,
            ", ".join("%d requests by %d %s scans" % (self.counts[kind + " requests"], self.counts[kind], kind) for kind, _ in KINDS)))
        print("%d mismatches" % self.mismatches)
        return 1 if self.mismatches or (self.counts["together"] >= 50 and not all(self.counts[kind] for kind, _ in KINDS)) else 0


def main():
    parser = argparse.ArgumentParser(description="differential query fuzzer of gpuconc")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--queries", type=int, default=1 << 30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=int, default=6)
    parser.add_argument("--per-schema", type=int, default=150, help="queries before new tables are made")
    parser.add_argument("--only", type=int, help="only this query of the seed's first tables")
    parser.add_argument("--max-mismatches", type=int, default=10)
    parser.add_argument("--together", type=int, default=0, metavar="K", help="so many queries at the same time, by shared scans of both kinds")
    parser.add_argument("--no-reduce", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print every query")
    options = parser.parse_args()
    sys.exit(Fuzzer(options).run())


if __name__ == "__main__":
    main()

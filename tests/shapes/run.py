#!/usr/bin/env python3
"""run.py: queries in the shapes of TPC-DS and TPC-H, answered by PostgreSQL and by gpuconc.

Loads made data into the schemas tpcds and tpch, which are dropped first.  Each query runs
    forbid    by PostgreSQL alone, for the rows that the others must return
    prefer    with gpuconc.debug_offload = prefer
    inline    like prefer, with each CTE planned where it is used, so that offloaded parts nest
    zero      with the three costs of gpuconc at zero, where its plan is the cheaper one
after VACUUM, then, with one of 20 pages changed,
    changed   with prefer, compared with forbid again.
Rows are compared in order, as text.  A query must return rows, and as many of its
requests must be offloaded as its line "-- offloaded:" says.  A line "-- not with prefer: REASON"
leaves out prefer and inline, and has zero in their place after the changes.  After a crash
of the server, the next query waits until the server is there again.  Prints TAP.

    run.py [--only PATTERN] [--no-load] [--measure] [--settings SQL]

    --only PATTERN   queries whose name has this regular expression in it: 'tpcds/q0', 'q(04|11)'
    --no-load        take the data that are there, also if they are changed; no run "changed"
    --measure        write what is offloaded in all runs to the queries' lines "-- offloaded:"
    --settings SQL   statements before each query, to look for faults in other plans:
                     'set enable_hashjoin = off;'; what is offloaded does not matter then

Connects as psql does (PG* environment); the server must have gpuconc preloaded.
Exit status: 0 if all tests passed.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMAS = ("tpcds", "tpch")
TIMEOUT = 3600
MARK = "--8<--"
# More requests than these are of sub-selects that depend on a row: how many varies with the plan.
MOST_EXPECTED = 12
# Slower than PostgreSQL by this factor, and by this time (ms), is worth a line.
SLOW_FACTOR, SLOW_TIME = 20, 200
SETTINGS = {
    "forbid": "set gpuconc.debug_offload = forbid;",
    "prefer": "set gpuconc.debug_offload = prefer; set gpuconc.offload_cost = 1;",
    "inline": "set gpuconc.debug_offload = prefer; set gpuconc.offload_cost = 1;",
    "zero": "set gpuconc.debug_offload = allow; set gpuconc.offload_cost = 0;"
            " set gpuconc.debug_tuple_cost = 0; set gpuconc.debug_build_cost = 0; set gpuconc.cold = wait;",
}
STAT = ("set gpuconc.debug_offload = forbid;\n"
        "select requests, offloaded, rows_delta, coalesce(fallback_reasons::text, '') from gpuconc_stat;\n")


def psql(script, timeout=None):
    """Exit status, standard output, standard error."""
    try:
        done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose"],
                              input=script, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return 124, "", "psql does not end"
    return done.returncode, done.stdout, done.stderr


class Answer:
    """The outcome of one run of a query."""

    def __init__(self, rows, time_ms, offloaded, requests, delta, reasons, error):
        self.rows, self.time_ms, self.offloaded, self.requests = rows, time_ms, offloaded, requests
        self.delta, self.reasons, self.error = delta, reasons, error


def wait_for_server():
    """Until the server accepts sessions and its worker has a device again."""
    end = time.time() + TIMEOUT
    while time.time() < end:
        status, out, _ = psql("select state from gpuconc_devices", 30)
        if status == 0 and out.strip() in ("ready", "no device"):
            return
        time.sleep(0.2)
    print("Bail out!  the server does not come back")
    sys.exit(1)


def ask(schema, text, mode, settings=""):
    script = (f"set statement_timeout = '{TIMEOUT}s'; set gpuconc.enabled = on; set search_path = {schema}, public;\n"
              f"{STAT}{SETTINGS[mode]}{settings}\n\\echo {MARK}\n\\timing on\n{text}\n\\timing off\n\\echo {MARK}\n{STAT}")
    status, out, err = psql(script, TIMEOUT + 60)
    if status != 0:
        error = " ".join(line for line in err.split("\n") if line and not line.startswith("LOCATION:"))
        where = re.search(r"LOCATION: .*", err)
        if status in (2, 124):
            wait_for_server()
        return Answer(None, 0, 0, 0, 0, "", f"{error} {where.group() if where else ''}")
    before, rows, after = out.split(MARK + "\n")
    rows, took = rows.rstrip("\n").rsplit("Time: ", 1)
    before, after = before.strip().split("|", 3), after.strip().split("|", 3)
    requests, offloaded, delta = (int(after[i]) - int(before[i]) for i in range(3))
    reasons = after[3] if requests > offloaded else ""
    return Answer(rows, float(took.split()[0]), offloaded, requests, delta, reasons, None)


class Tests:
    def __init__(self):
        self.failed = 0

    def result(self, name, good, note="", details=()):
        self.failed += not good
        print(("ok " if good else "not ok ") + name + (f" # {note}" if note else ""))
        for line in details:
            print("#   " + line[:240])
        sys.stdout.flush()


class Query:
    def __init__(self, name):
        self.name, self.schema = name, name.split("/")[0]
        self.path = os.path.join(HERE, name + ".sql")
        with open(self.path) as file:
            self.text = file.read()
        self.expected = int(re.search(r"^-- offloaded: (\d+)", self.text, re.M).group(1))
        self.modes = ["zero"]
        if not re.search(r"^-- not with prefer: ", self.text, re.M):
            self.modes = ["prefer", "inline", "zero"] if self.inlined() != self.text else ["prefer", "zero"]
        self.least = None

    def inlined(self):
        return re.sub(r"\bas \((?=\s*select )", "as not materialized (", self.text)

    def measured(self, n):
        self.least = n if self.least is None else min(self.least, n)

    def write(self):
        text = re.sub(r"^-- offloaded: \d+", f"-- offloaded: {min(self.least or 0, MOST_EXPECTED)}", self.text, count=1, flags=re.M)
        with open(self.path, "w") as file:
            file.write(text)


def difference(want, got):
    lines = list(difflib.unified_diff(want.split("\n"), got.split("\n"), "PostgreSQL", "gpuconc", n=0, lineterm=""))
    return lines[:14] + ([f"{len(lines) - 14} lines more"] if len(lines) > 14 else [])


def compare(tests, query, name, want, mode, options):
    """One test: is this mode's answer PostgreSQL's?  Returns rows read beside the cache."""
    got = ask(query.schema, query.inlined() if mode == "inline" else query.text, mode, options.settings)
    if mode != "inline":
        query.measured(got.offloaded)
    if got.error:
        tests.result(name, False, details=[got.error])
        return 0
    note = f"{got.time_ms:.0f} ms, PostgreSQL {want.time_ms:.0f} ms, offloaded {got.offloaded} of {got.requests}"
    details = difference(want.rows, got.rows) if got.rows != want.rows else []
    if got.offloaded < query.expected and mode != "inline" and not (options.measure or options.settings):
        details.append(f"offloaded {got.offloaded} requests instead of {query.expected}; reasons until now: {got.reasons}")
    good = not details
    if got.time_ms > SLOW_FACTOR * want.time_ms and got.time_ms > want.time_ms + SLOW_TIME:
        details.append(f"slower than PostgreSQL by a factor of {got.time_ms / want.time_ms:.0f}")
    tests.result(name, good, note, details)
    return got.delta


def reference(tests, query, name):
    want = ask(query.schema, query.text, "forbid")
    error = want.error or (None if want.rows else "no rows") or ("an offloaded request" if want.offloaded else None)
    if error:
        tests.result(name, False, details=[error])
    return want


def load(tests):
    files = ["functions.sql"] + [schema + "/data.sql" for schema in SCHEMAS]
    for file in files:
        with open(os.path.join(HERE, file)) as script:
            status, _, err = psql("set client_min_messages = warning;\n" + script.read())
        if status != 0:
            tests.result("load " + file, False, details=err.split("\n"))
            sys.exit(1)
    vacuum(tests)


def vacuum(tests):
    """Vacuum until all pages are all-visible: other sessions' snapshots may be in the way for a while.

    The statistics are of all rows, not of random ones, so plans are the same in each run.
    """
    for _ in range(30):
        status, out, err = psql("set default_statistics_target = 420; vacuum analyze;\n"
                                "select count(*) from pg_class where relkind = 'r' and relallvisible < relpages"
                                " and relnamespace in ('tpcds'::regnamespace, 'tpch'::regnamespace);")
        if status == 0 and out.strip() == "0":
            break
        time.sleep(0.5)
    tests.result("load", out.strip() == "0", details=err.split("\n") if err else [])


def change(tests):
    for schema in SCHEMAS:
        with open(os.path.join(HERE, schema, "changes.sql")) as script:
            status, _, err = psql(script.read())
        tests.result(f"{schema}/changes", status == 0, details=err.split("\n") if err else [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--no-load", action="store_true")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--settings", default="")
    options = parser.parse_args()
    names = sorted(f"{schema}/{file[:-4]}" for schema in SCHEMAS
                   for file in os.listdir(os.path.join(HERE, schema)) if re.fullmatch(r"q\d+\.sql", file))
    queries = [Query(name) for name in names if re.search(options.only, name)]
    tests = Tests()
    wait_for_server()
    begin = time.time()
    if not options.no_load:
        load(tests)
        print(f"# loaded in {time.time() - begin:.0f} s")
    for query in queries:
        want = reference(tests, query, query.name + " forbid")
        for mode in query.modes:
            if not want.error:
                compare(tests, query, f"{query.name} {mode}", want, mode, options)
    if not options.no_load:
        delta = 0
        change(tests)
        for query in queries:
            want = reference(tests, query, query.name + " forbid, changed")
            if not want.error:
                delta += compare(tests, query, query.name + " changed", want, query.modes[0], options)
        tests.result("changed pages are read beside the cache", delta > 0, f"{delta} rows")
    if options.measure:
        for query in queries:
            query.write()
    print(f"# {len(queries)} queries took {time.time() - begin:.0f} s")
    sys.exit(1 if tests.failed else 0)


main()

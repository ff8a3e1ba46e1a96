#!/usr/bin/env python3
"""How long queries' main kernels take one at a time: the 13 of the Star Schema Benchmark, and those of mixes.py.

Connects as bench/run.py does, as a superuser.  Policy sequential, so that each has the device for itself, in the
size that is best for it.  Each query is run as it stands, with its constants in the text, and prepared, with a
generic plan: there the planner does not know how many rows its conditions leave, which decides what kernel it gets.

    bench/two_stage/alone.py --out FILE.md [--runs 15] [--seconds 0] [--skip-check]
"""
import argparse
import random
import re
import statistics
import time

from queries import QUERIES, Values, mix, pool, query
from session import WarmUp, arguments, by_postgres, main, sorted_rows

FIELDS = ('Kernel Time', 'Read', 'Registers per Thread', 'Blocks', 'Threads per Block', 'Shared Memory per Block')


def analyzed(control, sql):
    """EXPLAIN ANALYZE's figures on it."""
    out = '\n'.join(r[0] for r in control.run([f'explain (analyze, verbose, costs off, format yaml) {sql}'])[1][0])
    return dict(line.strip().split(': ', 1) for line in out.splitlines() if ': ' in line)


def texts():
    """(name, as it stands or None, template): Q1, Q2 and G have no constants of their own."""
    found = [(name, query(name), t) for name, t in zip(QUERIES, pool())]
    return found + [(t.name, None, t) for t in mix() if t.name in ('Q1', 'Q2', 'G')]


def number(text):
    return float(re.match(r'[\d.]+', text).group())


def measure(control, args, statements):
    """Times in ms of each of the statements, which take turns, and what was last said of it."""
    times = {name: [] for name, _ in statements}
    said = {}
    for _ in range(args.runs):
        if time.monotonic() > args.deadline:
            break
        for name, statement in statements:
            sql = statement()
            said[name] = analyzed(control, sql)
            if said[name]['Builds Run'] != '0':     # their kernels count too; the next time they are there
                said[name] = analyzed(control, sql)
            times[name].append(number(said[name]['Kernel Time']))
    return times, said


def check(control, report, args, statements, prepare):
    given = [sql() for _, sql in statements]
    expected = by_postgres(given, args.workers, prepare)
    same = [sorted_rows(control.run([sql])[1][0]) == rows for sql, rows in zip(given, expected)]
    report.section('Answers', 'Each query in both forms, one at a time, against PostgreSQL alone.')
    report.table(['queries', 'same rows'], [[len(given), report.yes(all(same))]])


def program(control, report, args):
    values = Values(control.admin, random.Random(args.seed))
    chosen = texts()
    control.prepare([t.prepare for _, _, t in chosen])
    control.need(1)
    control.use('sequential')
    # Name, and a function that gives the text of the next execution.
    statements = [(name, lambda sql=sql: sql) for name, sql, _ in chosen if sql]
    statements += [(f'{name}, prepared', lambda t=t: t.execute(values)) for name, _, t in chosen]
    if not args.skip_check:
        check(control, report, args, statements, [t.prepare for _, _, t in chosen])
    warm = WarmUp(control.admin, args)
    while not warm.enough():
        for _, sql in statements:
            control.run([sql()])
    values.rng.seed(args.seed)      # the same constants, however long it was that it took
    report.section('Main kernels alone',
                   f'{args.runs} runs of each query, which take turns; prepared ones with other constants each time, the '
                   'same in each run of this program. Kernel time: as EXPLAIN ANALYZE tells it, by the device\'s clock. '
                   'Where tables had to be built '
                   'first, of the same execution again. The rest: of the last run.')
    times, said = measure(control, args, statements)
    report.table(['query', 'runs', 'median ms', 'best ms'] + [f.lower() for f in FIELDS[1:]],
                 [[name, len(t), f'{statistics.median(t):.3f}', f'{min(t):.3f}'] + [said[name].get(f, '-') for f in FIELDS[1:]]
                  for name, t in times.items() if t])


def parse_arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--runs', type=int, default=15)
    return arguments(ap, 'alone.py', 'sequential')


if __name__ == '__main__':
    main(program, parse_arguments())

#!/usr/bin/env python3
"""Figures 9 and 10 of Li, Tu, Zeng 2019 with their own five queries, by SQL: each pair, and one to eight held together.

Q1 and Q2 are hash joins of two and of three tables (queries.py), Q3 md5 verification, Q4 matrix multiplication, Q5
distances between atoms with a histogram.  The last three read tables of bench/compute/papers, which this program
makes in a schema of their own and drops.  Every execution draws its constants.

    bench/two_stage/five.py --out FILE.md [--runs 20] [--most 8] [--texts 10000000] [--matrix 512] [--atoms 20000]
                            [--seconds 0] [--policies sequential,twostage,...] [--skip-check]

Connects as bench/run.py does, as a superuser, to a server with SSB loaded.  Sizes of Q3 to Q5 should be such that each
query takes about as long as Q1; the table of the queries alone says what they take.
"""
import argparse
import importlib.machinery
import importlib.util
import os
import random
import re
import statistics
import time

from queries import Values, different, mix
from session import arguments, by_postgres, main, sorted_rows

PAPERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, 'compute', 'papers')


def load_papers():
    """bench/compute/papers, which has no suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader('papers', PAPERS)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('papers', loader))
    loader.exec_module(module)
    return module


class Plain:
    """A query whose constants stand in its text."""

    prepare = None

    def __init__(self, name, text):
        self.name, self.text = name, text

    def execute(self, values):
        return self.text(values.rng.randrange(1, 1000000))


def five(schema):
    return mix()[:2] + [
        Plain('Q3', lambda n: f"select count(*) from {schema}.texts where md5(t) = md5('user{n}')"),
        Plain('Q4', lambda n: f'''select count(*), sum(v), min(v), max(v) from (select a.r, b.c, sum(a.v * b.v) as v
            from {schema}.a, {schema}.b where a.c = b.r and a.v <> {n}.5::float8 group by a.r, b.c) as product'''),
        Plain('Q5', lambda n: f'''select width_bucket(sqrt((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) +
            (p.z - q.z) * (p.z - q.z)), 0, {180 + n / 1e6}, 64) as bin, count(*) from {schema}.atoms p, {schema}.atoms q
            where p.id < q.id group by 1 order by 1''')]


def describe(control, report, templates, values):
    lines = []
    for t in templates:
        walls = []
        for _ in range(5):
            wall, replies = control.run([f'explain (analyze, verbose, format yaml) {t.execute(values)}'])
            walls.append(wall)
        text = '\n'.join(r[0] for r in replies[0])
        found = {label: re.search(label + r': "?([^"\n]*)', text) for label in ('Kernel Time', 'Registers per Thread', 'Group Mode')}
        lines.append([t.name, f'{statistics.median(walls):.2f}'] + [m.group(1) if m else '-' for m in found.values()]
                     + [f'`{" ".join(t.execute(values).split())[:200]}`'])
    report.section('The queries alone', 'Executed five times, warm; wall in ms.')
    report.table(['name', 'wall', 'kernels', 'registers', 'groups', 'text'], lines)


def check(control, report, args, templates, values):
    statements = different(templates, values)
    expected = by_postgres(statements, args.workers, [t.prepare for t in templates if t.prepare])
    control.hold_until(len(statements))
    lines = []
    for policy in args.policies:
        control.use(policy)
        _, rows = control.run(statements)
        lines.append([policy, report.yes([sorted_rows(r) for r in rows] == expected)])
    report.section('Answers', 'All five, held together, against PostgreSQL alone.')
    report.table(['policy', 'same rows'], lines)


def measure(control, chosen, args, values, deadline):
    """Walls by policy, in turns."""
    walls = {p: [] for p in args.policies}
    control.hold_until(len(chosen))
    for policy in args.policies:
        control.use(policy)
        for _ in range(3):
            control.run(different(chosen, values))
    while len(walls[args.policies[-1]]) < args.runs and time.monotonic() < deadline:
        for policy in values.rng.sample(args.policies, len(args.policies)):
            control.use(policy)
            walls[policy] += [control.run(different(chosen, values))[0] for _ in range(args.block)]
    return {p: statistics.median(w) for p, w in walls.items() if w}


def table(control, report, args, values, mixes, ends):
    lines = []
    for i, (label, chosen) in enumerate(mixes):
        now = time.monotonic()
        if now >= ends:
            report.add(f'No time left for {label}.\n')
            continue
        medians = measure(control, chosen, args, values, now + (ends - now) / (len(mixes) - i))
        base = medians.get('sequential')
        lines.append([label] + [f'{medians[p]:.3f}' + (f' ({base / medians[p]:.2f}x)' if base and p != 'sequential' else '')
                                for p in args.policies if p in medians])
        print(*lines[-1], flush=True)
    report.table(['mix'] + args.policies, lines)


def program(control, report, args):
    papers = load_papers()
    papers.load(args)
    values = Values(control.admin, random.Random(args.seed))
    templates = five(papers.SCHEMA)
    control.prepare([t.prepare for t in templates if t.prepare])
    control.need(args.most)
    try:
        describe(control, report, templates, values)
        if not args.skip_check:
            check(control, report, args, templates, values)
        now = time.monotonic()
        half = now + (args.deadline - now) * 0.65
        report.section('Figure 9: two queries at a time',
                       'Medians of the wall time from the first request sent to the last reply, in ms; in parentheses the '
                       'speed-up over sequential, which executes one kernel after another in its best size.')
        table(control, report, args, values, [(f'{a.name}+{b.name}', [a, b]) for i, a in enumerate(templates)
                                              for b in templates[i:]], half)
        report.section(f'Figure 10: one to {args.most} queries at a time', 'Q1 to Q5 in order, round and round.')
        table(control, report, args, values, [(str(n), [templates[i % 5] for i in range(n)]) for n in range(1, args.most + 1)],
              args.deadline)
    finally:
        control.release()
        papers.psql(f'drop schema {papers.SCHEMA} cascade;')


def parse_arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--runs', type=int, default=20)
    ap.add_argument('--most', type=int, default=8, help='queries of the largest mix')
    ap.add_argument('--block', type=int, default=2, help='runs between changes of policy')
    ap.add_argument('--texts', type=int, default=10000000)
    ap.add_argument('--matrix', type=int, default=512)
    ap.add_argument('--atoms', type=int, default=20000)
    return arguments(ap, 'five.py', 'sequential,twostage,twostage-unshared,kernel,streams')


if __name__ == '__main__':
    main(program, parse_arguments())

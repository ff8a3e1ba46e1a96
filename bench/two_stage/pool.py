#!/usr/bin/env python3
"""The experiments of Li, Tu, Zeng (conference) with gpuconc's own kernels: fixed and random sets of the 13 SSB queries.

Connects as bench/run.py does, as a superuser.  The pool are the main kernels of the 13 queries, with
constants drawn anew for every execution.  16 and 31 requests are the paper's simplified model (a fixed
set: the 13 in order, round and round; a random set: drawn), 39, 52 and 65 drawn ones its batch model.
All requests of a group are held until they are there (session.py), then started under each policy in
turn: what a table compares are the same requests.

    bench/two_stage/pool.py --out FILE.md [--sets fixed16,fixed31,random16,...] [--runs 0] [--block 5]
                            [--seconds 0] [--policies ...] [--skip-check]

--runs 0 means the paper's 400 (200 from 39 requests on).  Exit status 1 if an answer differs.
"""
import argparse
import random
import statistics
import time

from queries import Values, different, pool
from session import (POLICIES, Predictions, WarmUp, arguments, by_postgres, main, percentile, sorted_rows)

SETS = 'fixed16,fixed31,random16,random31,random39,random52,random65'
NAMES = {'sequential': 'S', 'random': 'CR', 'kernel': 'CO', 'streams': 'streams',
         'twostage-unshared': 'BO', 'twostage': 'BO, shared scans'}
OURS = ('twostage-unshared', 'twostage')


class Set:
    """One of the paper's workloads: how many of which kernels."""

    def __init__(self, name, templates):
        self.name, self.templates = name, templates
        self.fixed = name.startswith('fixed')
        self.n = int(name[5:] if self.fixed else name.removeprefix('random'))

    def draw(self, values):
        if self.fixed:
            chosen = [self.templates[i % len(self.templates)] for i in range(self.n)]
        else:
            chosen = [values.rng.choice(self.templates) for _ in range(self.n)]
        return different(chosen, values)

    def runs(self, args):
        return args.runs or (400 if self.n < 39 else 200)


def check(control, report, args, templates, values):
    """The 13 in one group, under each policy, against PostgreSQL alone."""
    statements = different(templates, values)
    expected = by_postgres(statements, args.workers, [t.prepare for t in templates])
    control.hold_until(len(statements))
    lines = []
    for policy in args.policies:
        control.use(policy)
        _, rows = control.group(statements)
        lines.append([policy, len(statements), sum(len(e) for e in expected),
                      report.yes([sorted_rows(r) for r in rows] == expected)])
    report.section('Answers', 'One group of all queries, held together, against PostgreSQL alone.')
    report.table(['policy', 'queries', 'rows', 'same rows'], lines)


def describe(control, report, args, templates, values):
    """The pool's kernels, as figure 2 of Li, Tu, Zeng (conference) has them."""
    lines, kernels = [], set()
    control.use('sequential')
    warm = WarmUp(control.admin, args)      # at first there are those that were compiled quickly
    while not warm.enough():
        for t in templates:
            control.run([t.execute(values)])
    for t in templates:
        control.run([t.execute(values)])    # compiled, if there was no warm-up, and its build tables made
        control.admin.query('select gpuconc_stat_reset()')
        for _ in range(5):
            control.run([t.execute(values)])
        # an execution is counted some time after its answer
        control.wait_for(lambda: control.admin.value('select coalesce(sum(launches), 0) from gpuconc_stat_kernels') == '5')
        for k in control.admin.query('select left(kernel, 8), threads, registers, shared_memory, mean_time, '
                                     "min_time from gpuconc_stat_kernels where kind = 'kernel' order by launches desc"):
            kernels.add(k[0])
            lines.append([t.name, f'`{k[0]}`', k[1], k[2], f'{int(k[3]) / 1024:.1f}', f'{float(k[4]):.3f}',
                          f'{float(k[5]):.3f}'])
    report.section('The kernels',
                   f'Main kernels of the 13 queries, {len(kernels)} different ones: queries whose plans differ in constants '
                   'alone have one kernel. Alone on the device, 5 executions with constants drawn.')
    report.table(['query', 'kernel', 'threads', 'registers', 'shared kB', 'mean ms', 'least ms'], lines)


def warm_up(control, args, templates, values, limit=float('inf')):
    """The kernels of shared scans for groups of this size."""
    if 'twostage' not in args.policies:
        return
    control.use('twostage')
    warm = WarmUp(control.admin, args, limit)
    while not warm.enough():
        chosen = [templates[i % len(templates)] for i in range(control.hold)]
        control.run(different(chosen, values))


def measure(control, s, args, values, deadline, groups):
    """Groups by policy, into groups: the i-th of each were the same requests."""
    done = 0
    while done < s.runs(args) and time.monotonic() < deadline:
        block = [s.draw(values) for _ in range(min(args.block, s.runs(args) - done))]
        done += len(block)
        for policy in values.rng.sample(args.policies, len(args.policies)):
            control.use(policy)
            for statements in block:
                groups[policy].append(control.group(statements)[0])


def report_times(report, groups):
    lines = []
    for policy, found in groups.items():
        pairs = [(b.predicted, b.actual) for g in found for b in g.batches if b.predicted > 0 and b.actual > 0]
        error = Predictions.error(pairs)
        mean = {k: statistics.mean(getattr(g, k) for g in found) for k in ('device', 'span', 'wall', 'decision')}
        lines.append([NAMES[policy], policy] + [f'{mean[k]:.3f}' for k in ('device', 'span', 'wall')]
                     + [f'{statistics.mean(len(g.batches) for g in found):.1f}',
                        f'{statistics.mean(g.scans for g in found):.1f}', f'{1000 * mean["decision"]:.0f}',
                        f'{100 * error:.0f} %' if error is not None else '-'])
    report.table(['set', 'policy', 'device ms', 'span ms', 'wall ms', 'batches', 'shared scans', 'decisions us',
                  'error of predictions'], lines)


def report_speedups(report, groups):
    lines = []
    for ours in OURS:
        for policy in groups:
            if ours not in groups or policy == ours or (policy in OURS and ours != 'twostage'):
                continue
            line = [NAMES[ours], NAMES[policy]]
            for what in ('device', 'span', 'wall'):
                x = [getattr(g, what) / getattr(o, what) for g, o in zip(groups[policy], groups[ours])]
                line += [f'{min(x):.2f}', f'{percentile(x, 0.05):.2f}', f'**{statistics.mean(x):.2f}**', f'{max(x):.2f}',
                         f'{100 * sum(v > 1 for v in x) / len(x):.1f} %']
                if what != 'device':    # mean and wins are enough
                    del line[-5:-3], line[-2]
            lines.append(line)
    report.table(['of', 'over', 'device: min', '5 %', 'mean', 'max', 'wins', 'span: mean', 'wins', 'wall: mean',
                  'wins'], lines)


def report_set(report, s, groups, predictions):
    """As many groups as there are under every policy."""
    n = min(len(found) for found in groups.values())
    if n == 0:
        report.add(f'No time left for {s.name}.\n')
        return
    groups = {policy: found[:n] for policy, found in groups.items()}
    report.add(f'### {"Fixed" if s.fixed else "Random"} set of {s.n}, {n} groups\n')
    report_times(report, groups)
    report_speedups(report, groups)
    for policy, found in groups.items():
        predictions.add(policy, [b for g in found for b in g.batches])


def program(control, report, args):
    rng = random.Random(args.seed)
    values = Values(control.admin, rng)
    templates = pool()
    sets = [Set(name, templates) for name in args.sets.split(',')]
    predictions = Predictions()
    control.prepare([t.prepare for t in templates])
    control.need(max(s.n for s in sets))
    describe(control, report, args, templates, values)
    if not args.skip_check:
        check(control, report, args, templates, values)
    report.section('The pool',
                   'Each group is the same requests under each policy, held until all were there; policies take turns '
                   f'in random order every {args.block} groups. S runs one kernel after another, each at the size that '
                   'is best for it alone (stronger than a sequence at random sizes); CR at random sizes in random '
                   'order, CO in order of arrival with sizes by the kernel model, BO in batches by the batch model. '
                   'Device: time in which main kernels ran, by the device\'s clock, pauses between batches not counted (batches '
                   'that overlap are laid beside each other by the server\'s clock); span: from the first kernel\'s '
                   'start to the last one\'s end, with pauses; wall: from the first request sent to the last reply, which '
                   'includes planning and waiting for all to be there. Build tables are shared and '
                   'kept. Speed-up: time under the other policy by time under ours, group by group; wins: share of '
                   'groups in which it is above 1.')
    try:
        for i, s in enumerate(sets):
            left = args.deadline - time.monotonic()
            groups = {p: [] for p in args.policies}
            ends = time.monotonic() + left / (len(sets) - i)
            try:
                if left > 0:
                    control.hold_until(s.n)
                    warm_up(control, args, templates, values, left / (len(sets) - i) / 3)
                    measure(control, s, args, values, ends, groups)
            finally:
                report_set(report, s, groups, predictions)
    finally:
        predictions.report(report)


def parse_arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--sets', default=SETS)
    ap.add_argument('--runs', type=int, default=0)
    ap.add_argument('--block', type=int, default=5, help='groups between changes of policy')
    return arguments(ap, 'pool.py')


if __name__ == '__main__':
    main(program, parse_arguments())

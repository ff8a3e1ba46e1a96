#!/usr/bin/env python3
"""The experiments of Li, Tu, Zeng 2019 by SQL: mixes of two queries, of one to eight, and eight of one, held together.

Connects as bench/run.py does, as a superuser.  Q1 and Q2 are the paper's: hash joins of two and of three
tables.  In the place of its other three, which are no queries of a database: S, bound by its scan; P, by its
probes; G, heavy in groups.  Every execution draws its constants.

    bench/two_stage/mixes.py --out FILE.md [--runs 30] [--most 8] [--block 5] [--seconds 0]
                             [--policies ...] [--skip-check] [--bandwidth 4.6]

--bandwidth: of the device's memory in TB/s, as calibrate measures it: the time to read each column of a
mix once, and so the most that sharing can gain, is told beside the gain.
"""
import argparse
import random
import re
import statistics
import time

from queries import Values, different, mix, ranges
from session import Predictions, WarmUp, arguments, by_postgres, main, sorted_rows

PAIRS = (('Q1', 'Q1'), ('Q1', 'Q2'), ('Q2', 'Q2'), ('Q1', 'S'), ('Q2', 'S'), ('Q2', 'P'), ('Q2', 'G'), ('S', 'S'),
         ('S', 'P'), ('S', 'G'), ('P', 'P'), ('P', 'G'), ('G', 'G'), ('R', 'R'))


# Limits of a multiprocessor, from sm_80 on: threads, registers, bytes of shared memory (of sm_90; sm_80 has 167,936).
MULTIPROCESSOR = (2048, 65536, 233472)
SYSTEM_SHARED = 1024        # bytes that every block takes besides


class Load:
    """Columns that a query's main kernel reads, and resources of a multiprocessor that a block of it takes."""

    def __init__(self, control, template, execute):
        self.columns = {name: int(bytes_) for name, bytes_ in control.admin.query(
            "select column_name, host_bytes from gpuconc_cache where relation = 'lineorder'::regclass")
            if re.search(rf'\b{name}\b', template.sql)}
        control.use('sequential')
        control.admin.query('select gpuconc_stat_reset()')
        control.run([execute])
        found = control.admin.query(
            "select threads, registers, shared_memory from gpuconc_stat_kernels where kind = 'kernel'")
        threads, registers, shared = (int(x) for x in found[0])
        self.block = (threads, threads * registers, shared + SYSTEM_SHARED)


def least_ms(loads, bandwidth):
    """To read each column once."""
    columns = {}
    for load in loads:
        columns.update(load.columns)
    return sum(columns.values()) / bandwidth / 1e9


def fit(loads):
    """Does a multiprocessor hold a block of each?"""
    return all(sum(load.block[i] for load in loads) <= most for i, most in enumerate(MULTIPROCESSOR))


def describe(control, report, templates, values):
    """gpuconc's plans for them, so that a reader can see which joins are hash joins; and their Loads by name."""
    loads = {}
    report.section('The queries',
                   'Join keys of Q1 and Q2 are multiplied by 1,000,003 on both sides: too far apart for bitmaps, so '
                   'these are joins by hash tables. S is SSB Q1.1, P is SSB Q2.1, G groups all of lineorder '
                   'by quantity, discount and tax, R is sums and ranges only. Executed once, alone, warm. Build tables are shared and kept, so '
                   'the mixes below are about the main kernels that probe them.')
    lines = []
    for t in templates:
        execute = t.execute(values)
        for _ in range(3):
            out = '\n'.join(r[0] for r in control.run([f'explain (analyze, verbose, format yaml) {execute}'])[1][0])
        stream = [r[0] for r in control.run([f'explain {execute}'])[1][0] if r[0].strip().startswith('Stream: ')]
        loads[t.name] = Load(control, t, execute)
        # The first pipeline is the main one.
        found = {k.strip(): v for k, v in (line.split(': ', 1) for line in reversed(out.splitlines()) if ': ' in line)}
        lines.append([t.name, stream[0].split(': ', 1)[1] if stream else '-', found.get('Group Table Size', '-'), found.get('Read', '-'),
                      found.get('Kernel Time', '-'), f'`{" ".join(t.sql.split())}`'])
    report.table(['name', 'stream', 'groups', 'read', 'kernels', 'text'], lines)
    return loads


def check(control, report, args, templates, values):
    statements = different(templates, values)
    expected = by_postgres(statements, args.workers, [t.prepare for t in templates])
    control.hold_until(len(statements))
    lines = []
    for policy in args.policies:
        control.use(policy)
        _, rows = control.group(statements)
        lines.append([policy, len(statements), report.yes([sorted_rows(r) for r in rows] == expected)])
    report.section('Answers', 'All of them, held together, against PostgreSQL alone.')
    report.table(['policy', 'queries', 'same rows'], lines)


def compile_all(control, args, templates, values):
    """A group with two of each, until the fused kernels for that are there."""
    if 'twostage' not in args.policies:
        return
    control.hold_until(2 * len(templates))
    control.use('twostage')
    warm = WarmUp(control.admin, args, (args.deadline - time.monotonic()) / 8)
    while not warm.enough():
        control.run(different(templates * 2, values))


def warm_up(control, args, chosen, values):
    """Let the cost model learn this mix, and compile what is lacking."""
    for policy in args.policies * 2:
        control.use(policy)
        for _ in range(3):
            control.run(different(chosen, values))


def measure(control, chosen, args, values, deadline):
    groups = {p: [] for p in args.policies}
    last = args.policies[-1]
    while len(groups[last]) < args.runs and time.monotonic() < deadline:
        block = [different(chosen, values) for _ in range(min(args.block, args.runs - len(groups[last])))]
        for policy in values.rng.sample(args.policies, len(args.policies)):
            control.use(policy)
            groups[policy] += [control.group(statements)[0] for statements in block]
    return groups


def line_of(label, groups, loads, bandwidth):
    base = groups.get('sequential')
    times = {p: {k: statistics.median([getattr(g, k) for g in found]) for k in ('device', 'span', 'wall')}
             for p, found in groups.items()}
    line = [label, len(next(iter(groups.values())))]
    for policy, t in times.items():
        for what in ('span', 'wall'):
            x = times['sequential'][what] / t[what] if base else 0
            line.append(f'{t[what]:.3f}' + (f' ({x:.2f}x)' if base and policy != 'sequential' else ''))
    least = least_ms(loads, bandwidth)
    line.append(f'{least:.3f}' + (f' ({times["sequential"]["span"] / least:.2f}x)' if base else ''))
    line.append('yes' if fit(loads) else 'no')
    if 'twostage' in groups:
        line.append(f'{statistics.mean(g.scans for g in groups["twostage"]):.1f}')
    return line


def measure_mixes(control, report, args, values, loads, mixes, predictions, share):
    """A table of mixes: [(label, templates)]; share of the time that is left may be used."""
    ends = min(args.deadline, time.monotonic() + share * (args.deadline - time.monotonic()))
    lines = []
    try:
        for i, (label, chosen) in enumerate(mixes):
            now = time.monotonic()
            if now > ends:
                report.add(f'No time left for {label}.\n')
                continue
            control.hold_until(len(chosen))
            warm_up(control, args, chosen, values)
            groups = measure(control, chosen, args, values, now + (ends - now) / (len(mixes) - i))
            if min(len(g) for g in groups.values()) == 0:
                report.add(f'No time left for {label}.\n')
                continue
            lines.append(line_of(label, groups, [loads[t.name] for t in chosen], args.bandwidth))
            for policy, found in groups.items():
                predictions.add(policy, [b for g in found for b in g.batches])
    finally:
        head = ['mix', 'runs']
        for p in args.policies:
            head += [f'{p}: span ms', 'wall ms']
        head += ['columns once: ms', 'fit']
        report.table(head + (['shared scans'] if 'twostage' in args.policies else []), lines)


def program(control, report, args):
    values = Values(control.admin, random.Random(args.seed))
    templates = mix()
    each = templates + [ranges()]
    by_name = {t.name: t for t in each}
    predictions = Predictions()
    control.prepare([t.prepare for t in each])
    control.need(max(args.most, 2 * len(each)))
    loads = describe(control, report, each, values)
    if not args.skip_check:
        check(control, report, args, each, values)
    compile_all(control, args, each, values)
    about = ('Medians; in parentheses the speed-up over sequential. Span: from the first main kernel\'s start to the '
             'last one\'s end, by the device\'s clock within a batch and the server\'s between batches, pauses between '
             'batches included; wall: from the first request sent to the last reply. All policies get the same requests, '
             f'in turns of {args.block} runs. Columns once: what reading each column of lineorder that the mix names '
             f'takes once at {args.bandwidth} TB/s, and the speed-up that would be; requests that share no more than reading '
             'gain no more (late columns and classes of keys are less to read). Fit: a multiprocessor holds a block of '
             'each kernel in its best size alone. Shared scans: how many in one run of twostage, on average.')
    try:
        report.section('Two queries at a time', about)
        pairs = [('+'.join(p), [by_name[n] for n in p]) for p in PAIRS]
        measure_mixes(control, report, args, values, loads, pairs, predictions, len(pairs) / (len(pairs) + args.most + len(each)))
        report.section(f'One to {args.most} queries at a time',
                       'Q1, Q2, S, P, G in order, round and round. ' + about)
        mixes = [(str(n), [templates[i % len(templates)] for i in range(n)]) for n in range(1, args.most + 1)]
        measure_mixes(control, report, args, values, loads, mixes, predictions, args.most / (args.most + len(each)))
        report.section(f'{args.most} of one query at a time', 'With other constants each. ' + about)
        measure_mixes(control, report, args, values, loads, [(f'{args.most} x {t.name}', [t] * args.most) for t in each],
                      predictions, 1)
    finally:
        predictions.report(report)


def parse_arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--runs', type=int, default=30)
    ap.add_argument('--most', type=int, default=8, help='queries of the largest mix')
    ap.add_argument('--block', type=int, default=5, help='runs between changes of policy')
    ap.add_argument('--bandwidth', type=float, default=4.6, help="of the device's memory, TB/s")
    return arguments(ap, 'mixes.py', 'sequential,twostage,twostage-unshared,kernel,streams')


if __name__ == '__main__':
    main(program, parse_arguments())

#!/usr/bin/env python3
"""A quick look at groups of requests, a line each: what to compare two builds by, in turns on one machine.

Connects as bench/run.py does, as a superuser.  Groups are those of mixes.py and pool.py, held until all of a
group are there.  The statements of a group depend on the seed and its name alone, so that they are the same for
every build.

    bench/two_stage/look.py --out FILE.md [--groups Q1+Q2,8xQ2,five,random65,...] [--runs 10] [--least 5]
                            [--policies twostage,sequential] [--seconds 0]

A group is A+B+.. of mixes.py's queries, NxA: N of one, five: Q1, Q2, S, P and G, or one of pool.py's sets.  Under
policies after the first, a third of the runs is made.  Answers are not checked: mixes.py and pool.py do.
"""
import argparse
import random
import re
import statistics
import time

from pool import Set
from queries import Values, different, mix, pool, ranges
from session import WarmUp, arguments, main

GROUPS = 'Q1+Q2,Q2+P,Q1+S,S+S,S+P,R+R,8xQ1,8xQ2,8xS,8xP,8xR,five,fixed16,random65'


class Group:
    def __init__(self, name, templates, of_pool):
        times = re.fullmatch(r'(\d+)x(\w+)', name)
        self.name, self.set, self.chosen = name, None, []
        if re.fullmatch(r'(fixed|random)\d+', name):
            self.set = Set(name, of_pool)
        elif name == 'five':
            self.chosen = [templates[n] for n in ('Q1', 'Q2', 'S', 'P', 'G')]
        elif times:
            self.chosen = [templates[times.group(2)]] * int(times.group(1))
        else:
            self.chosen = [templates[n] for n in name.split('+')]
        self.n = self.set.n if self.set else len(self.chosen)

    def draw(self, values):
        return self.set.draw(values) if self.set else different(self.chosen, values)


def kinds(control):
    """How many launches of which kind served how many requests."""
    return ', '.join(f'{launches} {kind}: {requests}' for kind, launches, requests in control.admin.query(
        'select kind, sum(launches), sum(requests) from gpuconc_stat_kernels group by kind order by kind'))


def measure(control, args, group, values):
    """Line of the table."""
    values.rng.seed(f'{args.seed} {group.name}')
    before = [group.draw(values) for _ in range(args.least + 1)]
    groups = [group.draw(values) for _ in range(args.runs)]
    control.hold_until(group.n)
    line, base = [group.name], None
    for policy in args.policies:
        runs = groups if base is None else groups[:max(1, args.runs // 3)]
        control.use(policy)
        for statements in before if base is None else before[:1]:
            control.run(statements)
        control.admin.query('select gpuconc_stat_reset()')
        found = [control.group(statements)[0] for statements in runs]
        spans = [g.span for g in found]
        if base is None:
            base = spans
            ratios = [b.predicted / b.actual for g in found for b in g.batches if b.actual > 0 and b.predicted > 0]
            line += [len(runs), f'{statistics.median(spans):.3f}', f'{min(spans):.3f}',
                     f'{statistics.median(g.device for g in found):.3f}', f'{statistics.median(g.wall for g in found):.3f}',
                     f'{statistics.median(ratios):.2f}' if ratios else '-', kinds(control)]
        else:
            x = statistics.mean(o / b for o, b in zip(spans, base))
            line += [f'{statistics.median(spans):.3f} ({x:.2f}x)']
    return line


def warm_up(control, args, templates, of_pool, values):
    """Kernels of every query, and shared ones for two of each."""
    for t in list(templates.values()) + of_pool:
        control.run([t.execute(values)])
    if 'twostage' not in args.policies:
        return
    chosen = (list(templates.values()) + of_pool) * 2
    control.hold_until(len(chosen))
    control.use('twostage')
    warm = WarmUp(control.admin, args, (args.deadline - time.monotonic()) / 4)
    while not warm.enough():
        control.run(different(chosen, values))


def program(control, report, args):
    values = Values(control.admin, random.Random(args.seed))
    templates = {t.name: t for t in mix() + [ranges()]}
    of_pool = pool()
    groups = [Group(name, templates, of_pool) for name in args.groups.split(',')]
    control.prepare([t.prepare for t in templates.values()] + [t.prepare for t in of_pool])
    control.need(max(g.n for g in groups))
    warm_up(control, args, templates, of_pool, values)
    report.section('Groups', 'Medians in ms, and means of the ratios to the first policy. Span: from the first main kernel\'s start to the last '
                   'one\'s end; device: without pauses between batches; wall: to the last reply. Launches: by kind, and how many requests '
                   'they served.')
    lines = []
    try:
        for group in groups:
            if time.monotonic() > args.deadline:
                report.add(f'No time left for {group.name}.\n')
                continue
            lines.append(measure(control, args, group, values))
    finally:
        report.table(['group', 'runs', f'{args.policies[0]}: span', 'least', 'device', 'wall', 'predicted / actual', 'launches']
                     + [f'{p}: span' for p in args.policies[1:]], lines)


def parse_arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--groups', default=GROUPS)
    ap.add_argument('--runs', type=int, default=10)
    ap.add_argument('--least', type=int, default=5, help='runs of a group that are not counted')
    return arguments(ap, 'look.py', 'twostage,sequential')


if __name__ == '__main__':
    main(program, parse_arguments())

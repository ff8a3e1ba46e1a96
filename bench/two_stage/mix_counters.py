#!/usr/bin/env python3
"""What mix_counters.sh has the server do, and the table of what the profiler counted.

    metrics                             names of the counters, one pass of the profiler
    run --out PLAN                      run the mixes; PLAN: the order in which they came
    table --plan PLAN --csv FILE ...    join the two

The profiler numbers kernels in the order in which they ran and knows nothing of queries.  So several
requests over a table of three tiles, whose kernel has three blocks, come before each mix and behind the last.
"""
import argparse
import csv
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

METRICS = {'us': 'gpu__time_duration.sum', 'read': 'dram__bytes_read.sum', 'written': 'dram__bytes_write.sum',
           'issued': 'smsp__inst_executed.sum', 'cycles': 'smsp__cycles_active.sum'}
SEPARATORS = 6
REPEAT = 3
LEAST_US = 15               # kernels below that are added up

# Label, queries, gpuconc.debug_force_shared_scan.
MIXES = [('S', 'S', 'off'), ('P', 'P', 'off'), ('G', 'G', 'off'), ('S+S', 'SS', 'marked'), ('S+P', 'SP', 'marked'),
         ('P+P', 'PP', 'marked'), ('G+G', 'GG', 'groups')]


def run(args):
    from queries import Values, different, mix
    from session import Control

    with Control() as control:
        values = Values(control.admin, random.Random(1))
        by_name = {t.name: t for t in mix()}
        control.prepare([t.prepare for t in by_name.values()])
        control.need(3)
        plan = []
        for label, names, force in MIXES:
            control.hold_until(0)
            control.use('sequential' if force == 'off' else 'twostage')
            control.change(debug_force_shared_scan=force)
            control.hold_until(len(names))
            chosen = [by_name[n] for n in names]
            for _ in range(4):          # columns, kernels and classes are there then
                control.run(different(chosen, values))
            control.hold_until(0)
            for i in range(REPEAT):
                for probe in control.probes(SEPARATORS):
                    control.run([probe])
                control.hold_until(len(names))
                control.run(different(chosen, values))
                control.hold_until(0)
                plan.append(label)
                print(label, flush=True)
            for probe in control.probes(SEPARATORS):
                control.run([probe])
            plan.append(None)
        control.change(debug_force_shared_scan='off')
    with open(args.out, 'w') as f:
        json.dump(plan, f)


def number(text):
    return float(text.replace(',', ''))


def kernels(path):
    """One dict for each kernel, in order."""
    with open(path) as f:
        lines = [line for line in f if not line.startswith('==')]
    rows = [r for r in csv.DictReader(lines) if (r.get('ID') or '').strip()]
    found = []
    for r in rows:
        k = {name: number(r[metric]) for name, metric in METRICS.items()}
        k['us'] /= 1000
        k['grid'] = int(r['Grid Size'].strip('()').split(',')[0])
        k['block'] = int(r['Block Size'].strip('()').split(',')[0])
        found.append(k)
    return found


def stretches(found):
    """What lies between separators: of the kernels, lists."""
    out, now, few = [], [], 0
    for k in found:
        few = few + 1 if k['grid'] == 3 else 0
        now.append(k)
        if few == SEPARATORS:
            out.append([x for x in now if x['grid'] != 3])
            now = []
    return out


def table(args):
    with open(args.plan) as f:
        plan = json.load(f)
    parts = stretches(kernels(args.csv))
    by_label = {}
    # part i + 1 is what came behind the i-th row of separators
    rows = [label for label in plan]
    print(len(parts), 'stretches for', len(rows), 'runs', file=sys.stderr)
    for i, label in enumerate(rows):
        if label is not None and i + 1 < len(parts):
            by_label.setdefault(label, []).append(parts[i + 1])
    with open(args.out, 'w') as f:
        f.write('| mix | kernel | us, profiled | MB from DRAM | TB/s | slots issued, % of active |\n'
                '| --- | --- | ---: | ---: | ---: | ---: |\n')
        for label, _, _ in MIXES:
            runs = by_label.get(label, [])
            if not runs:
                f.write(f'| {label} | not counted | | | | |\n')
                continue
            chosen = sorted(runs, key=lambda r: sum(k['us'] for k in r))[len(runs) // 2]
            large = [k for k in chosen if k['us'] >= LEAST_US]
            small = [k for k in chosen if k['us'] < LEAST_US]
            for k in large:
                f.write(f'| {label} | {k["grid"]} x {k["block"]} | {k["us"]:.1f} | {k["read"] / 1e6:.0f} | '
                        f'{k["read"] / k["us"] / 1e6:.2f} | {100 * k["issued"] / k["cycles"]:.0f} |\n')
            f.write(f'| {label} | all {len(chosen)}, {len(small)} of them below {LEAST_US} us | '
                    f'{sum(k["us"] for k in chosen):.1f} | {sum(k["read"] for k in chosen) / 1e6:.0f} | | |\n')
        f.write(f'\nCommit {args.commit}; medians of {REPEAT} by time.\n')


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = ap.add_subparsers(dest='what', required=True)
    sub.add_parser('metrics')
    p = sub.add_parser('run')
    p.add_argument('--out', required=True)
    p = sub.add_parser('table')
    for name in ('--plan', '--csv', '--out'):
        p.add_argument(name, required=True)
    p.add_argument('--commit', default='')
    args = ap.parse_args()
    if args.what == 'metrics':
        print(','.join(METRICS.values()))
    elif args.what == 'run':
        run(args)
    else:
        table(args)


if __name__ == '__main__':
    main()

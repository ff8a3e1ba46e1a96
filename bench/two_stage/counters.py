#!/usr/bin/env python3
"""
counters.py: what NVIDIA's profiler counted, as tables; counters.sh runs it.

    counters.py metrics full|core [--available FILE]
    counters.py rows CSV
    counters.py tables PLAN [--kernels CSV] [--groups CSV]

metrics: what to ask the profiler for, of that which FILE (from ncu --query-metrics) lists.
rows: of how many kernels or ranges a CSV file of the profiler's has figures.
tables: Markdown; `counters` wrote PLAN, and the profiler's rows are in its order.
"""
import argparse
import csv
import math
import os
import re
import sys

STALL = 'smsp__average_warps_issue_stalled_%s_per_issue_active.ratio'
STALLS = ('barrier', 'branch_resolve', 'dispatch_stall', 'drain', 'imc_miss', 'lg_throttle', 'long_scoreboard',
          'math_pipe_throttle', 'membar', 'mio_throttle', 'misc', 'no_instruction', 'not_selected', 'selected',
          'short_scoreboard', 'sleeping', 'tex_throttle', 'wait')
TIME = 'gpu__time_duration.sum'
READ, WRITTEN = 'dram__bytes_read.sum', 'dram__bytes_write.sum'
ASKED, HIT = 'lts__t_sectors_srcunit_tex.sum', 'lts__t_sectors_srcunit_tex_lookup_hit.sum'
BUSY = 'smsp__issue_active.avg.pct_of_peak_sustained_active'
WARPS = 'sm__warps_active.avg.pct_of_peak_sustained_active'
ISSUED = 'smsp__inst_issued.sum'
CLOCK = 'smsp__cycles_elapsed.avg.per_second'
# Bytes of a cycle at the most, and cycles of a second: the memory's peak.
PEAK, PEAK_CLOCK = 'dram__bytes.sum.peak_sustained', 'dram__cycles_elapsed.avg.per_second'
PERCENT = 'dram__throughput.avg.pct_of_peak_sustained_elapsed'
CORE = (TIME, READ, WRITTEN, ASKED, HIT, BUSY, WARPS, ISSUED, CLOCK, PEAK, PEAK_CLOCK, PERCENT)
SECTOR = 32                     # bytes
SCHEDULERS = 4                  # of a multiprocessor; one instruction a cycle each


def wanted_metrics(which, available):
    """The names; all of them if the list of those available is none."""
    lists = [CORE] + ([[STALL % s for s in STALLS]] if which == 'full' else [])
    known = set()
    if available and os.path.exists(available):
        with open(available, encoding='utf-8', errors='replace') as f:
            known = set(re.findall(r'^([a-z0-9]+__\w+)', f.read(), re.MULTILINE))
    names = []
    for some in lists:
        listed = [n for n in some if n.split('.')[0] in known]
        names += listed or some     # none of a kind: the list is not of that kind
    return names


def number(text):
    """A figure of the profiler's; None: it has none."""
    try:
        value = float(text.replace(',', ''))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_csv(path):
    """A dictionary of figures for each kernel or range, in the order in which they were launched."""
    if not path:
        return []
    with open(path, encoding='utf-8', errors='replace', newline='') as f:
        lines = [line for line in f if line.startswith('"')]
    if not lines or not lines[0].startswith('"ID"'):
        return []
    table = list(csv.reader(lines))
    head, found = table[0], {}
    long_form = 'Metric Name' in head
    for row in table[1:]:
        if not row[0].isdigit() or len(row) != len(head):
            continue            # the line of units
        figures = found.setdefault(int(row[0]), {})
        named = dict(zip(head, row))
        for name, text in ((named['Metric Name'], named['Metric Value']),) if long_form else named.items():
            if number(text) is not None:
                figures[name] = number(text)
    return [found[i] for i in sorted(found)]


def read_plan(path):
    """Multiprocessors, microseconds of the gate, and the groups."""
    groups = []
    with open(path, encoding='utf-8') as f:
        for line in f:
            fields = line.rstrip('\n').split('\t')
            if fields[0] == 'device':
                sms, gate = int(fields[1]), float(fields[2])
            elif fields[0] == 'group':
                part, _, n, us, size, registers, shape, title, label = fields[1:]
                groups.append({'part': part, 'n': int(n), 'us': float(us), 'bytes': int(size), 'registers': registers,
                               'shape': shape, 'title': title, 'label': label})
    return sms, gate, groups


def ratio(above, below, factor=1.0):
    """A quotient; None if a figure is missing or there is nothing to divide by."""
    if above is None or not below:
        return None
    return factor * above / below


def total(figures, *names):
    values = [figures.get(n) for n in names]
    return None if None in values else sum(values)


def stalls(figures, most=4):
    """Parts of a warp's time, the largest first; 'selected' is where it issues."""
    parts = {s: figures[STALL % s] for s in STALLS if figures.get(STALL % s) is not None}
    whole = sum(parts.values())
    if not whole:
        return ''
    largest = sorted(parts, key=parts.get, reverse=True)[:most]
    return ', '.join(f'{s.replace("_", " ")} {100 * parts[s] / whole:.0f}' for s in largest)


def show(value, digits=0):
    return '' if value is None else f'{value:.{digits}f}'


def cells(group, figures, gate, sms):
    """Figures on one group for all tables.  Rates are per time without the profiler, which slows nothing there."""
    us = group['us']
    counted = ratio(figures.get(TIME), 1000)
    moved = total(figures, READ, WRITTEN)
    peak = None
    if figures.get(PEAK) and figures.get(PEAK_CLOCK):
        peak = figures[PEAK] * figures[PEAK_CLOCK]
    if counted is not None and group['n'] > 1:
        counted -= gate
    percent = ratio(moved, peak and peak * us * 1e-6, 100)
    if percent is None and group['n'] == 1:
        percent = figures.get(PERCENT)
    slots = figures.get(CLOCK) and figures[CLOCK] * us * 1e-6 * sms * SCHEDULERS
    return [show(us, 1), show(counted, 1), show(group['bytes'] / 1e6), show(ratio(figures.get(ASKED), 1e6, SECTOR)),
            show(ratio(figures.get(READ), 1e6)), show(ratio(figures.get(WRITTEN), 1e6)),
            show(ratio(moved, us, 1e-6), 2), show(percent), show(ratio(figures.get(HIT), figures.get(ASKED), 100)), show(figures.get(BUSY)),
            show(ratio(figures.get(ISSUED), slots, 100)), show(figures.get(WARPS)), stalls(figures)]


HEAD = ('us', 'us counted', 'MB of columns', 'MB asked of L2', 'MB from DRAM', 'MB to DRAM', 'DRAM, TB/s', '% of peak',
        'L2 hits, %', 'slots issued, % of active', '% of all', 'warps, %', 'stalls, % of a warp\'s time')


def table(title, first, groups, counted, gate, sms):
    head = (first, 'grid', 'registers') + HEAD
    print(f'### {title}\n\n| {" | ".join(head)} |\n| --- | --- |{" ---: |" * (len(HEAD))} --- |')
    for g, figures in zip(groups, counted):
        print(f'| {g["label"]} | {g["shape"]} | {g["registers"]} | {" | ".join(cells(g, figures, gate, sms))} |')
    print()


NOTES = """us: without the profiler, median of 7, queued behind a gate; us counted: by the profiler, less the gate
of {gate:.0f} us, which is counted with groups of several. MB of columns: what the kernels would read if each read
its columns once; MB asked of L2: by the multiprocessors, in sectors of 32 bytes. TB/s, % of peak and % of all: what
was counted over the time without the profiler. % of active: of the cycles in which a multiprocessor had a warp;
warps: of those it can hold, in the same cycles. L2 is empty when a kernel or group begins. Stalls: the four largest
parts of a resident warp's time, "selected" among them, where it issues.
"""


def tables(options):
    sms, gate, groups = read_plan(options.plan)
    print(NOTES.format(gate=gate))
    counted = {}
    for name, path in (('kernels', options.kernels), ('groups', options.groups)):
        mine = [g for g in groups if (g['part'] == 'kernels') == (name == 'kernels')]
        rows = read_csv(path)
        if path and len(rows) != len(mine):
            print(f'The profiler counted {len(rows)} of {len(mine)} {name}: they are left out.\n')
            rows = []
        counted.update({id(g): f for g, f in zip(mine, rows or [{}] * len(mine))})
    for title in dict.fromkeys(g['title'] for g in groups):
        mine = [g for g in groups if g['title'] == title]
        first = 'kernel' if mine[0]['part'] == 'kernels' else 'way'
        table(title, first, mine, [counted[id(g)] for g in mine], gate, sms)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest='verb', required=True)
    verb = verbs.add_parser('metrics')
    verb.add_argument('which', choices=('full', 'core'))
    verb.add_argument('--available')
    verb = verbs.add_parser('rows')
    verb.add_argument('csv')
    verb = verbs.add_parser('tables')
    verb.add_argument('plan')
    verb.add_argument('--kernels')
    verb.add_argument('--groups')
    options = parser.parse_args()
    if options.verb == 'metrics':
        print(','.join(wanted_metrics(options.which, options.available)))
    elif options.verb == 'rows':
        print(sum(READ in figures for figures in read_csv(options.csv)))
    else:
        tables(options)


if __name__ == '__main__':
    sys.exit(main())

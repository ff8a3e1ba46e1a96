#!/usr/bin/env python3
"""Hardware counters of the mixes of mixes.py, in the server's own kernels.

pg.sh runs it, part counted: CUPTI's range profiler is in the worker then (count_ranges.cc), which counts all
that a group of held requests launches, side by side as it does otherwise.  Times are of runs that are not
counted, in the same server.

    bench/two_stage/counted.py --out FILE.md [--runs 10] [--seconds 0] [--policies sequential,twostage]
    bench/two_stage/counted.py --metrics
"""
import argparse
import os
import random
import statistics
import sys
import time

from mixes import PAIRS, Load, compile_all, warm_up
from queries import Values, different, mix
from session import Stuck, arguments, main

READ, WRITTEN = 'dram__bytes_read.sum', 'dram__bytes_write.sum'
ASKED, HIT = 'lts__t_sectors_srcunit_tex.sum', 'lts__t_sectors_srcunit_tex_lookup_hit.sum'
ISSUED = 'smsp__inst_issued.sum'
CLOCK = 'smsp__cycles_elapsed.avg.per_second'
# Bytes of a cycle at the most, and cycles of a second: the memory's peak.
PEAK, PEAK_CLOCK = 'dram__bytes.sum.peak_sustained', 'dram__cycles_elapsed.avg.per_second'
METRICS = (READ, WRITTEN, ASKED, HIT, ISSUED, CLOCK, PEAK, PEAK_CLOCK)
SECTOR = 32                     # bytes
SCHEDULERS = 4                  # of a multiprocessor; one instruction a cycle each
PASSES = 8                      # of one range, at most


class Counter:
    """Files between the library in the worker and this program."""

    def __init__(self):
        self.label, self.out = os.environ['COUNT_RANGES_LABEL'], os.environ['COUNT_RANGES_OUT']
        self.names = os.environ['COUNT_RANGES_METRICS'].split(',')

    def write(self, text):
        # At once: the worker reads it with each launch.
        with open(self.label + '.new', 'w', encoding='utf-8') as f:
            f.write(text)
        os.rename(self.label + '.new', self.label)

    def newest(self):
        if not os.path.exists(self.out):
            return []
        with open(self.out, encoding='utf-8') as f:
            lines = f.read().splitlines()
        if lines and lines[-1].startswith('failed'):
            raise Stuck(lines[-1])
        return lines

    def count(self, control, statements, label):
        """Figures of one group, by name, and its launches; as often as the hardware needs to count them all."""
        for _ in range(PASSES):
            before = len(self.newest())
            self.write(label)
            control.group(statements)
            self.write('')
            control.run(control.probes(len(statements)))    # what ends the range
            lines = self.newest()
            if len(lines) != before + 1:
                raise Stuck(f'{len(lines) - before} ranges instead of one')
            fields = lines[-1].split('\t')
            if fields[2] != 'again':
                return dict(zip(self.names, map(float, fields[2:]))), int(fields[1])
        raise Stuck('the counters of a range are never complete')


def line_of(label, policy, groups, figures, launches, loads, multiprocessors):
    ms = statistics.median([g.span for g in groups])
    seconds = ms / 1000
    columns = {}
    for load in loads:
        columns.update(load.columns)
    moved = figures[READ] + figures[WRITTEN]
    peak = figures[PEAK] * figures[PEAK_CLOCK]
    slots = SCHEDULERS * multiprocessors * figures[CLOCK] * seconds
    return [label, policy, launches, f'{ms:.3f}', f'{sum(sum(x.columns.values()) for x in loads) / 1e6:.0f}',
            f'{sum(columns.values()) / 1e6:.0f}', f'{figures[ASKED] * SECTOR / 1e6:.0f}', f'{figures[READ] / 1e6:.0f}',
            f'{figures[WRITTEN] / 1e6:.0f}', f'{moved / seconds / 1e12:.2f}', f'{100 * moved / seconds / peak:.0f}',
            f'{100 * figures[HIT] / max(figures[ASKED], 1):.0f}', f'{100 * figures[ISSUED] / slots:.0f}']


def program(control, report, args):
    values = Values(control.admin, random.Random(args.seed))
    templates = mix()
    by_name = {t.name: t for t in templates}
    counter = Counter()
    multiprocessors = int(control.admin.value('select multiprocessors from gpuconc_devices'))
    control.prepare([t.prepare for t in templates])
    control.need(2 * len(templates))
    control.run([t.execute(values) for t in templates])
    loads = {t.name: Load(control, t, t.execute(values)) for t in templates}
    compile_all(control, args, templates, values)
    report.section('Counters of mixes',
                   'The queries of mixes.py (two-stage-h200-mixes.md); the lines of a mix are of the same constants. '
                   'Span: median over runs that were not counted. '
                   'MB of columns: what the mix names, as often as it names it, and once; what is read late or by classes '
                   'is less. MB asked of L2: by the multiprocessors. TB/s and % of peak: what was counted, to and from '
                   'DRAM, over the span. Slots: instructions issued of those that the span had time for.')
    lines = []
    singles = [(t.name,) for t in templates]
    try:
        for i, names in enumerate(singles + list(PAIRS)):
            if time.monotonic() > args.deadline:
                report.add(f'No time left for {"+".join(names)}.\n')
                continue
            chosen = [by_name[n] for n in names]
            control.hold_until(len(chosen))
            warm_up(control, args, chosen, values)
            statements = different(chosen, values)
            for policy in args.policies:
                control.use(policy)
                groups = [control.group(statements)[0] for _ in range(args.runs)]
                figures, launches = counter.count(control, statements, f'{i} {"+".join(names)} {policy}')
                lines.append(line_of('+'.join(names), policy, groups, figures, launches, [loads[n] for n in names], multiprocessors))
    finally:
        counter.write('')
        report.table(['mix', 'policy', 'launches', 'span ms', 'MB of columns', 'each once', 'MB asked of L2',
                      'MB from DRAM', 'MB to DRAM', 'DRAM, TB/s', '% of peak', 'L2 hits, %', 'slots issued, %'], lines)


def parse_arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--runs', type=int, default=10, help='groups whose median is the span')
    return arguments(ap, 'counted.py', 'sequential,twostage')


if __name__ == '__main__':
    if sys.argv[1:] == ['--metrics']:
        print(','.join(METRICS))
    else:
        main(program, parse_arguments())

#!/usr/bin/env python3
"""turns.py: does a query take two times by turns, and what is it that differs?

    bench/pipelines/turns.py [--only q09] [--runs 40] [--pauses 0,0.05,0.3] [--edges fuse,refill,auto] [--out FILE.md]
                             [--commit HASH] [--command TEXT]

On tables that tpch/load made.  Each query is executed --runs times in one session for each edge and each pause
(seconds before each execution), after ten others.  Executions are told apart by what EXPLAIN counts: builds that were
run and shared, members of a shared scan (a selection scan is one that is taken alone), blocks and registers of the
last kernel, and bytes copied.  If times differ between kinds, this makes the difference.  If they differ within a
kind, and with the pause, it is the device: its clocks, when nvidia-smi is there, are beside them.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), 'tpch')]
import measure  # noqa: E402
import tpch  # noqa: E402
from edges import ON  # noqa: E402
from measure import Report, median, parse_reported, psql, value  # noqa: E402

WARM = 10
COUNTED = ('Builds Run', 'Builds Shared', 'Shared Scan Requests', 'Blocks', 'Registers per Thread', 'Kernels', 'Copied')


class Clocks:
    """Clocks of multiprocessors and memory while a query is executed again and again; empty without nvidia-smi."""

    def __init__(self):
        self.process = None
        if shutil.which('nvidia-smi'):
            self.process = subprocess.Popen(['nvidia-smi', '--query-gpu=clocks.sm,clocks.mem', '--format=csv,noheader,nounits', '-lms', '20'],
                                            stdout=subprocess.PIPE, text=True)

    def seen(self):
        if self.process is None:
            return ''
        self.process.terminate()
        lines = [line.split(',') for line in self.process.communicate()[0].splitlines() if re.match(r'\d+, *\d+$', line)]
        if not lines:
            return ''
        return ' / '.join(f'{min(c)} to {max(c)}' for c in ([int(line[n]) for line in lines] for n in (0, 1)))


def executions(sql, edge, pause, runs):
    """Of each execution, the kind that it is told apart by, kernel ms, and ms of the main kernel, if that is told."""
    one = (f'select pg_sleep({pause});\n' if pause else '') + f'explain (analyze, verbose, format yaml) {sql};\n'
    text = psql(ON + f'set gpuconc.debug_pipeline_edge = {edge};\n' + f'explain (analyze, verbose, format yaml) {sql};\n' * WARM + one * runs)
    found = []
    for plan in re.split(r'^ *Execution Time: .*$', text, flags=re.M):
        if 'Kernel Time' in plan:
            kind = tuple(f'{sum(measure.numbers(name, plan)):.0f}' for name in COUNTED)
            edges = re.findall(r'Edges: "(.*?)(?:; predicted.*)?"$', plan, re.M)
            took = [float(t) for t in re.findall(r'took ([\d.]+) ms', plan)]
            found.append((kind + ('; '.join(edges) or 'none',), sum(measure.numbers('Kernel Time', plan)), sum(took) if took else None))
    return found[-runs:]


def lines_of(name, edge, pause, found, clocks):
    lines = []
    for kind in sorted({f[0] for f in found}):
        of = [n for n, f in enumerate(found) if f[0] == kind]
        ms = sorted(found[n][1] for n in of)
        main = sorted(found[n][2] for n in of if found[n][2] is not None)
        lines.append([name, edge, pause, len(of), f'{of[0] + 1} to {of[-1] + 1}', f'{ms[0]:.3f}', f'{median(ms):.3f}', f'{ms[-1]:.3f}',
                      f'{main[0]:.3f} / {median(main):.3f} / {main[-1]:.3f}' if main else ''] + list(kind) + [clocks])
    return lines


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--only', default='q09')
    ap.add_argument('--runs', type=int, default=40)
    ap.add_argument('--pauses', default='0,0.05,0.3')
    ap.add_argument('--edges', default='fuse,refill,auto')
    args = parse_reported(ap)
    scale = int(value('select count(*) from supplier')) / 10000
    report = Report(args.out, args.commit, args.command, title='TPC-H', table='lineitem')
    lines = []
    for name in tpch.chosen(args.only):
        for edge in args.edges.split(','):
            for pause in args.pauses.split(','):
                clocks = Clocks()
                found = executions(tpch.query(name, scale), edge, float(pause), args.runs)
                lines += lines_of(name, edge, pause, found, clocks.seen())
                print(name, edge, pause, [f'{f[1]:.2f}' for f in found], flush=True)
    report.add('## Executions by what they did\n')
    report.table(['query', 'edge set', 'pause s', 'executions', 'which', 'least ms', 'median', 'most', 'main kernel ms: least / median / most'] +
                 [c.lower() for c in COUNTED] + ['edges', 'MHz of multiprocessors / memory'], lines)
    return 0


if __name__ == '__main__':
    sys.exit(main())

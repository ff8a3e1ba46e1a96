#!/usr/bin/env python3
"""efforts.py: main kernels of queries as they were compiled quickly and with full effort, and which of them stays.

    bench/pipelines/efforts.py [--only q09] [--runs 40] [--pause 0.2] [--edge fuse] [--out FILE.md] [--commit HASH] [--command TEXT]

On tables that tpch/load made, of a server that has not run the queries yet, and whose kernel cache is empty: a quick
kernel runs first, the full one takes over when it is compiled, and the quick one comes back where that was slower
(src/sched/model/efforts.h). --runs executions of each query follow each other in one session, with a pause behind
each of the first ten.  So some run before the full kernel is there.  Kernels are told apart by their registers.
"""
import argparse
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), 'tpch')]
import measure  # noqa: E402
import tpch  # noqa: E402
from edges import ON  # noqa: E402
from measure import Report, median, parse_reported, psql, value  # noqa: E402


def executions(sql, args):
    """(registers, kernel ms, prediction) of each execution, in order."""
    pauses = [f'select pg_sleep({args.pause});\n' if n < 10 else '' for n in range(args.runs)]
    text = psql(ON + f'set gpuconc.debug_pipeline_edge = {args.edge};\n' +
                ''.join(f'explain (analyze, verbose, format yaml) {sql};\n{p}' for p in pauses))
    found = []
    for plan in re.split(r'^ *Execution Time: .*$', text, flags=re.M):
        if 'Kernel Time' in plan:
            found.append((' + '.join(re.findall(r'Registers per Thread: (\d+)', plan)),
                          sum(measure.numbers('Kernel Time', plan)), ''.join(re.findall(r'Edges: "(.*)"$', plan, re.M)[:1])))
    return found


def lines_of(name, found):
    """A line for each run of executions by the same kernel."""
    lines, first = [], 0
    for n in range(1, len(found) + 1):
        if n == len(found) or found[n][0] != found[first][0]:
            ms = [f[1] for f in found[first:n]]
            lines.append([name, f'{first + 1} to {n}', found[first][0], f'{median(ms):.3f}', f'{min(ms):.3f}', found[n - 1][2] or 'fuse'])
            first = n
    return lines


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--only', default='q09')
    ap.add_argument('--runs', type=int, default=40)
    ap.add_argument('--pause', type=float, default=0.2)
    ap.add_argument('--edge', default='fuse')
    args = parse_reported(ap)
    scale = int(value('select count(*) from supplier')) / 10000
    report = Report(args.out, args.commit, args.command, title='TPC-H', table='lineitem')
    lines = []
    for name in tpch.chosen(args.only):
        lines += lines_of(name, executions(tpch.query(name, scale), args)) or [[name, 'not offloaded', '', '', '', '']]
        print(name, lines[-1], flush=True)
    report.add('## Kernels by how they were compiled: the first is the quick one, unless it came from disk\n')
    report.table(['query', 'executions', 'registers', 'kernel ms', 'least', 'edges of the last'], lines)
    return 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""edges.py: queries by each edge between the steps of their pipelines: kernel times, packets, and what the default takes.

    bench/pipelines/edges.py tpch|ssb|skew [--out FILE.md] [--tiles 1000000,4000000] [--steps default|all] [--only q05,q09]
                             [--runs 5] [--warm 3] [--jobs 8] [--quiet 6] [--check] [--seconds S] [--commit HASH] [--command TEXT]

On tables that tpch/load, ssb/load or skew/data.sql made.  A way is an edge, a size of tiles, and the step before
which the edge of main pipelines lies: the default one, or with --steps all each that there is.  Without --steps, all
are tried for the five queries of Paul, He and He 2016 (TPC-H Q5, Q7, Q8, Q9, Q14).  A query's time is the sum of its
nodes' kernel times (EXPLAIN (ANALYZE, VERBOSE)), the median of --runs after --warm others, of those executions in
which the fewest builds were run: what one execution builds the next may find.  Kernels of all queries are compiled
before, by --jobs sessions.  A kernel that was compiled quickly is replaced in the background.  So timing begins when
no kernel has come to the kernel cache for --quiet seconds; nothing tells if one is missing then but "registers
changed". --check compares the rows of each way with those of "fuse".  The tables are written after each query.  Once
--seconds of timing are over no other query is begun, and those left out are named.
"""
import argparse
import concurrent.futures
import hashlib
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), 'tpch')]
import measure  # noqa: E402
import tpch  # noqa: E402
from measure import Report, median, parse_reported, psql, value  # noqa: E402

PAPER = ('q05', 'q07', 'q08', 'q09', 'q14')
ON = ('set gpuconc.enabled = on;\nset gpuconc.cold = wait;\nset gpuconc.debug_offload = prefer;\nset jit = off;\n'
      'set max_parallel_workers_per_gather = 0;\n')
SKEW = ('customers', 'chain', 'alone')
TITLES = {'tpch': 'TPC-H', 'ssb': None, 'skew': 'Skewed keys'}
TABLES = {'tpch': 'lineitem', 'ssb': 'lineorder', 'skew': 'skew_line'}
MOST_STEPS = 12
# The default compiles an edge's kernel once the fused one took 2 ms in all, tries it four times, and then the next: executions
# of each round, after which kernels are waited for.
AUTO_ROUNDS = (60, 12, 12, 12)


class Way:
    """An edge, its tile and its step."""

    def __init__(self, edge, tile=0, step=-1):
        self.edge, self.tile, self.step = edge, tile, step
        self.name = edge + (f', {tile:,} rows' if tile else '')

    def settings(self):
        return (f'set gpuconc.debug_pipeline_edge = {self.edge};\nset gpuconc.debug_pipeline_tile = {self.tile};\n'
                f'set gpuconc.debug_edge_step = {self.step};\n')


def kernel_ms(plan):
    return sum(measure.numbers('Kernel Time', plan))


def builds_run(plan):
    return sum(measure.numbers('Builds Run', plan))


class Result:
    """EXPLAIN's figures on some executions of a query: of the median one, where there is no number for all."""

    def __init__(self, text, runs):
        plans = [p for p in re.split(r'^ *Execution Time: .*$', text, flags=re.M) if 'Kernel Time' in p]
        if not plans:
            sys.exit(f'nothing was offloaded:\n{text[:2000]}')
        self.builds = sorted(builds_run(p) for p in plans[-runs:])
        plans = sorted((p for p in plans[-runs:] if builds_run(p) == self.builds[0]), key=kernel_ms)
        self.ms = median([kernel_ms(p) for p in plans])
        typical = plans[len(plans) // 2]
        self.edges = main_edges(typical)
        self.below = ['below: ' + e for e in re.findall(r'Edges Below: "(.*)"$', typical, re.M)]
        self.rows = sum(measure.numbers('Edge Rows', typical))
        self.kb = sum(measure.numbers('Edge Memory', typical))
        self.peak_kb = sum(measure.numbers('Edge Peak', typical))
        self.shape = [re.findall(rf'^\s*{what}: (\d+)', typical, re.M) for what in (
            'Blocks', 'Threads per Block', 'Registers per Thread', 'Shared Memory per Block')]
        self.settled = len({tuple(re.findall(r'^\s*Registers per Thread: (\d+)', p, re.M)) for p in plans}) == 1


def explained(sql, way, times):
    return psql(ON + way.settings() + f'explain (analyze, verbose, format yaml) {sql};\n' * times)


def predicted(text):
    """The predictions, ms, and what was measured of the same main kernels."""
    return [(float(p), float(t)) for p, t in re.findall(r'predicted ([0-9.]+) ms, took ([0-9.]+) ms', text)]


def main_edges(plan):
    return re.findall(r'Edges: "(.*)"$', plan, re.M)


def settle(args):
    """Wait until the kernels are compiled with full effort: only those come to the kernel cache's directory."""
    count = "select count(*) from pg_ls_dir(current_setting('gpuconc.kernel_cache'))"
    seen, since = value(count), time.monotonic()
    while time.monotonic() < since + args.quiet:
        time.sleep(0.5)
        now = value(count)
        if now != seen:
            seen, since = now, time.monotonic()


def rows_hash(sql, way):
    """A hash of the rows in an order of their own: rows with equal sort keys come in any order (Q11)."""
    rows = psql(ON + way.settings() + sql + ';').splitlines()
    return hashlib.md5('\n'.join(sorted(rows)).encode()).hexdigest()


def skew_query(name):
    with open(os.path.join(HERE, 'skew', name + '.sql')) as f:
        return re.sub(r'--.*', '', f.read()).strip()


def ways_of(sql, args, steps):
    """All ways, with the steps that there are: those of which EXPLAIN says that the edge is there."""
    bases = [Way('fuse'), Way('refill'), Way('materialize')] + [Way('materialize', t) for t in args.tiles] + [Way('channel')]
    if steps != 'all':
        return bases + [Way('auto')]
    tried = [Way('materialize', 0, s) for s in range(MOST_STEPS)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        plans = list(pool.map(lambda w: explained(sql, w, 1), tried))
    there = [w.step for w, p in zip(tried, plans) if re.search(rf'Edges: "materialize before step {w.step}\b', p)]
    found = [bases[0]]
    for b in bases[1:]:
        found += [Way(b.edge, b.tile, s) for s in there] or [b]
    return found + [Way('auto')]


def share_scans(on):
    psql(f"alter system set gpuconc.enable_shared_scan = {'default' if on else 'off'};\nselect pg_reload_conf();")


def warm_up(queries, ways, args):
    """
    Compile all kernels, and let the default settle.  Returns what was predicted for each query, fused, on a server that
    had not run it: that is the model's alone, and later predictions are corrected.
    """
    began = time.monotonic()
    # A kernel that scans for several queries has no prediction.
    share_scans(False)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        first = dict(zip(queries, pool.map(lambda n: predicted('; '.join(main_edges(explained(queries[n], Way('fuse'), 1)))), queries)))
        tasks = [(sql, w) for n, sql in queries.items() for w in ways[n] if w.name not in ('fuse', 'auto')]
        list(pool.map(lambda t: explained(*t, 1), tasks))
    settle(args)
    for executions in AUTO_ROUNDS:
        for sql in queries.values():
            explained(sql, Way('auto'), executions)
        settle(args)
    share_scans(True)
    print(f'kernels are compiled, and the default has chosen, after {time.monotonic() - began:.0f} s', flush=True)
    return first


def time_query(name, sql, ways, args, failures):
    """Per name of a way: the best result, and its way."""
    wanted = rows_hash(sql, ways[0]) if args.check else None
    best = {}
    for w in ways:
        if args.check and rows_hash(sql, w) != wanted:
            failures.append(f'{name}, {w.name}, step {w.step}')
        r = Result(explained(sql, w, args.warm + args.runs), args.runs)
        if not r.settled:
            print(f'{name}, {w.name}, step {w.step}: registers changed while it was timed, so it is timed again', flush=True)
            r = Result(explained(sql, w, args.warm + args.runs), args.runs)
        if w.name not in best or r.ms < best[w.name][0].ms:
            best[w.name] = (r, w)
    return best


def steps_of(name, args):
    return args.steps or ('all' if args.bench == 'tpch' and name in PAPER else 'default')


def shown(kb):
    return f'{kb / 1024:.1f}'


def write_paper(report, results, args):
    """The paper's comparison: its KBE, its GPL without concurrency, its GPL, and what it does not have."""
    tiles = [f'materialize, {t:,} rows' for t in args.tiles]
    lines = []
    for name in (n for n in PAPER if n in results):
        best = results[name]
        kbe, gpl = best['materialize'][0], best['channel'][0]
        lines.append([name] + [f'{best[w][0].ms:.3f}' for w in ['fuse', 'refill', 'materialize'] + tiles + ['channel']]
                     + [f'{kbe.ms / gpl.ms:.2f}', f'{kbe.ms / best["fuse"][0].ms:.2f}', f'{kbe.rows:,.0f}', shown(kbe.kb), shown(kbe.peak_kb),
                      shown(best[tiles[0]][0].peak_kb) if tiles else '', shown(gpl.kb), shown(gpl.peak_kb),
                      f'{100 * gpl.peak_kb / max(kbe.peak_kb, 1):.0f}']
                     + ['; '.join(best[w][0].edges) or 'none' for w in ('materialize', 'channel')])
    report.add('## Paul, He and He 2016: Q5, Q7, Q8, Q9, Q14\n')
    report.table(['query', 'fuse ms', 'refill ms', 'materialize ms (KBE)'] + [f'{t} ms' for t in tiles] +
                 ['channel ms (GPL)', 'channel over materialize', 'fuse over materialize', 'packets', 'MB of packets (KBE)', 'at a time', 'at a time in the first tiles', 'MB of packets (GPL)', 'at a time (GPL)',
                  'GPL\'s part of KBE\'s at a time %', 'KBE\'s edge', 'GPL\'s edge'],
                 lines)


def write_all(report, results, first):
    lines = []
    for name, best in results.items():
        forced = {w: r for w, (r, _) in best.items() if w != 'auto'}
        winner = min(forced, key=lambda w: forced[w].ms)
        auto = best['auto'][0]
        lines.append([name] + [f'{r.ms:.3f}' for r in forced.values()] +
                     [winner, f'{auto.ms:.3f}', '; '.join(auto.edges + auto.below) or 'fuse', f'{auto.ms / forced[winner].ms:.2f}',
                      f'{auto.ms / forced["fuse"].ms:.2f}'])
    report.add('## All queries, kernel ms: the best step of each edge\n')
    report.table(['query'] + list(next(iter(results.values())))[:-1] +
                 ['best', 'auto', 'auto\'s edge', 'auto / best', 'auto / fuse'], lines)
    write_model(report, results, first)
    write_predictions(report, results, first)


def write_model(report, results, first):
    """How far predictions of fused kernels and of the default are off, and how often the default is near the best."""
    near = [best['auto'][0].ms <= 1.1 * min(r.ms for w, (r, _) in best.items() if w != 'auto') for best in results.values()]
    if not near:
        return
    report.add(f'The default is within 10 % of the best for {sum(near)} of {len(near)} queries.\n')
    timed = {way: [(first[n], predicted('; '.join(best[way][0].edges))) for n, best in results.items()] for way in ('fuse', 'auto')}
    write_errors(report, 'first predictions for fuse', [(p, took) for f, t in timed['fuse'] for (p, _), (_, took) in zip(f, t)])
    for way in timed:
        write_errors(report, f'predictions for {way} that were corrected by executions', [t[0] for _, t in timed[way] if t])


def write_predictions(report, results, first):
    """The main kernel of fuse by itself, and what was predicted of it when its kernel was not compiled yet."""
    lines = []
    for name, best in results.items():
        r = best['fuse'][0]
        took = [t for _, t in predicted('; '.join(r.edges))]
        for node, t in enumerate(took):
            p = first[name][node][0] if node < len(first[name]) else None
            lines.append([name, f'{p:.3f}' if p else '', f'{t:.3f}', f'{100 * (p / t - 1):+.0f}' if p and t else '', f'{r.ms:.3f}',
                          f'{r.builds[0]:.0f} to {r.builds[-1]:.0f}'])
    report.add('## Main kernels, fused: what was predicted before anything was measured\n')
    report.table(['query', 'predicted ms', 'took ms', 'error %', 'all kernels of the query ms', 'builds run'], lines)


def write_errors(report, what, pairs):
    errors = [abs(p / took - 1) for p, took in pairs if took > 0]
    if errors:
        report.add(f'Relative error of {what}, of {len(errors)} queries: median {100 * median(errors):.0f} %, at most {100 * max(errors):.0f} %.\n')


def occupancy(threads, registers, shared_kb):
    """Per cent of a multiprocessor's warps, by what limits blocks on an H100 or H200 (src/sched/model/profile.c)."""
    warps = (threads + 31) // 32
    # Registers go to warps by 256; shared memory to blocks by 128 bytes, 1 kB of which is the system's.
    of_warp = (max(registers, 1) * 32 + 255) // 256 * 256
    blocks = min(32, 64 // warps, 65536 // (of_warp * warps), 228 // (shared_kb + 1))
    return 100 * blocks * warps // 64


def write_shapes(report, results):
    lines = [[name, way, '; '.join(r.edges) or 'none'] + [' + '.join(s) for s in r.shape] +
             [' + '.join(str(occupancy(*map(int, s))) for s in zip(*r.shape[1:]))]
             for name, best in results.items() for way, (r, _) in best.items()]
    report.add('## Launches: of the last kernel of each node, in the median execution\n')
    report.table(['query', 'way', 'edges', 'blocks', 'threads', 'registers', 'shared kB', 'occupancy %'], lines)


def write(report, results, first, failures, left_out, args):
    if args.bench == 'tpch' and any(n in results for n in PAPER):
        write_paper(report, results, args)
    if results:
        write_all(report, results, first)
        write_shapes(report, results)
    if left_out:
        report.add(f'Left out for want of time: {", ".join(left_out)} (--only {",".join(left_out)}).\n')
    if args.check:
        report.add(f'Answers: {len(failures)} ways gave another answer than fuse' + (': ' + ', '.join(failures) if failures else '') + '.\n')


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('bench', choices=('tpch', 'ssb', 'skew'))
    ap.add_argument('--tiles', default='1000000,4000000')
    ap.add_argument('--steps', choices=('default', 'all'))
    ap.add_argument('--only')
    ap.add_argument('--runs', type=int, default=5)
    ap.add_argument('--warm', type=int, default=3)
    ap.add_argument('--jobs', type=int, default=8)
    ap.add_argument('--quiet', type=float, default=5)
    ap.add_argument('--check', action='store_true')
    ap.add_argument('--seconds', type=float, default=0)
    args = parse_reported(ap)
    args.tiles = [int(t) for t in args.tiles.split(',') if t]
    if args.bench == 'tpch':
        scale = int(value('select count(*) from supplier')) / 10000
        queries = {n: tpch.query(n, scale) for n in tpch.chosen(args.only)}
    elif args.bench == 'skew':
        queries = {n: skew_query(n) for n in SKEW if not args.only or n in args.only.split(',')}
    else:
        queries = {n: measure.query(n) for n in measure.QUERIES if not args.only or n in args.only.split(',')}
    report = Report(args.out, args.commit, args.command, title=TITLES[args.bench], table=TABLES[args.bench])
    queries = {n: sql for n, sql in queries.items() if not any(s in sql.lower() for s in ('create view', 'drop view'))}
    ways = {n: ways_of(sql, args, steps_of(n, args)) for n, sql in queries.items()}
    first = warm_up(queries, ways, args)
    results, failures, left_out, began = {}, [], [], time.monotonic()
    for name, sql in queries.items():
        if args.seconds and time.monotonic() - began > args.seconds:
            left_out.append(name)
            continue
        results[name] = time_query(name, sql, ways[name], args, failures)
        print(name, {w: round(r.ms, 3) for w, (r, _) in results[name].items()}, flush=True)
        report.begin_anew(quiet=True)
        write(report, results, first, failures, left_out, args)
    report.begin_anew()
    write(report, results, first, failures, left_out, args)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())

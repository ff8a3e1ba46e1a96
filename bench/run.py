#!/usr/bin/env python3
"""Measures gpuconc on the Star Schema Benchmark and writes tables as Markdown.

Connects through the PG* environment to a server that has gpuconc preloaded and SSB loaded
(bench/ssb/load).  Needs psql and pgbench on PATH; nothing beyond Python's library, except for the
parts that say so.  Every table names the machine, the commit, the device and the command.

    bench/run.py --out bench/results/NAME.md [--parts kernels,latency,...] [--workers 16]
                 [--clients 1,2,4,8,16,32] [--seconds 5] [--duckdb FILE.duckdb] [--commit HASH]

Parts:
    kernels   kernel time of every query, warm, and the bandwidth at which flight 1 reads
    latency   end to end, prepared, one client, against the kernel time; a trivial aggregate
    postgres  every query by PostgreSQL with --workers parallel workers and by gpuconc, same run;
              with --duckdb also by DuckDB (needs its Python package)
    clients   throughput of N clients of random queries: the 13 as they are, and with random constants
    shapes    cost of a plan shape not seen before
    loading   loading lineorder's columns against a parallel sequential scan of them
"""
import argparse
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
QUERIES = [f'q{f}.{n}' for f, n in ((1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2),
                                    (3, 3), (3, 4), (4, 1), (4, 2), (4, 3))]
ON = 'set gpuconc.enabled = on; set gpuconc.debug_offload = require;\n'
PGOPTIONS_ON = '-c gpuconc.enabled=on -c gpuconc.debug_offload=require -c plan_cache_mode=force_generic_plan'


def query(name):
    with open(os.path.join(HERE, 'ssb', 'queries', name + '.sql')) as f:
        return re.sub(r'--.*', '', f.read()).strip()


def psql(sql, check=True):
    p = subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1'], input=sql, capture_output=True, text=True)
    if check and p.returncode:
        sys.exit(f'psql failed: {p.stderr}\n{sql[:400]}')
    return p.stdout


def value(sql):
    return psql(sql).strip()


def numbers(label, text):
    return [float(x) for x in re.findall(r'^\s*' + label + r': ([0-9.]+)', text, re.M)]


def median(values):
    return statistics.median(values)


def geomean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


class Report:
    """Collects Markdown and writes it after every section, so that a broken run leaves what it had."""

    def __init__(self, path, args):
        self.path, self.text = path, ''
        device = value("select device || ' (' || name || ', ' || target || ')' from gpuconc_devices")
        cpu = platform.processor() or platform.machine()
        try:
            with open('/proc/cpuinfo') as f:
                cpu = re.search(r'model name\s*: (.*)', f.read()).group(1)
        except (OSError, AttributeError):
            pass
        rows = value('select count(*) from lineorder')
        self.add(f'# Star Schema Benchmark, {int(rows):,} rows of lineorder\n')
        self.add(f'- device: {device}\n- host: {os.cpu_count()} cores, {cpu}\n'
                 f'- server: {value("show server_version")}, shared_buffers {value("show shared_buffers")}, '
                 f'gpuconc.host_cache_size {value("show gpuconc.host_cache_size")}\n'
                 f'- commit: {args.commit}\n- command: `bench/run.py {" ".join(sys.argv[1:])}`\n'
                 f'- date: {time.strftime("%Y-%m-%d")}\n')

    def add(self, text):
        self.text += text + '\n'
        print(text, flush=True)
        with open(self.path, 'w') as f:
            f.write(self.text)

    def table(self, head, rows):
        out = ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head)]
        out += ['| ' + ' | '.join(str(c) for c in r) + ' |' for r in rows]
        self.add('\n'.join(out) + '\n')


def explain(name, times):
    sql = ON + ('explain (analyze, verbose) ' + query(name) + '\n') * times
    return psql(sql)


def copy_bandwidth():
    """Device-to-device copy, bytes read plus written per second; needs cupy.  None without it."""
    try:
        import cupy
    except ImportError:
        return None
    a = cupy.random.randint(0, 255, 2 << 30, dtype=cupy.uint8)
    b = cupy.empty_like(a)
    best = 1e9
    for _ in range(10):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        b[:] = a
        end.record()
        end.synchronize()
        best = min(best, cupy.cuda.get_elapsed_time(start, end))
    return 2 * a.nbytes / best / 1e6  # GB/s


def part_kernels(report, args):
    copy = copy_bandwidth()
    report.add('## Kernel time, warm\n')
    report.add('Median of 9 executions after 4; by the device\'s clock, builds included (warm, they are shared). '
               'Read: encoded bytes of the streamed table\'s columns that the main kernel reads, whether or not '
               'filters let it skip some.\n')
    rows, total = [], 0
    for name in QUERIES:
        out = explain(name, 13)
        ms = median(numbers('Kernel Time', out)[4:])
        read = numbers('Read', out)[-1] * 1024
        rate = read / ms / 1e6
        total += ms
        blocks, threads, shared, regs = (int(numbers(x, out)[-1]) for x in (
            'Blocks', 'Threads per Block', 'Shared Memory per Block', 'Registers per Thread'))
        rows.append([name, f'{ms:.3f}', f'{read / 1e6:.0f}', f'{rate:.0f}',
                     f'{100 * rate / copy:.0f} %' if copy else '', blocks, threads, shared, regs])
    rows.append(['**sum**', f'**{total:.3f}**', '', '', '', '', '', '', ''])
    report.table(['query', 'kernel ms', 'read MB', 'GB/s', 'of copy bandwidth', 'blocks', 'threads', 'shared kB',
                  'registers'], rows)
    if copy:
        report.add(f'Copy bandwidth measured in the same run: {copy:.0f} GB/s (bytes read plus written).\n')


def pgbench(files, clients, seconds, options, weights=None):
    cmd = ['pgbench', '-n', '-M', 'prepared', '-c', str(clients), '-j', str(min(clients, os.cpu_count())),
           '-T', str(seconds)]
    for f in files:
        cmd += ['-f', f]
    p = subprocess.run(cmd, capture_output=True, text=True, env=dict(os.environ, PGOPTIONS=options))
    tps = re.search(r'^tps = ([0-9.]+)', p.stdout, re.M)
    lat = re.search(r'^latency average = ([0-9.]+)', p.stdout, re.M)
    if not tps or 'ERROR' in p.stderr:
        sys.exit(f'pgbench failed: {p.stdout[-300:]} {p.stderr[-500:]}')
    return float(tps.group(1)), float(lat.group(1))


def script(directory, name, sql):
    path = os.path.join(directory, name)
    with open(path, 'w') as f:
        f.write(sql.rstrip(';\n ') + ';\n')
    return path


def part_latency(report, args):
    report.add('## End to end, one client, prepared statements\n')
    report.add(f'pgbench -M prepared, one client, {args.seconds} s each; overhead: latency minus kernel time.\n')
    rows = []
    with tempfile.TemporaryDirectory() as d:
        for name in QUERIES:
            kernel = median(numbers('Kernel Time', explain(name, 9))[3:])
            _, lat = pgbench([script(d, name, query(name))], 1, args.seconds, PGOPTIONS_ON)
            # what PostgreSQL does above the node (its Sort, say) is not ours
            own = psql(ON + ('explain (analyze) ' + query(name) + '\n') * 5)
            node = re.findall(r'Custom Scan.*?actual time=[0-9.]+\.\.([0-9.]+)', own)
            total = numbers('Execution Time', own)
            above = median([t - float(n) for t, n in zip(total, node)][1:])
            rows.append([name, f'{kernel:.3f}', f'{lat:.3f}', f'{lat - kernel:.3f}', f'{above:.3f}'])
        report.table(['query', 'kernel ms', 'latency ms', 'overhead ms', 'of it in PostgreSQL\'s nodes above ms'], rows)
        f = script(d, 'trivial', 'select count(*) from supplier')
        _, on = pgbench([f], 1, args.seconds, PGOPTIONS_ON)
        _, off = pgbench([f], 1, args.seconds, '-c gpuconc.enabled=off')
        psql('create table if not exists gpuconc_bench_one (x int); truncate gpuconc_bench_one; '
             'insert into gpuconc_bench_one values (1); vacuum analyze gpuconc_bench_one')
        g = script(d, 'one', 'select count(*) from gpuconc_bench_one')
        _, one_on = pgbench([g], 1, args.seconds, PGOPTIONS_ON)
        _, one_off = pgbench([g], 1, args.seconds, '-c gpuconc.enabled=off')
        psql('drop table gpuconc_bench_one')
    report.add('Trivial aggregates:\n')
    report.table(['query', 'gpuconc ms', 'PostgreSQL ms', 'difference ms'],
                 [['count(*) of one row', f'{one_on:.3f}', f'{one_off:.3f}', f'{one_on - one_off:.3f}'],
                  ['count(*) of supplier', f'{on:.3f}', f'{off:.3f}', f'{on - off:.3f}']])


def timed(sql, times, setup):
    out = psql(setup + ('explain (analyze, timing off) ' + sql + '\n') * times)
    return min(numbers('Execution Time', out))


def duckdb_times(path):
    import duckdb
    con = duckdb.connect(path, read_only=True)
    con.execute(f'set threads = {os.cpu_count()}')
    result = {}
    for name in QUERIES:
        best = 1e9
        for _ in range(5):
            t = time.perf_counter()
            con.execute(query(name).replace(', date', ', "date"')).fetchall()
            best = min(best, (time.perf_counter() - t) * 1000)
        result[name] = best
    return result


def part_postgres(report, args):
    report.add(f'## Against PostgreSQL with {args.workers} parallel workers\n')
    report.add('Best of 3 (PostgreSQL) and 7 (gpuconc) executions, warm, in one run, by EXPLAIN (ANALYZE, TIMING OFF)'
               + ('; DuckDB: best of 5, all threads, same data.' if args.duckdb else '.') + '\n')
    duck = duckdb_times(args.duckdb) if args.duckdb else {}
    setup = (f'set max_parallel_workers_per_gather = {args.workers}; set parallel_leader_participation = off; '
             'set gpuconc.enabled = off;\n')
    rows, ratios, duck_ratios = [], [], []
    for name in QUERIES:
        a = psql('set gpuconc.enabled = off;' + setup + query(name))
        b = psql(ON + query(name))
        pg, gc = timed(query(name), 3, setup), timed(query(name), 7, ON)
        ratios.append(pg / gc)
        row = [name, f'{pg:.1f}', f'{gc:.3f}', f'{pg / gc:.0f}']
        if duck:
            duck_ratios.append(duck[name] / gc)
            row += [f'{duck[name]:.1f}', f'{duck[name] / gc:.0f}']
        rows.append(row + ['yes' if a == b else '**NO**'])
    tail = ['**geomean**', '', '', f'**{geomean(ratios):.0f}**']
    rows.append(tail + (['', f'**{geomean(duck_ratios):.0f}**'] if duck else []) + [''])
    report.table(['query', 'PostgreSQL ms', 'gpuconc ms', 'ratio'] + (['DuckDB ms', 'ratio'] if duck else [])
                 + ['same rows'], rows)


REGIONS = ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST']


def random_variant(name):
    """The query with constants drawn by pgbench per execution: same shape, other rows."""
    q = query(name)
    head = ['\\set year random(1992, 1998)', '\\set d random(1, 8)', '\\set q random(10, 35)',
            '\\set cat random(11, 15)', '\\set r random(0, 4)']
    q = re.sub(r"d_year = 1993", 'd_year = :year', q)
    q = re.sub(r'lo_discount between \d+ and \d+', 'lo_discount between :d and :d + 2', q)
    q = re.sub(r'lo_quantity < \d+', 'lo_quantity < :q', q)
    q = re.sub(r'lo_quantity between \d+ and \d+', 'lo_quantity between :q and :q + 9', q)
    q = re.sub(r"p_category = 'MFGR#\d+'", "p_category = 'MFGR#' || :cat::text", q)
    q = re.sub(r"([cs]_region) = '[A-Z ]+'",
               r"\1 = (array['" + "','".join(REGIONS) + r"'])[:r + 1]", q)
    return '\n'.join(head) + '\n' + q


def part_clients(report, args):
    report.add('## Throughput of N clients of random SSB queries\n')
    report.add(f'pgbench -M prepared, {args.seconds} s each. Fixed: the 13 queries as they are; identical requests that '
               'meet in the queue share one execution. Random: years, discounts, quantities, categories and regions '
               'drawn anew for each execution, where the query has any.\n')
    rows = []
    with tempfile.TemporaryDirectory() as d:
        fixed = [script(d, n, query(n)) for n in QUERIES]
        rand = [script(d, 'r' + n, random_variant(n)) for n in QUERIES]
        first = {}
        for c in args.clients:
            row = [c]
            for kind, files in (('fixed', fixed), ('random', rand)):
                tps, lat = pgbench(files, c, args.seconds, PGOPTIONS_ON)
                first.setdefault(kind, tps)
                row += [f'{tps:.0f}', f'{tps / first[kind]:.2f}', f'{lat:.2f}']
            rows.append(row)
    report.table(['clients', 'fixed q/s', 'x', 'latency ms', 'random q/s', 'x', 'latency ms'], rows)


def part_shapes(report, args):
    report.add('## A plan shape not seen before\n')
    report.add('First execution of a query whose shape this server has never compiled (the disk cache has not seen '
               'it either), against its tenth.\n')
    rows = []
    base = 'select sum(lo_revenue) from lineorder, date where lo_orderdate = d_datekey'
    shapes = [('one more filter', f'{base} and d_year = 1993 and lo_tax < {{}} and lo_quantity + lo_discount > 20'),
              ('group by two', 'select lo_tax, lo_discount, sum(lo_revenue), count(*) from lineorder '
                               'where lo_quantity < {} and lo_tax + lo_discount > 3 group by 1, 2'),
              ('star of four', 'select d_year, c_nation, min(lo_revenue), max(lo_tax) from lineorder, date, customer, '
                               "supplier, part where lo_orderdate = d_datekey and lo_custkey = c_custkey "
                               "and lo_suppkey = s_suppkey and lo_partkey = p_partkey and s_region = 'ASIA' "
                               'and p_size < 30 and lo_quantity > {} and lo_tax <> 3 group by 1, 2')]
    for label, q in shapes:
        value(ON + 'select max(lo_tax), max(lo_discount), max(lo_quantity), max(lo_revenue) from lineorder')
        psql('set gpuconc.enabled = on;\n' + q.format(10))  # loads columns; compiles
        out = psql(ON + ('explain (analyze, verbose) ' + q.format(12) + ';\n') * 10)
        compile_first = numbers('Compile Time', psql(
            ON + 'explain (analyze, verbose) ' + q.format(12).replace('sum(lo_revenue)', 'sum(lo_revenue + 1)')
            .replace('min(lo_revenue)', 'min(lo_revenue + 1)') + ';'))[0]
        rows.append([label, f'{compile_first:.0f}', f'{median(numbers("Compile Time", out)):.3f}'])
    report.table(['shape', 'compile ms, first execution', 'later'], rows)


def part_loading(report, args):
    cols = 'lo_orderdate, lo_partkey, lo_suppkey, lo_custkey, lo_quantity, lo_discount, lo_extendedprice, lo_revenue, lo_supplycost'
    sums = ', '.join(f'sum({c.strip()})' for c in cols.split(','))
    scan = f'select {sums} from lineorder'
    setup = (f'set max_parallel_workers_per_gather = {args.workers}; set parallel_leader_participation = on; '
             'set gpuconc.enabled = off; set min_parallel_table_scan_size = 0; '
             f'alter table lineorder set (parallel_workers = {args.workers});\n')
    pg = timed(scan, 3, setup)
    psql("alter table lineorder reset (parallel_workers); select gpuconc_evict('lineorder')")
    out = psql(ON + f'set gpuconc.loader_workers = {args.workers};\nexplain (analyze, verbose) ' + scan + ';')
    load = numbers('Load Time', out)[0]
    report.add('## Loading\n')
    report.add(f'Nine columns of lineorder into the cache with {args.workers} loader workers and the session itself, against '
               f'PostgreSQL\'s parallel sequential scan that sums the same columns with {args.workers} workers and the '
               'session itself; all pages in shared buffers.\n')
    report.table(['parallel scan ms', 'load ms', 'ratio'], [[f'{pg:.0f}', f'{load:.0f}', f'{load / pg:.2f}']])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--out', required=True)
    ap.add_argument('--parts', default='kernels,latency,postgres,clients,shapes,loading')
    ap.add_argument('--workers', type=int, default=16)
    ap.add_argument('--clients', default='1,2,4,8,16,32')
    ap.add_argument('--seconds', type=int, default=3)
    ap.add_argument('--duckdb')
    ap.add_argument('--commit', default='')
    args = ap.parse_args()
    args.clients = [int(c) for c in args.clients.split(',')]
    if not args.commit:
        p = subprocess.run(['git', '-C', HERE, 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True)
        args.commit = p.stdout.strip() or 'unknown'
    # columns in, kernels compiled
    for name in QUERIES:
        psql(ON + (query(name) + '\n') * 2)
    report = Report(args.out, args)
    for part in args.parts.split(','):
        globals()['part_' + part](report, args)


if __name__ == '__main__':
    main()

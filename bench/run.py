#!/usr/bin/env python3
"""Measures gpuconc on the Star Schema Benchmark and writes tables as Markdown.

Connects through the PG* environment to a server that has gpuconc preloaded and SSB loaded
(bench/ssb/load), as the tables' owner.  Needs psql and pgbench on PATH; nothing beyond Python's
library, except for the parts that say so.  Under every table stand the machine, the device, the
commit, the date and the command.  Exit status 1 if any two answers differ.

    bench/run.py --out FILE.md [--parts kernels,latency,...] [--workers 16] [--clients 1,2,4,8,16,32]
                 [--seconds 3] [--runs 5] [--duckdb FILE [--duckdb-scale SCALE] [--duckdb-threads 16]]
                 [--commit HASH] [--command TEXT]

bench/device.sh makes the server, loads it and runs this.

Parts:
    kernels   kernel time of every query, warm, and the bandwidth at which flight 1 reads, against
              a copy on the device (needs CuPy or PyTorch, says nothing without)
    latency   end to end, prepared, one client, against the kernel time; a trivial aggregate
    postgres  every query by PostgreSQL with --workers parallel workers and by gpuconc, same run;
              with --duckdb also by DuckDB (needs its Python package)
    clients   throughput of N clients of random queries: the 13 as they are, and with random constants
    simple    the same with statements as texts, each analyzed and planned
    shapes    cost of a plan shape not seen before
    loading   loading lineorder's columns against a parallel sequential scan of them
"""
import argparse
import os
import random
import re
import shlex
import sys
import tempfile

from measure import (ON, PGOPTIONS_OFF, PGOPTIONS_ON, QUERIES, TABLES, Report, explain, geomean, git_commit,
                     kernel_ms, median, numbers, pgbench, psql, query, rows, script, timings, value)


def copy_with_cupy(nbytes):
    import cupy
    a = cupy.arange(nbytes // 8, dtype=cupy.uint64)
    b = cupy.empty_like(a)

    def once():
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        cupy.copyto(b, a)
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(start, end)
    return min(once() for _ in range(20))


def copy_with_torch(nbytes):
    import torch
    a = torch.arange(nbytes // 8, dtype=torch.int64, device='cuda')
    b = torch.empty_like(a)

    def once():
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        b.copy_(a)
        end.record()
        end.synchronize()
        return start.elapsed_time(end)
    return min(once() for _ in range(20))


def copy_bandwidth():
    """GB/s of a copy on the GPU, bytes read plus written; None if that can't be measured."""
    if value('select device from gpuconc_devices') != 'cuda':
        return None
    nbytes = 4 << 30
    for copy in (copy_with_cupy, copy_with_torch):
        try:
            return 2 * nbytes / copy(nbytes) / 1e6
        except Exception as e:  # whatever such a package may raise: not there, no driver, no memory
            print(f'{copy.__name__}: {e}', file=sys.stderr)
    return None


def part_kernels(report, args):
    report.section('Kernel time, warm',
                   'Median of 9 executions after 4, by the device\'s clock, all kernels of the query. '
                   'Read: encoded bytes of the streamed table\'s columns that the main kernel reads, whether or not '
                   'filters let it skip some. Copy bandwidth: best of 20 copies of 4 GiB on the device, bytes read '
                   'plus written.')
    copy = copy_bandwidth()
    lines, total = [], 0
    for name in QUERIES:
        out = explain(query(name), 13)
        ms = median(numbers('Kernel Time', out)[4:])
        read = numbers('Read', out)[-1] * 1024
        rate = read / ms / 1e6
        total += ms
        launch = [f'{numbers(x, out)[-1]:.0f}' for x in (
            'Blocks', 'Threads per Block', 'Shared Memory per Block', 'Registers per Thread')]
        lines.append([name, f'{ms:.3f}', f'{read / 1e6:.1f}', f'{rate:.0f}',
                      f'{100 * rate / copy:.0f} %' if copy else '-'] + launch)
    lines.append(['**sum**', f'**{total:.3f}**'] + [''] * 7)
    if copy:
        report.add(f'Copy bandwidth: {copy:.0f} GB/s.\n')
    report.table(['query', 'kernel ms', 'read MB', 'GB/s', 'of copy bandwidth', 'blocks', 'threads', 'shared kB',
                  'registers'], lines)


def part_latency(report, args):
    report.section('End to end, one client, prepared statements',
                   f'pgbench -M prepared, one client, {args.seconds} s each; overhead: latency minus kernel time '
                   '(median of 5). Part of it is PostgreSQL\'s own work: nodes above gpuconc\'s, a Sort, say (by EXPLAIN '
                   '(ANALYZE)), and a round trip that returns as many rows (latency of a SELECT of a stored copy of '
                   'the result).')
    lines = []
    with tempfile.TemporaryDirectory() as d:
        for name in QUERIES:
            kernel = kernel_ms(query(name), 5, 3)
            _, lat = pgbench([script(d, name, query(name))], 1, args.seconds, PGOPTIONS_ON)
            own = psql(ON + f'explain (analyze) {query(name)};\n' * 5)
            node = re.findall(r'Custom Scan.*?actual time=[0-9.]+\.\.([0-9.]+)', own)
            above = median([t - float(n) for t, n in zip(numbers('Execution Time', own), node)][1:])
            psql(f'create table gpuconc_bench_rows as {query(name)}')
            count = value('select count(*) from gpuconc_bench_rows')
            psql('vacuum analyze gpuconc_bench_rows')
            _, stored = pgbench([script(d, 'stored', 'select * from gpuconc_bench_rows')], 1, args.seconds, PGOPTIONS_OFF)
            psql('drop table gpuconc_bench_rows')
            lines.append([name, count, f'{kernel:.3f}', f'{lat:.3f}', f'{lat - kernel:.3f}', f'{above:.3f}',
                          f'{stored:.3f}', f'{lat - kernel - above - stored:.3f}'])
        report.table(['query', 'rows', 'kernel ms', 'latency ms', 'overhead ms', 'of it in nodes above ms',
                      'returning the rows ms', 'rest ms'], lines)

        psql('create table if not exists gpuconc_bench_one (x int); truncate gpuconc_bench_one; '
             'insert into gpuconc_bench_one values (1)')
        psql('vacuum analyze gpuconc_bench_one')
        lines = []
        for table, what in (('gpuconc_bench_one', 'one row'), ('supplier', 'supplier')):
            f = script(d, table, f'select count(*) from {table}')
            _, on = pgbench([f], 1, args.seconds, PGOPTIONS_ON)
            _, off = pgbench([f], 1, args.seconds, PGOPTIONS_OFF)
            lines.append([f'count(*) of {what}', f'{on:.3f}', f'{off:.3f}', f'{on - off:+.3f}'])
        psql('drop table gpuconc_bench_one')
    report.add('Trivial aggregates, likewise:\n')
    report.table(['query', 'gpuconc ms', 'PostgreSQL ms', 'difference ms'], lines)


def parallel(workers):
    """PostgreSQL alone, and parallel whatever its cost model thinks of that."""
    return (f'set gpuconc.enabled = off;\nset max_parallel_workers_per_gather = {workers};\n'
            'set parallel_setup_cost = 0;\nset parallel_tuple_cost = 0.001;\nset min_parallel_table_scan_size = 0;\n')


def postgres_alone(sql, setup, runs):
    """PostgreSQL's time, its workers, and JIT's part: "on" or "off", whichever is faster, "unused" if
    PostgreSQL would not use it for this query anyway."""
    plan = psql(f'{setup}set jit = on;\nexplain (analyze, timing off) {sql};\n')
    workers = int(max(numbers('Workers Launched', plan), default=0))
    choices = ('on', 'off') if re.search(r'^JIT:', plan, re.M) else ('unused',)
    times = {jit: median(timings(sql, runs, f'{setup}set jit = {"on" if jit == "on" else "off"};\n'))
             for jit in choices}
    jit = min(times, key=times.get)
    return times[jit], workers, jit


def part_postgres(report, args):
    setup = parallel(args.workers)
    duck = None
    quick = max(args.runs, 25)  # for executions of a few milliseconds
    about = (f'Medians of {args.runs} warm executions (gpuconc: {quick}) of a prepared statement, by the client\'s '
             f'clock, one after another in one run. PostgreSQL: up to {args.workers} parallel workers besides the '
             'leader (the table\'s parallel_workers and max_parallel_workers_per_gather say so, parallel costs '
             'next to nothing), with JIT on or off, whichever is faster ("unused": PostgreSQL finds the query too cheap for it); '
             f'{args.warmed}.')
    if args.duckdb:
        import duck as duck_module
        duck = duck_module.Session(args.duckdb, args.duckdb_threads)
        about += (f' DuckDB {duck.version}: {duck.threads} threads, the same rows from the same generator; '
                  f'likewise medians of {quick} warm executions.')
    about += ' Same rows: all answers are equal.'
    report.section(f'Against PostgreSQL with {args.workers} parallel workers' + (', and DuckDB' if duck else ''), about)
    lines, ratios, duck_ratios = [], [], []
    for name in QUERIES:
        sql = query(name)
        pg, workers, jit = postgres_alone(sql, setup, args.runs)
        gc = median(timings(sql, quick, ON, warm=3))
        answers = [rows(sql, setup), rows(sql, ON)] + ([duck.rows(sql)] if duck else [])
        ratios.append(pg / gc)
        line = [name, f'{pg:.1f}', workers, jit, f'{gc:.3f}', f'{pg / gc:.1f}']
        if duck:
            ms = median(duck.timings(sql, quick))
            duck_ratios.append(ms / gc)
            line += [f'{ms:.2f}', f'{ms / gc:.1f}']
        lines.append(line + [report.yes(all(a == answers[0] for a in answers))])
    lines.append(['**geometric mean**', '', '', '', '', f'**{geomean(ratios):.1f}**']
                 + (['', f'**{geomean(duck_ratios):.1f}**'] if duck else []) + [''])
    report.table(['query', 'PostgreSQL ms', 'workers', 'JIT', 'gpuconc ms', 'ratio']
                 + (['DuckDB ms', 'ratio'] if duck else []) + ['same rows'], lines)


REGIONS = ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST']


def random_variant(name):
    """The query with constants drawn by pgbench for each execution: same shape, other rows."""
    head = ['\\set year random(1992, 1998)', '\\set week random(1, 52)', '\\set d random(1, 8)',
            '\\set q random(10, 35)', '\\set cat random(11, 15)', '\\set r random(0, 4)']
    q = query(name)
    q = re.sub(r'd_year = 199[34]', 'd_year = :year', q)
    q = re.sub(r'd_weeknuminyear = \d+', 'd_weeknuminyear = :week', q)
    q = re.sub(r'lo_discount between \d+ and \d+', 'lo_discount between :d and :d + 2', q)
    q = re.sub(r'lo_quantity < \d+', 'lo_quantity < :q', q)
    q = re.sub(r'lo_quantity between (\d+) and (\d+)',
               lambda m: f'lo_quantity between :q and :q + {int(m.group(2)) - int(m.group(1))}', q)
    q = re.sub(r"p_category = 'MFGR#\d+'", "p_category = 'MFGR#' || :cat::text", q)
    q = re.sub(r"([cs]_region) = '[A-Z ]+'", r"\1 = (array['" + "','".join(REGIONS) + r"'])[:r + 1]", q)
    return '\n'.join(head) + '\n' + q


def client_scripts(folder):
    """Files for pgbench, by kind: the 13 queries as they are, and with random constants."""
    return {'fixed': [script(folder, n, query(n)) for n in QUERIES],
            'random': [script(folder, 'r' + n, random_variant(n)) for n in QUERIES]}


def part_clients(report, args):
    report.section('Throughput of N clients of random SSB queries',
                   f'pgbench -M prepared, {args.seconds} s each; each client draws one of the 13 queries at a time. '
                   'Fixed: the queries as they are, where identical requests that meet in the queue share one '
                   'execution. '
                   'Random: years, weeks, discounts, quantities, categories and regions drawn anew for each execution, '
                   'where the query has any. x: against one client.')
    lines = []
    with tempfile.TemporaryDirectory() as d:
        kinds = client_scripts(d)
        first = {}
        for files in kinds.values():
            pgbench(files, 2, args.seconds, PGOPTIONS_ON)  # kernels of the parameterized shapes
        for c in args.clients:
            line = [c]
            for kind, files in kinds.items():
                tps, lat = pgbench(files, c, args.seconds, PGOPTIONS_ON)
                first.setdefault(kind, tps)
                line += [f'{tps:.0f}', f'{tps / first[kind]:.2f}', f'{lat:.2f}']
            lines.append(line)
    report.table(['clients', 'fixed q/s', 'x', 'latency ms', 'random q/s', 'x', 'latency ms'], lines)


SIMPLE = (('prepared, fixed', 'prepared', 'fixed'), ('simple, fixed', 'simple', 'fixed'),
          ('prepared, random', 'prepared', 'random'), ('simple, random', 'simple', 'random'))


def part_simple(report, args):
    report.section('Throughput by the simple protocol',
                   f'pgbench, {args.seconds} s each, queries a second by number of clients. Prepared, or simple: each '
                   'statement is sent as a text, which is analyzed and planned. Random: other constants each time. Last, the '
                   'share of queries that were offloaded.')
    lines = []
    with tempfile.TemporaryDirectory() as d:
        kinds = client_scripts(d)
        for files in kinds.values():
            pgbench(files, 2, args.seconds, PGOPTIONS_ON)
        for label, protocol, kind in SIMPLE:
            line, offloaded, queries = [label], 0, 0
            for c in args.clients:
                before = float(value('select offloaded from gpuconc_stat'))
                tps, _ = pgbench(kinds[kind], c, args.seconds, '-c gpuconc.enabled=on', protocol)
                offloaded += float(value('select offloaded from gpuconc_stat')) - before
                queries += tps * args.seconds
                line.append(f'{tps:.0f}')
            lines.append(line + [f'{offloaded / queries:.2f}'])
    report.table(['statements'] + [str(c) for c in args.clients] + ['offloaded'], lines)


def random_expression():
    """An integer expression over lineorder of a structure that hardly anyone has used before."""
    e = 'lo_quantity'
    for _ in range(10):
        c = random.choice(['lo_tax', 'lo_discount', 'lo_quantity', 'lo_linenumber'])
        e = random.choice([f'({e} + {c})', f'({e} - {c})', f'({c} - {e})',
                           f'(case when {c} > 3 then {e} else {c} end)'])
    return e


SHAPES = (
    ('no grouping, one join', 'select sum({}) from lineorder, date where lo_orderdate = d_datekey and d_year = 1993'),
    ('group by two columns', 'select lo_tax, lo_discount, sum({}), count(*) from lineorder group by 1, 2'),
    ('star of four', 'select d_year, c_nation, min({}), max(lo_tax) from lineorder, date, customer, supplier, part '
                     'where lo_orderdate = d_datekey and lo_custkey = c_custkey and lo_suppkey = s_suppkey '
                     "and lo_partkey = p_partkey and s_region = 'ASIA' and p_size < 30 group by 1, 2"))


def part_shapes(report, args):
    report.section('A plan shape not seen before',
                   'Execution time, in a new session, of a query whose kernels neither memory nor disk holds (random '
                   'expressions make sure; all columns are loaded), and of the same query after that. Medians of 5 '
                   'such queries; what the first execution costs on top, also at worst.')
    lines = []
    for label, shape in SHAPES:
        first, compile_ms, later, on_top = [], [], [], []
        explain(shape.format('lo_quantity + lo_tax + lo_discount + lo_linenumber'))
        while len(first) < 5:
            sql = shape.format(random_expression())
            out = explain(sql)
            if numbers('Kernels Compiled', out)[0] == 0:
                continue
            again = median(numbers('Execution Time', explain(sql, 6))[1:])
            first.append(numbers('Execution Time', out)[0])
            compile_ms.append(numbers('Compile Time', out)[0])
            later.append(again)
            on_top.append(first[-1] - again)
        lines.append([label] + [f'{median(x):.1f}' for x in (first, compile_ms, later, on_top)]
                     + [f'{max(on_top):.1f}'])
    report.table(['shape', 'first ms', 'of it compiling ms', 'later ms', 'on top ms', 'at worst'], lines)


Q1_COLUMNS = ('lo_orderdate', 'lo_discount', 'lo_quantity', 'lo_extendedprice')


def columns_of_lineorder():
    """Its numbers, and all its columns."""
    found = [line.split('|') for line in psql(
        "select attname, atttypid::regtype from pg_attribute where attrelid = 'lineorder'::regclass and attnum > 0 "
        'and not attisdropped order by attnum').splitlines()]
    return [c for c, t in found if t in ('integer', 'bigint')], [c for c, _ in found]


def load_ms(columns, everything, workers):
    """Loads the columns into a cache without any of the table's; in ms."""
    psql("select gpuconc_evict('lineorder')")
    if everything:
        ms = timings("select gpuconc_prewarm('lineorder')", 1, f'set gpuconc.loader_workers = {workers};\n', warm=0)[0]
    else:
        sql = 'select ' + ', '.join(f'min({c})' for c in columns) + ' from lineorder'
        ms = numbers('Load Time', explain(sql, 1, f'{ON}set gpuconc.loader_workers = {workers};\n'))[0]
    loaded = psql("select column_name from gpuconc_cache where relation = 'lineorder'::regclass and pages_served = 1 "
                  'order by 1').split()
    if loaded != sorted(columns):
        sys.exit(f'not what was to be loaded: {loaded}')
    return ms


def part_loading(report, args):
    report.section('Loading',
                   f'Columns of lineorder into the cache, which has none of its columns before, by {args.workers} '
                   'loader workers and the session itself, against PostgreSQL\'s parallel sequential scan of the same '
                   f'columns by {args.workers} parallel workers and the leader, without JIT or with, whichever is '
                   f'faster; medians of 3, {args.warmed}. Scan: select min(c), max(c), count(c) of each number, '
                   'count(c) of each text; bare scan: count(c) of each column, the least that reads it. Load: for '
                   'all columns gpuconc_prewarm by the client\'s clock, else Load Time of a first query over the columns.')
    ints, everything = columns_of_lineorder()
    setup = parallel(args.workers)
    lines = []
    for label, columns in (('of Q1', list(Q1_COLUMNS)), ('all numbers', ints), ('all', everything)):
        counts = [f'count({c})' for c in columns]
        extremes = [f'min({c}), max({c})' for c in columns if c in ints]
        times, launched = [], []
        for select in (counts + extremes, counts):
            sql = 'select ' + ', '.join(select) + ' from lineorder'
            ms, workers, _ = postgres_alone(sql, setup, 3)
            times.append(ms)
            launched.append(workers)
        load = median([load_ms(columns, columns == everything, args.workers) for _ in range(3)])
        lines.append([f'{label} ({len(columns)})', min(launched)] + [f'{t:.0f}' for t in times]
                     + [f'{load:.0f}', f'**{load / times[0]:.2f}**', f'{load / times[1]:.2f}'])
    report.table(['columns', 'workers', 'scan ms', 'bare scan ms', 'load ms', 'load / scan', 'load / bare scan'], lines)


def warm_postgres(workers):
    """Every page of the tables read once, into shared buffers where they fit; says how."""
    has = value("select count(*) from pg_available_extensions where name = 'pg_prewarm'")
    if has == '1' and value('select rolsuper from pg_roles where rolname = current_user') == 't':
        psql('create extension if not exists pg_prewarm')
        psql(''.join(f"select pg_prewarm('{t}');\n" for t in TABLES))
        held = value("select sum(pg_table_size(oid)) < (select setting::int8 * 8192 from pg_settings where name = "
                     "'shared_buffers') from pg_class where oid = any (array['"
                     + "','".join(TABLES) + "']::regclass[])")
        return 'all tables were read into shared buffers by pg_prewarm' + (
            '' if held == 't' else ', which do not hold all of them; the rest is in the system\'s cache')
    psql(parallel(workers) + ''.join(f'select count(*) from {t};\n' for t in TABLES))
    return 'all tables had been scanned once'


def warm_gpuconc():
    for name in QUERIES:
        psql(ON + f'{query(name)};\n' * 2)


PARTS = {'kernels': part_kernels, 'latency': part_latency, 'postgres': part_postgres, 'clients': part_clients, 'simple': part_simple,
         'shapes': part_shapes, 'loading': part_loading}


def parse_arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--out', required=True)
    ap.add_argument('--parts', default=','.join(PARTS))
    ap.add_argument('--workers', type=int, default=16)
    ap.add_argument('--clients', default='1,2,4,8,16,32')
    ap.add_argument('--seconds', type=int, default=3)
    ap.add_argument('--runs', type=int, default=5)
    ap.add_argument('--duckdb', metavar='FILE', help='DuckDB database to measure too')
    ap.add_argument('--duckdb-scale', metavar='SCALE', help='make that database first, at this scale')
    ap.add_argument('--duckdb-threads', type=int, default=16)
    ap.add_argument('--commit', default='', help='default: what git says')
    ap.add_argument('--command', default='', help='the command to print, if not this program\'s own')
    args = ap.parse_args()
    args.parts = args.parts.split(',')
    for part in args.parts:
        if part not in PARTS:
            ap.error(f'there is no part "{part}"')
    args.clients = [int(c) for c in args.clients.split(',')]
    args.commit = args.commit or git_commit()
    args.command = args.command or shlex.join(['bench/run.py'] + sys.argv[1:])
    return args


def main():
    args = parse_arguments()
    if args.duckdb and args.duckdb_scale:
        import duck
        duck.build(args.duckdb, args.duckdb_scale, args.duckdb_threads)
    # before gpuconc caches columns: DDL makes it look at the table anew
    psql(f'alter table lineorder set (parallel_workers = {args.workers})')
    try:
        args.warmed = warm_postgres(args.workers)
        warm_gpuconc()
        report = Report(args.out, args.commit, args.command)
        for part in args.parts:
            PARTS[part](report, args)
    finally:
        psql('alter table lineorder reset (parallel_workers)')
    sys.exit(1 if report.failures else 0)


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""restarts.py: what needs a server that is started anew: its first seconds, columns in files, several devices.

    bench/restarts.py PART [--out FILE.md] [--log FILE] [--set NAME=VALUE]... [--tpch] [--commit HASH] [--command TEXT] ...

On a server with SSB's tables (bench/ssb/load), or TPC-H's with --tpch (bench/tpch/load), in the database that psql's
environment names.  The server's system user runs this as a superuser, with psql, pgbench and pg_ctl on PATH.  Settings
are given to each start alone, --set to all.  At last the server is started as it was; its log of all that is --log (/dev/null).
Exit status 1 if any two answers differ.

restart   How soon after the server's start all queries run at half their warm speed, asked by one session in turns, and by
          a session for each; whether pages of tables were read for that.
              --disk-cache 16GB   gpuconc.disk_cache_size, half of it for files that outlive a restart
              --patience 60       seconds after which no query is asked again
files     SSB, with a host cache for a quarter of the columns that its queries use, and files for the rest: each query by
          PostgreSQL's plan and by gpuconc, and the bytes that it read, against what a file is read at.
              --device-share 10   device memory, in percent of these columns, so that they are read again
              --file-megabytes 1024   of the file whose reading is timed
              --workers 16        PostgreSQL's parallel workers
writing   What it costs to write files: loads of lineorder's columns without and with them, in turns, and a query meanwhile.
              --rounds 10         of either
devices   Clients of random queries by lists of devices, as statements and as texts; the same queries beside updates; what
          limits each.  With --tpch: the 22 queries one at a time (tpch/power), and streams (tpch/throughput).
              --devices '0;0,1'   gpuconc.devices, one start for each
              --clients 32        for each device
              --seconds 5         for each figure
              --updates 1000      a second; 0: none
              --streams 1,8       of throughput

Without a GPU: restarts.py devices --devices 'host:0;host:0,host:1' --clients 2 --seconds 1 --updates 50
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile
import threading
import time

from measure import HERE, Report, Restarts, geomean, median, parse_reported, psql, value, wait_for_devices
from run import client_scripts

sys.path[:0] = [os.path.join(HERE, folder) for folder in ('memory', 'tpch', 'fresh')]
import clients  # noqa: E402
import tpch  # noqa: E402
from server import SSB, Session, since, stats  # noqa: E402

MB = 1 << 20
AS_USERS = 'set gpuconc.debug_offload = allow;\n'


def texts_of(args):
    if not args.tpch:
        return SSB
    scale = int(value('select count(*) from supplier')) / 10000
    return {name: ' '.join(tpch.query(name, scale).split()) for name in tpch.QUERIES}


def ask(session, sql):
    """Milliseconds and rows."""
    begin = time.perf_counter()
    rows = session.ask(sql + ';')
    return (time.perf_counter() - begin) * 1000, sorted(rows)


def ticks_of_compilers():
    total = 0
    for path in glob.glob('/proc/[0-9]*/stat'):
        try:
            with open(path) as f:
                name, rest = f.read().rsplit(')', 1)
        except OSError:         # it has ended
            continue
        if '(gpuconc_compil' in name:
            total += sum(map(int, rest.split()[11:13]))
    return total


def wait_for_compilers():
    """Until a GPU's compilers take no time, for a minute at most: they replace quick kernels in the background."""
    before, now, ends = -1, ticks_of_compilers(), time.monotonic() + 60
    while before != now and time.monotonic() < ends:
        time.sleep(0.3)
        before, now = now, ticks_of_compilers()


# ---------------------------------------------------------------------------------------------------------
# After a restart
# ---------------------------------------------------------------------------------------------------------

def at_once(shares, work):
    """A thread for each share of the queries' names."""
    threads = [threading.Thread(target=work, args=(names,)) for names in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def warmed(texts, shares):
    """Of each query, its median ms of five warm executions, and its rows."""
    found = {}

    def work(names):
        session = Session(settings=AS_USERS)
        for name in names * 2:
            ask(session, texts[name])
        wait_for_compilers()
        for name in names:
            runs = [ask(session, texts[name]) for _ in range(7)]
            found[name] = median(ms for ms, _ in runs[2:]), runs[-1][1]
        session.close()

    at_once(shares, work)
    return found


def bytes_of_files(folder):
    total = 0
    for entry in os.scandir(folder):
        try:
            total += entry.stat().st_size
        except FileNotFoundError:       # it has its last name now, or has made room
            pass
    return total


def wait_for_files(server):
    """Until the files of columns grow no more: they are written in the background."""
    size, before = -1, -2
    while size != before:
        time.sleep(1)
        before, size = size, bytes_of_files(os.path.join(server.data, 'pgsql_tmp_gpuconc'))
    return size


def pages_of_tables():
    """Counted so far, when sessions and loaders have ended: they tell then."""
    ends = time.monotonic() + 10
    while value("select count(*) from pg_stat_activity where backend_type in ('client backend', 'gpuconc loader') "
                'and pid <> pg_backend_pid()') != '0' and time.monotonic() < ends:
        time.sleep(0.05)
    return int(value('select coalesce(sum(heap_blks_read + heap_blks_hit), 0) from pg_statio_user_tables'))


class Start:
    """One start: of each query, ms of the first execution, and when it ran at half its warm speed."""

    def __init__(self, server, args, texts, shares):
        self.texts, self.first, self.half, self.wrong = texts, {}, {}, set()
        self.warm = warmed(texts, shares)
        self.files = wait_for_files(server)
        before = pages_of_tables()
        self.begin = server.start(f'gpuconc.disk_cache_size={args.disk_cache}')
        self.up, self.ends = time.monotonic() - self.begin, self.begin + args.patience
        at_once(map(list, shares), self.session)
        self.pages = pages_of_tables() - before
        self.loaded, self.fallbacks = value('select pages_loaded + pages_looked_at, fallbacks from gpuconc_stat').split('|')
        self.all = max(self.half.values()) if self.half.keys() == texts.keys() else None

    def session(self, left):
        session = Session(settings=AS_USERS)
        while left and time.monotonic() < self.ends:
            for name in list(left):
                ms, rows = ask(session, self.texts[name])
                warm_ms, warm_rows = self.warm[name]
                self.first.setdefault(name, ms)
                if rows != warm_rows:
                    self.wrong.add(name)
                if ms <= 2 * warm_ms:
                    self.half[name] = time.monotonic() - self.begin
                    left.remove(name)
        session.close()

    def of(self, name):
        return [f'{self.warm[name][0]:.2f}', f'{self.first[name]:.0f}' if name in self.first else '-',
                f'{self.half[name]:.2f}' if name in self.half else 'never']


def part_restart(report, args, server):
    texts = texts_of(args)
    server.start(f'gpuconc.disk_cache_size={args.disk_cache}')
    starts = {'one': Start(server, args, texts, [list(texts)]),
              'one for each query': Start(server, args, texts, [[name] for name in texts])}
    report.section('After a restart',
                   f'gpuconc.disk_cache_size {args.disk_cache}, of which files of columns take {starts["one"].files / MB:,.0f} MB. Seconds from '
                   'pg_ctl start. Half the warm speed: the first execution that takes at most twice the median of five warm '
                   'ones of as many sessions, by the client\'s clock. One session asks in turns whatever was not as fast yet. Pages read: '
                   'into columns, or to learn who sees their rows. PostgreSQL\'s: what it counts of tables, with visibility maps, '
                   'index probes of the planner, and fallbacks. Same rows: as before the start.')
    report.table(['sessions', 'server up, s', 'all at half the warm speed, s', 'median of first executions, ms', 'longest, ms',
                  'pages read', 'PostgreSQL\'s', 'fallbacks', 'same rows'],
                 [[label, f'{s.up:.2f}', f'{s.all:.2f}' if s.all else 'never', f'{median(s.first.values()):.0f}',
                   f'{max(s.first.values()):.0f}', s.loaded, s.pages, s.fallbacks, report.yes(not s.wrong)] for label, s in starts.items()])
    report.table(['query'] + ['warm ms', 'first ms', 'half the warm speed after, s'] * 2,
                 [[name] + [cell for s in starts.values() for cell in s.of(name)] for name in texts])


# ---------------------------------------------------------------------------------------------------------
# Columns in files
# ---------------------------------------------------------------------------------------------------------

def file_bandwidth(folder, megabytes):
    """Bytes per second at which one process reads a file: first from the disk, then from the page cache, at best."""
    speeds, buffer = [], bytearray(8 * MB)
    with tempfile.TemporaryFile(dir=folder, buffering=0) as f:
        for _ in range(megabytes // 8):
            f.write(buffer)
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        for _ in range(5):
            f.seek(0)
            begin = time.perf_counter()
            while f.readinto(buffer):
                pass
            speeds.append(megabytes * MB / (time.perf_counter() - begin))
    return speeds[0], max(speeds[1:])


def column_bytes():
    return int(value('select sum(host_bytes) from gpuconc_cache where datname = current_database()'))


def in_turns(texts, rounds):
    """Of each query, mean ms, bytes that it had from the host, fallbacks, and rows; the first round is not counted."""
    session = Session()
    session.ask(''.join(f'prepare "{name}" as {sql};\n' for name, sql in texts.items()))
    found = {name: [] for name in texts}
    for _ in range(rounds + 1):
        for name in texts:
            before = stats()
            ms, rows = ask(session, f'execute "{name}"')
            got = since(before)
            found[name].append((ms, got['each_bytes'], got['fallbacks'], rows))
        wait_for_compilers()
    session.close()
    return {name: [sum(run[i] for run in runs[1:]) / rounds for i in range(3)] + [runs[-1][3]] for name, runs in found.items()}


def part_files(report, args, server):
    server.start(f'gpuconc.disk_cache_size={args.disk_cache}')
    in_turns(SSB, 1)
    columns = column_bytes()
    host, device = max(64, columns // 4 * 8 // 7 // MB), max(1, columns * args.device_share // 100 // MB)
    disk, cached = file_bandwidth(server.data, args.file_megabytes)
    server.start(f'gpuconc.host_cache_size={host}MB', f'gpuconc.disk_cache_size={args.disk_cache}', f'gpuconc.device_memory_limit={device}MB')
    found = in_turns(SSB, 3)
    own = Session(settings=f'set gpuconc.enabled = off;\nset max_parallel_workers_per_gather = {args.workers};\n')
    lines, ratios = [], []
    for name, sql in SSB.items():
        ms, read, fallbacks, rows = found[name]
        (_, expected), (own_ms, _) = ask(own, sql), ask(own, sql)
        ratios.append(own_ms / ms)
        rate = read / ms * 1000
        lines.append([name, f'{own_ms:.1f}', f'{ms:.2f}', f'{ratios[-1]:.1f}', f'{read / 1e6:.1f}', f'{rate / 1e9:.2f}',
                      f'{100 * rate / cached:.0f}', f'{fallbacks:.1f}', report.yes(rows == expected)])
    own.close()
    lines.append(['**least; geometric mean**', '', '', f'**{min(ratios):.1f}; {geomean(ratios):.1f}**'] + [''] * 5)
    report.section('Columns in files',
                   f'The columns of the 13 queries take {columns / MB:,.0f} MB: gpuconc.host_cache_size {host} MB (an eighth is for '
                   f'requests), gpuconc.device_memory_limit {device} MB, gpuconc.disk_cache_size {args.disk_cache}. One client, prepared, '
                   f'queries in turns: means of three executions after one. PostgreSQL: the second execution, up to {args.workers} parallel workers. '
                   'Read: bytes from the host\'s memory or files to the device. A file that the page cache has is '
                   f'read at {cached / 1e9:.2f} GB/s by one process, another one at {disk / 1e9:.2f}.')
    report.table(['query', 'PostgreSQL ms', 'gpuconc ms', 'ratio', 'read MB', 'GB/s', '% of the page cache\'s', 'fallbacks', 'same rows'], lines)


# ---------------------------------------------------------------------------------------------------------
# Writing files of columns
# ---------------------------------------------------------------------------------------------------------

def seconds_of_cpu(server):
    """What the server's processes took that have ended."""
    with open(os.path.join(server.data, 'postmaster.pid')) as f:
        stat = f'/proc/{f.readline().strip()}/stat'
    time.sleep(0.3)         # until they are reaped
    with open(stat) as f:
        return sum(map(int, f.read().rsplit(')', 1)[1].split()[13:15])) / os.sysconf('SC_CLK_TCK')


def one_load(server):
    """Seconds of the load, of writing behind it, and of CPU for both; ms of a query meanwhile and afterwards."""
    watch, loading = Session(), Session()
    queries = [], []

    def watched(found):
        found.append(ask(watch, SSB['q1.1'])[0])
        return int(watch.ask("select count(*) from pg_stat_activity where backend_type in ('gpuconc loader', 'gpuconc warming');")[0])

    # In a session that has ended before CPU is counted.
    psql("select gpuconc_prewarm('date'); set gpuconc.enabled = off; select count(*) from lineorder;")
    while watched([]):
        pass
    loading.ask("select gpuconc_evict('lineorder');")
    for entry in glob.glob(os.path.join(server.data, 'pgsql_tmp_gpuconc', '*')):
        os.unlink(entry)
    before = seconds_of_cpu(server)
    load = ask(loading, "select gpuconc_prewarm('lineorder')")[0] / 1000
    begin = time.perf_counter()
    loading.close()
    watched([])             # columns come to the device
    while watched(queries[0]):
        pass
    writing = time.perf_counter() - begin
    cpu = seconds_of_cpu(server) - before
    for _ in queries[0]:
        watched(queries[1])
    watch.close()
    return load, writing, cpu, queries[0], queries[1]


def part_writing(report, args, server):
    sizes, lines = {'none': '0', 'written': args.disk_cache}, []
    found = {files: [] for files in sizes}
    for _ in range(args.rounds):
        for files, size in sizes.items():
            server.start(f'gpuconc.disk_cache_size={size}')
            found[files].append(one_load(server))
    size = bytes_of_files(os.path.join(server.data, 'pgsql_tmp_gpuconc'))
    for files, loads in found.items():
        load, writing, cpu, meanwhile, alone = zip(*loads)
        lines.append([files, f'{median(load):.2f}', f'{min(load):.2f} to {max(load):.2f}', f'{median(cpu):.2f}', f'{min(cpu):.2f} to {max(cpu):.2f}',
                      f'{median(writing):.2f}'] + [f'{median(sum(ms, [])):.2f}' for ms in (meanwhile, alone)])
    report.section('Writing files of columns',
                   f'gpuconc_prewarm() of lineorder, whose pages were read before, after {args.rounds} starts with gpuconc.disk_cache_size 0 and as '
                   f'many with {args.disk_cache}, in turns; files take {size / MB:,.0f} MB. CPU: of the session and all loaders. Loaders: until the '
                   'last one has ended, behind the load. Query: q1.1 meanwhile, and as often afterwards.')
    report.table(['files', 'load, s', 'from, to', 'CPU, s', 'from, to', 'loaders, s', 'query meanwhile, ms', 'afterwards, ms'], lines)


# ---------------------------------------------------------------------------------------------------------
# Several devices
# ---------------------------------------------------------------------------------------------------------

def lines_of(program, *args):
    """Cells of all lines of the tables that another program of bench/ writes."""
    with tempfile.NamedTemporaryFile('r') as out:
        subprocess.run([sys.executable, os.path.join(HERE, program), *args, '--out', out.name], check=True, stdout=subprocess.DEVNULL)
        return [[cell.strip(' *') for cell in line.split('|')[1:-1]] for line in out if line.startswith('| ')]


def each_list(args, server):
    """Starts the server with each list; yields it with its number of clients."""
    # Files have the chunks of before the updates, so pages that were written and vacuumed would be apart from these.
    settings = () if args.tpch else ('gpuconc.disk_cache_size=0',)
    for devices in args.devices.split(';'):
        server.start(f'gpuconc.devices={devices}', *settings)
        wait_for_devices()
        session = Session()
        for sql in texts_of(args).values():     # columns are loaded
            session.ask(sql + ';')
        session.close()
        yield devices, args.clients * int(value('select count(*) from gpuconc_devices'))


def random_clients(texts, n, seconds, protocol):
    """Queries a second, the 99th percentile in ms, and cells of what limits them."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, 'log')
        with clients.Watch() as watch:
            got = clients.outcome(clients.pgbench(texts, n, seconds, ('gpuconc.cold=wait',), log=log, protocol=protocol))
        return got['tps'], clients.quantiles(log, folder)[1], watch.cells(got['n'])


def settle(texts, n, protocol):
    """Until such clients need no new kernel, copy no column, and are no faster than before, for 30 s at most: shared scans come late."""
    made, best, same, ends = '', 0, 0, time.monotonic() + 30
    while same < 2 and time.monotonic() < ends:
        rate, before = random_clients(texts, n, 2, protocol)[0], made
        wait_for_compilers()
        made = value('select kernels_compiled, region_misses from gpuconc_stat, gpuconc_stat_memory')
        same = same + 1 if made == before and rate < 1.03 * best else 0
        best = max(best, rate)


def part_devices(report, args, server):
    with tempfile.TemporaryDirectory() as folder:
        texts = [open(path).read() for path in client_scripts(folder)['random']]
    lines, beside, limits, first = [], [], [], None
    for devices, n in each_list(args, server):
        found = []
        for protocol in ('prepared', 'simple'):
            settle(texts, n, protocol)
            *figures, cells = random_clients(texts, n, args.seconds, protocol)
            found += figures
            limits.append([f'{devices}, {protocol}', *cells])
        first = first or found
        lines.append([devices, n] + [cell for i in (0, 2) for cell in (f'{found[i]:.0f}', f'{found[i] / first[i]:.2f}', f'{found[i + 1]:.2f}')])
        if args.updates:
            got = lines_of('fresh/written', '--only', 'beside', '--loads', f'{n}x{args.updates}', '--for', str(args.seconds))
            of = {what: [line for line in got if line[0] == what] for what in ('readers alone', f'beside {args.updates} updates/s')}
            limits += [[f'{devices}, {what}', *limit[1:]] for what, (limit, _) in of.items()]
            alone, kept = (figures for _, figures in of.values())
            beside.append([devices, n, alone[1], alone[4], kept[1], kept[4], kept[2], kept[6]])
            psql('vacuum lineorder')            # else the next list has versioned rows to read
    report.section('Random queries by devices', f'pgbench, {args.seconds} s each; x: against the first line.')
    report.table(['devices', 'clients', 'prepared q/s', 'x', 'p99 ms', 'texts q/s', 'x', 'p99 ms'], lines)
    if beside:
        report.section(f'Beside {args.updates} updates a second', 'The 13 as they are, prepared (`bench/fresh/written --only beside`).')
        report.table(['devices', 'clients', 'q/s alone', 'p99 ms', 'q/s beside', 'p99 ms', 'kept', 'updates/s'], beside)
    report.section('What limits them', 'Counts of each phase, of gpuconc_stat, gpuconc_advise() and gpuconc_devices. Waits: what sessions that execute '
                   'a query, and parallel workers, were found at, once a second; none: at work.')
    report.table(clients.Watch.HEAD, limits)


def part_devices_tpch(report, args, server):
    alone, streams, first = [], [], {}
    for devices, _ in each_list(args, server):
        got = lines_of('tpch/power', '--changing', '--runs', '5', '--warm', '0.4')
        (total,), (mean,) = ([line for line in got if line[0] == what] for what in ('sum', 'geometric mean'))
        alone.append([devices] + [cell for i in (2, 3) for cell in (total[i], mean[i])])
        for line in lines_of('tpch/throughput', args.streams, '--seconds', str(args.seconds)):
            if line[0] == 'on':
                x = float(line[4]) / first.setdefault(line[1], float(line[4]))
                streams.append([devices, line[1], line[4], f'{x:.2f}'])
    report.section('One at a time by devices', 'ms of the 22 queries (`bench/tpch/power --changing --runs 5 --warm 0.4`).')
    report.table(['devices', 'texts: sum', 'geometric mean', 'prepared: sum', 'geometric mean'], alone)
    report.section('Streams by devices', f'`bench/tpch/throughput --seconds {args.seconds}`; x: against the first list of devices.')
    report.table(['devices', 'streams', 'queries/s', 'x'], streams)


PARTS = {('restart', False): part_restart, ('restart', True): part_restart, ('files', False): part_files,
         ('writing', False): part_writing,
         ('devices', False): part_devices, ('devices', True): part_devices_tpch}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('part', choices=('restart', 'files', 'writing', 'devices'))
    ap.add_argument('--log', default=os.devnull)
    ap.add_argument('--set', action='append', default=[])
    ap.add_argument('--tpch', action='store_true')
    ap.add_argument('--disk-cache', default='16GB')
    ap.add_argument('--patience', type=float, default=60)
    ap.add_argument('--device-share', type=int, default=10)
    ap.add_argument('--file-megabytes', type=int, default=1024)
    ap.add_argument('--rounds', type=int, default=10)
    ap.add_argument('--workers', type=int, default=min(16, os.cpu_count()))
    ap.add_argument('--devices', default='0;0,1')
    ap.add_argument('--clients', type=int, default=32)
    ap.add_argument('--seconds', type=int, default=5)
    ap.add_argument('--updates', type=int, default=1000)
    ap.add_argument('--streams', default='1,8')
    args = parse_reported(ap)
    part = PARTS.get((args.part, args.tpch)) or ap.error('files and writing are for SSB alone')
    with Restarts(args.log, args.set) as server:
        name, table = ('TPC-H', 'lineitem') if args.tpch else ('Star Schema Benchmark', 'lineorder')
        report = Report(args.out, args.commit, args.command, title=f'{name}: {args.part}', table=table)
        part(report, args, server)
    sys.exit(1 if report.failures else 0)


if __name__ == '__main__':
    main()

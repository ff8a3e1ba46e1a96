#!/usr/bin/env python3
"""limits.py: what SSB and TPC-H take with less device memory than they want; device.sh starts it.

    bench/memory/limits.py --out FOLDER [--parts one,many,overhead,replacement,reads,admission,moved,pairs,smallest]
                           [--shares 100,75,50,25] [--duration 3] [--rounds 2] [--pairs 78] [--seed 1] [--transactions 13]
                           [--tpch SCALE] [--seconds 1500] [--commit HASH] [--command TEXT]

Needs SSB's tables in the database that libpq's environment names, TPC-H's in database tpch if its scale is
given, a superuser, and no other user of gpuconc: it changes gpuconc.device_memory_limit and starts the
worker anew.  One file .md and one .csv per part.  The .csv has each line as soon as it is known, so that a run that
breaks off leaves what it had; the .md is written when the part is done.

one          Each of SSB's 13 queries by one client, at each limit: again and again, and all in turns.  Bytes
             over the link, and these over the time and over the link's measured bandwidth.
many         1 and 16 clients of SSB's queries at random.
overhead     The same without a limit, and what decisions took of the time.
replacement  16 clients at half and a quarter, under each gpuconc.replacement.
reads        1 and 16 clients at half and a quarter, with gpuconc.debug_link_reads off and on, where it exists.
admission    16 clients at half, under each gpuconc.admission: SSB, and a mix that is hungry for memory.
moved        16 clients, a fixed sequence of queries each, at half and a quarter, under each gpuconc.replacement and
             gpuconc.admission: bytes over the link, which depend little on how fast the machine is.
host         2 clients, a fixed sequence of queries each, with whatever gpuconc.host_cache_size the server has: by
             PostgreSQL's plans, and with gpuconc.cold = auto and wait.  Not among those that are the default.
pairs        Pairs of SSB's queries at a quarter of their own columns: both at once, and one after the other.
smallest     The smallest limit with which the device answers each query, by bisection, and what it takes without one.
"""
import argparse
import csv
import itertools
import math
import os
import random
import statistics
import sys
import time

import server
from server import SSB, Session, configure, device, link, pgbench, quantile, reset, set_limit, since, stats, value
from measure import Report, git_commit, psql

sys.path.insert(0, os.path.join(server.BENCH, 'tpch'))
import tpch  # noqa: E402

MB = 1 << 20
SHARE_OF_REST = {'one': 0.25, 'many': 0.25, 'overhead': 0.1, 'replacement': 0.25, 'reads': 0.25, 'admission': 0.3, 'moved': 0.5, 'host': 0.5, 'pairs': 0.6, 'smallest': 1.0}
HUNGRY = ['select lo_custkey, count(*), sum(lo_revenue) from lineorder group by lo_custkey order by 3 desc, 1 limit 10',
          'select lo_partkey, sum(lo_revenue - lo_supplycost), max(lo_quantity) from lineorder group by lo_partkey order by 2 desc, 1 limit 10',
          'select lo_orderkey, sum(lo_extendedprice) from lineorder group by lo_orderkey order by 2 desc, 1 limit 10',
          SSB['q1.1'], SSB['q2.1'], SSB['q3.1'], SSB['q4.1'], SSB['q4.2']]


class Run:
    """Arguments, results, and the time that is left."""

    def __init__(self, args):
        self.args = args
        self.ends = time.monotonic() + args.seconds
        self.part_ends = self.ends
        self.whole = None

    def begin(self, part):
        now = time.monotonic()
        last = part == self.args.parts.split(',')[-1]
        self.part_ends = now + (self.ends - now) * (1 if last else SHARE_OF_REST[part])

    def left(self):
        return self.part_ends - time.monotonic()

    def out_of_time(self):
        return self.left() <= 0

    def working_set(self):
        if self.whole is None:
            self.whole = server.working_set(SSB.values())
        return self.whole

    def limit(self, percent):
        """Megabytes; starts the worker anew, and asks each query once."""
        megabytes = max(1, round(self.working_set() * percent / 100 / MB))
        set_limit(megabytes)
        warm(SSB.values())
        return megabytes

    def report(self, part, title, head, lines, notes=''):
        report = Report(os.path.join(self.args.out, part + '.md'), self.args.commit, self.args.command, title=title)
        report.add(f'Working set of SSB: {(self.whole or 0) / MB:,.0f} MB of device memory. Link: {link() / 1e9:.1f} GB/s.'
                   + (' ' + notes if notes else '') + '\n')
        report.table(head, lines)
        with open(os.path.join(self.args.out, part + '.csv'), 'w', newline='') as f:
            csv.writer(f).writerows([head] + lines)


class Lines(list):
    """Lines of a part's table, each printed and written to its .csv at once; the head comes there with the report."""

    def __init__(self, run, part):
        super().__init__()
        self.path = os.path.join(run.args.out, part + '.csv')

    def append(self, line):
        super().append(line)
        print(*line, flush=True)
        with open(self.path, 'w', newline='') as f:
            csv.writer(f).writerows(self)

    def __iadd__(self, lines):
        for line in lines:
            self.append(line)
        return self


def warm(queries, database=None):
    session = Session(database)
    for sql in queries:
        session.times(sql, 1)
    session.close()


def percent(a, b):
    return f'{100 * a / b:.0f}' if b else '-'


# ---------------------------------------------------------------------------------------------------------
# One client
# ---------------------------------------------------------------------------------------------------------

def alone(session, name, seconds):
    """A query again and again: mean ms, bytes over the link by each, waves, fallbacks."""
    times, _ = session.times(f'execute {name}', 3)
    n = max(3, min(300, int(seconds * 1000 / max(min(times), 0.01))))
    before = stats()
    times, errors = session.times(f'execute {name}', n)
    got = since(before)
    return statistics.mean(times), got['each_bytes'] / n, got['waves'] / n, got['fallbacks'] + len(errors)


def in_turns(session, names, rounds):
    """All queries in turns: per query the same, and bytes of the median run."""
    runs = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            before = stats()
            times, errors = session.times(f'execute {name}', 1)
            got = since(before)
            runs[name].append((times[0], got['each_bytes'], got['waves'], got['fallbacks'] + len(errors)))
    return {name: (statistics.mean(r[0] for r in of), statistics.mean(r[1] for r in of), statistics.mean(r[2] for r in of),
                   sum(r[3] for r in of)) for name, of in runs.items()}


def line_of_query(share, megabytes, how, name, found, speed):
    ms, copied, waves, fallbacks = found
    least = copied / speed * 1000 if speed else 0
    return [f'{share} %', megabytes, how, name, f'{ms:.3f}', f'{copied / 1e6:.1f}', f'{waves:.1f}', percent(least, ms),
            f'{ms / least:.2f}' if least > 0.2 else '', int(fallbacks)]


def one(run):
    lines = Lines(run, 'one')
    for share in run.args.shares:
        if run.out_of_time():
            break
        megabytes = run.limit(share)
        session = Session()
        session.ask(''.join(f'prepare "{name}" as {sql};\n' for name, sql in SSB.items()))
        each = min(1, run.left() / 26 / len(run.args.shares))
        for name in SSB:
            lines.append(line_of_query(share, megabytes, 'again', name, alone(session, f'"{name}"', each), link()))
        names = [f'"{name}"' for name in SSB]
        in_turns(session, names, 1)
        for name, found in in_turns(session, names, 5).items():
            lines.append(line_of_query(share, megabytes, 'in turns', name.strip('"'), found, link()))
        session.close()
    run.report('one', 'One client', ['limit', 'limit MB', 'how', 'query', 'ms', 'MB', 'waves', '% of the link',
                                     'times bytes / link', 'fallbacks'], lines,
               'Prepared, mean ms by psql. MB: over the link, by each execution. % of the link: bytes / time / '
               'bandwidth. Again: the same query only; in turns: all 13, five times.')


# ---------------------------------------------------------------------------------------------------------
# Many clients
# ---------------------------------------------------------------------------------------------------------

def throughput(scripts, clients, seconds):
    """pgbench's results, and counters meanwhile."""
    before = stats()
    found = pgbench(scripts, clients, seconds=seconds)
    found['stats'] = since(before)
    found['seconds'] = seconds
    return found


def line_of_clients(found):
    times, got = found['times'], found['stats']
    p50, p99 = quantile(times, 0.5), quantile(times, 0.99)
    return [f'{found["tps"]:.1f}', f'{p50:.2f}', f'{p99:.2f}', f'{p99 / p50:.1f}' if p50 else '-', f'{times[-1]:.1f}' if times else '-',
            f'{got["each_bytes"] / 1e6 / max(len(times), 1):.2f}',
            f'{got["moved_bytes"] / 1e6 / max(len(times), 1):.2f}',
            f'{got["evictions"] / max(len(times), 1):.2f}', f'{got["evicted_bytes"] / 1e6 / max(len(times), 1):.2f}', percent(got['moved_bytes'] / found['seconds'], link()),
            int(got['evictions']), int(got['fallbacks'])]


CLIENTS_HEAD = ['queries/s', 'median ms', 'p99 ms', 'p99 / median', 'longest ms', 'MB read over the link by each',
                'MB moved over the link, per query', 'evictions per query', 'MB evicted per query', '% of the link', 'evictions', 'fallbacks']
SCRIPTS = [sql + ';\n' for sql in SSB.values()]


def many(run):
    lines, base = Lines(run, 'many'), {}
    for share in [0] + run.args.shares:
        if run.out_of_time():
            break
        if share:
            megabytes = run.limit(share)
        else:
            run.working_set()
            set_limit(0)
            warm(SSB.values())
            megabytes = 0
        for clients in (1, 16):
            if run.out_of_time():
                break
            pgbench(SCRIPTS, clients, seconds=1)
            found = throughput(SCRIPTS, clients, 2 * run.args.duration)
            base[share, clients] = found['tps']
            lines.append([f'{share} %' if share else 'none', megabytes or '', clients] + line_of_clients(found)
                         + [f'{found["tps"] / base[share, 1]:.1f}',
                            percent(found['tps'], base.get((100, clients), 0))])
    run.report('many', 'Clients of random queries', ['limit', 'MB', 'clients'] + CLIENTS_HEAD + ['x one client', '% of that at 100 %'],
               lines, 'pgbench, prepared, the 13 queries at random. MB read by each: a wave counts for each query that reads it.')


def overhead(run):
    run.working_set()
    set_limit(0)
    warm(SSB.values())
    lines = Lines(run, 'overhead')
    for clients, policy in itertools.product((1, 16), ('weight', 'fix-1', 'fix-3', 'weight')):
        if run.out_of_time():
            break
        configure(admission=policy)
        pgbench(SCRIPTS, clients, seconds=1)
        reset()
        found = throughput(SCRIPTS, clients, run.args.duration)
        got = stats()
        lines.append([clients, policy, f'{found["tps"]:.1f}', f'{quantile(found["times"], 0.5):.3f}'] + decisions(got)
                     + [f'{(got["admission_time"] + got["evict_decision_time"]) / run.args.duration / 10:.2f}'])
    configure(admission='weight')
    run.report('overhead', 'What memory management costs where memory suffices',
               ['clients', 'admission', 'queries/s', 'median ms'] + DECISIONS_HEAD + ['% of the time'], lines,
               'No limit. % of the time: of all decisions, of the duration; they are made on one thread.')


DECISIONS_HEAD = ['admissions', 'mean us', 'longest us', 'evictions decided', 'mean us', 'longest us']


def decisions(got):
    line = []
    for n, total, most in (('admissions', 'admission_time', 'admission_max'),
                           ('evict_decisions', 'evict_decision_time', 'evict_decision_max')):
        line += [int(got[n]), f'{got[total] * 1000 / got[n]:.2f}' if got[n] else '-', f'{got[most] * 1000:.1f}']
    return line


# ---------------------------------------------------------------------------------------------------------
# Policies
# ---------------------------------------------------------------------------------------------------------

def turns(run, setting, policies, scripts, label, base, clients=16):
    """Lines of a table: policies in turns, means of the rounds; x against the policy `base`."""
    found = {p: [] for p in policies}
    measured = {}
    for round_ in range(run.args.rounds):
        for policy in policies if round_ % 2 == 0 else policies[::-1]:
            if run.out_of_time():
                break
            configure(**{setting: policy})
            pgbench(scripts, clients, seconds=1)
            reset()
            found[policy].append(throughput(scripts, clients, run.args.duration))
            measured[policy] = stats()
    configure(**{setting: policies[-1]})
    rates = {p: statistics.mean(f['tps'] for f in of) for p, of in found.items() if of}
    return [label + [p, ' '.join(f'{f["tps"]:.1f}' for f in found[p]), f'{rate / rates[base]:.2f}' if base in rates else '-']
            + line_of_clients(found[p][-1])[1:] + decisions(measured[p]) for p, rate in rates.items()]


def policies_head(base):
    return ['policy', 'queries/s, each round', f'x {base}'] + CLIENTS_HEAD[1:] + DECISIONS_HEAD


def replacement(run):
    lines = Lines(run, 'replacement')
    for share in (50, 25):
        if not run.out_of_time():
            megabytes = run.limit(share)
            lines += turns(run, 'replacement', ['lru', 'lfu', 'cdr', 'value'], SCRIPTS, [f'{share} %', megabytes], 'lru')
    run.report('replacement', 'gpuconc.replacement: 16 clients', ['limit', 'MB'] + policies_head('lru'), lines,
               'Latencies, counters and decisions: of the last round.')


def reads(run):
    if not server.has_setting('gpuconc.debug_link_reads'):
        print('there is no gpuconc.debug_link_reads', flush=True)
        return
    lines = Lines(run, 'reads')
    for share, clients in itertools.product((50, 25), (1, 16)):
        if not run.out_of_time():
            megabytes = run.limit(share) if clients == 1 else lines[-1][1]
            lines += turns(run, 'debug_link_reads', ['off', 'auto'], SCRIPTS, [f'{share} %', megabytes, clients], 'off', clients)
    run.report('reads', 'gpuconc.debug_link_reads', ['limit', 'MB', 'clients'] + policies_head('off'), lines,
               'Latencies, counters and decisions: of the last round.')


def runs_alone(sql):
    """Is it answered by the device within 20 s, at this limit?"""
    session = Session(settings="set statement_timeout = '20s';\n")
    before = stats()
    _, errors = session.times(sql, 2)
    session.close()
    return not errors and not since(before)['fallbacks']


def admission(run):
    megabytes = run.limit(50)
    policies = ['fix-1', 'fix-2', 'fix-3', 'peak', 'weight']
    lines = Lines(run, 'admission')
    lines += turns(run, 'admission', policies, SCRIPTS, ['SSB'], 'fix-1')
    hungry = [sql for sql in HUNGRY if runs_alone(sql)]
    lines += turns(run, 'admission', policies, [sql + ';\n' for sql in hungry], ['hungry'], 'fix-1')
    run.report('admission', f'gpuconc.admission: 16 clients at 50 %, {megabytes} MB', ['queries'] + policies_head('fix-1'), lines,
               f'Hungry: groups by customer, part and order, and five of SSB\'s queries; {len(hungry)} of {len(HUNGRY)} run alone. Latencies, counters and decisions: '
               'of the last round.')


def moved(run):
    lines = []
    for share, (setting, policies) in itertools.product((50, 25), (('replacement', ['lru', 'lfu', 'cdr', 'value']),
                                                                   ('admission', ['fix-1', 'fix-2', 'fix-3', 'peak', 'weight']))):
        base = None
        for policy in policies:
            if run.out_of_time():
                break
            configure(**{setting: policy})
            megabytes = run.limit(share)
            # The first round is another sequence, and leaves in memory what the policy keeps.
            pgbench(SCRIPTS, 16, transactions=run.args.transactions, seed=run.args.seed + 1)
            before = stats()
            found = pgbench(SCRIPTS, 16, transactions=run.args.transactions, seed=run.args.seed)
            got, n = since(before), len(found['times'])
            moved_once, read = got['moved_bytes'], got['each_bytes']
            base = base or read
            lines.append([f'{share} %', megabytes, setting, policy, n, f'{read / 1e6 / n:.2f}', f'{base / read:.2f}' if read else '-',
                          f'{moved_once / 1e6 / n:.2f}', f'{got["evictions"] / n:.2f}', f'{got["evicted_bytes"] / 1e6 / n:.2f}', f'{got["waves"] / n:.1f}', int(got['fallbacks'])])
        configure(**{setting: policies[-1]})
    run.report('moved', 'Policies, by bytes over the link', ['limit', 'MB', 'setting', 'policy', 'queries', 'MB read over the link by each',
                                                             'times fewer than the first', 'MB moved over the link, per query', 'evictions per query', 'MB evicted per query',
                                                             'waves per query', 'fallbacks'], lines,
               '16 clients, the 13 queries in the same random order under each policy. MB read by each: '
               'a wave counts for each query that reads it; moved: once.')


# ---------------------------------------------------------------------------------------------------------
# A column cache that is too small
# ---------------------------------------------------------------------------------------------------------

def host(run):
    """HOST_CACHE cannot change: the server was started with it."""
    lines = Lines(run, 'host')
    pages = int(value("select sum(relpages) from pg_class where relname in ('lineorder', 'customer', 'supplier', 'part', 'date')"))
    for round_ in range(run.args.rounds):
        for name, options in (('PostgreSQL', '-c gpuconc.enabled=off'), ('auto', '-c gpuconc.cold=auto'), ('wait', '-c gpuconc.cold=wait')):
            if run.out_of_time():
                break
            before = stats()
            found = pgbench(SCRIPTS, 2, transactions=run.args.transactions, seed=run.args.seed + round_, options=f'-c gpuconc.debug_offload=allow {options}')
            got = since(before)
            lines.append([round_ + 1, name, f'{found["tps"]:.2f}', int(got['offloaded']), int(got['fallbacks']),
                          f'{got["pages_loaded"] / pages:.1f}'])
    run.report('host', 'A column cache that is too small', ['round', 'gpuconc.cold', 'queries/s', 'offloaded', 'fallbacks', 'times all pages loaded'],
               lines, f'gpuconc.host_cache_size {value("show gpuconc.host_cache_size")}; 2 clients, {run.args.transactions} queries each, '
               'the same in each line of a round. PostgreSQL: gpuconc.enabled = off.')


# ---------------------------------------------------------------------------------------------------------
# Pairs
# ---------------------------------------------------------------------------------------------------------

def column_bytes():
    """Bytes of each cached column of SSB, by name; names are unique."""
    got = value("select column_name, host_bytes from gpuconc_cache where datname = current_database()")
    return {name: int(n) for name, n in (line.split('|') for line in got.splitlines())}


def columns_of(sql, known):
    return {name for name in known if name in sql}


def pairs_by_limit(chosen, known):
    """Pairs with a quarter of their columns' bytes, in MB, so that nearly equal limits come together."""
    sized = []
    for pair in chosen:
        names = set().union(*(columns_of(SSB[q], known) for q in pair))
        sized.append((max(1, sum(known[n] for n in names) // 4 // MB), pair))
    sized.sort()
    groups = []
    for limit, pair in sized:
        if groups and limit <= groups[-1][0] * 1.05:
            groups[-1][1].append(pair)
        else:
            groups.append((limit, [pair]))
    return groups


def pair_at_once(pair, seconds):
    """How much faster both get on at once than one after the other, and what was found."""
    a, b = SSB[pair[0]], SSB[pair[1]]
    pgbench([f'{a};\n{b};\n'], 1, transactions=2)
    one_by_one = pgbench([f'{a};\n{b};\n'], 1, seconds=seconds, statements=True)['statements']
    before = stats()
    both = pgbench([f'\\if :client_id = 0\n{a};\n\\else\n{b};\n\\endif\n'], 2, seconds=seconds)['by_client']
    got = since(before)
    at_once = [statistics.mean(both.get(c, [0])) for c in (0, 1)]
    # The work of both in one time, by its time one after the other.
    done = sum(len(both.get(c, [])) * one_by_one[c] for c in (0, 1)) / max(sum(both.get(c, [0])) for c in (0, 1))
    return done, one_by_one, at_once, got


def pairs(run):
    run.working_set()
    known = column_bytes()
    every = list(itertools.combinations(SSB, 2))
    chosen = every if run.args.pairs >= len(every) else random.Random(run.args.seed).sample(every, run.args.pairs)
    seconds = max(1, run.args.duration // 3)
    lines, gains = Lines(run, 'pairs'), []
    for limit, group in pairs_by_limit(chosen, known):
        if run.out_of_time():
            break
        set_limit(limit)
        warm(SSB[q] for q in sorted(set(itertools.chain(*group))))
        for pair in group:
            if run.out_of_time():
                break
            gain, one_by_one, at_once, got = pair_at_once(pair, seconds)
            gains.append(gain)
            lines.append([' and '.join(pair), limit] + [f'{t:.2f}' for t in one_by_one + at_once]
                         + [f'{gain:.2f}', percent(got['wave_bytes_shared'], got['wave_bytes']), int(got['fallbacks'])])
    if gains:
        lines.append([f'mean of {len(gains)}; least, median, best', '', '', '', '', '',
                      f'{statistics.mean(gains):.2f}; {min(gains):.2f}, {statistics.median(gains):.2f}, {max(gains):.2f}', '', ''])
    run.report('pairs', f'Pairs of SSB\'s queries at a quarter of their columns: {len(gains)} of {len(every)}',
               ['pair', 'limit MB', 'first: ms in turns', 'second', 'first: ms at once', 'second', 'x', '% of waves shared', 'fallbacks'],
               lines, f'{seconds} s each. x: what two clients at once did in a time, by what it takes one client that asks '
               'both in turns, over that time. A limit is that of the smallest of the pairs within 5 %.')


# ---------------------------------------------------------------------------------------------------------
# The smallest limits
# ---------------------------------------------------------------------------------------------------------

class Needs:
    """Memory that one query needs: it runs with `most` MB, and does not with `least`; None: that is not known."""

    def __init__(self):
        self.least, self.most, self.working_set = 0, None, 0
        self.waves = self.passes = 0
        self.reason = 'there was no time'

    def known(self):
        return self.most is not None and self.most - self.least <= 1

    def middle(self):
        """A limit between the bounds, in proportion: most queries need little of the working set.  First: no limit."""
        if self.most is None:
            return 0
        return max(self.least + 1, min(self.most - 1, round(math.sqrt(max(self.least, 1) * self.most))))

    def tried(self, limit, reason, got):
        """With this limit it was not the device's answer for this reason, or it was."""
        if reason:
            self.least, self.reason = limit, (f'{limit} MB: ' if limit else 'no limit: ') + reason
            return
        if limit == 0:
            self.working_set, self.reason = int(device('memory_used')), ''
        # Memory that it gave back while it ran is about as much again at most.
        self.most = limit or max(2, 2 * round(self.working_set / MB))
        self.waves, self.passes = got['waves'] / 2, got['in_passes'] / 2


def answer(sql, database):
    """PostgreSQL's own: lines in an order of their own, as ties may be."""
    session = Session(database, 'set gpuconc.enabled = off;\n')
    got = sorted(session.ask(sql + ';'))
    session.close()
    return got


def attempt(session, sql, expected):
    """Ask twice, as what the first left in memory is in the second's way: why it was not the device's answer, or ''."""
    reset()
    for _ in range(2):
        got = session.ask(sql + ';')
        if any('ERROR:' in line for line in got):
            return next(line for line in got if 'ERROR:' in line).rpartition('is "require": ')[2][:100]
        if sorted(got) != expected:
            return 'ANOTHER ANSWER'
    found = stats()
    return server.reasons() if found['fallbacks'] else '' if found['offloaded'] else 'not offloaded'


def need_of(run, sql, database):
    """One query's Needs, by bisection.  Each limit is a worker's own, so nothing is left in memory of another one."""
    need, expected = Needs(), answer(sql, database)
    while not need.known() and not run.out_of_time():
        limit = need.middle()
        set_limit(limit)
        session = Session(database, REQUIRE)
        reason = attempt(session, sql, expected)
        need.tried(limit, reason, stats())
        session.close()
        if need.most is None:
            break
    return need


REQUIRE = "set gpuconc.debug_offload = require;\nset statement_timeout = '300s';\n"


def smallest(run):
    lines = Lines(run, 'smallest')
    sets = [('SSB', SSB, None)]
    if run.args.tpch:
        sets.append(('TPC-H', {name: tpch.query(name, run.args.tpch) for name in tpch.QUERIES}, 'tpch'))
    for label, queries, database in sets:
        for name, sql in queries.items():
            n = need_of(run, sql, database)
            least = '-' if n.most is None else n.most if n.known() else f'{n.least + 1} to {n.most}'
            lines.append([label, name, f'{n.working_set / MB:.1f}', least, f'{n.waves:.0f}' if n.waves else '', f'{n.passes:.1f}' if n.passes else '', n.reason])
    run.report('smallest', 'The smallest limits', ['benchmark', 'query', 'working set MB', 'least MB', 'waves', 'in passes', 'with less'], lines,
               'Each query by itself, twice at each limit, in a worker of its own: with the least limit the device answered it, without a '
               'fallback and with PostgreSQL\'s answer, and with one megabyte less it did not. Found by bisection. Working set: device memory '
               'that the query leaves taken without a limit. Waves: of each execution, at the least limit.')


PARTS = {f.__name__: f for f in (one, many, overhead, replacement, reads, admission, moved, pairs, smallest)}
MORE_PARTS = {'host': host}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--out', required=True)
    ap.add_argument('--parts', default=','.join(PARTS))
    ap.add_argument('--shares', default='100,75,50,25')
    ap.add_argument('--duration', type=int, default=3)
    ap.add_argument('--rounds', type=int, default=2)
    ap.add_argument('--pairs', type=int, default=78)
    ap.add_argument('--seed', type=int, default=1)
    ap.add_argument('--transactions', type=int, default=13)
    ap.add_argument('--seconds', type=int, default=1500)
    ap.add_argument('--tpch', type=float, default=0)
    ap.add_argument('--commit', default='')
    ap.add_argument('--command', default='')
    args = ap.parse_args()
    args.shares = [int(s) for s in args.shares.split(',')]
    args.commit = args.commit or git_commit()
    args.command = args.command or ' '.join(['bench/memory/limits.py'] + sys.argv[1:])
    run, failed = Run(args), False
    parts = dict(PARTS, **MORE_PARTS)
    unknown = [part for part in args.parts.split(',') if part not in parts and part != 'none']
    if unknown:
        sys.exit(f'there is no part "{unknown[0]}"')
    try:
        for part in args.parts.split(','):
            if part == 'none':
                continue
            run.begin(part)
            from_ = time.monotonic()
            try:
                parts[part](run)
            except (RuntimeError, SystemExit, ValueError, IndexError, ZeroDivisionError) as e:
                failed = True
                print(f'part {part} failed: {e!r}', file=sys.stderr, flush=True)
            print(f'{part:20} {time.monotonic() - from_:6.0f} s', flush=True)
    finally:
        changed = ('gpuconc.device_memory_limit', 'gpuconc.admission', 'gpuconc.replacement', 'gpuconc.debug_link_reads')
        psql(''.join(f'alter system reset {s};\n' for s in changed if server.has_setting(s)) + 'select pg_reload_conf();\n')
    sys.exit(failed)


if __name__ == '__main__':
    main()

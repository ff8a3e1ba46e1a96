#!/usr/bin/env python3
"""Throughput and latency of many clients of random SSB queries, under every policy.

Connects as bench/run.py does, as a superuser; needs pgbench on PATH.  Beside FILE.md it draws FILE.svg.

    bench/two_stage/throughput.py --out FILE.md [--clients 1,2,4,8,16,32,64] [--point 3] [--rounds 12]
                                  [--seconds 0] [--policies ...] [--skip-check]

--point: seconds per number of clients and policy, fewer if --seconds would not suffice.  --rounds: of
one client alone, two-stage against sequential, in turns (0: not at all).  A signal ends it with what it
has.  Exit status 1 if an answer differs.
"""
import argparse
import glob
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

from curves import draw
from session import (POLICIES, Predictions, ServerError, WarmUp, arguments, by_postgres, compiled, main, percentile,
                     sorted_rows)

from measure import QUERIES, query, script  # session.py says where that is
from run import random_variant

RAMP = 0.25                         # of a point's time: not counted, sessions fill their caches


def constants(text, rng):
    """A pgbench script with its variables drawn: one SQL statement."""
    lines, values = [], {}
    for line in text.splitlines():
        m = re.match(r'\\set (\w+) random\((\d+), (\d+)\)', line)
        if m:
            values[m.group(1)] = rng.randint(int(m.group(2)), int(m.group(3)))
        else:
            lines.append(line)
    return re.sub(r'(?<!:):(\w+)', lambda m: str(values[m.group(1)]), '\n'.join(lines))


def check(control, report, args):
    """Every query with constants drawn, by each policy in a group, against PostgreSQL alone."""
    rng = random.Random(args.seed)
    statements = [constants(random_variant(name), rng) for name in QUERIES]
    for sql in statements:          # columns are loaded, kernels compiled
        control.run([sql])
    expected = by_postgres(statements, args.workers)
    control.hold_until(len(statements))
    lines = []
    for policy in args.policies:
        control.use(policy)
        _, rows = control.group(statements)
        lines.append([policy, len(statements), report.yes([sorted_rows(r) for r in rows] == expected)])
    control.hold_until(0)
    report.section('Answers', 'All 13, held together, against PostgreSQL alone.')
    report.table(['policy', 'queries', 'same rows'], lines)


class Point:
    """One run of pgbench: what its log and gpuconc's statistics say."""

    def __init__(self, args, files, clients, seconds=None, count=None, seed=1):
        with tempfile.TemporaryDirectory() as d:
            cmd = ['pgbench', '-n', '-M', 'prepared', '-c', str(clients), '-j', str(min(clients, os.cpu_count())),
                   '-l', f'--log-prefix={d}/log', f'--random-seed={seed}']
            cmd += ['-T', str(seconds)] if seconds else ['-t', str(count)]
            for f in files:
                cmd += ['-f', f]
            p = subprocess.run(cmd, capture_output=True, text=True, timeout=(seconds or args.point) * 4 + args.timeout,
                               env=dict(os.environ, PGOPTIONS=args.options, LC_ALL='C'))
            tps = re.search(r'^tps = ([0-9.]+)', p.stdout, re.M)
            if p.returncode or not tps:
                raise ServerError(f'pgbench: {p.stdout[-300:]} {p.stderr[-500:]}')
            self.tps = float(tps.group(1))      # without connecting
            done = []               # (end in s, client, latency in ms)
            for name in glob.glob(f'{d}/log*'):
                with open(name) as f:
                    for line in f:
                        w = line.split()
                        done.append((int(w[4]) + int(w[5]) / 1e6, int(w[0]), int(w[2]) / 1000))
        if count:
            return
        first = min(end - ms / 1000 for end, _, ms in done)
        begin, window = first + RAMP * seconds, (1 - RAMP) * seconds
        counted = [(client, ms) for end, client, ms in done if begin <= end < begin + window]
        if not counted:
            raise ServerError('no query was answered in the time that counts')
        self.rate = len(counted) / window
        ms = [m for _, m in counted]
        self.p50, self.p99 = percentile(ms, 0.5), percentile(ms, 0.99)
        by_client = dict.fromkeys(range(clients), 0)
        for client, _ in counted:
            by_client[client] += 1
        self.slowest = min(by_client.values()) / (len(counted) / clients)


def statistics_since_reset(session):
    """Requests per shared scan, share of requests in one, device time per request, batches."""
    kinds = {kind: (int(launches), int(requests), float(ms)) for kind, launches, requests, ms in session.query(
        'select kind, sum(launches), sum(requests), sum(total_time) from gpuconc_stat_kernels group by kind')}
    scans = [sum(k) for k in zip((0, 0, 0.0), *(kinds[k] for k in kinds if k != 'kernel'))]
    requests = sum(k[1] for k in kinds.values())
    batches = [(float(p) if p else 0.0, float(a), float(d), int(b)) for p, a, d, b in session.query(
        'select predicted_time, actual_time, decision_time, co_running from gpuconc_stat_batches')]
    answered = session.query('select offloaded, fallbacks, results_shared from gpuconc_stat, gpuconc_stat_sharing')[0]
    return {'members': scans[1] / scans[0] if scans[0] else 0, 'share': scans[1] / max(requests, 1),
            'device': sum(k[2] for k in kinds.values()) / max(requests, 1), 'batches': batches,
            'fallbacks': int(answered[1]), 'results_shared': int(answered[2]) / max(int(answered[0]), 1)}


def warm_up(control, args, files, clients):
    """Sessions under load until the kernels that the policy wants are there; an eighth of the time at most."""
    control.admin.query('select gpuconc_stat_reset()')
    warm = WarmUp(control.admin, args, (args.deadline - time.monotonic()) / 8)
    while True:
        Point(args, files, clients, seconds=2)
        if POLICIES[control.policy] != POLICIES['twostage'] or warm.enough():
            return


class Part:
    """The table of all policies and numbers of clients."""

    def __init__(self, control, args, files):
        self.control, self.args, self.files = control, args, files
        self.lines, self.rates, self.p99 = [], {}, {}
        self.predictions = Predictions()

    def seconds_per_point(self, points_left, policies_left):
        """Whole seconds, as pgbench takes; 0 if there is no time left."""
        left = self.args.deadline - time.monotonic()
        if math.isinf(left):
            return self.args.point
        if 'twostage' in policies_left:
            left -= min(self.args.warm_up, left / 8)
        share = (left - 3 * len(policies_left)) / points_left - 0.5
        return 0 if left < 1 else max(1, min(self.args.point, int(share)))

    def measure(self, policy, clients, seconds):
        self.control.admin.query('select gpuconc_stat_reset()')
        seen = compiled(self.control.admin)
        p = Point(self.args, self.files, clients, seconds=seconds)
        s = statistics_since_reset(self.control.admin)
        new = {k for k in compiled(self.control.admin) - seen if k.endswith('.bin')}
        self.rates.setdefault(policy, []).append((clients, p.rate))
        self.p99.setdefault(policy, []).append((clients, p.p99))
        triples = [(pr, a, b) for pr, a, _, b in s['batches'] if pr > 0 and a > 0]
        self.predictions.pairs.setdefault(policy, []).extend(triples)
        error = Predictions.error([t[:2] for t in triples])
        decisions = [1000 * d for _, _, d, _ in s['batches']] or [0]
        alone = [r for c, r in self.rates[policy] if c == 1]
        base = [r for c, r in self.rates.get('sequential', []) if c == 1]
        self.lines.append([
            policy, clients, seconds, f'{p.rate:.0f}', f'{p.rate / alone[0]:.2f}' if alone else '-',
            f'{p.rate / base[0]:.2f}' if base else '-', f'{p.p50:.2f}', f'{p.p99:.2f}', f'{p.p99 / p.p50:.1f}',
            f'{p.slowest:.2f}', f'{s["members"]:.1f}', f'{100 * s["share"]:.0f} %', f'{100 * s["results_shared"]:.0f} %',
            f'{s["device"]:.4f}', f'{percentile(decisions, 0.5):.0f} / {percentile(decisions, 0.99):.0f} / '
            f'{max(decisions):.0f}', f'{100 * error:.0f} %' if error is not None else '-', s['fallbacks'], len(new)])
        print(' | '.join(map(str, self.lines[-1])), file=sys.stderr)

    def run(self):
        left = len(self.args.policies) * len(self.args.clients)
        for i, policy in enumerate(self.args.policies):
            if time.monotonic() > self.args.deadline:
                break
            self.control.use(policy)
            warm_up(self.control, self.args, self.files, min(max(self.args.clients), 16))
            for clients in self.args.clients:
                seconds = self.seconds_per_point(left, self.args.policies[i + 1:])
                left -= 1
                if seconds > 0:
                    self.measure(policy, clients, seconds)

    def report(self, report):
        report.table(['policy', 'clients', 'seconds', 'queries/s', 'x one client', 'x one client, sequential', 'p50 ms', 'p99 ms',
                      'p99/p50', 'slowest client', 'requests per shared scan', 'in one', 'results shared',
                      'kernel ms per request', 'decision us: p50 / p99 / max', 'error of predictions', 'fallbacks',
                      'kernels compiled'], self.lines)
        path = os.path.splitext(self.args.out)[0] + '.svg'
        if self.lines:
            draw(path, report.caption.strip('*\n').replace('`', ''),
                 [('Throughput', 'queries a second', self.rates), ('Latency, 99th percentile', 'ms', self.p99)])
            report.add(f'![throughput and latency]({os.path.basename(path)})\n')


def one_client(control, report, args, files):
    """Two-stage against sequential where there is nothing to schedule, in turns."""
    report.section('One client alone: two-stage against sequential',
                   'The same sequence of random queries under each of the two, in turns, which of them first changing '
                   'from round to round; queries a second of each round, and the ratio of the times within a round: '
                   'above 1, two-stage is the slower. With a standard error of the mean of the ratios. Kernels compiled: meanwhile, in '
                   'the background, for what came before.')
    a, b = 'sequential', 'twostage'
    control.use(b)
    warm_up(control, args, files, 1)
    control.use(a)
    count = max(50, int(Point(args, files, 1, seconds=1).tps * min(args.point, 2)))
    rates = {a: [], b: []}
    seen = compiled(control.admin)
    try:
        for i in range(args.rounds + 1):
            if time.monotonic() > args.deadline:
                break
            pair = {}
            for policy in ((a, b), (b, a))[i % 2]:
                control.use(policy)
                pair[policy] = Point(args, files, 1, count=count, seed=args.seed + i).tps
            if i > 0:               # the first is for caches
                for policy in pair:
                    rates[policy].append(pair[policy])
    finally:
        n = len(rates[a])
        if n < 2:
            report.add('No time left for that.\n')
        else:
            ratios = [x / y for x, y in zip(rates[a], rates[b])]
            error = statistics.stdev(ratios) / math.sqrt(n)
            report.table(['rounds', 'queries each', 'sequential q/s', 'two-stage q/s', 'ratio: median', 'mean',
                          'standard error', 'min', 'max', 'kernels compiled'],
                         [[n, count, f'{statistics.median(rates[a]):.0f}', f'{statistics.median(rates[b]):.0f}',
                           f'**{statistics.median(ratios):.4f}**', f'{statistics.mean(ratios):.4f}', f'{error:.4f}',
                           f'{min(ratios):.4f}', f'{max(ratios):.4f}',
                           sum(k.endswith('.bin') for k in compiled(control.admin) - seen)]])


def program(control, report, args):
    if not args.skip_check:
        check(control, report, args)
    with tempfile.TemporaryDirectory() as d:
        files = [script(d, 'r' + name, random_variant(name)) for name in QUERIES]
        if args.rounds:
            whole = args.deadline
            if not math.isinf(whole):       # a quarter of the time at most
                args.deadline = time.monotonic() + (whole - time.monotonic()) / 4
            one_client(control, report, args, files)
            args.deadline = whole
        part = Part(control, args, files)
        report.section('Throughput of N clients of random SSB queries, by policy',
                       f'pgbench -M prepared (plan_cache_mode = {args.plan_cache_mode}); of the seconds of each line, '
                       f'the first {100 * RAMP:.0f} % are not counted; each client draws one of the 13 queries at '
                       'a time, and its constants (those of part clients of bench/run.py). Before each policy, a warm-up, under '
                       'twostage until the fused kernels are there. Slowest client: its number of '
                       'queries by the mean of all clients. In one: share of requests that a shared scan answered; results shared: share '
                       'that took the result of an identical request in flight. Kernel ms per request: main kernels, '
                       'a shared scan counted once. Decisions and predictions: over the last batches of the '
                       'line that the log holds. Fallbacks: requests that PostgreSQL answered after all. Kernels compiled: meanwhile, in the '
                       'background.')
        try:
            part.run()
        finally:
            part.report(report)
            part.predictions.report(report)


def parse_arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--clients', default='1,2,4,8,16,32,64')
    ap.add_argument('--point', type=int, default=3)
    ap.add_argument('--rounds', type=int, default=12)
    args = arguments(ap, 'throughput.py')
    args.clients = [int(c) for c in args.clients.split(',')]
    return args


if __name__ == '__main__':
    main(program, parse_arguments())

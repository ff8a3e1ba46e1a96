"""Common code of throughput.py, mixes.py and pool.py: sessions, policies, groups of requests, reports.

Sessions speak the server's wire protocol themselves (trust or peer authentication, simple queries).
So one process keeps a hundred of them busy without a client program each.

How a group is measured: gpuconc.debug_hold_requests = N holds requests back until N are waiting; N
sessions send one each; the worker starts them together, as its policy has it.  gpuconc_timeline() then
says which batches these were.  Whatever goes wrong in between, the setting goes back to 0 first: held
requests wait for ever.
"""
import json
import os
import re
import selectors
import shlex
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

from measure import Report, git_commit  # noqa: E402

# name: gpuconc.schedule, gpuconc.enable_shared_scan
POLICIES = {'sequential': ('sequential', True), 'twostage': ('twostage', True), 'twostage-unshared': ('twostage', False),
            'kernel': ('kernel', True), 'streams': ('streams', True), 'random': ('random', True)}
ABOUT_POLICIES = (
    'sequential: one kernel at a time, at the size that is best for it alone; streams: all at once, each with a '
    'grid for the whole device; random: together, sizes drawn by lot; kernel: together in order of arrival, sized by '
    'the kernel model; twostage: batches by the batch model, sized by the kernel model, with shared scans; '
    'twostage-unshared: the same without shared scans.')
SETTINGS = ('gpuconc.schedule', 'gpuconc.enable_shared_scan', 'gpuconc.debug_hold_requests', 'gpuconc.debug_schedule_seed')
READY_FOR_QUERY = b'Z\0\0\0\5'     # what every reply ends with, but for the transaction's state
OFFLOADED = '-c gpuconc.enabled=on -c gpuconc.debug_offload=require -c jit=off'


class ServerError(Exception):
    pass


class Stuck(Exception):
    """A group that did not finish in time."""


class Session:
    """A connection that sends one simple query at a time."""

    def __init__(self, options=''):
        host, port = os.environ.get('PGHOST', '/tmp'), os.environ.get('PGPORT', '5432')
        user = os.environ.get('PGUSER', os.environ.get('USER', 'postgres'))
        if host.startswith('/'):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(f'{host}/.s.PGSQL.{port}')
        else:
            self.socket = socket.create_connection((host, int(port)))
        body = struct.pack('!i', 196608)
        for name, text in (('user', user), ('database', os.environ.get('PGDATABASE', user)), ('options', options)):
            body += name.encode() + b'\0' + text.encode() + b'\0'
        body += b'\0'
        self.socket.sendall(struct.pack('!i', len(body) + 4) + body)
        self.start()
        while not self.done:        # until then, a question may be all that comes
            self.feed()
            self.scan()
        self.result()

    def start(self):
        """Forget the last reply."""
        self.buffer, self.at, self.error, self.done = bytearray(), 0, None, False
        self.data_rows, self.parsed = [], None

    def send(self, sql):
        self.start()
        text = sql.encode() + b'\0'
        self.socket.sendall(b'Q' + struct.pack('!i', len(text) + 4) + text)

    def message(self, kind, begin, end):
        if kind == b'D':
            self.data_rows.append(begin)
        elif kind == b'E':
            fields = {f[:1]: f[1:].decode() for f in bytes(self.buffer[begin:end]).split(b'\0') if f}
            self.error = f'{fields.get(b"C")}: {fields.get(b"M")}'
        elif kind == b'R' and struct.unpack_from('!i', self.buffer, begin)[0] != 0:
            raise ServerError('the server wants a password')
        elif kind == b'Z':
            self.done = True

    def scan(self):
        """The messages that are complete.  Rows are only noted: their columns are for when nobody waits."""
        while len(self.buffer) - self.at >= 5:
            end = self.at + 1 + struct.unpack_from('!i', self.buffer, self.at + 1)[0]
            if len(self.buffer) < end:
                break
            self.message(bytes(self.buffer[self.at:self.at + 1]), self.at + 5, end)
            self.at = end

    def feed(self):
        """Take what has come; blocks if that is nothing.  Is it complete, by its end?  Only scan() is sure."""
        data = self.socket.recv(1 << 18)
        if not data:
            self.scan()
            raise ServerError(self.error or 'connection closed')
        self.buffer += data
        return self.buffer[-6:-1] == READY_FOR_QUERY

    def receive(self):
        while not self.done:
            if self.feed():
                self.scan()
        return self.result()

    def row(self, at):
        row, n = [], struct.unpack_from('!h', self.buffer, at)[0]
        at += 2
        for _ in range(n):
            length, = struct.unpack_from('!i', self.buffer, at)
            at += 4
            row.append(None if length < 0 else self.buffer[at:at + length].decode())
            at += max(length, 0)
        return tuple(row)

    @property
    def rows(self):
        if self.parsed is None:
            self.parsed = [self.row(at) for at in self.data_rows]
        return self.parsed

    def result(self):
        if self.error:
            raise ServerError(self.error)
        return self.rows

    def query(self, sql):
        self.send(sql)
        return self.receive()

    def value(self, sql):
        return self.query(sql)[0][0]


class Replies:
    """Rows of each session's reply, until it sends another statement; read when asked for, as those of most
    groups are not.
    """

    def __init__(self, sessions):
        self.sessions = sessions

    def __getitem__(self, i):
        return self.sessions[i].rows


SHORT_REPLY = 4096      # bytes that are looked through at once: of errors it is good to hear


def wait_some(sessions, left, stop_at_error):
    """Those whose replies look complete, and when; others after left() seconds, or an error, are not among them."""
    ended = {}
    with selectors.DefaultSelector() as selector:
        for s in sessions:
            selector.register(s.socket, selectors.EVENT_READ, s)
        while selector.get_map() and left() > 0:
            for key, _ in selector.select(left()):
                s = key.data
                if not s.feed():
                    continue
                ended[s] = time.perf_counter()
                selector.unregister(s.socket)
                if len(s.buffer) <= SHORT_REPLY:
                    s.scan()
                    if s.error and stop_at_error:
                        return ended
    return ended


def wait_all(sessions, timeout, stop_at_error=True):
    """When each had its reply, by session; sessions without one in time are left out.

    Long replies are looked through when all are there, since others would wait for that.
    """
    deadline = time.perf_counter() + timeout
    done, waiting = {}, sessions
    while waiting:
        ended = wait_some(waiting, lambda: max(0.0, deadline - time.perf_counter()), stop_at_error)
        for s in ended:
            s.scan()
        done.update((s, at) for s, at in ended.items() if s.done)
        if stop_at_error and any(s.error for s in done):
            break
        waiting = [s for s in ended if not s.done]      # a row's data looked like the end
    return done


class Batch:
    """One batch of gpuconc_timeline(); times in ms, by the device's clock where there is a choice."""

    def __init__(self, event):
        a = event['args']
        self.id, self.policy, self.kernels, self.scans = a['batch'], a['schedule'], a['kernels'], a['shared_scans']
        self.failed, self.beside = a['failed'], a['co_running']
        self.predicted, self.actual, self.decision = (a[k] / 1000 for k in (
            'predicted_us', 'actual_us', 'decision_us'))
        self.to = (event['ts'] + event['dur']) / 1000
        self.begin = self.to - self.actual


class Group:
    """How a group of requests went; in ms."""

    def __init__(self, wall, batches):
        self.wall, self.batches = wall, batches
        self.decision = sum(b.decision for b in batches)
        self.kernels = sum(b.kernels for b in batches)
        self.scans = sum(b.scans for b in batches)
        # Batches may overlap: time in which any of them ran.  Where they come one after another
        # that is the sum of their times, without the pauses between.
        self.device = 0.0
        if all(b.policy == 'sequential' for b in batches):
            self.device = sum(b.actual for b in batches)
        else:
            until = float('-inf')
            for b in sorted(batches, key=lambda b: b.begin):
                self.device += max(0.0, b.to - max(b.begin, until))
                until = max(until, b.to)
        # From the first kernel's start to the last one's end, pauses included.
        self.span = max((b.to for b in batches), default=0) - min((b.begin for b in batches), default=0)


class Control:
    """The server's policy and its held requests.  Use as a context: it resets what it has set."""

    def __init__(self, options=OFFLOADED, timeout=60):
        self.admin = Session('-c gpuconc.enabled=off')
        self.options, self.timeout = options, timeout
        self.sessions, self.prepared = [], []
        self.hold, self.last = 0, 0
        self.policy = None

    def __enter__(self):
        self.reset()
        return self

    def __exit__(self, *exception):
        self.reset()

    def reset(self):
        for name in SETTINGS:
            self.admin.query(f'alter system reset {name}')
        self.admin.query('select pg_reload_conf()')
        self.hold, self.policy = 0, None

    def change(self, **settings):
        for name, value in settings.items():
            self.admin.query(f"alter system set gpuconc.{name} = '{value}'")
        self.admin.query('select pg_reload_conf()')

    def need(self, n):
        """At least n sessions, each with all that was prepared."""
        while len(self.sessions) < n:
            s = Session(self.options)
            for sql in self.prepared:
                s.query(sql)
            self.sessions.append(s)

    def prepare(self, statements):
        self.prepared += statements
        for s in self.sessions:
            for sql in statements:
                s.query(sql)

    def probes(self, n):
        return [f'explain (analyze, verbose, format json) select count(*) from supplier where s_suppkey > {i}'
                for i in range(n)]

    def used_policy(self):
        """Settings that the worker now schedules by."""
        n = max(self.hold, 1)
        rows = self.run(self.probes(n))[1]
        return re.search(r'"Schedule": "(\w+)"', rows[0][0][0]).group(1)

    def wait_for(self, what, seconds=20):
        """The worker reads its settings some time after a reload, and all of them at once."""
        deadline = time.monotonic() + seconds
        while not what():
            if time.monotonic() > deadline:
                raise Stuck('the worker does not take up its settings')
            time.sleep(0.002)

    def use(self, name):
        schedule, shared = POLICIES[name]
        if self.policy == name:
            return
        if self.policy is None or POLICIES[self.policy][0] == schedule:
            # Whether shared scans are enabled is not to be seen, so let the policy change as well.
            other = 'streams' if schedule == 'sequential' else 'sequential'
            self.change(schedule=other)
            self.wait_for(lambda: self.used_policy() == other)
        self.change(schedule=schedule, enable_shared_scan='on' if shared else 'off')
        self.wait_for(lambda: self.used_policy() == schedule)
        self.policy = name

    def release(self):
        """Hold nothing back; no request may be waiting for others after that."""
        self.hold = 0
        self.change(debug_hold_requests=0)

    def hold_until(self, n):
        """From now on, requests start n at a time."""
        n = 0 if n < 2 else n
        if n == self.hold:
            return
        self.need(max(n, 1))
        self.release()
        first = self.sessions[0]
        while True:                 # nothing is held any more once a single request is answered
            first.send(self.probes(1)[0])
            if wait_all([first], self.timeout):
                first.result()
                break
            raise Stuck('a request that is not held back is not answered')
        if n == 0:
            return
        self.change(debug_hold_requests=n)
        deadline = time.monotonic() + self.timeout
        while time.monotonic() < deadline:
            # A request is held if it has no answer after a time that no such request takes.
            first.send(self.probes(1)[0])
            if not wait_all([first], 0.3):
                break
        else:
            raise Stuck('the worker does not hold requests back')
        rest = self.sessions[1:n]
        for s, sql in zip(rest, self.probes(n)[1:]):
            s.send(sql)
        if len(wait_all([first] + rest, self.timeout)) < n:
            self.drain([first] + rest)
            raise Stuck('held requests are not released')
        self.hold = n

    def drain(self, sessions):
        """After an error or a hang: let everybody go."""
        self.release()
        wait_all([s for s in sessions if not s.done], self.timeout, stop_at_error=False)

    def run(self, statements):
        """Sends statement i by session i; ms from the first one sent to the last reply, and the Replies."""
        self.need(len(statements))
        used = self.sessions[:len(statements)]
        began = time.perf_counter()
        for s, sql in zip(used, statements):
            s.send(sql)
        done = wait_all(used, self.timeout)
        if len(done) < len(used) or any(s.error for s in used):
            errors = {s.error for s in used if s.error}
            self.drain(used)
            raise Stuck(f'{len(used) - len(done)} of {len(used)} requests without an answer; {errors or "no error"}')
        return 1000 * (max(done.values()) - began), Replies(used)

    def newest_batches(self, n):
        """The newest n batches, those that came after mark(), oldest first."""
        events = json.loads(self.admin.value(f'select gpuconc_timeline({n})'))['traceEvents']
        batches = sorted((Batch(e) for e in events if e.get('cat') == 'batch'), key=lambda b: b.id)
        return [b for b in batches if b.id > self.last]

    def mark(self):
        """Batches up to now do not belong to the next group."""
        self.last = max([self.last] + [b.id for b in self.newest_batches(1)])

    def group(self, statements):
        """Runs them together; equal ones would share one execution.  A Group, and the Replies."""
        n = len(statements)
        if self.hold != (n if n > 1 else 0):
            raise ValueError('hold_until() first')
        self.mark()
        wall, rows = self.run(statements)
        deadline = time.monotonic() + 2
        while True:                 # a batch is stored some time after its last request is answered
            batches = self.newest_batches(n + 8)
            if sum(b.kernels for b in batches) >= n or time.monotonic() > deadline:
                break
        while batches and sum(b.kernels for b in batches) > n:
            batches.pop(0)          # came late from what was before
        if sum(b.kernels for b in batches) != n:
            raise Stuck(f'{n} requests, but {sum(b.kernels for b in batches)} in the log of batches')
        self.last = batches[-1].id
        return Group(wall, batches), rows


def compiled(session):
    """Kernels that have been compiled: what the cache on disk holds, and those of shared scans that have run."""
    kernels = {r[0] for r in session.query("select kernel from gpuconc_stat_kernels where kind <> 'kernel'")}
    directory = session.value('show gpuconc.kernel_cache')
    if directory:
        kernels |= {r[0] for r in session.query(f"select f from pg_ls_dir('{directory}', true, false) as f "
                                                "where f like '%.bin'")}
    return kernels


class WarmUp:
    """Kernels are compiled in the background, and what is waiting for that is not to be seen.

    So what counts is a time without a new one: args.quiet; but no longer than limit seconds.
    """

    def __init__(self, session, args, limit=float('inf')):
        self.session, self.quiet = session, args.quiet
        self.began = self.latest = time.monotonic()
        self.deadline = self.began + min(args.warm_up, limit)
        self.seen = compiled(session)

    def enough(self):
        now = compiled(self.session)
        if now - self.seen:
            self.latest = time.monotonic()
        self.seen |= now
        return time.monotonic() > min(self.latest + self.quiet, self.deadline)


def sorted_rows(rows):
    return sorted('|'.join('' if c is None else c.rstrip() for c in row) for row in rows)


def by_postgres(statements, workers, prepare=()):
    """Sorted rows of each by PostgreSQL alone."""
    s = Session(f'-c gpuconc.enabled=off -c max_parallel_workers_per_gather={workers} -c parallel_setup_cost=0 '
                '-c parallel_tuple_cost=0.001 -c min_parallel_table_scan_size=0')
    for sql in prepare:
        s.query(sql)
    return [sorted_rows(s.query(sql)) for sql in statements]


def percentile(values, share):
    """Nearest rank; values need not be sorted."""
    v = sorted(values)
    return v[min(len(v) - 1, int(share * len(v)))]


class Predictions:
    """Predicted against actual times of batches, by policy."""

    def __init__(self):
        self.pairs = {}             # policy: [(predicted, actual, requests beside)]

    def add(self, policy, batches):
        self.pairs.setdefault(policy, []).extend(
            (b.predicted, b.actual, b.beside) for b in batches if b.predicted > 0 and b.actual > 0)

    @staticmethod
    def error(pairs):
        return statistics.median(abs(p - a) / a for p, a in pairs) if pairs else None

    def report(self, report):
        report.section('Predicted against actual times of batches',
                       'Over the batches of all tables above that had a prediction: |predicted - actual| / actual, and '
                       'predicted / actual. Beside others: batches that started while requests of earlier ones '
                       'were on the device, whose time a prediction for an idle device misses.')
        lines = []
        for policy, triples in self.pairs.items():
            for label, chosen in (('all', triples), ('beside others', [t for t in triples if t[2] > 0])):
                if not chosen:
                    continue
                errors = [abs(p - a) / a for p, a, _ in chosen]
                ratios = [p / a for p, a, _ in chosen]
                lines.append([policy, label, len(chosen), f'{statistics.median(a for _, a, _ in chosen):.3f}']
                             + [f'{100 * percentile(errors, q):.0f} %' for q in (0.5, 0.9, 0.99)]
                             + [f'{percentile(ratios, q):.2f}' for q in (0.1, 0.5, 0.9)])
        report.table(['policy', 'batches', 'number', 'median actual ms', 'error, median', '90 %', '99 %',
                      'ratio, 10 %', 'median', '90 %'], lines)


def arguments(parser, program, policies=','.join(POLICIES)):
    """Options that all programs have."""
    parser.add_argument('--out', required=True)
    parser.add_argument('--policies', default=policies)
    parser.add_argument('--seconds', type=float, default=0,
                        help='budget of the whole program; 0: as long as it takes')
    parser.add_argument('--quiet', type=float, default=8,
                        help='a warm-up ends after so many seconds without a new kernel')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--timeout', type=float, default=120, help='of one group of requests, in seconds')
    parser.add_argument('--workers', type=int, default=16, help='parallel workers of PostgreSQL, to check answers')
    parser.add_argument('--plan-cache-mode', default='force_generic_plan',
                        choices=['auto', 'force_generic_plan', 'force_custom_plan'])
    parser.add_argument('--warm-up', type=float, default=30, help='at most so many seconds at a time')
    parser.add_argument('--skip-check', action='store_true', help='compare no answers with PostgreSQL')
    parser.add_argument('--commit', default='', help='default: what git says')
    parser.add_argument('--command', default='', help='the command to print, if not this program\'s own')
    args = parser.parse_args()
    args.policies = args.policies.split(',')
    for name in args.policies:
        if name not in POLICIES:
            parser.error(f'there is no policy "{name}"')
    args.commit = args.commit or git_commit()
    args.command = args.command or shlex.join([f'bench/two_stage/{program}'] + sys.argv[1:])
    args.options = f'{OFFLOADED} -c plan_cache_mode={args.plan_cache_mode}'
    args.deadline = time.monotonic() + args.seconds if args.seconds else float('inf')
    return args


def main(program, args):
    """Runs program(control, report, args); a signal ends it with what it has."""
    def stop(signum, frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, stop)
    report = Report(args.out, args.commit, args.command)
    report.add(ABOUT_POLICIES + '\n')
    status = 0
    with Control(args.options, args.timeout) as control:
        try:
            program(control, report, args)
        except KeyboardInterrupt:
            report.add('**Interrupted: what follows is missing.**\n')
            status = 130
        except (Stuck, ServerError, OSError, subprocess.SubprocessError) as e:
            report.add(f'**Broken off: {e}**\n')
            status = 1
    sys.exit(status or (1 if report.failures else 0))

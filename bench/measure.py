"""Common code of the parts of run.py: psql, pgbench, timing, servers that are started anew, and reports in Markdown."""
import math
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
QUERIES = [f'q{f}.{n}' for f, n in ((1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2),
                                    (3, 3), (3, 4), (4, 1), (4, 2), (4, 3))]
TABLES = ('lineorder', 'customer', 'supplier', 'part', 'date')
ON = 'set gpuconc.enabled = on;\nset gpuconc.debug_offload = require;\n'
PGOPTIONS_ON = '-c gpuconc.enabled=on -c gpuconc.debug_offload=require'
PGOPTIONS_OFF = '-c gpuconc.enabled=off'

median = statistics.median


def geomean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def query(name):
    """The text of an SSB query, without its comment and its semicolon."""
    with open(os.path.join(HERE, 'ssb', 'queries', name + '.sql')) as f:
        return re.sub(r'--.*', '', f.read()).strip().rstrip(';')


def psql(sql):
    p = subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1'], input=sql, capture_output=True, text=True,
                       env=dict(os.environ, LC_ALL='C'))
    if p.returncode:
        sys.exit(f'psql failed: {p.stderr}\n{sql[:600]}')
    return p.stdout


def value(sql):
    return psql(sql + ';').strip()


def rows(sql, setup):
    """A query's rows as psql prints them, but for padding; sorted, as ORDER BY leaves ties open."""
    return sorted('|'.join(c.rstrip() for c in line.split('|')) for line in psql(setup + sql + ';').splitlines())


def numbers(label, text):
    """All values of one property in what EXPLAIN says in YAML."""
    return [float(x) for x in re.findall(r'^\s*' + label + r': ([0-9.]+)', text, re.M)]


def explain(sql, times=1, setup=ON):
    return psql(setup + f'explain (analyze, verbose, format yaml) {sql};\n' * times)


def kernel_ms(sql, times, warm):
    """Median kernel time over "times" executions after "warm" others."""
    return median(numbers('Kernel Time', explain(sql, times + warm))[warm:])


def timings(sql, times, setup, warm=1):
    """Times of executions of a prepared statement by psql's clock, in ms, after "warm" others."""
    out = psql(setup + f'\\o /dev/null\nprepare q as {sql};\n\\timing on\n' + 'execute q;\n' * (warm + times))
    return [float(t) for t in re.findall(r'^Time: ([0-9.]+) ms', out, re.M)][warm:]


class Restarts:
    """
    The server that psql's environment names, started anew with settings of one start.

    Its system user runs this, with pg_ctl on PATH.  Leaving the context starts the server as it was found; the log of
    all these starts goes to one file.
    """

    def __init__(self, log, settings=()):
        """settings: of all starts, as NAME=VALUE."""
        self.settings, self.data, self.log = settings, value('show data_directory'), log
        with open(os.path.join(self.data, 'postmaster.opts')) as f:
            self.options = shlex.split(f.read())[3:]        # behind -D and the folder, which pg_ctl gives again

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.settings = ()
        self.start()

    def pg_ctl(self, *args):
        return subprocess.run(['pg_ctl', '-D', self.data, '-w', '-t', '300', '-s', '-l', self.log, *args]).returncode == 0

    def start(self, *settings):
        """Stop the server, and start it with these settings; returns when the start began."""
        self.pg_ctl('-m', 'fast', 'stop')
        begin = time.monotonic()
        if not self.pg_ctl('-o', shlex.join(self.options + [word for s in (*self.settings, *settings) for word in ('-c', s)]), 'start'):
            sys.exit(f'the server does not start: see {self.log}')
        return begin


def wait_for_devices():
    while value("select bool_or(state = 'starting') from gpuconc_devices") == 't':
        time.sleep(0.05)


def script(directory, name, sql):
    """A pgbench script; returns its path."""
    path = os.path.join(directory, name)
    with open(path, 'w') as f:
        f.write(sql + ';\n')
    return path


def pgbench(files, clients, seconds, options, protocol='prepared'):
    """Transactions a second, and their average latency in ms."""
    cmd = ['pgbench', '-n', '-M', protocol, '-c', str(clients), '-j', str(min(clients, os.cpu_count())),
           '-T', str(seconds)]
    for f in files:
        cmd += ['-f', f]
    p = subprocess.run(cmd, capture_output=True, text=True, env=dict(os.environ, PGOPTIONS=options, LC_ALL='C'))
    tps = re.search(r'^tps = ([0-9.]+)', p.stdout, re.M)
    lat = re.search(r'^latency average = ([0-9.]+)', p.stdout, re.M)
    if p.returncode or not tps or not lat:
        sys.exit(f'pgbench failed: {p.stdout[-300:]} {p.stderr[-500:]}')
    return float(tps.group(1)), float(lat.group(1))


def cpu_model():
    try:
        with open('/proc/cpuinfo') as f:
            return re.search(r'model name\s*: (.*)', f.read()).group(1)
    except (OSError, AttributeError):
        return platform.machine()


def git_commit():
    """The checkout's commit, marked if what it has is not what is committed."""
    def git(*args):
        try:  # the checkout may well be another user's
            p = subprocess.run(('git', '-c', 'safe.directory=*', '-C', HERE) + args, capture_output=True, text=True)
        except OSError:
            return None
        return p.stdout.strip() if p.returncode == 0 else None
    commit = git('rev-parse', '--short=12', 'HEAD')
    if not commit:
        return 'unknown'
    return commit + (' with changes' if git('status', '--porcelain', '--untracked-files=no') else '')


def parse_reported(ap):
    """Arguments, with those of a report: where it goes, and of which commit and command it is."""
    ap.add_argument('--out', default=os.devnull)
    ap.add_argument('--commit', default='', help='default: what git says')
    ap.add_argument('--command', default='', help='the command to print, if not this program\'s own')
    args = ap.parse_args()
    args.commit = args.commit or git_commit()
    program = os.path.relpath(os.path.abspath(sys.argv[0]), os.path.dirname(HERE))
    args.command = args.command or shlex.join([program] + sys.argv[1:])
    return args


class Report:
    """Markdown, written after every addition, so that a run that breaks off leaves what it had.

    Under every table stands what it takes to repeat it, put there by the program alone.
    """

    def __init__(self, path, commit, command, title=None, table='lineorder'):
        self.path, self.text, self.failures = path, '', 0
        self.kept, self.quiet = None, False
        device, name = value("select string_agg(distinct device, ', '), string_agg(name, ', ' order by number) "
                             'from gpuconc_devices').split('|')
        machine = f'{os.cpu_count()} cores {cpu_model()}' + (f', {name}' if device == 'cuda' else '')
        self.caption = (f'*Device {device}; {machine}; commit {commit}; {time.strftime("%Y-%m-%d")}; '
                        f'`{command}`*\n')
        count = int(value(f'select count(*) from {table}'))
        self.add(f'# {title or "Star Schema Benchmark"}, {count:,} rows of {table}\n')
        pages, visible = value("select relpages, round(100 * relallvisible / greatest(relpages, 1.0), 1) "
                               f"from pg_class where oid = '{table}'::regclass").split('|')
        if value('show debug_assertions') == 'on':
            self.add('**This server checks assertions: its figures mean nothing.**\n')
        self.add(f'- device: {device} ({name}; {value("select string_agg(distinct target, $$, $$) from gpuconc_devices")})\n'
                 f'- machine: {machine}; {platform.system()} {platform.release()}\n'
                 f'- server: {value("show server_version")}; '
                 + ', '.join(f'{s} {value("show " + s)}' for s in (
                     'shared_buffers', 'max_worker_processes', 'max_parallel_workers', 'work_mem',
                     'gpuconc.host_cache_size', 'gpuconc.host_threads'))
                 + f'\n- {table}: {int(pages):,} pages, {visible} % of them all-visible\n'
                 f'- commit: {commit}\n- command: `{command}`\n- date: {time.strftime("%Y-%m-%d")}\n')

    def begin_anew(self, quiet=False):
        """Text added from now on replaces all text added since the first call; quiet: it is not printed."""
        self.kept = self.text if self.kept is None else self.kept
        self.text, self.quiet = self.kept, quiet

    def add(self, text):
        self.text += text + '\n'
        if not self.quiet:
            print(text, flush=True)
        with open(self.path, 'w') as f:
            f.write(self.text)

    def section(self, title, text):
        self.add(f'## {title}\n')
        self.add(text + '\n')

    def table(self, head, lines):
        out = ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head)]
        out += ['| ' + ' | '.join(str(c) for c in line) + ' |' for line in lines]
        self.add('\n'.join(out) + '\n')
        self.add(self.caption)

    def yes(self, good):
        """For a column that must say yes everywhere; the program's exit status tells."""
        if good:
            return 'yes'
        self.failures += 1
        return '**NO**'

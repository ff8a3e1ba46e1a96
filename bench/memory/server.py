"""Requests of this folder's programs to a server: limits of device memory, counters, runs of queries."""
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, BENCH)
import measure  # noqa: E402
from measure import psql, value  # noqa: E402

SETTINGS = {'gpuconc.enabled': 'on', 'gpuconc.debug_offload': 'prefer', 'gpuconc.cold': 'wait', 'jit': 'off'}
ON = ''.join(f"set {name} = '{to}';\n" for name, to in SETTINGS.items())
PGOPTIONS = ' '.join(f'-c {name}={to}' for name, to in SETTINGS.items()) + ' -c statement_timeout=60s'
COUNTERS = ('offloaded', 'fallbacks', 'copied_bytes', 'link_bytes', 'pages_loaded', 'wave_bytes', 'wave_bytes_shared', 'waves', 'evictions', 'evicted_bytes', 'in_passes',
            'evict_decisions', 'evict_decision_time', 'evict_decision_max', 'admissions', 'admission_time', 'admission_max')
SSB = {name: ' '.join(measure.query(name).split()) for name in measure.QUERIES}


def has_setting(name):
    return value(f"select count(*) from pg_settings where name = '{name}'") == '1'


def stats():
    """
    Counters.  each_bytes: what was copied, and what kernels read in the host's memory, a wave for each that reads it;
    moved_bytes: the same, each byte once.
    """
    names = COUNTERS + (('link_read_bytes',) if has_setting('gpuconc.debug_link_reads') else ())
    got = value(f'select {", ".join(names)} from gpuconc_stat, gpuconc_stat_memory, gpuconc_stat_sharing').split('|')
    found = dict({'link_read_bytes': 0}, **dict(zip(names, map(float, got))))
    return dict(found, each_bytes=found['copied_bytes'] + found['link_read_bytes'],
                moved_bytes=found['link_bytes'] + found['link_read_bytes'])


def since(before):
    now = stats()
    return {name: now[name] - before[name] for name in now}


def reset():
    value('select gpuconc_stat_reset()')


def reasons():
    """Counts of fallbacks since the last reset."""
    return value("select string_agg(key || ' ' || value, ', ') from gpuconc_stat, jsonb_each_text(fallback_reasons)")


def device(what):
    return value(f'select {what} from gpuconc_devices')


def link(best=[0.0]):
    """Bytes per second: the best that any worker so far has measured, as others may have used the link meanwhile."""
    best[0] = max(best[0], float(device('coalesce(link_bandwidth, 0)')))
    return best[0]


def configure(**settings):
    """By ALTER SYSTEM, of settings of gpuconc; the worker reads them before the next request, more or less."""
    for name, to in settings.items():
        psql(f"alter system set gpuconc.{name} = '{to}';\n")
    psql('select pg_reload_conf();\nselect pg_sleep(0.2);\n')


def set_limit(megabytes):
    """Have the worker start anew with this limit; 0: none.  Nothing is in device memory then."""
    worker = device('worker_pid')
    configure(device_memory_limit=f'{megabytes}MB')
    psql(f'select pg_terminate_backend({worker}, 10000);\n')
    ends = time.monotonic() + 120
    while value(f"select state = 'ready' and worker_pid <> {worker} from gpuconc_devices") != 't':
        if time.monotonic() > ends:
            sys.exit('the worker does not start: ' + device('state, detail'))
        time.sleep(0.05)
    link()


class Session:
    """A psql that times statements and reads counters between them."""

    END = '=--end--='

    def __init__(self, database=None, settings=''):
        env = dict(os.environ, LC_ALL='C', **({'PGDATABASE': database} if database else {}))
        self.process = subprocess.Popen(['psql', '-XAtq', '-v', 'VERBOSITY=terse'], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
        self.ask(ON + settings)

    def ask(self, script):
        self.process.stdin.write(f'{script}\n\\echo {self.END}\n')
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.rstrip() == self.END:
                return lines
            lines.append(line.rstrip('\n'))
        sys.exit('psql ended: ' + '; '.join(lines))

    def times(self, statement, n):
        """Milliseconds of each of n executions, and errors.  What other statements print goes nowhere."""
        lines = self.ask(f'\\o /dev/null\n\\timing on\n' + f'{statement};\n' * n + '\\timing off\n\\o\n')
        times = [float(m[1]) for m in (re.match(r'Time: ([0-9.]+) ms', line) for line in lines) if m]
        return times, [line for line in lines if 'ERROR' in line]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def quantile(times, part):
    return times[min(len(times) - 1, int(len(times) * part))] if times else 0


def pgbench(scripts, clients, seconds=None, transactions=None, statements=False, database=None, seed=None, options=''):
    """Runs it, with a seed the same choices each time; what it found: tps, sorted times of transactions in ms, by client, and of statements on average."""
    with tempfile.TemporaryDirectory() as folder:
        command = ['pgbench', '-n', '-M', 'prepared', '-c', str(clients), '-j', str(min(clients, os.cpu_count(), 8)),
                   '-l', '--log-prefix', f'{folder}/log'] + (['-r'] if statements else [])
        command += ['-T', str(seconds)] if seconds else ['-t', str(transactions)]
        command += ['--random-seed', str(seed)] if seed is not None else []
        for i, script in enumerate(scripts):
            with open(f'{folder}/{i}.sql', 'w') as f:
                f.write(script)
            command += ['-f', f'{folder}/{i}.sql']
        env = dict(os.environ, PGOPTIONS=f'{PGOPTIONS} {options}', LC_ALL='C', **({'PGDATABASE': database} if database else {}))
        p = subprocess.run(command, capture_output=True, text=True, env=env)
        tps = re.search(r'^tps = ([0-9.]+)', p.stdout, re.M)
        if not tps:
            raise RuntimeError(f'pgbench failed: {p.stdout[-300:]} {p.stderr[-500:]}')
        if p.returncode:
            print('pgbench: ' + next((line for line in p.stderr.splitlines() if 'ERROR' in line), p.stderr[-200:]), flush=True)
        by_client = {}
        for path in glob.glob(f'{folder}/log*'):
            with open(path) as f:
                for line in f:
                    fields = line.split()
                    by_client.setdefault(int(fields[0]), []).append(int(fields[2]) / 1000)
        return {'tps': float(tps[1]), 'times': sorted(t for of in by_client.values() for t in of), 'by_client': by_client,
                'statements': [float(m) for m in re.findall(r'^\s+([0-9.]+)\s+\d+\s+(?=select|with)', p.stdout, re.M | re.I)]}


def working_set(queries, database=None, passes=2):
    """Bytes of device memory that are taken after each query was executed, without a limit."""
    set_limit(0)
    session = Session(database)
    for _ in range(passes):
        for sql in queries:
            _, errors = session.times(sql, 1)
            if errors:
                sys.exit(f'{errors[0]}: {sql[:200]}')
    session.close()
    return int(device('memory_used'))

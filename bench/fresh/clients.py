"""Common code of this folder's programs: psql, pgbench, and tables of results."""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path


def psql(sql):
    return subprocess.run(['psql', '-XAtqc', sql], check=True, capture_output=True, text=True).stdout.strip()


def options(settings):
    return ' '.join('-c ' + s for s in settings)


def pgbench(scripts, clients, seconds, settings=(), rate=None, log=None, protocol='prepared'):
    """Start pgbench; scripts are texts, of which each transaction takes one at random."""
    folder = tempfile.mkdtemp()
    command = ['pgbench', '-n', '-M', protocol, '-c', str(clients), '-j', str(min(clients, 8)), '-T', str(seconds)]
    for i, script in enumerate(scripts):
        path = Path(folder) / f'{i}.sql'
        path.write_text(script)
        command += ['-f', str(path)]
    if rate:
        command += ['-R', str(rate)]
    if log:
        command += ['-l', '--log-prefix', log]
    env = dict(os.environ, PGOPTIONS=options(('gpuconc.enabled=on', *settings)))
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def outcome(process):
    out, err = process.communicate()
    if process.returncode:
        sys.exit(err)
    return {'ms': float(re.search(r'latency average = ([\d.]+)', out)[1]),
            'tps': float(re.search(r'tps = ([\d.]+)', out)[1]),
            'n': int(re.search(r'actually processed: (\d+)', out)[1])}


def quantiles(log, start):
    """Median and 99th percentile, in ms, of pgbench's log files."""
    times = sorted(int(line.split()[2]) / 1000 for path in Path(start).glob(Path(log).name + '*')
                   for line in path.read_text().splitlines())
    return times[len(times) // 2], times[len(times) * 99 // 100]


def table(title, head, rows):
    lines = [f'## {title}', '', '| ' + ' | '.join(head) + ' |', '|' + ' --- |' * len(head)]
    return '\n'.join(lines + ['| ' + ' | '.join(row) + ' |' for row in rows]) + '\n\n'


COUNTERS = ('offloaded', 'rows_versioned', 'pages_delta', 'pages_looked_at', 'pages_loaded', 'evictions')
EVENTS = """select string_agg(format('%s %s', coalesce(event, 'none'), n), ',') from (
            select case when backend_type = 'client backend' then wait_event_type || ':' || wait_event else backend_type end,
                   count(*) from pg_stat_activity where application_name = 'pgbench' and state = 'active'
            and (leader_pid is not null or query !~ 'update lineorder') group by 1) x (event, n)"""
DEVICES = """select string_agg(concat_ws(' ', coalesce(requests, 0), memory_used >> 20, memory_limit >> 20), ',' order by number)
             from gpuconc_devices"""
# Reasons of readers' statements: writers' updates have one of their own.
REASONS = """select coalesce(refusals - 'scan: it is part of a data-modifying statement', '{}')
             from gpuconc_advise() where relation = 'lineorder'::regclass
             union all select coalesce(fallback_reasons, '{}') from gpuconc_stat"""


class Watch:
    """
    What limits readers of lineorder while a with statement is executed: why PostgreSQL's own plan answered, and what
    each device has done.  What sessions wait for is sampled once a second.
    """

    HEAD = ('', 'left to PostgreSQL', 'reasons', 'sessions that wait, on average', *COUNTERS[1:],
            'by device: requests; memory used, of MB')

    def __enter__(self):
        self.samples, self.events, self.over = 0, Counter(), threading.Event()
        self.before = self.state()
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.after = self.state()

    @staticmethod
    def state():
        counters = psql(f'select {", ".join(COUNTERS)} from gpuconc_stat, gpuconc_stat_memory').split('|')
        reasons = [Counter(json.loads(line)) for line in psql(REASONS).splitlines()]
        devices = [[int(x) for x in line.split()] for line in psql(DEVICES).split(',')]
        return [int(x) for x in counters], sum(reasons, Counter()), devices

    def sample(self):
        while not self.over.wait(1):
            self.samples += 1
            for event in filter(None, psql(EVENTS).split(',')):
                name, n = event.rsplit(' ', 1)
                self.events[name] += int(n)

    def cells(self, queries):
        """Cells of HEAD, but for the first one; queries: how many readers have asked."""
        offloaded, *counted = [now - then for now, then in zip(self.after[0], self.before[0])]
        reasons = self.after[1] - self.before[1]
        devices = [f'{now[0] - then[0]}; {now[1]} of {now[2]}' for now, then in zip(self.after[2], self.before[2])]
        return [str(max(queries - offloaded, 0)), ', '.join(f'{reason}: {n}' for reason, n in reasons.most_common()),
                ', '.join(f'{event}: {n / self.samples:.1f}' for event, n in self.events.most_common(5)),
                *map(str, counted), ' / '.join(devices)]

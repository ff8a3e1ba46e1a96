"""Common code of this folder's programs: psql, pgbench, and tables of results."""
import os
import re
import subprocess
import sys
import tempfile
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

"""Clusters on one machine: made, started, stopped, asked; what gpuconc counted at each."""
import os
import re
import subprocess
import sys
import time

COUNTS = ('requests', 'offloaded', 'fallbacks', 'retries', 'main_launches', 'ganged', 'results_shared', 'kernels', 'kernels_compiled',
          'builds_run', 'builds_shared')

CONF = """
shared_preload_libraries = 'citus,gpuconc'
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 300
max_prepared_transactions = 300
max_worker_processes = 32
shared_buffers = 256MB
work_mem = 64MB
autovacuum = off
fsync = off
synchronous_commit = off
full_page_writes = off
citus.enable_statistics_collection = off
citus.max_cached_conns_per_worker = 16
citus.node_conninfo = 'sslmode=disable'
gpuconc.host_cache_size = 768MB
"""


class Failed(Exception):
    pass


def run(*words, **options):
    """A program's output; what it said is in the error if it fails."""
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if p.returncode:
        raise Failed(f'{" ".join(words)[:200]}: {p.stdout[-2000:]}')
    return p.stdout


class Server:
    """One cluster; `name` is its folder's, too."""

    def __init__(self, name, folder, port, conf):
        self.name, self.port = name, port
        self.data, self.log = os.path.join(folder, name), os.path.join(folder, name + '.log')
        if not os.path.exists(self.data):
            run('initdb', '-D', self.data, '-A', 'trust', '-U', 'bench', '--no-sync', '--locale=C', '-E', 'UTF8')
            with open(os.path.join(self.data, 'postgresql.conf'), 'a') as f:
                f.write("include 'gc.conf'\n")
        with open(os.path.join(self.data, 'gc.conf'), 'w') as f:
            f.write(f'{CONF}port = {port}\ngpuconc.kernel_cache = \'{os.path.join(folder, "kernels")}\'\n{conf}\n')
        self.stop()
        run('pg_ctl', '-D', self.data, '-w', '-l', self.log, 'start')

    def environment(self, database, options=''):
        return dict(os.environ, PGHOST='127.0.0.1', PGPORT=str(self.port), PGUSER='bench', PGDATABASE=database,
                    PGOPTIONS=options, LC_ALL='C')

    def ask(self, sql, database='postgres', options='', check=True):
        """psql's lines; with check=False also an error's text."""
        p = subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1'], input=sql, capture_output=True, text=True,
                           env=self.environment(database, options))
        error = None if p.returncode == 0 else p.stderr.strip() or f'psql ended with {p.returncode}'
        if check and error:
            raise Failed(f'{self.name}: {error}\n{sql[:400]}')
        return p.stdout.splitlines() if check else (p.stdout.splitlines(), error)

    def value(self, sql, database='postgres'):
        return self.ask(sql, database)[0]

    def configure(self, settings):
        """ALTER SYSTEM, seen by new sessions when this returns."""
        self.ask(''.join(f"alter system set {name} = '{value}';\n" for name, value in settings.items()) +
                 'select pg_reload_conf();')
        for name, value in settings.items():
            self.wait(f"select current_setting('{name}') = '{value}'")

    def wait(self, sql, database='postgres'):
        end = time.time() + 600
        while self.value(sql, database) != 't':
            if time.time() > end:
                raise Failed(f'{self.name}: does not become true: {sql}')
            time.sleep(0.1)

    def counts(self):
        row = self.value(f'select {", ".join(COUNTS)} from gpuconc_stat, gpuconc_stat_sharing').split('|')
        return dict(zip(COUNTS, map(int, row)))

    def reasons(self):
        return self.value("select coalesce(fallback_reasons::text, '') from gpuconc_stat")

    def bad_lines(self):
        """Lines that a server's log must not have."""
        with open(self.log, errors='replace') as f:
            return [line.rstrip() for line in f if re.search(r'PANIC|TRAP|was terminated by signal|gpuconc restarts', line)]

    def stop(self):
        subprocess.run(['pg_ctl', '-D', self.data, '-m', 'immediate', 'stop'], stdout=subprocess.DEVNULL)


def stop_all(servers):
    for server in servers:
        server.stop()


def need_programs():
    if os.geteuid() == 0:
        sys.exit('PostgreSQL does not run as root: become another user')
    for program in ('initdb', 'pg_ctl', 'psql', 'pg_config'):
        if subprocess.run(['which', program], stdout=subprocess.DEVNULL).returncode:
            sys.exit(f'{program} is not on PATH')
    control = os.path.join(run('pg_config', '--sharedir').strip(), 'extension', 'citus.control')
    if not os.path.exists(control):
        sys.exit(f'Citus is not installed: there is no {control}')

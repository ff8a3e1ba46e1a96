"""A private temporary server with gpuconc, set up as pg_regress sets up its own."""

import os
import re
import subprocess
import time

# As pg_regress has them.
CONF = """
log_autovacuum_min_duration = 0
log_checkpoints = on
log_line_prefix = '%m %b[%p] %q%a '
log_lock_waits = on
log_temp_files = 128kB
max_prepared_transactions = 2
fsync = off
listen_addresses = ''
shared_preload_libraries = 'gpuconc'
gpuconc.host_cache_size = 512MB
# It says for each error which function raised it.
log_error_verbosity = verbose
"""

MODES = {
    'off': 'gpuconc.enabled = off',
    'zero': '\n'.join(['gpuconc.enabled = on', 'gpuconc.offload_cost = 0', 'gpuconc.cold = wait',
                       'gpuconc.debug_tuple_cost = 0', 'gpuconc.debug_build_cost = 0']),
    'prefer': '\n'.join(['gpuconc.enabled = on', 'gpuconc.debug_offload = prefer',
                         # Without a price, subplans ask for each row of an outer query.
                         'gpuconc.offload_cost = 0']),
}

LOCALE = ['LC_COLLATE', 'LC_CTYPE', 'LC_MONETARY', 'LC_NUMERIC', 'LC_TIME', 'LC_ALL', 'LANG', 'LANGUAGE']


class Server:
    """One mode's server.  Its counters outlive crashes here, not in its shared memory."""

    def __init__(self, mode, directory, bindir, tools, kernels, settings):
        self.directory = directory
        self.data = os.path.join(directory, 'data')
        self.log = os.path.join(directory, 'log')
        self.bindir = bindir
        self.tools = tools
        self.counted = dict(requests=0, offloaded=0, fallbacks=0)
        self.last = dict(self.counted)
        os.makedirs(directory)
        os.chmod(directory, 0o700)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith('PG') and name not in LOCALE}
        self.environment.update(PGHOST=directory, LC_MESSAGES='C')
        subprocess.run([f'{bindir}/initdb', '-D', self.data, '-A', 'trust', '--no-sync', '--no-locale'],
                       check=True, stdout=subprocess.DEVNULL, env=self.environment)
        with open(os.path.join(self.data, 'postgresql.conf'), 'a') as conf:
            conf.write(CONF + MODES[mode] + '\n' + '\n'.join(settings) + '\n')
            conf.write(f"unix_socket_directories = '{directory}'\ngpuconc.kernel_cache = '{kernels}'\n")
        subprocess.run([f'{bindir}/pg_ctl', '-D', self.data, '-l', self.log, '-w', 'start'],
                       check=True, stdout=subprocess.DEVNULL, env=self.environment)
        try:
            # Its views are in one database only, because some tests list all functions.
            self.query('CREATE EXTENSION gpuconc')
            self.wait_for_device()
        except BaseException:
            self.stop()
            raise

    def query(self, sql, database='postgres'):
        done = subprocess.run([f'{self.tools}/psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', database],
                              input=sql, capture_output=True, text=True, env=self.environment)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.strip()

    def create_database(self, name):
        """Where a suite runs."""
        self.query(f"""CREATE DATABASE {name} TEMPLATE=template0 ENCODING='UTF8' LC_COLLATE='C' LC_CTYPE='C';
            ALTER DATABASE {name} SET lc_messages TO 'C';
            ALTER DATABASE {name} SET lc_monetary TO 'C';
            ALTER DATABASE {name} SET lc_numeric TO 'C';
            ALTER DATABASE {name} SET lc_time TO 'C';
            ALTER DATABASE {name} SET bytea_output TO 'hex';
            ALTER DATABASE {name} SET timezone_abbreviations TO 'Default';""")

    def wait_for_device(self):
        state = ''
        for _ in range(36000):
            state = self.query('SELECT state FROM gpuconc_devices')
            if state == 'ready':
                return
            time.sleep(0.1)
        raise RuntimeError(f'the device is {state or "unknown"}, and should be ready')

    def wait_until_up(self, seconds=3600):
        """After a crash, the postmaster starts everything anew; tests go on then."""
        end = time.time() + seconds
        while True:
            try:
                return self.query('SELECT 1')
            except RuntimeError:
                if time.time() > end:
                    raise
                time.sleep(0.2)

    def count(self):
        """Read the counters.  A crash sets them to zero, so that what came since is added."""
        now = self.query('SELECT requests, offloaded, fallbacks FROM gpuconc_stat').split('|')
        now = dict(zip(self.counted, map(int, now)))
        crashed = any(now[name] < self.last[name] for name in now)
        for name in now:
            self.counted[name] += now[name] - (0 if crashed else self.last[name])
        self.last = now

    def fallback_reasons(self):
        return self.query('SELECT reason, count FROM gpuconc_stat_get_fallbacks() ORDER BY 2 DESC')

    def stop(self):
        subprocess.run([f'{self.bindir}/pg_ctl', '-D', self.data, '-m', 'immediate', '-w', 'stop'],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment)

    def faults(self):
        """Log lines that no server may ever write: (kind, text) of each."""
        with open(self.log, encoding='utf8', errors='replace') as log:
            return log_faults(log.read())


def log_faults(log):
    """Crashes, and errors that the extension reports as internal ones or under its own name."""
    faults = []
    error, named = '', False
    lines = log.split('\n')
    for number, line in enumerate(lines):
        if re.search(r'was terminated by signal|PANIC:|TRAP:|dumped core', line):
            running = next((after.split('Failed process was running: ', 1)[1] for after in lines[number:number + 4]
                            if 'Failed process was running: ' in after), '')
            faults.append(('crash', re.sub(r'^\S+ \S+ \S+ ', '', line) + (': ' + running if running else '')))
        elif re.search(r' (ERROR|FATAL):  ', line):
            error = re.sub(r'^.*? ((?:ERROR|FATAL):  )', r'\1', line)
            # A name in quotes is a user's: of a file, for one.
            named = 'gpuconc' in re.sub(r'"[^"]*"', '', error)
            if named:
                faults.append(('error', error + statement_after(lines, number)))
        elif re.search(r' LOCATION:  gc_', line) and re.match(r'(ERROR|FATAL):  XX000', error):
            if not named:
                faults.append(('error', error + statement_after(lines, number)))
    return faults


def statement_after(lines, number):
    """The statement of an error, which the log has a few lines below it."""
    for line in lines[number:number + 8]:
        if ' STATEMENT:  ' in line:
            return ' in: ' + line.split(' STATEMENT:  ', 1)[1]
    return ''

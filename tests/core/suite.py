"""PostgreSQL's own test suites on a server with gpuconc; see README.md.  Started by ./run."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from compare import OTHER, compare, subtract
from reasons import explain, read_reasons
from server import MODES, Server

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ('regress', 'isolation')
# Queries that the whole regression suite offloads at least, where everything is preferred.
OFFLOADED = 15000
# A test that takes longer hangs, on however busy a machine.
TEST_SECONDS = 7200
SHOWN_LINES = 12


def read(path):
    with open(path, encoding='utf8', errors='surrogateescape', newline='\n') as file:
        return file.read()


def schedule(source, part):
    """The groups of tests that run at the same time."""
    name = 'parallel_schedule' if part == 'regress' else 'isolation_schedule'
    groups = []
    for line in read(os.path.join(source, 'src/test', part, name)).split('\n'):
        if line.startswith('test:'):
            groups.append(line[5:].split())
    return groups


def choose(groups, options):
    """The first tests of the schedule, or those named after what has to come before them."""
    if options.test:
        wanted = set(options.test)
        needed = [] if groups[0] != ['test_setup'] else [groups[0]]
        return needed + [chosen for group in groups
                         if (chosen := [test for test in group if test in wanted and group not in needed])]
    if not options.tests:
        return groups
    chosen, left = [], options.tests
    for group in groups:
        if left > 0:
            chosen.append(group[:left])
            left -= len(group)
    return chosen


def say(text=''):
    # A test's output need not be UTF-8.
    sys.stdout.write(text.encode('utf8', 'backslashreplace').decode('utf8') + '\n')
    sys.stdout.flush()


class Run:
    """One suite on one server."""

    def __init__(self, options, part, mode):
        self.options, self.part, self.mode = options, part, mode
        self.input = os.path.join(options.source, 'src/test', part)
        self.output = os.path.join(options.output, f'{part}-{mode}')
        self.failed = 0
        self.totals = {}
        self.differences = {}
        os.makedirs(os.path.join(self.output, 'results'))

    def start(self):
        self.server = Server(self.mode, os.path.join(self.output, 'server'), self.options.bindir,
                             os.path.join(self.options.source, 'installed/bin'), self.options.kernels,
                             self.options.set)
        self.database = 'regression' if self.part == 'regress' else 'isolation_regression'
        self.server.create_database(self.database)

    def environment(self, test):
        return dict(self.server.environment, PGTZ='America/Los_Angeles', PGDATESTYLE='Postgres, MDY',
                    PGOPTIONS='-c intervalstyle=postgres_verbose', PGCLIENTENCODING='UTF8',
                    PG_ABS_SRCDIR=self.input, PG_ABS_BUILDDIR=self.output, PG_LIBDIR=self.options.modules,
                    PG_DLSUFFIX='.so',
                    PGAPPNAME=('pg_regress/' if self.part == 'regress' else 'isolation/') + test)

    def script(self, test):
        return os.path.join(self.input, f'sql/{test}.sql' if self.part == 'regress' else f'specs/{test}.spec')

    def start_test(self, test):
        if self.part == 'regress':
            command = [f'{self.server.tools}/psql', '-X', '-a', '-q', '-d', self.database,
                       '-v', 'HIDE_TABLEAM=on', '-v', 'HIDE_TOAST_COMPRESSION=on']
        else:
            command = [f'{self.server.tools}/isolationtester', f'dbname={self.database}']
        with open(self.script(test), 'rb') as script, open(self.result(test), 'wb') as result:
            return subprocess.Popen(command, stdin=script, stdout=result, stderr=subprocess.STDOUT,
                                    env=self.environment(test), cwd=self.output)

    def result(self, test):
        return os.path.join(self.output, 'results', test + '.out')

    def expectations(self, test):
        directory = os.path.join(self.input, 'expected')
        names = [name for name in os.listdir(directory) if re.fullmatch(re.escape(test) + r'(_\d+)?\.out', name)]
        return [read(os.path.join(directory, name)) for name in sorted(names, key=len)]

    def run_group(self, group):
        self.server.wait_until_up()
        begin = time.time()
        running = [(test, self.start_test(test)) for test in group]
        stopped = set()
        for test, process in running:
            try:
                process.wait(max(1, begin + TEST_SECONDS - time.time()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                stopped.add(test)
        self.server.wait_until_up()
        before = dict(self.server.counted)
        self.server.count()
        with open(os.path.join(self.output, 'counts'), 'a', encoding='utf8') as counts:
            gained = ' '.join(f'{name} {self.server.counted[name] - before[name]}' for name in before)
            counts.write(f'{gained}: {" ".join(group)}\n')
        for test in group:
            self.judge(test, test in stopped)

    def judge(self, test, stopped):
        """Compare, print the test's line, and what differs below it."""
        found = compare(self.part, read(self.script(test)) if self.part == 'regress' else '',
                        self.expectations(test), read(self.result(test)))
        self.differences[test] = found
        off = self.options.off.get((self.part, test)) if self.mode != 'off' else None
        left = subtract(found, off) if off else found
        explain(self.options.reasons, test, self.mode, left)
        unexplained = [one for one in left if one.kind == OTHER and not one.reason]
        for one in left:
            kind = one.kind if one.kind != OTHER else ('other, with a reason' if one.reason else 'other')
            self.totals[kind] = self.totals.get(kind, 0) + 1
        bad = stopped or unexplained
        say(f'{"not ok" if bad else "ok"} {self.part}/{self.mode}/{test}')
        self.failed += bool(bad)
        if stopped:
            say(f'# stopped after {TEST_SECONDS} s')
        for one in left:
            self.report(test, one)

    def report(self, test, one):
        """To the file: all.  To the terminal: "other" only, with so many lines each."""
        lines = one.lines()
        head = f'{test}: {one.kind}' + (f', because: {one.reason}' if one.reason else '')
        if one.followed:
            head += f' (and {one.followed} statements in the transaction that it aborted)'
        where = f'[{one.context}] ' if one.context else ''
        with open(os.path.join(self.output, 'differences'), 'a', encoding='utf8', errors='backslashreplace') as file:
            file.write('\n'.join([head, '    ' + where + one.statement] + lines) + '\n\n')
        if one.kind != OTHER:
            return
        say('# ' + head)
        say(f'#     {where}{one.statement[:300]}')
        if not one.reason:
            for line in lines[:SHOWN_LINES]:
                say('#     ' + line[:200])
            if len(lines) > SHOWN_LINES:
                say(f'#     ... {len(lines) - SHOWN_LINES} lines more')

    def check_log(self):
        faults = self.server.faults()
        name = f'{self.part}/{self.mode}: no crash, no internal error'
        say(f'{"not ok" if faults else "ok"} {name}')
        self.failed += bool(faults)
        for kind, text in faults:
            say(f'# {kind}: {text[:400]}')

    def check_counters(self, whole):
        counted = self.server.counted
        say(f'# {self.part}/{self.mode}: {counted["requests"]} requests, {counted["offloaded"]} offloaded, '
            f'{counted["fallbacks"]} left to PostgreSQL while they ran')
        for line in self.server.fallback_reasons().split('\n'):
            if line:
                say('#     ' + line.replace('|', ': '))
        if whole and self.part == 'regress' and self.mode == 'prefer':
            enough = counted['offloaded'] >= self.options.offloaded
            say(f'{"ok" if enough else "not ok"} regress/prefer: at least {self.options.offloaded} requests were offloaded')
            self.failed += not enough
        if self.mode == 'off':
            say(f'{"not ok" if counted["requests"] else "ok"} {self.part}/off: nothing was offloaded')
            self.failed += bool(counted['requests'])

    def run(self, groups, whole):
        begin = time.time()
        self.start()
        try:
            for group in groups:
                self.run_group(group)
            self.check_counters(whole)
        finally:
            self.server.stop()
        self.check_log()
        kinds = ', '.join(f'{count} {kind}' for kind, count in sorted(self.totals.items())) or 'none'
        say(f'# {self.part}/{self.mode}: statements that differ: {kinds}; {time.time() - begin:.0f} s')
        if not self.options.keep:
            shutil.rmtree(os.path.join(self.output, 'server', 'data'))


def arguments():
    parser = argparse.ArgumentParser(prog='tests/core/run', description="PostgreSQL's own tests, with gpuconc.")
    parser.add_argument('--part', action='append', choices=PARTS, help='both, if none is named')
    parser.add_argument('--mode', action='append', choices=list(MODES), help='all, if none is named')
    parser.add_argument('--tests', type=int, default=0, help='so many tests of each schedule, the first ones')
    parser.add_argument('--test', action='append', help='this test, after test_setup; can be repeated')
    parser.add_argument('--set', action='append', default=[], metavar="'NAME = VALUE'", help='a setting of the servers')
    parser.add_argument('--offloaded', type=int, default=OFFLOADED, help='requests that the whole suite offloads at least')
    parser.add_argument('--keep', action='store_true', help="keep the servers' data")
    for name in 'source', 'modules', 'bindir', 'output', 'kernels', 'reasons':
        parser.add_argument('--' + name, required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    # Whoever stops the tests wants the servers stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    options.reasons = read_reasons(options.reasons)
    options.off = {}
    whole = not options.tests and not options.test
    failed = 0
    for part in options.part or PARTS:
        for mode in [mode for mode in MODES if mode in (options.mode or MODES)]:
            run = Run(options, part, mode)
            run.run(choose(schedule(options.source, part), options), whole)
            failed += run.failed
            if mode == 'off':
                options.off.update({(part, test): found for test, found in run.differences.items()})
    if whole and not options.part and not options.mode:
        for reason in options.reasons:
            if not reason.used:
                say(f'# reasons:{reason.line}: nothing differs so any more: {reason.test}: {reason.statement}')
    say(f'# {failed} failed')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()

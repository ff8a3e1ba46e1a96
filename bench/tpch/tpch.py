"""Common code of this folder's programs: queries, sessions with psql, plans."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
QUERIES = [f'q{n:02}' for n in range(1, 23)]
OFF = 'set gpuconc.enabled = off;\n'
ON = 'set gpuconc.enabled = on;\nset gpuconc.cold = wait;\n'

# Nodes of PostgreSQL that may be above a gpuconc node of a query that is wholly offloaded.
ABOVE = {'Sort', 'Incremental Sort', 'Limit', 'Result', 'Subquery Scan'}
LEVELS = ('none', 'part', 'tables', 'whole')


def text(name, folder='queries'):
    """A query's text as the file has it, without comment and semicolon; Q11 has ":fraction" in it."""
    with open(os.path.join(HERE, folder, name + '.sql')) as f:
        return re.sub(r'^--.*\n', '', f.read(), flags=re.M).strip().rstrip(';')


def with_fraction(sql, scale):
    """Q11's parameter that depends on the scale, written without an exponent."""
    return sql.replace(':fraction', f'{0.0001 / scale:.12f}'.rstrip('0'))


def query(name, scale, folder='queries'):
    return with_fraction(text(name, folder), scale)


def add_connection_options(ap):
    ap.add_argument('--database', help='instead of PGDATABASE')
    ap.add_argument('--scale', type=float, help='scale factor (default: what the number of suppliers says)')


def connect(args):
    """Takes the options above; returns the scale factor."""
    if args.database:
        os.environ['PGDATABASE'] = args.database
    return args.scale or int(value('select count(*) from supplier')) / 10000


def chosen(only):
    """Queries that a list like "1,q03,q21" names; all without one."""
    if not only:
        return QUERIES
    names = [f'q{int(n.lstrip("q")):02}' for n in only.split(',')]
    unknown = [n for n in names if n not in QUERIES]
    if unknown:
        sys.exit(f'no query {unknown[0]}')
    return names


def psql(script, check=True):
    """Standard output, or with check=False also standard error and exit status."""
    p = subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1'], input=script, capture_output=True, text=True,
                       env=dict(os.environ, LC_ALL='C'))
    if not check:
        return p.stdout, p.stderr, p.returncode
    if p.returncode:
        sys.exit(f'psql failed: {p.stderr}\n{script[:600]}')
    return p.stdout


def value(sql):
    return psql(OFF + sql + ';').strip()


class Plan:
    """The work of each node in a plan that EXPLAIN, not verbose, describes.

    level: "whole": gpuconc's nodes read all tables, join and aggregate, and PostgreSQL sorts at most;
    "tables": they read all tables, but PostgreSQL joins, aggregates, or computes their row sources;
    "part": some tables; "none".
    """

    def __init__(self, sql, setup):
        self.nodes, self.tables, self.own = 0, [], []
        out = psql(f'{setup}explain (costs off, format json) {sql};\n')
        self.walk(json.loads(out)[0]['Plan'], False)
        if not self.nodes:
            self.level = 'none'
        elif self.tables:
            self.level = 'part'
        else:
            self.level = 'tables' if self.own else 'whole'

    def walk(self, node, inside):
        kind = node['Node Type']
        ours = node.get('Custom Plan Provider', '').startswith('Gpuconc')
        if ours:
            self.nodes += 1
            if inside:
                self.own.append('Row Source')
        elif 'Relation Name' in node:
            self.tables.append(node['Relation Name'])
        elif inside or kind not in ABOVE:
            self.own.append(node.get('Join Type', '') + ' ' + kind if 'Join Type' in node else kind)
        for child in node.get('Plans', ()):
            # A plan below a gpuconc node that is not an InitPlan is a row source.
            self.walk(child, (inside or ours) and child.get('Parent Relationship') not in ('InitPlan',))

    def __str__(self):
        said = f'{self.level}, {self.nodes} node{"" if self.nodes == 1 else "s"}'
        if self.tables:
            said += '; PostgreSQL reads ' + ', '.join(sorted(set(self.tables)))
        if self.own:
            said += '; PostgreSQL: ' + ', '.join(self.own)
        return said


class Session:
    """A connection by psql that stays, of which psql's clock times each statement."""

    END = '=--end--='

    def __init__(self, setup='', output='/dev/null'):
        self.process = subprocess.Popen(['psql', '-XAtq', '-v', 'VERBOSITY=terse'], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env=dict(os.environ, LC_ALL='C'))
        self.send(f'\\o {output}\n{setup}\n\\timing on\n')
        _, errors = self.receive()
        if errors:
            sys.exit('psql: ' + '; '.join(errors))

    def send(self, script):
        """Statements, each with its semicolon; an echo goes to psql's own output whatever \\o says."""
        self.process.stdin.write(f'{script}\n\\echo {self.END}\n')
        self.process.stdin.flush()

    def receive(self):
        """Times in ms of what was sent last, those of statements that failed too, and errors."""
        times, errors = [], []
        for line in self.process.stdout:
            if line.rstrip() == self.END:
                return times, errors
            found = re.match(r'Time: ([0-9.]+) ms', line)
            if found:
                times.append(float(found.group(1)))
            elif line.strip() and not line.startswith(('NOTICE', 'WARNING')):
                errors.append(line.strip())
        sys.exit('psql ended: ' + '; '.join(errors))

    def ask(self, script):
        self.send(script)
        return self.receive()

    def close(self):
        self.process.stdin.close()
        self.process.wait()

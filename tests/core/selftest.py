"""Tests of what compares outputs, with differences made for it.  Prints TAP lines."""

import sys

from compare import compare
from server import log_faults

SCRIPT = """-- a comment; no statement
SELECT a FROM t;

SELECT a FROM t ORDER BY a;
EXPLAIN SELECT a
  FROM t;
CREATE FUNCTION f() RETURNS text AS $$ SELECT ';
' $$ LANGUAGE sql;
COPY t FROM stdin;
1;
\\.
DECLARE c CURSOR FOR SELECT a FROM t ORDER BY a;
FETCH ALL FROM c;
SELECT b FROM t;
"""
ROWS = " a \n---\n 1\n 2\n(2 rows)\n\n"
TURNED = " a \n---\n 2\n 1\n(2 rows)\n\n"
ABORTED = 'ERROR:  current transaction is aborted, commands ignored until end of transaction block\n'


def output(first=ROWS, second=ROWS, plan=' Seq Scan on t\n', fetched=ROWS, last=ROWS):
    return ("-- a comment; no statement\nSELECT a FROM t;\n" + first + "SELECT a FROM t ORDER BY a;\n" + second
            + "EXPLAIN SELECT a\n  FROM t;\n" + plan
            + "CREATE FUNCTION f() RETURNS text AS $$ SELECT ';\n' $$ LANGUAGE sql;\nCOPY t FROM stdin;\n"
            + "DECLARE c CURSOR FOR SELECT a FROM t ORDER BY a;\nFETCH ALL FROM c;\n" + fetched
            + "SELECT b FROM t;\n" + last)


def steps(*texts):
    return 'Parsed test spec with 1 sessions\n\nstarting permutation: a b\n' + ''.join(texts)


STEP = 'step a: SELECT a FROM t;\n'
ORDERED = 'step b: \n\tSELECT a FROM t ORDER BY a;\n'
LOG = '2026-01-01 00:00:00.000 UTC client backend[7] x '


def kinds(actual):
    return [(one.kind, one.statement, one.followed) for one in compare('regress', SCRIPT, [output()], actual)]


def isolation_kinds(actual):
    return [one.kind for one in compare('isolation', '', [steps(STEP, ROWS, ORDERED, ROWS)], actual)]


TESTS = {
    'the same': (kinds(output()), []),
    'order that nobody asked for':
        (kinds(output(first=TURNED)), [('row order', 'SELECT a FROM t;', 0)]),
    'order that was asked for':
        (kinds(output(second=TURNED)), [('other', 'SELECT a FROM t ORDER BY a;', 0)]),
    'order that the cursor asked for': (kinds(output(fetched=TURNED)), [('other', 'FETCH ALL FROM c;', 0)]),
    'another row': (kinds(output(last=ROWS.replace('2', '3'))), [('other', 'SELECT b FROM t;', 0)]),
    'a row less': (kinds(output(last=ROWS.replace(' 2\n', ''))), [('other', 'SELECT b FROM t;', 0)]),
    'another plan': (kinds(output(plan=' Custom Scan\n')), [('plan text', 'EXPLAIN SELECT a FROM t;', 0)]),
    'an error instead of a plan': (kinds(output(plan='ERROR:  x\n')), [('other', 'EXPLAIN SELECT a FROM t;', 0)]),
    'an error and what follows': (kinds(output(fetched='ERROR:  x\n', last=ABORTED)), [('other', 'FETCH ALL FROM c;', 1)]),
    'a lost connection':
        (kinds(output()[:output().index('SELECT b')] + 'server closed the connection unexpectedly\n'),
         [('other', 'FETCH ALL FROM c;', 0),
          ('other', '1 statements were not reached, the first: SELECT b FROM t;', 0)]),
    'nothing': ([kind for kind, _, _ in kinds('')][-1:], ['other']),
    'steps: the same': (isolation_kinds(steps(STEP, ROWS, ORDERED, ROWS)), []),
    'steps: order that nobody asked for': (isolation_kinds(steps(STEP, TURNED, ORDERED, ROWS)), ['row order']),
    'steps: order that was asked for': (isolation_kinds(steps(STEP, ROWS, ORDERED, TURNED)), ['other']),
    'steps: another order of steps': (set(isolation_kinds(steps(ORDERED, ROWS, STEP, ROWS))), {'other'}),
    'log: a crash': ([kind for kind, _ in log_faults('server process (PID 7) was terminated by signal 11')], ['crash']),
    'log: an error of gpuconc':
        ([kind for kind, _ in log_faults(LOG + 'ERROR:  XX000: gpuconc row source does not deliver a column')], ['error']),
    'log: an internal error of a function of gpuconc':
        ([kind for kind, _ in log_faults(LOG + 'ERROR:  XX000: oops\n' + LOG + 'LOCATION:  gc_x, x.c:1')], ['error']),
    "log: a user's error and name":
        (log_faults(LOG + 'ERROR:  42704: role "gpuconc" does not exist\n' + LOG + 'LOCATION:  get_role_oid, acl.c:1'), []),
}


def main():
    failed = 0
    for name, (actual, expected) in TESTS.items():
        print(f'{"ok" if actual == expected else "not ok"} harness: {name}')
        if actual != expected:
            failed += 1
            print(f'#     {actual}\n#     instead of {expected}')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()

"""A query by PostgreSQL and by gpuconc: the rows, the least milliseconds, and what of the plan is left to PostgreSQL."""
import collections
import math
import re
import subprocess
import sys
import time

LEFT = r'(WindowAgg|CTE Scan|Nested Loop|Hash Join|Merge Join|Seq Scan|SubPlan|HashAggregate|GroupAggregate|SetOp|Index Scan|Index Only Scan|Append)'


def psql(text, check=True):
    p = subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1'], input=text, capture_output=True, text=True)
    if check and p.returncode:
        sys.exit(p.stderr)
    return p.returncode, p.stdout if p.returncode == 0 else p.stderr


def answer(query, mode, seconds, args):
    """
    (rows, 'least milliseconds after the first execution (milliseconds of the first)'), or (None, what went wrong).

    Without args.runs: the milliseconds of the first execution alone.
    """
    settings = [f"statement_timeout = '{seconds}s'", f'gpuconc.debug_offload = {mode}', 'gpuconc.enabled = on',
                'gpuconc.cold = wait'] + args.set
    text = ''.join(f'SET {s};\n' for s in settings) + '\\timing on\n' + query + ';\n\\o /dev/null\n' + (query + ';\n') * args.runs
    status, out = psql(text, check=False)
    if status:
        return None, out.strip().split('\n')[0]
    times = [float(t) for t in re.findall(r'^Time: ([\d.]+) ms', out, re.M)]
    said = f'{min(times[1:])} ({times[0]})' if args.runs else f'{times[0]}'
    return sorted(line for line in out.splitlines() if not line.startswith('Time: ')), said


def by_duckdb(connection, query, args):
    """(rows, least milliseconds after the first execution) by an open DuckDB connection."""
    times = []
    for _ in range(args.runs + 1):
        start = time.perf_counter()
        rows = connection.execute(query).fetchall()
        times.append((time.perf_counter() - start) * 1000)
    return rows, min(times[1:])


def cell_alike(own, theirs):
    """Is a value of psql's like one of DuckDB's, which divides decimals as doubles and trims nothing?"""
    if own.strip() == ('' if theirs is None else str(theirs).strip()):
        return True             # also where a text is Nan, a first name
    try:
        return math.isclose(float(own), float(theirs), rel_tol=1e-6, abs_tol=1e-6)
    except (TypeError, ValueError):
        return False


def alike(ours, theirs):
    """Are there as many rows, and is each of psql's lines like one row of DuckDB's at its place?"""
    key = lambda row: [('' if v is None else f'{float(v):.3f}' if is_number(v) else str(v).strip()) for v in row]
    ours, theirs = sorted((line.split('|') for line in ours), key=key), sorted(theirs, key=key)
    return len(ours) == len(theirs) and all(len(a) == len(b) and all(map(cell_alike, a, b)) for a, b in zip(ours, theirs))


def is_number(value):
    try:
        float(value)
        return True
    except (TypeError, ValueError):
        return False


def ask(number, query, args, any_rows=False, connection=None):
    """Prints a line about the query.  True if answers differ, or numbers of rows if any will do: from PostgreSQL's, or DuckDB's if it has none."""
    own, own_ms = (None, '-') if args.postgres == 0 else answer(query, 'forbid', args.postgres or args.seconds, args)
    ours, ms = answer(query, 'allow', args.seconds, args)
    more = ''
    other = False
    if connection:
        theirs, duck_ms = by_duckdb(connection, query, args)
        other = ours is None or not (len(ours) == len(theirs) if any_rows else alike(ours, theirs))
        more = f"{duck_ms:.1f} {'unlike' if other else 'alike'} "
    plan = psql('SET gpuconc.enabled = on; EXPLAIN (COSTS OFF) ' + query, check=False)[1]
    verdict = 'no answer' if own is None or ours is None else 'same' if own == ours or (any_rows and len(own) == len(ours)) else 'DIFFERENT'
    left = ', '.join(f'{n} {w}' for w, n in collections.Counter(re.findall(LEFT, plan)).items())
    print(f"{number:2} {verdict:9} {own_ms} {ms} {more}{plan.count('Custom Scan')} nodes; {left}", flush=True)
    return verdict == 'DIFFERENT' or (other if own is None else ours is None)


def add_options(parser):
    """Options of a program that asks."""
    parser.add_argument('queries', nargs='?')
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--postgres', type=float)
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--set', action='append', default=[])

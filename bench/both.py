"""A query by PostgreSQL and by gpuconc: the rows, the least milliseconds, and what of the plan is left to PostgreSQL."""
import collections
import re
import subprocess
import sys

LEFT = r'(WindowAgg|CTE Scan|Nested Loop|Hash Join|Merge Join|Seq Scan|SubPlan|HashAggregate|GroupAggregate|SetOp|Index Scan|Index Only Scan|Append)'


def psql(text, check=True):
    p = subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1'], input=text, capture_output=True, text=True)
    if check and p.returncode:
        sys.exit(p.stderr)
    return p.returncode, p.stdout if p.returncode == 0 else p.stderr


def answer(query, mode, args):
    """(rows, least milliseconds after the first execution) or (None, what went wrong)."""
    settings = [f"statement_timeout = '{args.seconds}s'", f'gpuconc.debug_offload = {mode}', 'gpuconc.enabled = on',
                'gpuconc.cold = wait'] + args.set
    text = ''.join(f'SET {s};\n' for s in settings) + query + ';\n\\timing on\n\\o /dev/null\n' + (query + ';\n') * args.runs
    status, out = psql(text, check=False)
    if status:
        return None, out.strip().split('\n')[0]
    times = [float(t) for t in re.findall(r'^Time: ([\d.]+) ms', out, re.M)]
    return sorted(line for line in out.split('\n') if not line.startswith('Time: ')), min(times)


def ask(number, query, args, same=lambda own, ours: own == ours, more=''):
    """Prints a line about the query.  True if the answers differ, or only PostgreSQL has one."""
    own, own_ms = answer(query, 'forbid', args)
    ours, ms = answer(query, 'allow', args)
    plan = psql('SET gpuconc.enabled = on; EXPLAIN (COSTS OFF) ' + query, check=False)[1]
    verdict = 'no answer' if own is None or ours is None else 'same' if same(own, ours) else 'DIFFERENT'
    left = ', '.join(f'{n} {w}' for w, n in collections.Counter(re.findall(LEFT, plan)).items())
    print(f"{number:2} {verdict:9} {own_ms} {ms} {more}{plan.count('Custom Scan')} nodes; {left}", flush=True)
    return verdict == 'DIFFERENT' or (ours is None and own is not None)


def add_options(parser):
    """Of a program that asks."""
    parser.add_argument('queries', nargs='?')
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--set', action='append', default=[])

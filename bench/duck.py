#!/usr/bin/env python3
"""The Star Schema Benchmark in DuckDB: the same rows from the same generator, the same types.

    bench/duck.py FILE SCALE [--jobs N]     makes the database FILE

Needs DuckDB's Python package and a C compiler.  run.py --duckdb uses FILE.
"""
import argparse
import glob
import math
import os
import re
import subprocess
import sys
import tempfile
import time

from measure import HERE, TABLES

# The name of one table is a keyword to DuckDB.
NAMES = {t: f'"{t}"' for t in TABLES}


def translate(sql):
    """A query of ours as DuckDB takes it."""
    head, tail = sql.split('\nfrom ', 1)
    return head + '\nfrom ' + re.sub(r'\bdate\b', '"date"', tail, count=1)


def create_tables(con):
    """schema.sql's own statements; DuckDB takes char(n), which it does not pad."""
    with open(os.path.join(HERE, 'ssb', 'schema.sql')) as f:
        for statement in re.findall(r'create table .*?\);', re.sub(r'--.*', '', f.read()), re.S):
            con.execute(re.sub(r'create table (\w+)', r'create table "\1"', statement))


def build_generator(directory):
    gen = os.path.join(directory, 'gen')
    sources = glob.glob(os.path.join(HERE, 'ssb', 'generator', '*.c'))
    subprocess.run([os.environ.get('CC', 'cc'), '-std=c11', '-O2', '-o', gen] + sources + ['-lm'], check=True)
    return gen


def copy_in(con, gen, scale, table, nparts, jobs):
    """Makes parts of the table as text, as many at once as there are jobs, and copies them in."""
    directory = os.path.dirname(gen)
    for first in range(1, nparts + 1, jobs):
        files, makers = [], []
        for part in range(first, min(first + jobs, nparts + 1)):
            files.append(os.path.join(directory, f'{table}.{part}.tsv'))
            with open(files[-1], 'wb') as out:
                makers.append(subprocess.Popen([gen, '--text', scale, table, str(part), str(nparts)], stdout=out))
        if any([m.wait() for m in makers]):
            sys.exit('the generator failed')
        listed = ', '.join("'" + f.replace("'", "''") + "'" for f in files)
        columns = con.execute(f'select column_name, data_type from information_schema.columns '
                              f"where table_name = '{table}' order by ordinal_position").fetchall()
        typed = ', '.join(f"'{name}': '{kind}'" for name, kind in columns)
        con.execute(f'insert into {NAMES[table]} select * from read_csv([{listed}], delim = \'\\t\', header = false, '
                    f"quote = '', escape = '', auto_detect = false, columns = {{{typed}}})")
        for f in files:
            os.unlink(f)


def build(path, scale, jobs):
    import duckdb
    start = time.time()
    if os.path.exists(path):
        os.unlink(path)
    con = duckdb.connect(path)
    con.execute(f'set threads = {jobs}')
    con.execute('set preserve_insertion_order = false')
    create_tables(con)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(path))) as d:
        gen = build_generator(d)
        for table in TABLES:
            # parts of at most scale 1, so that the text on disk stays small
            nparts = jobs * math.ceil(float(scale) / jobs) if table == 'lineorder' else 1
            copy_in(con, gen, scale, table, nparts, jobs)
            made = int(subprocess.run([gen, '--rows', scale, table], stdout=subprocess.PIPE, check=True).stdout)
            found = con.execute(f'select count(*) from {NAMES[table]}').fetchone()[0]
            if made != found:
                sys.exit(f'{table} has {found} rows in DuckDB, not the {made} that were made')
    con.execute('checkpoint')
    con.close()
    print(f'DuckDB: scale {scale} in {time.time() - start:.1f} s, {os.path.getsize(path) / 1e6:.0f} MB', flush=True)


class Session:
    """A session with the database, to ask and to time."""

    def __init__(self, path, threads):
        import duckdb
        self.version = duckdb.__version__
        self.threads = threads
        self.con = duckdb.connect(path, read_only=True)
        self.con.execute(f'set threads = {threads}')

    def rows(self, sql):
        found = self.con.execute(translate(sql)).fetchall()
        return sorted('|'.join('' if c is None else str(c).rstrip() for c in row) for row in found)

    def timings(self, sql, times, warm=2):
        sql, result = translate(sql), []
        for _ in range(warm + times):
            start = time.perf_counter()
            self.con.execute(sql).fetchall()
            result.append((time.perf_counter() - start) * 1000)
        return result[warm:]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('file')
    ap.add_argument('scale')
    ap.add_argument('--jobs', type=int, default=os.cpu_count())
    args = ap.parse_args()
    build(args.file, args.scale, args.jobs)


if __name__ == '__main__':
    main()

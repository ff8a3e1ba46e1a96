"""The two benchmarks' tables: in one place, and spread over workers by Citus."""
import os
import subprocess

from servers import Failed, run

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Tables that are cut into shards, each with its key; the first decides where the others' shards are.
SHARDED = {'ssb': {'lineorder': 'lo_orderkey'}, 'tpch': {'orders': 'o_orderkey', 'lineitem': 'l_orderkey'}}
# Tables of which each worker has a copy.
COPIED = {'ssb': ('customer', 'supplier', 'part', 'date'),
          'tpch': ('region', 'nation', 'part', 'supplier', 'partsupp', 'customer')}
SSB_KEYS = {'customer': 'c_custkey', 'supplier': 's_suppkey', 'part': 'p_partkey', 'date': 'd_datekey'}


def load_alone(server, benchmark, scale):
    """A database of the benchmark's name and "_alone", by the benchmark's own loader."""
    database = benchmark + '_alone'
    server.ask(f'create database {database}')
    # Without indexes, PostgreSQL's own answers to correlated subqueries would take hours.
    more = ['--with-fk-indexes'] if benchmark == 'tpch' else []
    run(os.path.join(BENCH, benchmark, 'load'), scale, '--jobs', '2', *more, env=server.environment(database))


def copy_table(server, table, source, target):
    """From one database to another of the same server, as rows."""
    out = subprocess.Popen(['psql', '-XAtq', '-c', f'copy {table} to stdout'], stdout=subprocess.PIPE,
                           env=server.environment(source))
    done = subprocess.run(['psql', '-XAtq', '-c', f'copy {table} from stdin'], stdin=out.stdout,
                          env=server.environment(target))
    out.stdout.close()
    if out.wait() or done.returncode:
        raise Failed(f'{table} was not copied')


def spread(coordinator, workers, benchmark, shards):
    """The database of the benchmark's name, with the rows of the other."""
    for server in [coordinator] + workers:
        server.ask(f'create database {benchmark}')
        server.ask('create extension citus; create extension citus_columnar; create extension gpuconc', benchmark)
    coordinator.ask(f"select citus_set_coordinator_host('127.0.0.1', {coordinator.port})", benchmark)
    for worker in workers:
        coordinator.ask(f"select citus_add_node('127.0.0.1', {worker.port})", benchmark)
    run('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', os.path.join(BENCH, benchmark, 'schema.sql'),
        env=coordinator.environment(benchmark, '-c client_min_messages=warning'))
    with open(os.path.join(BENCH, 'tpch', 'keys.sql')) as f:
        keys = f.read() if benchmark == 'tpch' else ''.join(f'alter table {t} add primary key ({k});\n' for t, k in SSB_KEYS.items())
    with_first = ''
    sql = keys + f'set citus.shard_count = {shards};\n'
    for table in COPIED[benchmark]:
        sql += f"select create_reference_table('{table}');\n"
    for table, key in SHARDED[benchmark].items():
        sql += f"select create_distributed_table('{table}', '{key}'{with_first});\n"
        with_first = with_first or f", colocate_with => '{table}'"
    coordinator.ask(sql, benchmark)
    for table in (*COPIED[benchmark], *SHARDED[benchmark]):
        copy_table(coordinator, table, benchmark + '_alone', benchmark)
    coordinator.ask('vacuum analyze', benchmark)


# Tables that only the queries of this folder read.
MORE = """create table by_order (k bigint, q numeric, n bigint);
create table lineitem_columnar (like lineitem){using};
{distribute}insert into lineitem_columnar select * from lineitem where l_orderkey % 7 = 0;
"""
DISTRIBUTE = """select create_distributed_table('by_order', 'k', colocate_with => 'orders');
select create_distributed_table('lineitem_columnar', 'l_orderkey', colocate_with => 'orders');
"""


def make_more(coordinator):
    coordinator.ask(MORE.format(using='', distribute=''), 'tpch_alone')
    coordinator.ask(MORE.format(using=' using columnar', distribute=DISTRIBUTE), 'tpch')


def queries(folder, scale):
    """Name and text of each query."""
    folder = os.path.join(BENCH, folder, 'queries')
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as f:
            text = ''.join(line for line in f if not line.startswith('--')).strip().rstrip(';')
        yield name.removesuffix('.sql'), text.replace(':fraction', f'{0.0001 / float(scale):.12f}'.rstrip('0'))

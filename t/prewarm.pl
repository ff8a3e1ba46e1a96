# Several tables are loaded, one a background worker: gpuconc_prewarm_tables(), _schema() and _database(), and
# gpuconc.warm_tables at the server's start (src/columns/load/prewarm.h, warm.h).

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The server says at DEBUG1 which workers it starts.  No query loads anything itself.
my $node = new_server('prewarm', q{
gpuconc.loader_workers = 2
gpuconc.cold = fallback
max_worker_processes = 24
max_prepared_transactions = 1
log_min_messages = debug1
});
my $pages = q{pg_relation_size(relation) / 8192};
my $loaders = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'};
my @queries = (
	'SELECT count(*), sum(i), max(t), count(n), min(n) FROM w.a',
	'SELECT t, count(*), sum(i), sum(n) FROM w."B b" GROUP BY t ORDER BY t',
	'SELECT count(*), sum(i), count(t) FROM w.c WHERE n IS NULL OR n > 100');

sub oid_of
{
	return $node->safe_psql('postgres', "SELECT '$_[0]'::regclass::oid");
}

# Where in the log the first loader of a table was started; -1: none was.
sub started_at
{
	my ($table, $offset) = @_;
	my $oid = oid_of($table);

	return slurp_file($node->logfile, $offset) =~ /starting background worker process "gpuconc loader for table $oid"/ ? $-[0] : -1;
}

sub started
{
	my ($table, $offset) = @_;
	my $oid = oid_of($table);

	return log_has($node, qr/starting background worker process "gpuconc loader for table $oid"/, $offset);
}

sub rows_of_prewarm
{
	my ($call) = @_;

	return $node->safe_psql('postgres', "SELECT relation, pages = $pages AND pages > 0, problem FROM $call ORDER BY relation::text");
}

# The device has all that the queries want.
sub are_served
{
	my ($message) = @_;

	# A loader of kernels may still be at it, so that the first time may be PostgreSQL's.
	is_offloaded_soon($_, $message) for @queries;
	return;
}

sub is_offloaded_soon
{
	my ($query, $message) = @_;
	my $offset = -s $node->logfile;
	local $ENV{PGOPTIONS} = '-c gpuconc.debug_offload=require';

	local $Test::Builder::Level = $Test::Builder::Level + 2;
	ok($node->poll_query_until('postgres', $query, answer_of($node, $query, 'forbid')), "$message: $query");
	is(log_has($node, qr/starting background worker process "gpuconc loader/, $offset), 0, "$message: nothing was left to load");
	return;
}

$node->safe_psql('postgres', q{
CREATE SCHEMA w;
CREATE SCHEMA other;
CREATE TABLE w.a AS SELECT i, CASE WHEN i % 9 <> 0 THEN 't' || i % 50 END AS t, (i % 7 - 3)::numeric(9, 2) AS n FROM generate_series(1, 30000) i;
CREATE TABLE w."B b" AS SELECT CASE i % 3 WHEN 0 THEN -2147483648 WHEN 1 THEN 2147483647 END AS i, 't' || i % 4 AS t, nullif(i % 5, 0) AS n
FROM generate_series(1, 9000) i;
CREATE TABLE w.c AS SELECT 1 AS i, NULL::text AS t, nullif(i, 77) AS n FROM generate_series(1, 5000) i;
CREATE TABLE w.empty (i int);
CREATE UNLOGGED TABLE w.unlogged AS SELECT 1 AS i;
CREATE VIEW w.view AS SELECT 1 AS i;
CREATE TABLE other.a AS SELECT i FROM generate_series(1, 1000) i;
CREATE ROLE reader;
GRANT USAGE ON SCHEMA w, other TO reader;
GRANT SELECT ON w.c TO reader;
});
$node->safe_psql('postgres', 'VACUUM ANALYZE');

my $offset = -s $node->logfile;
is(rows_of_prewarm("gpuconc_prewarm_schema('w')"), qq{w."B b"|t|\nw.a|t|\nw.c|t|\nw.empty|f|}, 'a schema is loaded');
is(join(' ', map { started($_, $offset) } ('w.a', 'w."B b"', 'w.c', 'other.a')), '1 1 1 0', 'by one worker a table');
are_served('after a schema was loaded');

$offset = -s $node->logfile;
is($node->safe_psql('postgres', "SET gpuconc.loader_workers = 4; SELECT gpuconc_evict('w.a') > 0; SELECT pages > 0, problem FROM gpuconc_prewarm_tables('{w.a}')"),
	"t\nt|", 'one table');
cmp_ok(started('w.a', $offset), '>', 1, 'helpers are free for the only table');

is(rows_of_prewarm('gpuconc_prewarm_database()'), qq{other.a|t|\nw."B b"|t|\nw.a|t|\nw.c|t|\nw.empty|f|}, 'a database is loaded');

# What is cached already is brought up to date.
$node->safe_psql('postgres', "INSERT INTO w.a SELECT i, 'new', i FROM generate_series(1, 20000) i; UPDATE w.c SET i = 2 WHERE n < 50");
$node->safe_psql('postgres', 'VACUUM w.a, w.c');
is(rows_of_prewarm("gpuconc_prewarm_schema('w')"), qq{w."B b"|t|\nw.a|t|\nw.c|t|\nw.empty|f|}, 'new rows are loaded');
are_served('after new rows were loaded');

# Rights and bad input.
is($node->safe_psql('postgres', 'SET ROLE reader; SELECT relation, pages > 0, problem FROM gpuconc_prewarm_database()'), 'w.c|t|', 'only what the user may read');
sub error_of
{
	my ($status, $got, $error) = $node->psql('postgres', $_[0]);

	return $error;
}
like(error_of("SET ROLE reader; SELECT * FROM gpuconc_prewarm_tables('{w.c,w.a}')"), qr/permission denied for table a/, 'a table that it may not read');
like(error_of('SELECT * FROM gpuconc_prewarm_tables(ARRAY[NULL]::regclass[])'), qr/a table is NULL/, 'NULL');
is($node->safe_psql('postgres', "SELECT count(*) FROM gpuconc_prewarm_tables('{}')"), '0', 'no tables');
is($node->safe_psql('postgres', q{SELECT relation, pages, problem FROM gpuconc_prewarm_tables('{w.unlogged,w.view,pg_class}')}),
	"w.unlogged|0|it is an unlogged table\nw.view|0|it is not a table or materialized view\npg_class|0|it is a system catalog", 'what cannot be cached');
is($node->safe_psql('postgres', q{BEGIN; LOCK TABLE w.a IN ACCESS EXCLUSIVE MODE; SELECT problem FROM gpuconc_prewarm_tables('{w.a}'); ROLLBACK}),
	'this transaction holds an exclusive lock on it', 'a table that this transaction has for itself');
is($node->safe_psql('postgres', q{
CREATE TABLE w.points AS SELECT point(i, i) AS p FROM generate_series(1, 1000) i;
SELECT pages, problem FROM gpuconc_prewarm_tables('{w.points}')}), '0|it has no column that can be cached', 'a table of which nothing can be cached');

# What the log is said to tell, it tells.
$offset = -s $node->logfile;
is($node->safe_psql('postgres', q{SELECT gpuconc_evict('w.a') > 0;
BEGIN; LOCK TABLE w.a IN EXCLUSIVE MODE; SELECT pages, problem FROM gpuconc_prewarm_tables('{w.a}'); ROLLBACK}),
	"t\n0|it could not be loaded, as the server's log says", 'a table that a transaction is about to change');
my $a = oid_of('w.a');
is(log_has($node, qr/gpuconc did not load all columns of table $a\n.*Another session has an exclusive lock/, $offset), 1, 'the log says so');

# A loader says how far it is.  It stops at the last chunk, whose value it cannot read, and gives up after a second.
$node->safe_psql('postgres', q{
CREATE TABLE w.stuck (i int, big text);
ALTER TABLE w.stuck ALTER big SET STORAGE EXTERNAL;
INSERT INTO w.stuck SELECT i, 'x' FROM generate_series(1, 60000) i;
INSERT INTO w.stuck VALUES (0, repeat('y', 9000));
});
$node->safe_psql('postgres', 'VACUUM w.stuck');
my $blocker = $node->background_psql('postgres');
$blocker->query_safe(q{BEGIN; DO $$ BEGIN EXECUTE (SELECT 'REINDEX TABLE ' || reltoastrelid::regclass FROM pg_class WHERE relname = 'stuck'); END $$});
my $watcher = $node->background_psql('postgres');
my $watch = q{
\echo watching
DO $$
BEGIN
	WHILE NOT EXISTS (SELECT FROM pg_stat_activity AS session, pg_stat_activity AS loader
			WHERE session.application_name = 'to be cancelled' AND loader.query ~ '^gpuconc: load w.stuck, [1-9]\d* of [1-9]\d* chunks$') LOOP
		PERFORM pg_stat_clear_snapshot();
	END LOOP;
	PERFORM pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'to be cancelled';
END
$$;
\echo seen
};
is($node->safe_psql('postgres', "SELECT problem FROM gpuconc_prewarm_tables('{w.stuck}')"), "it could not be loaded, as the server's log says", 'a loader that gives up');
foreach my $how ('cancel', 'terminate')
{
	my $error;
	$offset = -s $node->logfile;
	$watcher->query_until(qr/watching/, $watch =~ s{pg_cancel_backend}{pg_${how}_backend}r);
	# Again where the loader has given up before the watcher had its turn.
	again_until(sub {
		# A loader that another one shared its table with may say how far it is for a second yet.
		wait_until($node, "SELECT ($loaders) = 0");
		$error = error_of("SET application_name = 'to be cancelled'; SELECT problem FROM gpuconc_prewarm_tables('{w.stuck}')");
		return $error ne '' });
	like($error, $how eq 'cancel' ? qr/canceling statement due to user request/ : qr/terminating connection due to administrator command/, "$how: a session that gives up");
	$watcher->query_until(qr/seen/, '');
	ok(1, "$how: its loader said how far it was");
	ok($node->wait_for_log(qr/terminating background worker "gpuconc loader" due to administrator command/, $offset), "$how: its loader ends");
}
is($node->safe_psql('postgres', "SELECT problem FROM gpuconc_prewarm_tables(ARRAY[99999999::oid::regclass])"), 'it does not exist', 'a table that is gone');
$blocker->query_safe('COMMIT');
is($node->safe_psql('postgres', "SELECT problem FROM gpuconc_prewarm_tables('{w.stuck}')"), '', 'later it is loaded');

# At the server's start, one at a time: the table that was scanned most often first.
$node->safe_psql('postgres', 'SELECT count(*) FROM w."B b"') for 1 .. 9;
# One that would come first is locked by a transaction that outlives the restart.
$node->safe_psql('postgres', 'CREATE TABLE w.locked AS SELECT 1 AS i');
$node->safe_psql('postgres', 'SELECT count(*) FROM w.locked') for 1 .. 20;
$node->safe_psql('postgres', "BEGIN; LOCK TABLE w.locked; PREPARE TRANSACTION 'locks'");
my ($status, $got, $error) = $node->psql('postgres', "ALTER SYSTEM SET gpuconc.warm_tables = 'w.a'");
like($error, qr/invalid value.*\n.*database\.schema\.table/, 'a name without its database');
$node->append_conf('postgresql.conf', q{
gpuconc.loader_workers = 0
gpuconc.warm_tables = 'postgres.w.c, nowhere.w.a, postgres.W.a,postgres.w."B b", postgres.w.gone, postgres.w.unlogged, postgres.w.points, postgres.w.locked'
});
$offset = -s $node->logfile;
$node->restart;
wait_until($node, q{SELECT count(DISTINCT relation) = 3 FROM gpuconc_cache});
wait_until($node, "SELECT ($loaders) = 0");
my @starts = map { started_at($_, $offset) } ('w."B b"', 'w.a', 'w.c');
cmp_ok($starts[0], '<', $starts[1], 'the most used table is loaded first');
is(join(' ', map { started($_, $offset) } ('w."B b"', 'w.a', 'w.c', 'w.stuck')), '1 1 1 0', 'each of the list is loaded');
are_served('after a start');
ok($node->wait_for_log(qr/does not load table "w.gone" of gpuconc.warm_tables: it does not exist/, $offset), 'a table that is gone');
ok($node->wait_for_log(qr/does not load table "w.unlogged" of gpuconc.warm_tables: it is an unlogged table/, $offset), 'one that cannot be cached');
ok($node->wait_for_log(qr/does not load table "w.locked" of gpuconc.warm_tables: another transaction has locked it/, $offset), 'one that is locked');
$node->safe_psql('postgres', "ROLLBACK PREPARED 'locks'");
ok($node->wait_for_log(qr/does not load table "w.points" of gpuconc.warm_tables: it has no column that can be cached/, $offset), 'one that has no such column');
ok($node->wait_for_log(qr/FATAL: +database "nowhere" does not exist/, $offset), 'a database that does not exist');

# What does not fit is not loaded, and pushes out nothing that was loaded before it.
$node->append_conf('postgresql.conf', "gpuconc.warm_tables = ''\ngpuconc.host_cache_size = 40MB");
$node->restart;
wait_for_worker($node);
foreach my $i (1 .. 5)
{
	$node->safe_psql('postgres', "CREATE TABLE w.large$i AS SELECT hashint8extended(i, 1) AS a, hashint8extended(i, 2) AS b, hashint8extended(i, 3) AS c, hashint8extended(i, 4) AS d FROM generate_series(1, 100000) i");
}
$node->safe_psql('postgres', 'VACUUM ANALYZE');
like($node->safe_psql('postgres', q{
SELECT string_agg(CASE WHEN problem IS NULL AND pages > 0 THEN 'y' ELSE 'n' END, '' ORDER BY relation::text)
FROM gpuconc_prewarm_tables('{w.large1,w.large2,w.large3,w.large4,w.large5}')}), qr/^y+n+$/, 'the first tables are loaded, the last do not fit');
is($node->safe_psql('postgres', "SELECT count(*) FROM gpuconc_cache WHERE relation = 'w.large1'::regclass AND problem IS NULL"), '4', 'the first is still there');

# Without background workers.
$node->append_conf('postgresql.conf', "max_worker_processes = 1\nmax_logical_replication_workers = 0");
$node->restart;
wait_for_worker($node);
is($node->safe_psql('postgres', "SELECT pages, problem FROM gpuconc_prewarm_tables('{w.a}')"), '0|no background worker is free', 'no worker is free');
is(log_has($node, qr/terminating any other active server processes/), 0, 'the server was never restarted');
$node->stop;
done_testing();

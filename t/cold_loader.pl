# Cold tables are loaded in the background (src/columns/load/table_loader.h): one loader for a table, however many
# sessions ask, and a few tables at a time.  Sessions do not depend on what becomes of a loader.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The server says at DEBUG1 which workers it starts.
my $node = new_server('cold_loader', q{
gpuconc.loader_workers = 0
gpuconc.cold = fallback
gpuconc.debug_offload = prefer
max_worker_processes = 24
log_min_messages = debug1
});
my $loaders = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'};
my $sessions = 16;

sub started
{
	my ($table) = @_;
	my $oid = $node->safe_psql('postgres', "SELECT '$table'::regclass::oid");

	return log_has($node, qr/starting background worker process "gpuconc loader for table $oid"/);
}

# Each session asks once, all at the same time.
sub ask_at_once
{
	my ($name, @queries) = @_;
	my $script = "$PostgreSQL::Test::Utils::tmp_check/$name.sql";

	append_to_file($script, join('', map { "$_;\n" } @queries));
	return $node->command_ok([ 'pgbench', '-n', '-c', $sessions, '-j', 2, '-t', 1, '-f', $script, 'postgres' ],
		"$name: sessions ask at once");
}

sub wait_for_loaders
{
	return wait_until($node, "SELECT ($loaders) = 0");
}

# A loader that was asked for may not have come yet: wait until these columns are there, and then for its end.
sub wait_for_columns
{
	my ($table, $columns) = @_;

	wait_until($node, "SELECT count(*) >= $columns FROM gpuconc_cache WHERE relation = '$table'::regclass");
	return wait_for_loaders();
}

# Loaded columns are served, though the kernels may still be compiled when the loader has ended.
sub is_served
{
	my ($table, $query, $message) = @_;
	my $began = started($table);
	local $ENV{PGOPTIONS} = '-c gpuconc.debug_offload=require';

	ok($node->poll_query_until('postgres', $query, answer_of($node, $query, 'forbid')), $message);
	is(started($table), $began, "$message: no other loader was started");
	return;
}

create_tables($node, 60000);
my $query = 'SELECT count(*), sum(n), min(s), max(d) FROM t';
ask_at_once('storm', $query);
wait_for_columns('t', 3);
is(started('t'), 1, 'one loader for all sessions');
is_served('t', $query, 'it has loaded the table');
is($node->safe_psql('postgres', "SET gpuconc.cold = wait; SELECT gpuconc_evict('t') > 0"), 't', 'evicted');
ask_at_once('storm of waiting sessions', 'SET gpuconc.cold = wait', $query);
is(started('t'), 1, 'sessions that wait load it themselves');

# Columns that are asked for while the loader is at it, more than a table mostly has, and names of dropped ones.
my $columns = 200;
$node->safe_psql('postgres', 'CREATE TABLE wide AS SELECT i AS c0, '
	  . join(', ', map { "i % $_ AS c$_" } 1 .. $columns) . ' FROM generate_series(1, 4000) i; '
	  . 'ALTER TABLE wide DROP COLUMN c7; VACUUM ANALYZE wide');
my @wide = map { 'SELECT count(*) FROM wide WHERE ' . join(' + ', map { "c$_" } @$_) . ' > 50' } [ 1 .. 6 ], [ 10 .. 60 ], [ 100, 150, 200 ];
ask_at_once('wide', @wide);
wait_for_columns('wide', 6);
ask_at_once('wide again', @wide);
wait_for_columns('wide', 60);
is_served('wide', $_, 'all columns are loaded') for @wide;

# More tables than have a loader at a time; all have their turn.
my @tables = map { "many$_" } 1 .. 12;
$node->safe_psql('postgres', "CREATE TABLE $_ AS SELECT i, i % 7 AS g, 'text ' || i AS t FROM generate_series(1, 8000) i")
  for @tables;
$node->safe_psql('postgres', 'VACUUM ANALYZE');
my @most = (0);
my $turn = 0;
again_until(sub {
	ask_at_once('many ' . ++$turn, map { "SELECT max(t), sum(i) FROM $_ WHERE g = 3" } @tables);
	push @most, $node->safe_psql('postgres', $loaders);
	wait_for_loaders();
	return $node->safe_psql('postgres', q{SELECT count(DISTINCT relation) FROM gpuconc_cache WHERE relation::text LIKE 'many%'}) == @tables });
is($node->safe_psql('postgres', q{SELECT count(DISTINCT relation) FROM gpuconc_cache WHERE relation::text LIKE 'many%'}),
	scalar @tables, 'all tables are loaded at last');
cmp_ok((sort { $b <=> $a } @most)[0], '<=', 4, 'few loaders at a time');

# A limit to sessions' transactions does not end loaders.
if ($node->pg_version >= 17)
{
	local $ENV{PGOPTIONS} = '-c transaction_timeout=0';

	$node->safe_psql('postgres', q{
CREATE TABLE limited AS SELECT i, 'text ' || i AS t FROM generate_series(1, 60000) i;
VACUUM ANALYZE limited;
ALTER DATABASE postgres SET transaction_timeout = '1ms'});
	$query = 'SELECT max(t), sum(i) FROM limited';
	$node->safe_psql('postgres', $query);
	wait_for_columns('limited', 2);
	$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET transaction_timeout');
	is(started('limited'), 1, 'a loader goes on for longer than transaction_timeout');
}

# A loader that cannot go on: the table's TOAST index is held.
$node->safe_psql('postgres', q{
CREATE TABLE toasted (i int, t text);
ALTER TABLE toasted ALTER t SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT i, repeat('x' || i, 1000) FROM generate_series(1, 20) i;
VACUUM ANALYZE toasted});
my $index = $node->safe_psql('postgres', q{
SELECT i.indexrelid::regclass FROM pg_class c, pg_index i WHERE c.oid = 'toasted'::regclass AND i.indrelid = c.reltoastrelid});
my $holder = $node->background_psql('postgres');
my $long = 'SELECT count(t) FROM toasted WHERE i > 0';
my ($said, $began);
$holder->query_safe("BEGIN; REINDEX INDEX $index");
# After ten seconds another may come: again, where the machine took as long to ask.  A loader waits for a second only,
# and none is started in the ten seconds after another.  So the query is asked until there is one.
again_until(sub {
	ok(again_until(sub {
		$node->safe_psql('postgres', $long);
		return $node->safe_psql('postgres',
			q{SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'gpuconc loader' AND wait_event_type = 'Lock'}) eq 't';
	}), 'a loader waits for a lock');
	my $failed = time;
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'});
	wait_for_loaders();
	$began = started('toasted');
	$said = $node->safe_psql('postgres', "EXPLAIN (ANALYZE, VERBOSE) $long");
	return time - $failed < 9 });
like($said, qr/could not be loaded in the background a moment ago/, 'a loader that failed is not started again at once');
is(started('toasted'), $began, 'no other was started');
$holder->query_safe('COMMIT');
$holder->quit;
$node->safe_psql('postgres', 'SET gpuconc.cold = wait; ' . $long);
is_offloaded($node, $long, 'a session loads it');

# The table goes while it is loaded.
$node->safe_psql('postgres', "CREATE TABLE gone AS SELECT i, 'text ' || i AS t FROM generate_series(1, 60000) i; VACUUM ANALYZE gone");
$node->safe_psql('postgres', 'SELECT max(t), sum(i) FROM gone; DROP TABLE gone');
wait_for_loaders();
$node->safe_psql('postgres', "CREATE TABLE gone AS SELECT i, 'text ' || i AS t FROM generate_series(1, 60000) i; VACUUM ANALYZE gone");
$node->safe_psql('postgres', 'SELECT max(t), sum(i) FROM gone; TRUNCATE gone; INSERT INTO gone VALUES (1, 2)');
is($node->safe_psql('postgres', 'SELECT max(t), sum(i) FROM gone'), '2|1', 'a table that was truncated while it was loaded');
wait_for_loaders();

# No worker is free: PostgreSQL's plan answers at once, and no session loads anything itself.
$node->append_conf('postgresql.conf', "max_worker_processes = 1\nmax_logical_replication_workers = 0");
$node->restart;
wait_for_worker($node);
$query = 'SELECT count(*), sum(n), min(s), max(d) FROM t';
is($node->safe_psql('postgres', $query), answer_of($node, $query, 'forbid'), 'no worker is free: an answer');
foreach my $cold ('debug_offload = prefer', 'debug_offload = allow; SET gpuconc.cold = auto')
{
	like($node->safe_psql('postgres', "SET gpuconc.$cold; EXPLAIN (ANALYZE, VERBOSE) $query"),
		qr/[Nn]o background worker is free to load columns/, "$cold: says so");
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM gpuconc_cache'), '0', 'nothing was loaded');
is_offloaded($node, "SET gpuconc.cold = wait; $query", 'who waits loads it');

is(log_has($node, qr/terminating any other active server processes/), 0, 'the server was never restarted');
$node->stop;
done_testing();

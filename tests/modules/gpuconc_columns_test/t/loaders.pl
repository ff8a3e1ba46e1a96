# Loader workers: they help, they may die, there may be none.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use ColumnsTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server(
	'loaders', q{
gpuconc.loader_workers = 2
max_worker_processes = 8
log_line_prefix = '%b '
});

create_blockable_table($node, 'l');

# With everything at hand, several processes share the work.
is( $node->safe_psql(
		'postgres',
		"SELECT code, chunks > 2 FROM gpuconc_columns_test_load('l')"),
	'ok|t',
	'loaded');
is_exact($node, 'l', 'exact with loaders');
nothing_in_use($node, 'after a load');

# Loaders are terminated while they hold chunks that they cannot finish; a server-
# side loop sees them as soon as they appear, which they do for a second at least.
my $blocker = $node->background_psql('postgres');
$blocker->query_safe('BEGIN; SELECT block_l();');
my $killer = $node->background_psql('postgres');
$killer->query_until(
	qr/watching/, q{
\echo watching
DO $$
DECLARE
	killed int := 0;
BEGIN
	-- they say what they do
	WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'
			AND application_name = 'gpuconc loader' AND query LIKE 'gpuconc: load public.l%') LOOP
		PERFORM pg_stat_clear_snapshot();
	END LOOP;
	WHILE killed < 2 LOOP
		killed := killed + (SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE backend_type = 'gpuconc loader' AND wait_event_type = 'Lock') AS x);
		PERFORM pg_stat_clear_snapshot();
	END LOOP;
END
$$;
\echo killed
});
my $session = $node->background_psql('postgres');
$session->query_until(
	qr/loading/, q{
\echo loading
SELECT 'code ' || code FROM gpuconc_columns_test_load('l');
});
$killer->query_until(qr/killed/, '');
ok(1, 'loaders were terminated');
$node->poll_query_until('postgres',
	"SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'")
  or die 'loaders do not end';
is( $node->safe_psql(
		'postgres', 'SELECT chunks_done < chunks_total, workers FROM gpuconc_load_progress'),
	't|0',
	'the load goes on without them');
$blocker->query_safe('COMMIT;');
like($session->query_until(qr/code/, "\n"), qr/code ok/, 'and ends well');
is_exact($node, 'l', 'exact after loaders were terminated');
nothing_in_use($node, 'after loaders were terminated');

# Left alone, a loader gives up its lock wait, and the load goes on, too.
my $log_offset = -s $node->logfile;
$blocker->query_safe('BEGIN; SELECT block_l();');
$session->query_until(
	qr/loading/, q{
\echo loading
SELECT 'code ' || code FROM gpuconc_columns_test_load('l');
});
ok($node->wait_for_log(qr/gpuconc loader ERROR:.*lock timeout/, $log_offset),
	'a loader does not wait long for a lock');
$blocker->query_safe('COMMIT;');
like($session->query_until(qr/code/, "\n"), qr/code ok/, 'load without them');
is_exact($node, 'l', 'exact after loaders gave up');
nothing_in_use($node, 'after loaders gave up');

# A loader does not queue behind a lock on the table: the load of a session that
# holds one already must not wait for an ALTER TABLE that waits for the session.
my $reader = $node->background_psql('postgres');
$reader->query_safe('BEGIN; SELECT count(*) FROM l;');
my $ddl = $node->background_psql('postgres');
$ddl->query_until(qr/altering/, "\\echo altering\nALTER TABLE l ADD COLUMN later int DEFAULT 3;\n");
$node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE%'})
  or die 'ALTER TABLE does not wait';
is($reader->query_safe("SELECT code FROM gpuconc_columns_test_load('l')"),
	'ok', 'load with an exclusive lock queued');
$reader->query_safe('COMMIT;');
$ddl->query_safe('SELECT 1');
is_exact($node, 'l', 'exact with the new column');
nothing_in_use($node, 'after DDL');

# A refresh in the background.
$node->safe_psql('postgres', "SELECT gpuconc_prewarm('l'); UPDATE l SET n = -1 WHERE id % 50 = 0;");
$node->poll_query_until('postgres',
	"SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'")
  or die 'loaders do not end';
$node->safe_psql('postgres', 'VACUUM l');
ok( $node->poll_query_until(
		'postgres', q{
SELECT complete FROM gpuconc_columns_test_served('l'), (SELECT gpuconc_columns_test_refresh('l')) AS r}),
	'refreshed in the background');
is_exact($node, 'l', 'exact after the refresh', ', load => false');
nothing_in_use($node, 'after a refresh');

# A dictionary that several loaders fill.
$node->safe_psql(
	'postgres', q{
CREATE TABLE words AS SELECT i AS id, 'w' || i AS own, 'x' || i % 5000 AS shared, md5((i % 20000)::text) AS md5
FROM generate_series(1, 60000) AS i;
});
vacuum_whole($node, 'words');
is( $node->safe_psql(
		'postgres', q{
SET gpuconc.loader_workers = 4;
SELECT code, chunks > 10 FROM gpuconc_columns_test_load('words')}),
	'ok|t', 'loaded dictionaries');
is_exact($node, 'words', 'exact dictionaries', ', load => false');
is($node->safe_psql('postgres', "SELECT complete FROM gpuconc_columns_test_served('words')"),
	't', 'served');
nothing_in_use($node, 'after dictionaries');

$_->quit for $blocker, $killer, $session, $reader, $ddl;

# No worker slots at all.
$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
restart_server($node);
is( $node->safe_psql('postgres', "SELECT code, workers FROM gpuconc_columns_test_load('l')"),
	'ok|0', 'load without worker slots');
is_exact($node, 'l', 'exact without worker slots');
$node->safe_psql('postgres', "SELECT gpuconc_columns_test_refresh('l')");
nothing_in_use($node, 'without worker slots');

$node->stop;
done_testing();

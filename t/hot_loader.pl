# Hot pages are loaded in the background (src/columns/load/table_loader.h): sessions ask, and do not wait.  Nor do they for
# pages that VACUUM has made all-visible.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('hot_loader', q{
gpuconc.loader_workers = 2
max_worker_processes = 16
gpuconc.debug_chunk_pages = 8168
});
my $query = 'SELECT count(*), sum(id), sum(n) FROM t';
my $loader = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'};

create_tables($node, 100000);
$node->safe_psql('postgres', qq{
CREATE FUNCTION told(kind text) RETURNS int LANGUAGE plpgsql AS \$\$
DECLARE
	plan json;
BEGIN
	SET LOCAL gpuconc.debug_offload = require;
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) $query' INTO plan;
	RETURN substring(plan::text FROM '"' || kind || '": (\\d+)');
END \$\$;
VACUUM t});
wait_until($node, "SELECT told('Delta Pages') = 0");
wait_until($node, "SELECT ($loader) = 0");

# Pages that are loaded, and looked at, for those that were written to and that VACUUM has made all-visible again.
sub after_vacuum
{
	my ($written, $then) = @_;
	my $stats = q{SELECT pages_loaded, pages_looked_at FROM gpuconc_stat};
	my (@before, @after);

	$node->safe_psql('postgres', "UPDATE t SET n = n + 1 WHERE $written");
	wait_until($node, q{SELECT told('Delta Pages') = 0});
	wait_until($node, "SELECT ($loader) = 0");
	$node->safe_psql('postgres', "VACUUM t; $then");
	@before = split(/\|/, $node->safe_psql('postgres', $stats));
	is_offloaded($node, $query, "VACUUM, $written");
	wait_until($node, "SELECT ($loader) = 0");
	@after = split(/\|/, $node->safe_psql('postgres', $stats));
	return ($after[0] - $before[0], $after[1] - $before[1]);
}
my $pages = $node->safe_psql('postgres', q{SELECT pg_relation_size('t') / current_setting('block_size')::int});
my ($loaded, $looked_at) = after_vacuum('id % 33000 = 8', 'UPDATE dim SET name = name WHERE k = 1');
cmp_ok($loaded, '<', $pages / 8, 'few pages of a chunk: it is not loaded anew');
cmp_ok($looked_at, '<', $pages / 8, 'few pages of a chunk: the others are not looked at');

# Nor does a loader begin for them, time and again.  With these settings it would be the only one.
$node->append_conf('postgresql.conf', "gpuconc.loader_workers = 0\nlog_min_messages = debug1");
$node->restart;
is_offloaded($node, $query, 'loaded by a session');
after_vacuum('id % 33000 = 10', 'UPDATE dim SET name = name WHERE k = 1');
is_offloaded($node, 'SELECT sum(k) FROM t', 'one more column, and so all pages are judged anew');
unlike(slurp_file($node->logfile), qr/registering background worker "gpuconc loader/, 'few pages: no loader begins');
$node->append_conf('postgresql.conf', "gpuconc.loader_workers = 2\nlog_min_messages = warning");

sub are_mended
{
	$node->safe_psql('postgres', q{SELECT count(told('Versioned Pages')) FROM generate_series(1, 400)});
	return $node->safe_psql('postgres', q{SELECT told('Versioned Pages') + told('Delta Pages')}) == 0;
}

# Once as many requests have read them as a chunk has pages, it is.
$node->restart;
is_offloaded($node, $query, 'loaded, without hot pages');
($loaded) = after_vacuum('id % 33000 = 12', 'UPDATE dim SET name = name WHERE k = 1');
is($loaded, 0, 'few pages, few requests: no chunk is loaded anew');
# With checksums, VACUUM moves the LSNs of the pages that it marks, so that they are not served by version at once.
cmp_ok($node->safe_psql('postgres', q{SELECT told('Versioned Pages') + told('Delta Pages')}), '>', 0, 'few pages, few requests: they are hot');
ok(again_until(\&are_mended), 'few pages, many requests: they are in the chunks of the heap');
is_offloaded($node, $query, 'few pages, many requests');

# Snapshots that are the same as before VACUUM do not hide that.
$node->safe_psql('postgres', 'UPDATE t SET n = n + 1 WHERE id % 33000 = 14');
wait_until($node, q{SELECT told('Delta Pages') = 0 AND told('Versioned Pages') > 0});
$node->safe_psql('postgres', q{SELECT count(told('Versioned Pages')) FROM generate_series(1, 10)});
$node->safe_psql('postgres', 'VACUUM t');
ok(again_until(\&are_mended), 'no transaction since VACUUM: they are in the chunks of the heap');
is_offloaded($node, $query, 'no transaction since VACUUM');

# Chunks that are loaded anew in the background are a few at a time, since hot pages wait for that.
$node->append_conf('postgresql.conf', 'gpuconc.debug_chunk_pages = 32');
$node->restart;
is_offloaded($node, $query, 'small chunks');
($loaded) = after_vacuum('id % 2000 = 9', 'UPDATE t SET n = n + 1 WHERE id % 4000 = 11');
cmp_ok($loaded, '<', $pages / 2, 'some pages of all chunks: few chunks are loaded anew at a time');

# Few pages: the session that finds them reads them itself, and they are loaded soon.
sub are_loaded
{
	my ($message) = @_;
	my $loaded = $node->safe_psql('postgres', 'SELECT pages_loaded FROM gpuconc_stat');

	$node->safe_psql('postgres', 'UPDATE t SET n = n + 1 WHERE id % 100 = 7');
	is($node->safe_psql('postgres', q{SELECT told('Chunks Loaded')}), '0', "$message: a session loads nothing itself");
	wait_until($node, q{SELECT told('Delta Pages') = 0 AND told('Versioned Pages') > 20});
	pass("$message: they are loaded");
	is($node->safe_psql('postgres', "SELECT pages_loaded > $loaded FROM gpuconc_stat"), 't', "$message: what the loader has read is counted");
	is_offloaded($node, $query, $message);
	return;
}
are_loaded('hot pages');
are_loaded('hot pages once more');

# Nobody waits for it, and it holds no lock in between.
$node->safe_psql('postgres', "SET lock_timeout = '${PostgreSQL::Test::Utils::timeout_default}s'; ALTER TABLE t ADD COLUMN late int");
is_offloaded($node, $query, 'a column was added');
are_loaded('a column was added');
wait_until($node, "SELECT ($loader) = 0");
pass('a loader without work ends');
are_loaded('another loader');
$node->safe_psql('postgres', 'DROP TABLE t');
wait_until($node, "SELECT ($loader) = 0");
pass('the table is dropped');

$node->stop;
done_testing();

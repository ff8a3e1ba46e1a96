# Hot pages are loaded in the background (src/columns/load/table_loader.h): sessions ask, and do not wait.

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
});
my $query = 'SELECT count(*), sum(id), sum(n) FROM t';
my $loader = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'};

create_tables($node, 30000);
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

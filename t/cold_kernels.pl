# The kernels of a cold statement are compiled as soon as its columns are there (src/columns/load/cold_plans.h), so that
# its second execution is offloaded.  The session that executed it first may be gone by then.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# PostgreSQL's plan does not wait for a compiler.
my $node = new_server('cold_kernels', q{
gpuconc.kernel_cache = 'gpuconc_kernels'
gpuconc.debug_gpu_kernels = off
gpuconc.cold = fallback
gpuconc.offload_cost = 0
max_worker_processes = 24
log_min_messages = debug1
});
my $loaders = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'};

$node->safe_psql('postgres', q{
CREATE TABLE one AS SELECT i, i % 13 AS k, i % 7 AS j, md5(i::text) AS t FROM generate_series(1, 60000) i;
CREATE TABLE two AS SELECT i AS k, i * 3 AS v, 'x' || i % 5 AS name FROM generate_series(0, 12) i;
CREATE TABLE parts (i int, k int) PARTITION BY RANGE (i);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (30000);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (30000) TO (70000);
INSERT INTO parts SELECT i, i % 11 FROM generate_series(1, 60000) i;
CREATE ROLE reader;
GRANT SELECT ON one TO reader});
$node->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE)');

# Each in a session of its own: one that asks, one that looks whether its kernels are there, and one that is offloaded.
sub second_is_offloaded
{
	my ($what, $query, $columns, %options) = @_;
	my $role = $options{role} ? "SET ROLE $options{role};" : '';
	my $expected = answer_of($node, "$role $query", 'forbid');
	my $cached = 'SELECT count(*) FROM gpuconc_cache WHERE relation::oid IN (' .
	  join(', ', map { "'$_'::regclass" } sort keys %$columns) . ')';
	my $count = 0;
	my ($stdout, $stderr);

	$count += $_ foreach values %$columns;
	$node->psql('postgres', "$role SET client_min_messages = debug1; $query", stdout => \$stdout, stderr => \$stderr);
	is($stdout, $expected, "$what: PostgreSQL's plan answers first");
	like($stderr, qr/olumns .*are loaded in the background/, "$what: and debug1 says why");
	wait_until($node, "SELECT ($cached) >= $count");
	wait_until($node, "SELECT ($loaders) = 0");
	ok(again_until(sub { $node->safe_psql('postgres', "$role EXPLAIN (COSTS OFF) $query") =~ /Gpuconc/ }), "$what: kernels are there");
	is(answer_of($node, "$role $query", 'require'), $expected, "$what: the second execution is offloaded");
	return;
}

second_is_offloaded('one table', 'SELECT k, sum(i * 3 - j), max(left(t, 2)) FROM one WHERE j <> 4 GROUP BY k ORDER BY k', { one => 4 });
$node->safe_psql('postgres', "SELECT gpuconc_evict('one')");
second_is_offloaded('two tables', 'SELECT name, sum(i * 5 + v) FROM one JOIN two USING (k) GROUP BY name ORDER BY name', { one => 2, two => 3 });
second_is_offloaded('partitions', 'SELECT k, sum(i * 11 - k) FROM parts GROUP BY k ORDER BY k', { parts_1 => 2, parts_2 => 2 });
$node->safe_psql('postgres', "SELECT gpuconc_evict('one')");
second_is_offloaded('another role', 'SELECT j, sum(i * 17 + k) FROM one GROUP BY j ORDER BY j', { one => 3 }, role => 'reader');

is(log_has($node, qr/ERROR|PANIC|TRAP/), 0, 'and no loader has failed');

# Where its kernels are there, a loader only learns that: nothing is executed.
my $again = 'SELECT k, sum(i * 3 - j), max(left(t, 2)) FROM one WHERE j <> 4 GROUP BY k ORDER BY k';
my $launches = stat_of($node, 'main_launches');
my $offset = -s $node->logfile;

$node->safe_psql('postgres', "SELECT gpuconc_evict('one')");
is(answer_of($node, $again, 'prefer'), answer_of($node, $again, 'forbid'), "kernels are there: PostgreSQL's plan answers first");
$node->wait_for_log(qr/gpuconc has asked for kernels ahead: ok/, $offset);
is(stat_of($node, 'main_launches') - $launches, 0, 'kernels are there: the loader has no request executed');
is(answer_of($node, $again, 'require'), answer_of($node, $again, 'forbid'), 'kernels are there: the second execution is offloaded');

# A function that a user has made does not run in a loader: neither one that is called, nor one that a type has.
$node->safe_psql('postgres', q{
CREATE FUNCTION seen(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN
	IF current_setting('application_name') = 'gpuconc loader' THEN RAISE WARNING 'called in a loader'; END IF;
	RETURN true;
END$$;
CREATE FUNCTION twice(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN
	RETURN CASE WHEN seen($1) THEN $1 * 2 END;
END$$;
CREATE DOMAIN length AS int CHECK (seen(VALUE))});
for my $calls ('SELECT twice(k), count(*) FROM one GROUP BY 1 ORDER BY 1', 'SELECT count(*), max(i) FROM one WHERE (length(t) + 1)::length > 5')
{
	$node->safe_psql('postgres', "SELECT gpuconc_evict('one')");
	my $expected = answer_of($node, $calls, 'forbid');

	is(answer_of($node, $calls, 'prefer'), $expected, "PostgreSQL's plan answers first: $calls");
	wait_until($node, q{SELECT count(*) >= 1 FROM gpuconc_cache WHERE relation = 'one'::regclass});
	wait_until($node, "SELECT ($loaders) = 0");
	is(log_has($node, qr/WARNING:  called in a loader/), 0, 'no loader calls it');
	ok(again_until(sub { $node->psql('postgres', "SET gpuconc.debug_offload = require; $calls") == 0 }), 'it is offloaded in the end');
}

$node->stop;
done_testing();

# Many sessions: prepared statements, settings that change, identical requests, which
# may share work only where their snapshots see the same, and parallel queries.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('sessions', "max_parallel_workers_per_gather = 2\nlog_statement = none\n");
create_tables($node);

#-------------------------------------------------------------------------
# prepared statements with parameters, custom plans and generic ones
#-------------------------------------------------------------------------
my @prepared = (
	[ 'SELECT count(*), sum(n) FROM t WHERE k = $1 AND s <> $2', 'int, text', [ q{7, 's1'}, q{8, 'none'}, q{NULL, 's2'}, q{-5, NULL}, q{99, ''} ] ],
	[ 'SELECT name, count(*), sum(id + $1) FROM t JOIN dim USING (k) WHERE d BETWEEN $2 AND $3 GROUP BY name ORDER BY name',
		'int, date, date', [ q{1, '1993-01-01', '1994-01-01'}, q{-1, '1994-01-01', '1993-01-01'}, q{0, NULL, '1994-01-01'}, q{100000, '-infinity', 'infinity'} ] ],
	[ 'SELECT id, n * $1 FROM t WHERE n < $2 AND k = ANY ($3) ORDER BY id', 'numeric, numeric, int[]',
		[ q{2, 50, '{1,2,3}'}, q{0.001, 99.999, '{}'}, q{1, 1000, '{NULL,5}'}, q{NULL, 20, '{7}'} ] ],
	[ 'SELECT count(*) FROM t WHERE s LIKE $1', 'text', [ q{'s1%'}, q{'%'}, q{NULL}, q{'_3'} ] ]);

my @sessions = map { session($node, "prepared$_") } (0 .. 5);
foreach my $n (0 .. $#prepared)
{
	$_->query_safe("PREPARE p$n ($prepared[$n]->[1]) AS $prepared[$n]->[0]") foreach (@sessions);
	foreach my $mode ('force_custom_plan', 'force_generic_plan', 'auto')
	{
		foreach my $args (@{ $prepared[$n]->[2] })
		{
			my $i = 0;
			my $expected = $node->safe_psql('postgres', qq{
SET gpuconc.debug_offload = forbid;
PREPARE p ($prepared[$n]->[1]) AS $prepared[$n]->[0];
EXECUTE p ($args)});
			my @different = grep {
				my $got = $_->query("SET plan_cache_mode = $mode; EXECUTE p$n ($args)");
				my $error = $_->{stderr};
				$_->{stderr} = '';
				# what the values decide is left to PostgreSQL
				if ($error =~ /unsupported value|always false/)
				{
					$got = $_->query_safe("SET gpuconc.debug_offload = allow; EXECUTE p$n ($args); SET gpuconc.debug_offload = require");
				}
				elsif ($error ne '')
				{
					diag $error;
				}
				$got ne $expected
			} @sessions;
			is(scalar @different, 0, "$mode: $prepared[$n]->[0] with $args");
		}
	}
}

#-------------------------------------------------------------------------
# the same request in two snapshots, both under way
#-------------------------------------------------------------------------
my $query = 'SELECT k, count(*), sum(id) FROM t WHERE k < 3 GROUP BY k ORDER BY k';
my $worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices');
my ($old, $new, $own, @same) = @sessions;
my $expected_old = answer_of($node, $query, 'forbid');

is($old->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ; $query"), $expected_old, 'an old snapshot');
$own->query_safe('BEGIN; DELETE FROM t WHERE k = 2');
$node->safe_psql('postgres', 'UPDATE t SET k = 1 WHERE id = 100; INSERT INTO t SELECT i, 0, 1, NULL, NULL FROM generate_series(1, 500) AS i');
my $expected_new = answer_of($node, $query, 'forbid');
$own->query_safe('SET gpuconc.debug_offload = forbid');
my $expected_own = $own->query_safe($query);
$own->query_safe('SET gpuconc.debug_offload = require');
isnt($expected_old, $expected_new, 'the snapshots differ');

foreach my $round (1 .. 5)
{
	# all of them wait when the worker begins
	suspend_workers($node, $worker);
	start_query($_, $query) foreach ($new, $old, $own, @same);
	wait_until_waiting($node, '^prepared', scalar @sessions);
	kill 'CONT', $worker;
	my @got = map { my $rows = $_->query_until(qr/over/, "\n"); $rows =~ s/^.*begun\n//s; $rows =~ s/\nover\n.*//s; $rows } ($new, $old, $own, @same);

	is($got[1], $expected_old, "at once, $round: the old snapshot");
	is($got[0], $expected_new, "at once, $round: the new one");
	is($got[2], $expected_own, "at once, $round: changes of one's own");
	is(join("\n\n", @got[ 3 .. $#got ]), join("\n\n", ($expected_new) x @same), "at once, $round: the others");
}
$old->query_safe('COMMIT');
$own->query_safe('ROLLBACK');

# identical requests of identical snapshots share, and one that is cancelled takes
# nobody with it
$node->safe_psql('postgres', 'VACUUM t; SELECT gpuconc_prewarm(\'t\'); SELECT gpuconc_stat_reset()');
foreach my $victim (0 .. 2)
{
	my $expected = answer_of($node, $queries[1], 'forbid');

	suspend_workers($node, $worker);
	start_query($sessions[$_], $queries[1]) for (0 .. $#sessions);
	wait_until_waiting($node, '^prepared', scalar @sessions);
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'prepared$victim'");
	$sessions[$victim]->query_until(qr/over/, "\n");
	kill 'CONT', $worker;
	my @got = map { $sessions[$_]->query_until(qr/over/, "\n") } grep { $_ != $victim } (0 .. $#sessions);
	is(scalar(grep { index($_, $expected) < 0 } @got), 0, "session $victim is cancelled: the others have their rows");
	$sessions[$victim]->{stderr} = '';
}
cmp_ok(stat_of($node, 'results_shared'), '>', 0, 'results were shared');
$_->quit foreach (@sessions);
nothing_held($node, 'prepared statements');

# Users who see other rows ask one text.
$node->safe_psql('postgres', q{
CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN;
GRANT SELECT ON t, dim TO ann, bob;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY ann ON t TO ann USING (k < 50);
CREATE POLICY bob ON t TO bob USING (k >= 50 AND s <> 's3')});
foreach my $q (@queries)
{
	is($node->safe_psql('postgres', "SET gpuconc.debug_offload = allow; SET ROLE $_; $q"),
		$node->safe_psql('postgres', "SET gpuconc.debug_offload = forbid; SET ROLE $_; $q"), "row security: $_: $q")
	  foreach ('ann', 'bob', 'postgres');
}
$node->safe_psql('postgres', 'ALTER TABLE t DISABLE ROW LEVEL SECURITY');

#-------------------------------------------------------------------------
# parallel queries of PostgreSQL's own around and instead of ours
#-------------------------------------------------------------------------
# 16 renamed it.
my $forced = $node->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
foreach my $settings (
	'max_parallel_workers_per_gather = 0',
	'max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0',
	"$forced = on", "$forced = regress", 'jit = on; SET jit_above_cost = 0')
{
	is($node->safe_psql('postgres', "SET $settings; SET gpuconc.debug_offload = require; $_"), answer_of($node, $_, 'forbid'), "$settings: $_")
	  foreach (@queries);
	# small parts are left to PostgreSQL
	is($node->safe_psql('postgres', "SET $settings; $_"), answer_of($node, $_, 'forbid'), "$settings: $_")
	  foreach ('SELECT count(*) FROM t AS a WHERE EXISTS (SELECT FROM t AS b WHERE b.id = a.id + 1 AND b.k > 50)',
		'SELECT sum(x) FROM (SELECT sum(id) AS x FROM t GROUP BY k UNION ALL SELECT count(*) FROM t JOIN dim USING (k)) AS y');
}

#-------------------------------------------------------------------------
# settings that change under sessions that are there
#-------------------------------------------------------------------------
my $session = $node->background_psql('postgres');
$session->query_safe("SET plan_cache_mode = force_generic_plan; PREPARE q AS $queries[1]; PREPARE f AS SELECT k, sum(n::float8) FROM t GROUP BY k ORDER BY k");
$session->query_safe('EXECUTE f');
my $expected = $session->query_safe('EXECUTE q');
foreach my $conf ('gpuconc.enabled = off', 'gpuconc.enabled = on', 'gpuconc.enable_float_aggs = off', 'gpuconc.enable_float_aggs = on',
	'gpuconc.debug_offload = forbid', 'gpuconc.debug_offload = allow', 'gpuconc.offload_cost = 100000', 'gpuconc.offload_cost = 0')
{
	my $before = stat_of($node, 'offloaded');
	my ($name, $value) = split / = /, $conf;
	$node->append_conf('postgresql.conf', $conf);
	$node->reload;
	$node->poll_query_until('postgres', "SELECT setting::text = '$value' FROM pg_settings WHERE name = '$name'") or die "no reload of $conf";
	is($session->query_safe('EXECUTE q'), $expected, "after a reload of $conf");
	$session->query_safe('EXECUTE f');
	is(stat_of($node, 'offloaded') - $before, { 'gpuconc.enabled = off' => 0, 'gpuconc.debug_offload = forbid' => 0, 'gpuconc.enable_float_aggs = off' => 1 }->{$conf} // 2,
		"after a reload of $conf: offloaded or not");
}
$session->quit;
nothing_held($node, 'at last');

$node->stop;
done_testing();

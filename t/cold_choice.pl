# A rewritten query whose columns are not loaded is not executed as PostgreSQL would execute it rewritten: the original
# is, until the columns are there (src/plan/cold_choice.h).  Plans that are kept are made again then.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Once it is loaded, one request is cheaper than twenty subqueries, each of which is cheaper than a request.
my $node = new_server('cold_choice', q{
gpuconc.cold = fallback
gpuconc.offload_cost = 100
gpuconc.debug_tuple_cost = 0
gpuconc.debug_build_cost = 0
max_worker_processes = 24
gpuconc.host_cache_size = 8MB
log_min_messages = debug1
});
my $loaders = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'};
my $query = 'SELECT count(*) FROM few WHERE v < (SELECT sum(n) FROM many WHERE k = few.k)';

$node->safe_psql('postgres', q{
CREATE TABLE few AS SELECT i AS k, i * 700 AS v FROM generate_series(1, 20) i;
CREATE TABLE many AS SELECT i AS n, (i * 7919::bigint % 1000)::int AS k FROM generate_series(1, 60000) i;
CREATE INDEX ON many (k)});
$node->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) few, many');
my $expected = answer_of($node, $query, 'forbid');

sub plan_of
{
	return $node->safe_psql('postgres', "EXPLAIN (VERBOSE, COSTS OFF) $query");
}

# A loader that was asked for may not have come yet: wait until the columns are there, and then for its end.
sub wait_for_columns
{
	wait_until($node, "SELECT count(*) = 2 FROM gpuconc_cache WHERE relation = '$_'::regclass") foreach qw(few many);
	wait_until($node, "SELECT ($loaders) = 0");
	return;
}

# How many loaders of the query's tables the server says that it has started.
sub loads_begun
{
	my $oids = $node->safe_psql('postgres', "SELECT string_agg(oid::text, '|') FROM pg_class WHERE relname IN ('few', 'many')");

	# Columns that another table's loader was asked for after theirs are there.
	$node->safe_psql('postgres', "SELECT gpuconc_evict('other'); SET gpuconc.debug_offload = prefer; SELECT sum(i) FROM other");
	wait_until($node, "SELECT count(*) = 1 FROM gpuconc_cache WHERE relation = 'other'::regclass");
	wait_until($node, "SELECT ($loaders) = 0");
	return log_has($node, qr/starting background worker process "gpuconc loader for table ($oids)"/);
}

# By PostgreSQL's plan of the original, which has a subquery; then by the rewritten query's.
sub becomes_offloaded
{
	my ($what) = @_;

	wait_for_columns();
	# The kernels that an execution asked for may still be compiled.
	ok(again_until(sub { plan_of() =~ /Gpuconc[A-Z].*groups of many/s }), "$what: the rewritten query is offloaded");
	is(answer_of($node, $query, 'allow'), $expected, "$what: the answer is the same");
	return;
}

$node->safe_psql('postgres', 'CREATE TABLE other AS SELECT i FROM generate_series(1, 10) i; VACUUM ANALYZE other');
my $begun = loads_begun();
like($node->safe_psql('postgres', "BEGIN; LOCK many; EXPLAIN (VERBOSE, COSTS OFF) $query; COMMIT"),
	qr/SubPlan.*cannot be loaded for now/s, 'a table that this transaction may have changed: the original is planned');
is(loads_begun(), $begun, 'and no load begins');

# Larger than all that is free beside columns in use, if its statistics were right.
$node->safe_psql('postgres', q{
CREATE TABLE used AS SELECT (i * 1000003::bigint % 2000000011)::int AS i FROM generate_series(1, 400000) i;
VACUUM ANALYZE used;
SET gpuconc.cold = wait;
SET gpuconc.debug_offload = require;
SELECT sum(i) FROM used;
RESET gpuconc.debug_offload;
UPDATE pg_class SET reltuples = 1e9 WHERE relname = 'many'});
like(plan_of(), qr/SubPlan/, 'columns in use: the original is planned');
is(loads_begun(), $begun, 'and no load begins');
$node->safe_psql('postgres', q{UPDATE pg_class SET reltuples = 60000 WHERE relname = 'many'});

# Users have no columns loaded that they may not read, unless a view lets them.
$node->safe_psql('postgres', "CREATE ROLE reader; CREATE VIEW seen AS $query; GRANT SELECT ON seen TO reader");
my ($status, $out, $error) = $node->psql('postgres', "SET ROLE reader; EXPLAIN $query");
like($error, qr/permission denied/, 'a user who may not read the tables');
is(loads_begun(), $begun, 'has no load begun');
is($node->safe_psql('postgres', 'SET ROLE reader; SELECT * FROM seen'), $expected, 'a view of which the user may read');
becomes_offloaded('loaded for a view');
($status, $out, $error) = $node->psql('postgres', "SET ROLE reader; $query");
like($error, qr/permission denied/, 'loaded: the user may still not read the tables');
$node->safe_psql('postgres', "DROP VIEW seen; DROP ROLE reader; SELECT gpuconc_evict('many'), gpuconc_evict('few')");

my $cold = plan_of();
like($cold, qr/SubPlan/, 'cold: the original is planned');
like($cold, qr/not offloaded: columns are loaded in the background/, 'cold: and it says why');
becomes_offloaded('loaded');

$node->safe_psql('postgres', "SELECT gpuconc_evict('many'), gpuconc_evict('few')");
is(answer_of($node, $query, 'allow'), $expected, 'evicted: the answer is the same');
becomes_offloaded('loaded again');

# In one session: a plan that a prepared statement keeps.
$node->safe_psql('postgres', "SELECT gpuconc_evict('many'), gpuconc_evict('few')");
my $session = $node->background_psql('postgres');
is($session->query_safe("PREPARE kept AS $query; EXECUTE kept"), $expected, 'cold: a prepared statement');
ok(again_until(sub { $session->query_safe('EXPLAIN (COSTS OFF) EXECUTE kept') =~ /groups of many/ }), 'its plan is made again');
is($session->query_safe('EXECUTE kept'), $expected, 'and the answer is the same');
$session->quit;

# A query that is not rewritten: PostgreSQL's own plan of all of it answers, not a node's fallback within the node's plan.
my @own = map { "SELECT $_" } '(SELECT sum(n) FROM many WHERE n % 2 = 1), (SELECT sum(i) FROM used)',
	'k, s, rank() OVER (ORDER BY s) FROM (SELECT k, sum(n) s FROM many GROUP BY k) x ORDER BY k LIMIT 3';
my %answers = map { $_ => answer_of($node, $_, 'forbid') } @own;

sub explained
{
	my ($query, $session) = @_;

	return $session ? $session->query_safe("EXPLAIN (VERBOSE, COSTS OFF) $query") :
	  $node->safe_psql('postgres', "EXPLAIN (VERBOSE, COSTS OFF) $query");
}

$session = $node->background_psql('postgres');
$session->query_safe("PREPARE own AS $own[1]");
foreach my $own (@own)
{
	for my $time ('once', 'again')
	{
		$node->safe_psql('postgres', "SELECT gpuconc_evict('many'), gpuconc_evict('used')");
		my $plan = explained($own, $session);
		unlike($plan, qr/Gpuconc[A-Z]/, "cold $time: PostgreSQL's own plan");
		like($plan, qr/not offloaded: columns are loaded in the background/, 'and it says why');
		is($session->query_safe($own), $answers{$own}, 'and answers');
		ok(again_until(sub { explained($own, $session) =~ /Gpuconc[A-Z]/ }), "loaded $time: it is offloaded");
		explained($own, $session) for 1 .. 3;
	}
}
$node->safe_psql('postgres', "SELECT gpuconc_evict('many')");
is($session->query_safe('EXECUTE own'), $answers{ $own[1] }, 'cold: a prepared statement answers');
ok(again_until(sub { $session->query_safe('EXPLAIN (COSTS OFF) EXECUTE own') =~ /Gpuconc[A-Z]/ }), 'its plan is made again');
$session->quit;

# Plans that are kept, and columns that go: one execution falls back, node by node; the next is planned first, without nodes.
# No loader gets at the columns meanwhile, since an index of the texts' own table is held.
$node->safe_psql('postgres', q{
CREATE TABLE toasted (i int, t text);
ALTER TABLE toasted ALTER t SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT i, CASE WHEN i % 10000 = 0 THEN repeat('x' || i, 1000) END FROM generate_series(1, 60000) i;
CREATE FUNCTION texts() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(t) FROM toasted WHERE i > 0);
END $$});
$node->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) toasted');
my $texts = 'SELECT i % 3 AS g, count(t) FROM toasted WHERE i > 0 GROUP BY 1 ORDER BY 1';
my $index = $node->safe_psql('postgres', q{
SELECT i.indexrelid::regclass FROM pg_class c, pg_index i WHERE c.oid = 'toasted'::regclass AND i.indrelid = c.reltoastrelid});
my $held = $node->background_psql('postgres');
foreach my $kept ([ 'a prepared statement', 'EXECUTE texts' ], [ 'a function', 'SELECT texts()' ])
{
	my ($what, $call) = @$kept;

	$session = $node->background_psql('postgres');
	$session->query_safe("SET plan_cache_mode = force_generic_plan; PREPARE texts AS $texts");
	my $answer = $session->query_safe("SET gpuconc.cold = wait; $call");
	my $offloaded = stat_of($node, 'offloaded');
	$session->query_safe("$call; RESET gpuconc.cold");
	is(stat_of($node, 'offloaded'), $offloaded + 1, "$what keeps a plan that is offloaded");
	$held->query_safe("BEGIN; REINDEX INDEX $index");
	$node->safe_psql('postgres', "SELECT gpuconc_evict('toasted')");
	my $requests = stat_of($node, 'requests');
	my $fallbacks = stat_of($node, 'fallbacks');
	is($session->query_safe($call), $answer, "$what whose columns have gone: the answer is the same");
	is(stat_of($node, 'fallbacks'), $fallbacks + 1, "$what: by the node's fallback");
	is($session->query_safe($call), $answer, "$what, again: the answer is the same");
	is(stat_of($node, 'requests'), $requests + 1, "$what, again: there is no node");
	is(stat_of($node, 'fallbacks'), $fallbacks + 1, "$what, again: nothing fell back");
	unlike($session->query_safe('EXPLAIN (COSTS OFF) EXECUTE texts'), qr/Gpuconc[A-Z]/, "$what: PostgreSQL's own plan is kept")
	  if $call =~ /^EXECUTE/;
	$held->query_safe('ROLLBACK');
	ok( again_until(sub {
				$session->query_safe($call);
				return stat_of($node, 'offloaded') > $offloaded + 1 }),
		"$what: it is offloaded once the columns are back");
	is($session->query_safe($call), $answer, "$what: the answer is the same");
	$session->quit;
}
$held->quit;

# A large table's columns are there, and a smaller one's are not: only that node falls back.
$node->safe_psql('postgres', "SELECT gpuconc_evict('many'); SET gpuconc.cold = wait; SELECT sum(i) FROM used");
like(explained($own[0]), qr/Gpuconc[A-Z].*Gpuconc[A-Z]/s, 'what is loaded pays for what is not');
is($node->safe_psql('postgres', $own[0]), $answers{ $own[0] }, 'and the answer is the same');

# A value that cannot be cached: once that is known, PostgreSQL's own plan answers, until the value is gone.
$node->safe_psql('postgres', q{
CREATE TABLE odd AS SELECT i % 3 AS g, i, CASE WHEN i = 500 THEN 'NaN' ELSE i / 4.0 END::numeric(12, 2) AS n FROM generate_series(1, 60000) i});
$node->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) odd');
my $odd = 'SELECT g, sum(n) FROM odd GROUP BY g ORDER BY g';
my $kept_odd = $node->background_psql('postgres');
my $odd_answer = answer_of($node, $odd, 'forbid');
is($kept_odd->query_safe("PREPARE odd AS $odd; EXECUTE odd"), $odd_answer, 'a NaN: the answer while columns are loaded');
ok(again_until(sub { explained($odd) =~ /not offloaded: numeric value is NaN or infinite/ }), 'a NaN: the plan says why');
unlike(explained($odd), qr/Gpuconc[A-Z]/, 'a NaN: it is PostgreSQL\'s own');
my $fell_back = stat_of($node, 'fallbacks');
is(answer_of($node, $odd, 'allow'), $odd_answer, 'a NaN: the answer');
is(stat_of($node, 'fallbacks'), $fell_back, 'a NaN: nothing fell back');
$node->safe_psql('postgres', 'DELETE FROM odd WHERE i = 500');
$node->safe_psql('postgres', 'VACUUM (FREEZE) odd');
$odd_answer = answer_of($node, $odd, 'forbid');
ok(again_until(sub { explained($odd) =~ /Gpuconc[A-Z]/ && $node->safe_psql('postgres', $odd) eq $odd_answer }), 'without it: it is offloaded');
ok(again_until(sub { $kept_odd->query_safe('EXPLAIN (COSTS OFF) EXECUTE odd') =~ /Gpuconc[A-Z]/ }), 'and the plan that is kept is made again');
is($kept_odd->query_safe('EXECUTE odd'), $odd_answer, 'with the answer');

# The value is back: neither a plan that is kept, nor a statement whose columns this session has seen loaded, stays with its node.
like($kept_odd->query_safe("$odd; $odd; EXPLAIN (COSTS OFF) $odd"), qr/Gpuconc[A-Z]/, 'the session has seen the columns loaded');
$node->safe_psql('postgres', "UPDATE odd SET n = 'NaN' WHERE i = 700");
$node->safe_psql('postgres', 'VACUUM (FREEZE) odd');
$odd_answer = answer_of($node, $odd, 'forbid');
ok( again_until(sub {
			return $kept_odd->query_safe('EXECUTE odd') eq $odd_answer
			  && $kept_odd->query_safe('EXPLAIN (COSTS OFF) EXECUTE odd') !~ /Gpuconc[A-Z]/ }),
	'a NaN again: the plan that is kept becomes PostgreSQL\'s own');
unlike($kept_odd->query_safe("EXPLAIN (COSTS OFF) $odd"), qr/Gpuconc[A-Z]/, 'and so does the statement\'s');
$kept_odd->quit;
$node->safe_psql('postgres', 'DROP TABLE odd');

# PostgreSQL's own plan is estimated to take days.
$node->safe_psql('postgres', "SELECT gpuconc_evict('many')");
like($node->safe_psql('postgres', "SET gpuconc.cold = auto; SET cpu_operator_cost = 1000000; EXPLAIN (COSTS OFF) $own[0]"),
	qr/Gpuconc[A-Z]/, 'a query that is sooner if it waits does');

# A table that is gone while it is loaded, and a statement that has no time for it.
$node->safe_psql('postgres', "SELECT gpuconc_evict('many'), gpuconc_evict('few')");
is($node->safe_psql('postgres', "BEGIN; $query; DROP TABLE many; ROLLBACK; $query"), "$expected\n$expected", 'dropped, and not');
$node->safe_psql('postgres', 'DROP TABLE many');
wait_until($node, "SELECT ($loaders) = 0");
nothing_held($node, 'after loads');

$node->stop;
done_testing();

# A request that takes many times what PostgreSQL's own plan was expected to take is stopped, and that plan answers.  Which of the
# two was sooner is remembered.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Floats are no keys of the device's builds.  So each row of one table is tried for each row of the other, 10^11 times, while
# PostgreSQL hashes them.
my $node = new_server('slow', "gpuconc.debug_pair_cost = 0\nmax_parallel_workers_per_gather = 0\n");
$node->safe_psql('postgres', q{
CREATE TABLE span AS SELECT i AS id, (i * 7)::float8 AS x FROM generate_series(1, 300000) AS i;
CREATE TABLE point AS SELECT i AS id, (i * 5)::float8 AS x FROM generate_series(1, 400000) AS i;
VACUUM (FREEZE, ANALYZE) span, point});
my $query = 'SELECT count(*), sum(span.id), sum(point.id) FROM span, point WHERE span.x = point.x';
my $expected = answer_of($node, $query, 'forbid');
my $few = "$query AND span.id <= 1000";
my $few_expected = answer_of($node, $few, 'forbid');

sub too_slow
{
	return $node->safe_psql('postgres', q{SELECT coalesce((fallback_reasons ->> 'too slow')::int, 0) FROM gpuconc_stat});
}

# Is the device asked for this, and not PostgreSQL's own plan?  Then it is cancelled.  And the rows.
sub device_is_asked
{
	my ($session, $asked) = @_;
	my ($launches, $slow) = (stat_of($node, 'main_launches'), too_slow());

	ask($session, $asked);
	wait_until($node, "SELECT main_launches > $launches OR (fallback_reasons ->> 'too slow')::int > $slow FROM gpuconc_stat, gpuconc_stat_sharing",
		'who answers is decided');
	my $is_asked = stat_of($node, 'main_launches') > $launches;
	$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'slow'}) if $is_asked;
	return ($is_asked, rows_of($session));
}

# In one session; those of others follow.
my $session = session($node, 'slow');
my $allow = 'SET gpuconc.debug_offload = allow;';

$session->query_safe($allow);
like($session->query_safe("EXPLAIN $query"), qr/Custom Scan \(GpuconcAggregate\)/, 'the device is chosen, by a wrong estimate');
is(too_slow(), 0, 'nothing was too slow so far');
is($session->query_safe($query), $expected, 'the answer of a request that was stopped');
is(too_slow(), 1, 'it was too slow');
wait_until($node, 'SELECT running = 0 FROM gpuconc_devices', 'the device is free');

my $launches = stat_of($node, 'main_launches');

is($session->query_safe($query), $expected, 'the answer, again');
is(too_slow(), 2, "PostgreSQL's own plan has won");
is(answer_of($node, $query, 'allow'), $expected, 'the answer, in another session');
is(too_slow(), 3, 'which knows of it');
is(stat_of($node, 'main_launches'), $launches, 'the device was not asked');

# It is always asked where that is forced, and what comes in time is taken.
is(answer_of($node, $few, 'require'), $few_expected, 'a forced request has no limit');
is(too_slow(), 3, 'nor is it left to PostgreSQL');

# A LIMIT wants no more rows than its plan has given: that one has come to its end.
my $first = 'SELECT span.id FROM span, point WHERE span.x = point.x ORDER BY span.id LIMIT 5';
my $first_expected = answer_of($node, $first, 'forbid');

like(answer_of($node, "EXPLAIN $first", 'allow'), qr/Custom Scan \(GpuconcJoin\)/, 'the device is chosen for the first rows');
is(answer_of($node, $first, 'allow'), $first_expected, 'the first rows of a request that was stopped');
is(too_slow(), 4, 'it was too slow');
wait_until($node, 'SELECT running = 0 FROM gpuconc_devices', 'the device is free again');
my ($asked, $rows) = device_is_asked($session, $first);
is($asked, '', "PostgreSQL's own plan has won here, too");
is($rows, $first_expected, 'the first rows, again');

# Nobody knows how long the plan of a cursor that is closed early would have taken.
my $all = 'SELECT span.id FROM span, point WHERE span.x = point.x';

$session->query_safe('SET cursor_tuple_fraction = 1');
like($session->query_safe("EXPLAIN DECLARE c CURSOR FOR $all"), qr/Custom Scan \(GpuconcJoin\)/, 'the device is chosen for a cursor');
isnt($session->query_safe("BEGIN; DECLARE c CURSOR FOR $all; FETCH 1 FROM c"), '', 'a row of a request that was stopped');
is(too_slow(), 6, 'it was too slow');
$session->query_safe('CLOSE c; COMMIT');
wait_until($node, 'SELECT running = 0 FROM gpuconc_devices', 'the device is free once more');
($asked, $rows) = device_is_asked($session, $all);
ok($asked, 'the device is asked again');
like($rows, qr/canceling statement due to user request/, 'until it is cancelled');

# With few rows the device is soon done.  It is asked where that is forced, though PostgreSQL's plan is known to be sooner.
$node->safe_psql('postgres', 'DELETE FROM span WHERE id > 1000');
$launches = stat_of($node, 'main_launches');
is(answer_of($node, $query, 'require'), $few_expected, 'a request that is forced, though the own plan has won');
cmp_ok(stat_of($node, 'main_launches'), '>', $launches, 'the device was asked');
is(answer_of($node, $query, 'allow'), $few_expected, 'the answer of one that is not forced');
is(too_slow(), 7, "it is PostgreSQL's");
$session->quit;

# PostgreSQL's own plan may be the one that was estimated too low: its tables have 10^5 rows, and 1 is expected.  So it takes
# longer than the request had, which was too little.
$node->safe_psql('postgres', q{
CREATE TABLE left_rows AS SELECT i AS id, (i * 7)::float8 AS x FROM generate_series(1, 30000) AS i;
CREATE TABLE right_rows AS SELECT i AS id, (i * 5)::float8 AS x FROM generate_series(1, 120000) AS i;
VACUUM (FREEZE, ANALYZE) left_rows, right_rows});
my $hashed = 'SELECT count(*), sum(l.id), sum(r.id) FROM left_rows AS l, right_rows AS r WHERE l.x = r.x';
my $hashed_expected = answer_of($node, $hashed, 'forbid');

$node->safe_psql('postgres', q{UPDATE pg_class SET reltuples = 1 WHERE relname IN ('left_rows', 'right_rows')});

$session = session($node, 'estimated');
$session->query_safe("$allow SET gpuconc.debug_least_limit = 0; SET enable_nestloop = off; SET enable_mergejoin = off");
is($session->query_safe($hashed), $hashed_expected, 'the answer of a request that had too little time');
is(too_slow(), 8, 'it was too slow');
wait_until($node, 'SELECT running = 0 FROM gpuconc_devices', 'the device is free again');
$launches = stat_of($node, 'main_launches');
is($session->query_safe($hashed), $hashed_expected, 'the answer, again');
cmp_ok(stat_of($node, 'main_launches'), '>', $launches, "the device is asked again, as PostgreSQL's own plan took longer");
$session->quit;
nothing_held($node, 'in the end');
$node->stop;
done_testing();

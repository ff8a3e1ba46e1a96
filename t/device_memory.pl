# Columns that do not fit device memory all at once: what goes (gpuconc.replacement), and how many requests
# begin (gpuconc.admission).  On a pretended GPU, which has memory of its own.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('memory', q{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.device_memory_limit = 16MB
max_parallel_workers_per_gather = 0
});

# Eight columns of up to 3.5 MB each, as chunks of 32 pages are padded.
$node->safe_psql('postgres', q{
CREATE TABLE w AS SELECT i AS a, CASE WHEN i % 19 <> 0 THEN i * 7919::bigint % 1000003 END AS b, i * 104729::bigint % 1000033 AS c,
	i * 1299709::bigint % 999983 AS d, i % 37 AS e, i * 31::bigint % 900001 AS f, i * 17::bigint % 800011 AS g,
	i * 13::bigint % 700001 AS h FROM generate_series(1, 150001) AS i;
CREATE TABLE s AS SELECT i AS e, 'name ' || i % 5 AS name FROM generate_series(0, 36) AS i;
VACUUM ANALYZE w, s});

my @asked = (
	'SELECT count(*), sum(b), min(c), max(d) FROM w',
	'SELECT count(*), sum(d), min(f), max(g) FROM w WHERE a > 1000',
	'SELECT count(*), sum(g), min(h), max(b) FROM w WHERE a % 7 = 3',
	'SELECT name, count(*), sum(c) FROM w JOIN s USING (e) WHERE f > 5000 GROUP BY name ORDER BY name',
	'SELECT e, count(*), sum(h), max(f) FROM w GROUP BY e ORDER BY e');

sub stats { return map { stat_of($node, $_) } ('fallbacks', 'evictions', 'evicted_bytes', 'region_hits', 'region_misses') }

# A column that is loaded makes another directory, which has the chunks of the others: they count as found.
configure($node, 'gpuconc.replacement' => 'lru');
is_offloaded($node, 'SELECT count(*), sum(e) FROM w', 'one column');
my $found = stat_of($node, 'region_hits');
is_offloaded($node, 'SELECT sum(e), sum(a) FROM w', 'and another one');
cmp_ok(stat_of($node, 'region_hits'), '>', $found, 'chunks of the former directory were found');

foreach my $policy ('lru', 'lfu', 'cdr', 'value')
{
	configure($node, 'gpuconc.replacement' => $policy);
	my @before = stats();
	is_offloaded($node, join(';', @asked, reverse @asked), "$policy: answers");
	my @after = stats();
	is($after[0], $before[0], "$policy: no fallback");
	cmp_ok($after[1], '>', $before[1], "$policy: chunks were evicted");
	cmp_ok($after[2], '>', $before[2] + 1000000, "$policy: of more than a megabyte");
	cmp_ok($after[3], '>', $before[3], "$policy: others were found");
	cmp_ok($after[4], '>', $before[4], "$policy: others were copied");
}

# A cycle of slightly more than fits: by `value` most of it stays, by `lru` nothing does.
sub misses_of_cycle
{
	my ($policy) = @_;
	my $cycle = join(';', map { "SELECT sum($_), min($_) FROM w" } (('a', 'b', 'c', 'd', 'f', 'g', 'h') x 6));

	configure($node, 'gpuconc.replacement' => $policy);
	is_offloaded($node, $cycle, "cycle, $policy");
	my $before = stat_of($node, 'region_misses');
	is_offloaded($node, $cycle, "cycle once more, $policy");
	return stat_of($node, 'region_misses') - $before;
}
my ($lru, $value) = map { misses_of_cycle($_) } ('lru', 'value');
cmp_ok($value, '<', $lru / 2, "of a cycle, value keeps more than lru: $value chunks copied, not $lru");

my @expected = map { answer_of($node, $_, 'forbid') } @asked;
my @sessions = map { session($node, "memory$_") } (0 .. $#asked);
foreach my $policy ('fix-1', 'fix-2', 'fix-3', 'peak', 'weight')
{
	configure($node, 'gpuconc.admission' => $policy);
	my @before = stats();
	my $waves = stat_of($node, 'waves');
	foreach my $round (1 .. 4)
	{
		# Not held back until all are ready: then those that are not admitted would never be.
		ask($sessions[$_], $asked[$_]) for (0 .. $#asked);
		is(rows_of($sessions[$_]), $expected[$_], "$policy, round $round, session $_") for (0 .. $#asked);
	}
	is(stat_of($node, 'fallbacks'), $before[0], "$policy: no fallback");
	# The cached columns may have settled: then the rest comes in waves.
	cmp_ok(stat_of($node, 'evictions') + stat_of($node, 'waves'), '>', $before[1] + $waves, "$policy: memory was short");
}

$_->quit foreach (@sessions);
nothing_held($node, 'at the end');

# The time of decisions is counted, and all of it reset.
is($node->safe_psql('postgres', q{
SELECT evict_decisions > 0 AND evict_decision_max > 0 AND evict_decision_time >= evict_decision_max
	AND admissions > 0 AND admission_max > 0 AND admission_time >= admission_max FROM gpuconc_stat_memory}), 't', 'time of decisions');
$node->safe_psql('postgres', 'SELECT gpuconc_stat_reset()');
is($node->safe_psql('postgres', q{
SELECT waves + region_hits + evicted_bytes + evict_decisions + evict_decision_max + admissions + admission_max FROM gpuconc_stat_memory}),
	'0', 'reset');

# The link is measured where there is one.  A new worker takes as much memory as is set then.
is($node->safe_psql('postgres', 'SELECT link_bandwidth > 1e6, memory_limit FROM gpuconc_devices'), 't|16777216', 'the link');
configure($node, 'gpuconc.device_memory_limit' => '24MB');
end_worker($node);
is($node->safe_psql('postgres', 'SELECT memory_limit FROM gpuconc_devices'), 24 * 1024 * 1024, 'another limit');
is_offloaded($node, $asked[0], 'and with it');

# Rows of three subqueries are kept: twice the room that each needs would be more than there is.  Those of five are too many.
$node->safe_psql('postgres', 'CREATE TABLE k AS SELECT i AS id, i % 1000 AS k, i % 7 AS g, CASE WHEN i % 13 <> 0 THEN i * 3 END AS v '
	  . 'FROM generate_series(1, 100000) AS i; VACUUM ANALYZE k');
sub kept
{
	my ($most) = @_;

	return 'SET gpuconc.debug_rewrite = always; SELECT count(*)' . join('', map { ", sum(x$_.v), sum(x$_.k)" } (1 .. $most)) . ' FROM ' . join(' JOIN ', map {
		"(SELECT id, k, v, row_number() OVER (PARTITION BY k ORDER BY id) AS r FROM k WHERE g NOT BETWEEN $_ AND $_ + 3) AS x$_" . ($_ > 1 ? ' USING (id)' : '') } (1 .. $most))
	  . ' WHERE ' . join(' AND ', map { "x$_.r < 40" } (1 .. $most));
}
is_offloaded($node, kept($_), "rows of $_ subqueries are kept") foreach (1 .. 3, 5);
$node->stop;
done_testing();

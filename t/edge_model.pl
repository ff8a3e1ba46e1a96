# The model of edges: what it chooses is tried once the fused kernel was measured, and what was measured decides.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# A device on which waiting for memory is all that counts, and packets cost nothing.
my $calibration = "$PostgreSQL::Test::Utils::tmp_check/edges.calibration";
append_to_file($calibration, "l2_latency_us = 500\nmemory_latency_us = 900\nturn_us = 0\nchannel_bandwidth = 1\n");
my $node = new_server('edge_model', "gpuconc.debug_pretend_gpu = 'H200'\ngpuconc.calibration_file = '$calibration'\n"
	. "gpuconc.debug_shared_selection = off\nmax_parallel_workers_per_gather = 0\n");
$node->safe_psql('postgres', q{
CREATE TABLE f AS SELECT (i * 7919::bigint % 10007)::int AS a, (i * 104729::bigint % 20011)::int AS b, i % 10 AS d FROM generate_series(1, 1050000) i;
CREATE TABLE da AS SELECT i * 1000003::bigint AS k, i % 10 AS v FROM generate_series(0, 10006) i;
CREATE TABLE db AS SELECT i * 1000003::bigint AS k, i % 10 AS v FROM generate_series(0, 20010) i;
ALTER TABLE da ADD PRIMARY KEY (k);
ALTER TABLE db ADD PRIMARY KEY (k);
VACUUM ANALYZE f, da, db});
my $query = 'SELECT count(*), sum(da.v + db.v + d) FROM f, da, db WHERE a * 1000003::bigint = da.k AND b * 1000003::bigint = db.k AND da.v = 1 AND db.v = 2';
my $expected = $node->safe_psql('postgres', "SET gpuconc.enabled = off; $query");

# The edge of an execution, with how it was predicted; "-" where nothing is told.
sub edge
{
	my ($settings) = @_;
	my $plan = $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $settings EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) $query");

	return $plan =~ /Edges: (.*)/ ? $1 : '-';
}

sub answer
{
	return $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $query");
}

# Times of a node's kernels, in builds and in all; and of the main one.
sub kernel_times
{
	my ($sql) = @_;
	my $plan = $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; SET gpuconc.debug_pipeline_edge = fuse; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) $sql");
	my ($builds) = $plan =~ /builds run=(\d+)/;
	my ($all) = $plan =~ /Device Timings: .*kernels=([\d.]+)/;
	my ($main) = $plan =~ /Edges: fuse; predicted [\d.]+ ms, took ([\d.]+) ms/;

	return ($builds // 0, $all, $main // '-');
}

like(edge(''), qr/^fuse; predicted [\d.]+ ms, took [\d.]+ ms$/, 'nothing was measured yet: fused, with a prediction');
{
	my $other = $query =~ s/da.v = 1/da.v = 3/r;
	my ($builds, $all, $main) = kernel_times($other);

	ok($builds > 0 && $main < $all, "what builds took is not in what was predicted: $main of $all ms, with $builds builds");
	($builds, $all, $main) = kernel_times($other);
	ok($builds == 0 && $main == $all, "where others' builds are there, it is all: $main of $all ms");
	isnt((kernel_times('SELECT count(*), sum(v) FROM da WHERE v > 3'))[2], '-', 'a scan of few rows is predicted, too');
	isnt((kernel_times('SELECT count(*), max(n) FROM (SELECT d, a, count(*) AS n FROM f GROUP BY d, a HAVING count(*) > 1) AS g'))[2], '-', 'and one of groups');
}
# It is tried once its kernels are there.
my $tried;
again_until(sub { $tried = edge(''); $tried =~ /^refill/ });
like($tried, qr/^refill before step \d+; predicted [\d.]+ ms, took [\d.]+ ms$/, 'then the edge is tried that is predicted to be faster');
is(answer(), $expected, 'the answer stays the same') foreach (1 .. 3);
# Corrected predictions are measured times.  Each execution changes them, so they are looked at before and after.
my ($step) = $tried =~ /before step (\d+)/;
my %set = (fuse => 'SET gpuconc.debug_pipeline_edge = fuse;', refill => "SET gpuconc.debug_pipeline_edge = refill; SET gpuconc.debug_edge_step = $step;");
my ($right, $wrong) = (0, 0);

sub faster
{
	my %ms = map { $_ => edge($set{$_}) =~ /^$_.*predicted ([\d.]+)/ ? $1 : die "no prediction for $_" } qw(fuse refill);

	return $ms{fuse} <= $ms{refill} ? 'fuse' : 'refill';
}

foreach (1 .. 9)
{
	my $before = faster();
	my ($chosen) = edge('') =~ /^(\w+)/;

	# Which one it is may just change.
	next if faster() ne $before;
	$chosen eq $before ? $right++ : $wrong++;
}
cmp_ok($right, '>', $wrong, "what was measured decides: $right times, and not $wrong times");
like(edge('SET gpuconc.debug_pipeline_edge = fuse;'), qr/^fuse; predicted/, 'an edge that is forced: fuse');
like(edge('SET gpuconc.debug_pipeline_edge = materialize;'), qr/^materialize before step \d+; predicted [\d.]+ ms, took [\d.]+ ms$/, 'an edge that is forced: materialize');
is(answer(), $expected, 'the answer stays the same after all of these');

# A pipeline that makes groups for another one is measured, too, and has edges by that.
my $groups = 'SELECT count(*), max(n), sum(s) FROM (SELECT b, count(*) AS n, sum(d) AS s FROM f, da, db WHERE a * 1000003::bigint = da.k AND b * 1000003::bigint = db.k AND da.v = 1 AND db.v = 2 GROUP BY b HAVING count(*) > 1) AS x';
my $expected_groups = $node->safe_psql('postgres', "SET gpuconc.enabled = off; $groups");

sub below
{
	my ($settings) = @_;
	my $plan = $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $settings EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) $groups");

	return $plan =~ /Edges Below: (.*)/ ? $1 : $plan;
}

like(below('SET gpuconc.debug_pipeline_edge = fuse;'), qr/^fuse; predicted [\d.]+ ms, took [\d.]+ ms$/, 'what makes groups for the main pipeline: fused, with a prediction');
again_until(sub { $tried = below(''); $tried =~ /^refill/ });
like($tried, qr/^refill before step \d+; predicted [\d.]+ ms, took [\d.]+ ms$/, 'then its edge is tried that is predicted to be faster');
is($node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $groups"), $expected_groups, 'the answer stays the same') foreach (1 .. 3);

$node->stop;
done_testing();

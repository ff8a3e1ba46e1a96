# Columns that do not fit into gpuconc.host_cache_size: what is in use stays, and nothing is loaded again and again.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('host', q{
gpuconc.host_cache_size = 8MB
gpuconc.debug_chunk_pages = 8168
max_parallel_workers_per_gather = 0
});
my $values = join ', ', map { "(i * " . (1000003 + 2 * $_) . "::bigint % 2000000011)::int AS c$_" } (1 .. 8);
$node->safe_psql('postgres', "CREATE TABLE $_ AS SELECT $values FROM generate_series(1, 400000) AS i; VACUUM ANALYZE $_") foreach qw(a b);

sub query { my ($table, $columns) = @_; return 'SELECT ' . join(', ', map { "max(c$_)" } (1 .. $columns)) . " FROM $table WHERE c1 > 5" }

# Why each of these queries was PostgreSQL's: "no" where it was not.
sub fallbacks_of
{
	my $plans = $node->safe_psql('postgres', join '', 'SET gpuconc.debug_offload = prefer; SET gpuconc.cold = fallback;',
		map { "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, FORMAT YAML) $_;" } @_);

	return join ', ', $plans =~ /Fallback: "(.*)"/g;
}

sub loads
{
	my ($query, $message) = @_;
	my $got;

	again_until(sub { $got = fallbacks_of($query); $got eq 'no' });
	is($got, 'no', $message);
	return;
}

# The first table's columns are in use, and then these queries come: again, where the machine took so long that the
# columns no longer counted as in use, which is five seconds (src/columns/load/missing.c).
sub beside_first_table
{
	my ($queries, $expected, $message) = @_;
	my $got;

	again_until(sub {
		my $used;

		again_until(sub { $used = time; fallbacks_of(query('a', 3)) eq 'no' });
		$got = fallbacks_of(@$queries);
		return $got eq $expected || time - $used < 5 });
	is($got, $expected, $message);
	return;
}

loads(query('a', 3), 'the first table is loaded in the background');
beside_first_table([ map { query($_, 3) } qw(a b a b b a b a) ], 'no, cache full, no, cache full, cache full, no, cache full, no',
	'a table that does not fit beside it pushes nothing out');
beside_first_table([ map { query(@$_) } [ 'b', 8 ], [ 'a', 3 ], [ 'b', 8 ], [ 'a', 3 ] ], 'cache full, no, cache full, no', 'nor does one that is too large');
is($node->safe_psql('postgres', 'SELECT relation, count(*) FROM gpuconc_cache GROUP BY 1'), 'a|3', 'its columns stayed, and no others came');
loads(query('b', 3), 'when the first one is not used any more, the other one takes its place');
nothing_held($node, 'in the end');
$node->stop;
done_testing();

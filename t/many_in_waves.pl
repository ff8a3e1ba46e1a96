# Many sessions whose columns do not fit device memory all at once: what they share, that
# what is in memory stays, and that each has memory for its waves.  On a pretended GPU, which has memory of its own.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('many', q{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.device_memory_limit = 9MB
max_parallel_workers_per_gather = 0
});

# The columns take about 18 MB, as chunks of 32 pages are padded.
$node->safe_psql('postgres', q{
CREATE TABLE lo AS SELECT i AS id, i * 7919::bigint % 256 AS day, i * 31::bigint % 60013 AS part, i * 37::bigint % 50021 AS cust, i % 50 AS qty, i % 11 AS discount,
	i * 104729::bigint % 1000003 AS price, i * 1299709::bigint % 999983 AS revenue, i * 13::bigint % 700001 AS cost
	FROM generate_series(1, 130000) AS i;
VACUUM (FREEZE, ANALYZE) lo});

my @names = ('copied_bytes', 'link_bytes', 'waves', 'wave_bytes', 'wave_bytes_shared', 'link_read_bytes', 'evictions', 'evicted_bytes', 'fallbacks', 'offloaded');
sub counters { return map { $_ => stat_of($node, $_) } @names }

sub since
{
	my (%before) = @_;
	my %now = counters();

	return map { $_ => $now{$_} - $before{$_} } @names;
}

my @sessions = map { session($node, "many$_") } (0 .. 15);

#-------------------------------------------------------------------------
# One that reads much, beside many that read little
#-------------------------------------------------------------------------
my $much = 'SELECT sum(id), sum(part), sum(cust), sum(price), sum(revenue), sum(cost) FROM lo';
my $expected = own_answer($sessions[0], $much);
is_offloaded($node, $_, $_) foreach ($much, 'SELECT count(*), sum(revenue), sum(cost), sum(price) FROM lo WHERE qty = 7 AND discount = 3');
my $each = 100;
my $before = stat_of($node, 'offloaded');
ask($sessions[$_], join(";\n", ("SELECT count(*), sum(revenue), sum(cost), sum(price) FROM lo WHERE qty = $_ AND discount = 3") x $each)) foreach (1 .. 12);
wait_until($node, "SELECT offloaded > $before + 24 FROM gpuconc_stat");
ask($sessions[0], $much);
is(rows_of($sessions[0]), $expected, 'the answer of one that reads much');
rows_of($sessions[$_]) foreach (1 .. 12);

#-------------------------------------------------------------------------
# Sixteen sessions
#-------------------------------------------------------------------------
my @asked = (
	(map { "SELECT sum(price * discount) FROM lo WHERE day = $_ AND discount BETWEEN 1 AND 3 AND qty < 25" } (3, 77, 200)),
	(map { "SELECT qty, count(*), sum(revenue) FROM lo WHERE part < $_ AND day < 250 GROUP BY qty ORDER BY qty" } (50, 2000, 20000)),
	(map { "SELECT discount, count(*), sum(revenue) FROM lo WHERE cust < $_ AND part > 20 GROUP BY discount ORDER BY discount" } (60, 3000, 15000)),
	(map { "SELECT discount, count(*), sum(revenue - cost) FROM lo WHERE cust < $_ AND part < 30000 GROUP BY discount ORDER BY discount" } (500, 9000, 25000)));
my %answers = map { $_ => own_answer($sessions[0], $_) } @asked;

# Each session asks each query, in an order of its own; what moves per query once memory has settled.  Those of a turn
# begin together: on a loaded machine, each would else be done before the next one comes, and share nothing.
sub round_of
{
	my ($n, $times) = @_;
	my $wrong = 0;

	configure($node, 'gpuconc.debug_hold_requests' => $n > 1 ? $n : 0);
	foreach my $turn (0 .. $times * @asked - 1)
	{
		my @now = map { $asked[ ($turn * 5 + $_ * 7) % @asked ] } (0 .. $n - 1);

		ask($sessions[$_], $now[$_]) foreach (0 .. $n - 1);
		$wrong += rows_of($sessions[$_]) ne $answers{ $now[$_] } foreach (0 .. $n - 1);
	}
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	is($wrong, 0, "$n: answers");
	return;
}

sub settled
{
	my ($n) = @_;

	round_of($n, $n == 1 ? 4 : 1);
	my %counted = counters();
	round_of($n, $n == 1 ? 4 : 1);
	my %got = since(%counted);
	is($got{fallbacks}, 0, "$n: no fallback");
	$got{moved} = ($got{wave_bytes} + $got{link_read_bytes}) / $got{offloaded};
	note("$n: " . join(', ', map { "$_ $got{$_}" } sort keys %got));
	return %got;
}
my %one = settled(1);
my %many = settled(16);
# A column that several read is copied for each, and crosses the link once.
cmp_ok(abs($one{link_bytes} - $one{copied_bytes}), '<=', 0.01 * $one{copied_bytes}, 'one: all that it copies crosses the link');
cmp_ok($many{link_bytes}, '>=', $many{wave_bytes}, 'many: waves cross the link');
cmp_ok($many{link_bytes}, '<', $many{copied_bytes}, 'many: once for several');
cmp_ok($many{moved}, '<', 0.6 * $one{moved}, 'many: less is moved for each than for one alone');
# By what columns are worth; the bound on what waves displace makes no difference here.
cmp_ok($many{evicted_bytes}, '<', ($many{wave_bytes} + $many{link_read_bytes}) / 4, 'many: little of it displaces something');
$_->quit foreach (@sessions);
nothing_held($node, 'in the end');
$node->stop;

#-------------------------------------------------------------------------
# Members with memory of different sizes
#-------------------------------------------------------------------------
# The first four share memory that has no room for both x and y beside the rest.  They leave these in the host's.  But
# they do not once a wave serves the last one, too, which has larger memory and reads them for all rows.  What an
# earlier query left would be of that size, so all begins anew once the kernels are compiled.
my $apart = new_server('apart', q{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.device_memory_limit = 6MB
gpuconc.debug_link_reads = on
gpuconc.enable_shared_scan = off
max_parallel_workers_per_gather = 0
});
$apart->safe_psql('postgres', q{
CREATE TABLE wide AS SELECT i * 1000003::bigint % 1000000007 * 1009 AS a, i * 1000033::bigint % 1000000007 * 1009 AS b, i * 1000037::bigint % 1000000007 * 1009 AS c,
	i * 1000099::bigint % 1000000007 * 1009 AS x, i * 1000117::bigint % 1000000007 * 1009 AS y
	FROM generate_series(1, 100000) AS i;
VACUUM (FREEZE, ANALYZE) wide});
my ($x, $y) = map { "SELECT sum($_) FROM wide WHERE a + b + c = 3027" } ('x', 'y');
my $all = 'SELECT sum(a), sum(b), sum(c), sum(x), sum(y) FROM wide';
is_offloaded($apart, $_, $_) foreach ($x, $y, $all);
$apart->restart;
wait_for_worker($apart);
is_offloaded($apart, $_, "again: $_") foreach ($x, $y);
my $reads = stat_of($apart, 'link_reads');
my @members = map { session($apart, "apart$_") } (0 .. 4);
answered_together($apart, \@members, 'memory of different sizes', undef, undef, $x, $y, $y, $x, $all);
cmp_ok(stat_of($apart, 'link_reads'), '>', $reads, '... and columns are read in place');
is(stat_of($apart, 'fallbacks'), 0, '... without a fallback');
$_->quit foreach (@members);
nothing_held($apart, 'apart');
$apart->stop;
done_testing();

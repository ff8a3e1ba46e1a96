# Columns that kernels read for few rows stay in the host's memory (gpuconc.debug_link_reads).  On a pretended GPU, which has
# memory of its own.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('link', q{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.device_memory_limit = 3MB
gpuconc.debug_link_reads = on
max_parallel_workers_per_gather = 0
});

# Columns of all widths, with NULLs, a delta and hot pages.
$node->safe_psql('postgres', q{
CREATE TABLE parts (part int PRIMARY KEY, brand text, maker int);
INSERT INTO parts SELECT i, 'brand' || i % 40, i % 50 FROM generate_series(1, 2000) AS i;
CREATE TABLE lo (id int, day int, part int, qty int, discount int, price bigint, revenue numeric(12,2), mode text, note int, big bigint);
INSERT INTO lo SELECT i, i * 7919::bigint % 2556, i * 31::bigint % 2000 + 1, i % 50 + 1, i % 11, i * 104729::bigint % 1000003, i % 90000 / 7.0,
	'mode ' || i % 7, CASE WHEN i % 13 <> 0 THEN i % 1000 END, CASE WHEN i % 3 <> 0 THEN i * 1000003::bigint * 1009 END
	FROM generate_series(1, 120000) AS i;
CREATE TABLE o AS SELECT i AS k, i % 25 AS nation, i * 17::bigint % 99991 AS balance, CASE WHEN i % 5 <> 0 THEN i % 300 END AS a
	FROM generate_series(0, 119999) AS i;
VACUUM ANALYZE parts, lo, o;
UPDATE lo SET qty = qty WHERE id % 30000 = 5});

sub reads_of
{
	my ($query) = @_;
	my $before = stat_of($node, 'link_reads');

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is_offloaded($node, $query, $query);
	return stat_of($node, 'link_reads') - $before;
}

my @queries = (
	# one group, groups, rows, first rows
	'SELECT sum(price * discount), count(note), sum(big), min(mode), max(revenue) FROM lo WHERE qty = 7 AND discount < 3',
	'SELECT mode, note, count(*), sum(revenue), max(big) FROM lo WHERE qty = 9 AND discount = 5 GROUP BY mode, note ORDER BY 1, 2',
	'SELECT part, count(*), sum(price), sum(note) FROM lo WHERE day = 77 GROUP BY part ORDER BY part',
	'SELECT id, note, big, revenue, mode FROM lo WHERE day < 20 AND qty = 3 ORDER BY id',
	'SELECT id, price, note FROM lo WHERE qty = 5 ORDER BY price DESC, id LIMIT 9',
	# behind joins
	'SELECT brand, count(*), sum(revenue), sum(note), sum(big) FROM lo JOIN parts USING (part) WHERE maker = 3 GROUP BY brand ORDER BY brand',
	'SELECT count(*), sum(price), sum(note) FROM lo WHERE EXISTS (SELECT FROM parts WHERE parts.part = lo.part AND maker = 4)',
	# a build of a table in waves
	'SELECT count(*), sum(balance), sum(a), sum(price) FROM lo JOIN o ON o.k = lo.id WHERE nation = 3 AND qty < 9');
cmp_ok(reads_of($_), '>', 0, '... columns are read in place') foreach (@queries);
is(reads_of('SELECT sum(id), sum(price), sum(big), sum(day), sum(revenue), sum(part), min(mode), sum(note) FROM lo'), 0, '... none that are read for all rows');
like($node->safe_psql('postgres', "SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, COSTS OFF) $queries[0]"),
	qr/chunks read in place=[1-9]\d* estimated=\d+kB/, 'EXPLAIN shows that');
cmp_ok(stat_of($node, 'link_read_bytes'), '>', 0, 'so does gpuconc_stat');

# Sessions that read the same columns, some of them for all rows
my @sessions = map { session($node, "link$_") } (0 .. 3);
answered_together($node, \@sessions, 'several at once', undef, undef, @$_)
  foreach ([ @queries[0 .. 3] ], [ @queries[1, 5, 6], 'SELECT sum(big), sum(price), count(note), sum(revenue) FROM lo' ]);

# Chunks go while they are read.
my $sum = $queries[3];
my $expected = own_answer($sessions[0], $sum);
my $wrong = 0;
$sessions[$_]->query_safe('SET gpuconc.debug_offload = allow') foreach (0 .. 3);
foreach my $change ("SELECT gpuconc_evict('lo')", 'VACUUM FULL lo', 'UPDATE lo SET qty = qty WHERE id % 1000 = 3', 'VACUUM lo')
{
	ask($_, $sum) foreach (@sessions);
	$node->safe_psql('postgres', $change);
	$wrong += rows_of($_) ne $expected foreach (@sessions);
}
is($wrong, 0, 'a table changes while it is read');
$_->quit foreach (@sessions);
nothing_held($node, 'after all');

#-------------------------------------------------------------------------
# Only where it pays, or never
#-------------------------------------------------------------------------
configure($node, 'gpuconc.debug_link_reads' => 'off');
is(reads_of($queries[0]), 0, 'off: none');
configure($node, 'gpuconc.debug_link_reads' => 'auto');
my $all = 'SELECT sum(id), sum(price), sum(big), sum(day), sum(revenue), sum(part), min(mode), sum(note) FROM lo';
is_offloaded($node, $all, 'what is read as a whole takes the memory') foreach (0 .. 2);
cmp_ok(reads_of('SELECT sum(price), sum(big), sum(revenue), count(note) FROM lo WHERE qty = 7 AND discount = 3'), '>', 0, 'auto: few rows');
is(reads_of('SELECT part, sum(price), sum(big), sum(revenue), count(note) FROM lo WHERE qty <> 7 GROUP BY part ORDER BY part'), 0, 'auto: most rows');

#-------------------------------------------------------------------------
# Columns that are in memory stay
#-------------------------------------------------------------------------
# A scan in waves has no packets, and nothing goes for them.
sub evicted_by
{
	my ($edge) = @_;
	my $was = 0;

	configure($node, 'gpuconc.debug_pipeline_edge' => $edge);
	foreach (0 .. 9)
	{
		$was = stat_of($node, 'evicted_bytes') if $_ == 5;
		$node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $queries[5]");
	}
	return stat_of($node, 'evicted_bytes') - $was;
}
my $fused = evicted_by('fuse');
cmp_ok(evicted_by('refill'), '<=', $fused + 2_000_000, "waves are not displaced by packets, $fused bytes are without");
nothing_held($node, 'in the end');
$node->stop;
done_testing();

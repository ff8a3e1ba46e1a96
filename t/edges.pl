# Edges between the steps of a pipeline: tiles, little memory, sessions with different edges, cancelled queries.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Chunks of few pages, so that there are many.
my $tables = q{
CREATE TABLE dates (day int PRIMARY KEY, year int, month text);
INSERT INTO dates SELECT i, 1992 + i / 365, 'm' || i % 12 FROM generate_series(0, 2555) AS i;
CREATE TABLE parts (part bigint PRIMARY KEY, brand text, maker int);
INSERT INTO parts SELECT i * 1000003, 'brand' || i % 40, i % 5 FROM generate_series(1, 2000) AS i;
CREATE TABLE lo (id int, day int, part bigint, qty int, price bigint, revenue numeric(12,2), note int);
INSERT INTO lo SELECT i, CASE WHEN i % 19 <> 0 THEN i * 7919::bigint % 2700 END, (i * 31::bigint % 2100 + 1) * 1000003, i % 50 + 1,
	i * 104729::bigint % 1000003, i % 90000 / 7.0, CASE WHEN i % 13 <> 0 THEN i % 1000 END
	FROM generate_series(1, 100000) AS i;
VACUUM ANALYZE dates, parts, lo};
my @queries = (
	'SELECT year, count(*), sum(price), max(note) FROM lo JOIN dates USING (day) JOIN parts USING (part) WHERE qty < 25 GROUP BY year ORDER BY year',
	'SELECT brand, month, sum(revenue) FROM lo JOIN parts USING (part) JOIN dates USING (day) WHERE maker = 1 GROUP BY 1, 2 ORDER BY 1, 2',
	'SELECT count(*), sum(price), count(brand) FROM lo LEFT JOIN parts ON parts.part = lo.part AND maker < 3',
	'SELECT id, revenue, brand FROM lo JOIN parts USING (part) WHERE price % 1000 = 7 ORDER BY id');

# EXPLAIN's lines on the execution.
sub explained
{
	my ($node, $settings, $query) = @_;

	return $node->safe_psql('postgres',
		"SET gpuconc.debug_offload = require; $settings EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, FORMAT YAML) $query");
}

my $node = new_server('edges', "max_parallel_workers_per_gather = 0\n");
$node->safe_psql('postgres', "$tables; DELETE FROM lo WHERE id % 20000 < 3; INSERT INTO lo SELECT 1, 3, 31 * 1000003, 5, i, 1.5, NULL FROM generate_series(1, 700) AS i");

#-------------------------------------------------------------------------
# Tiles
#-------------------------------------------------------------------------
foreach my $edge ('materialize', 'channel')
{
	foreach my $tile (0, 1, 20000, 1000000)
	{
		my $set = "SET gpuconc.debug_pipeline_edge = $edge; SET gpuconc.debug_pipeline_tile = $tile;";

		is_offloaded($node, "$set $_", "$edge, tile $tile: $_") foreach (@queries);
	}
}
my $all = explained($node, 'SET gpuconc.debug_pipeline_edge = materialize;', $queries[2]);
my $tiles = explained($node, 'SET gpuconc.debug_pipeline_edge = materialize; SET gpuconc.debug_pipeline_tile = 20000;', $queries[2]);
my $one = explained($node, 'SET gpuconc.debug_pipeline_edge = channel;', $queries[2]);
my ($rows) = $all =~ /Edge Rows: (\d+)/;
like($all, qr/Edges: "materialize before step 0"\n/, 'all at once: EXPLAIN has the edge');
like($tiles, qr/Edges: "materialize before step 0, tile 1?\d{4} rows/, 'in tiles: EXPLAIN has their size');
like($one, qr/Edges: "channel before step 0"\n/, 'channel: EXPLAIN has the edge');
cmp_ok($rows, '>', 99000, 'packets are counted');
my %peak = map { $_ => ${ { all => $all, tiles => $tiles, channel => $one } }{$_} =~ /Edge Peak: (\d+)/ ? $1 : -1 } qw(all tiles channel);
cmp_ok($peak{all}, '>=', $rows * 4 / 1024, 'all packets are there at a time');
cmp_ok($peak{tiles}, '<', $peak{all} / 2, 'or few of them in tiles');
cmp_ok($peak{channel}, '<=', $peak{all}, 'or no more than that in a channel');
cmp_ok($peak{channel}, '>', 0, 'and some are counted');
like($_, qr/Edge Rows: $rows\n/, 'and are as many by any edge') foreach ($tiles, $one);
my ($few) = $all =~ /Kernels: (\d+)/;
my ($many) = $tiles =~ /Kernels: (\d+)/;
cmp_ok($many, '>=', $few + 6, 'a tile has a producer and a consumer of its own');
like(explained($node, 'SET gpuconc.debug_pipeline_edge = fuse;', $queries[2]), qr/Edges: "fuse"\n\s*Edge Rows: 0\n/, 'fused: none');

#-------------------------------------------------------------------------
# Sessions with different edges, at once
#-------------------------------------------------------------------------
my @sessions = map { session($node, "edges$_") } (0 .. 3);
my @edges = ('materialize', 'channel', 'fuse', 'channel');
foreach my $turn (0 .. 1)
{
	foreach my $s (0 .. 3)
	{
		ask($sessions[$s], "SET gpuconc.debug_pipeline_edge = $edges[$s]");
		rows_of($sessions[$s]);
	}
	answered_together($node, \@sessions, "different edges, $turn", undef, undef, map { $queries[ ($_ * (1 + $turn)) % 4 ] } (0 .. 3));
}
# Each asks one query: no session has another's result, whose edge and prediction EXPLAIN would show.
my $shared = stat_of($node, 'results_shared');
my @plans = together($node, [ @sessions[0 .. 2] ],
	('EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) SELECT count(*), sum(price), max(year) FROM lo JOIN dates USING (day)') x 3);
like($plans[$_], qr/Edges: $edges[$_]\b/, "$edges[$_] beside others: its own edge") foreach (0, 1);
# A fused pipeline shows as such only where a prediction was made of it.
unlike($plans[2], qr/Edges: (?!fuse)/, 'fuse beside others: its own edge');
is(stat_of($node, 'results_shared'), $shared, 'and no result is shared');

#-------------------------------------------------------------------------
# Cancelled while it runs: the next one is answered
#-------------------------------------------------------------------------
my $worker = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'gpuconc worker%'});
# Each row has 36 million matches behind the edge, so it does not end by itself.
$node->safe_psql('postgres', q{
CREATE TABLE many AS SELECT i % 10 AS k, i AS v FROM generate_series(1, 60000) i;
VACUUM ANALYZE many});
my $slow = 'SELECT count(*), sum(m.v + n.v) FROM lo JOIN dates USING (day) JOIN many m ON m.k = qty % 10 JOIN many n ON n.k = m.v % 10 WHERE n.v % 7 <> m.v % 11';
foreach my $edge ('materialize', 'channel')
{
	my $session = session($node, "slow $edge", "SET gpuconc.debug_pipeline_edge = $edge; SET gpuconc.debug_pipeline_tile = 5000");

	like(explained($node, "SET gpuconc.debug_pipeline_edge = $edge;", "$slow AND id < 5 AND m.v < 50 AND n.v < 50"), qr/Edges: "$edge before step/, "$edge: it is there");
	is_offloaded($node, "SET gpuconc.debug_pipeline_edge = $edge; $slow AND id < 5 AND m.v < 50 AND n.v < 50", "$edge: few of the matches");
	foreach my $turn (1 .. 3)
	{
		ask($session, $slow);
		wait_until($node, q{SELECT running > 0 FROM gpuconc_devices});
		$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'slow $edge'");
		like(rows_of($session), qr/canceling statement due to user request/, "$edge: cancelled while it runs, $turn");
		wait_until($node, q{SELECT running = 0 FROM gpuconc_devices}, "$edge: and ends, $turn");
	}
	is_offloaded($node, "SET gpuconc.debug_pipeline_edge = $edge; $queries[0]", "$edge: the next one is answered");
	$session->quit;
}
is($node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'gpuconc worker%'}), $worker, 'by the same worker');
# A failure behind the edge, in some rows of some tiles, becomes PostgreSQL's error, and nothing waits for it.
foreach my $edge ('materialize', 'channel')
{
	my ($status, $out, $error) = $node->psql('postgres',
		"SET gpuconc.debug_pipeline_edge = $edge; SET gpuconc.debug_offload = require; SELECT sum(price / (year - 1993)) FROM lo JOIN dates USING (day) JOIN parts USING (part)");
	like($error, qr/division by zero/, "$edge: the consumer fails");
	is_offloaded($node, "SET gpuconc.debug_pipeline_edge = $edge; $queries[1]", "$edge: and the next one is answered");
}
nothing_held($node);
stop_server($node);

#-------------------------------------------------------------------------
# Little memory: packets take less at a time, or the steps are fused; and so they are in waves and passes
#-------------------------------------------------------------------------
foreach my $limit ('8MB', '3MB')
{
	my $small = new_server("edges_$limit", qq{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.device_memory_limit = $limit
max_parallel_workers_per_gather = 0
});

	$small->safe_psql('postgres', $tables);
	foreach my $edge ('materialize', 'channel')
	{
		is_offloaded($small, "SET gpuconc.debug_pipeline_edge = $edge; $_", "$limit, $edge: $_") foreach (@queries);
	}
	unlike(explained($small, 'SET gpuconc.debug_pipeline_edge = channel;', $queries[0]), qr/Edges: "(?!fuse)/, "$limit: no room for a channel of so many blocks");
	nothing_held($small);
	stop_server($small);
}

done_testing();

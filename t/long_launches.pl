# Joins whose kernels the data make long, as far as that goes: each would take weeks.  Others are answered meanwhile, a
# cancel frees the device, and a fast shutdown ends.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# All rows of "many" have the same key, and so have those of "less".
my $node = new_server('long_launches', "max_parallel_workers_per_gather = 0\nautovacuum = off\n");
$node->safe_psql('postgres', qq{
CREATE TABLE many AS SELECT i AS id, 1 AS k, i * 7919 % 100003 AS v FROM generate_series(1, 100000) i;
CREATE TABLE less AS SELECT * FROM many WHERE id <= 3000;
CREATE TABLE wide AS SELECT id, k, v * 1000003::bigint AS v, @{[join ', ', map { "hashint8extended(id, $_) AS h$_" } (0 .. 4)]} FROM many WHERE id <= 50000;
CREATE TABLE small AS SELECT i AS id, i % 7 AS g FROM generate_series(1, 5000) i;
VACUUM ANALYZE many, less, wide, small});
my $other = 'SELECT g, count(*), sum(id) FROM small GROUP BY g ORDER BY g';
my @long = (
	[ 'chains', 'SELECT count(*), sum(a.v) FROM many a JOIN many b ON a.k = b.k JOIN many c ON b.k = c.k AND a.v + b.v < c.v' ],
	[ 'chains of left joins', 'SELECT count(*), sum(a.v), count(b.v), sum(c.v)
FROM many a LEFT JOIN many b ON a.k = b.k AND b.v <> a.v LEFT JOIN many c ON b.k = c.k AND c.v < a.v' ],
	[ 'a chain of a full join', 'SELECT count(*), sum(a.v), count(b.v), sum(c.v)
FROM many a JOIN many b ON a.k = b.k FULL JOIN many c ON b.k = c.k AND c.v < a.v' ],
	[ 'a chain that is searched', 'SELECT count(*), sum(a.v) FROM many a JOIN many b ON a.k = b.k
WHERE EXISTS (SELECT FROM many c WHERE c.k = a.k AND a.v + b.v + c.v < 0)' ],
	[ 'chains below groups', 'SELECT count(*), sum(s.n) FROM small o JOIN (SELECT a.v % 10 AS g, count(*) AS n
FROM many a JOIN many b ON a.k = b.k JOIN many c ON b.k = c.k AND a.v + b.v < c.v GROUP BY 1) s ON o.g = s.g' ],
	[ 'lists', 'SELECT count(*), sum(a.v) FROM many a JOIN many b ON a.v < b.v + 1 JOIN many c ON a.v + b.v < c.v' ],
	[ 'lists of left joins', 'SELECT count(*), sum(a.v), count(b.v), sum(c.v)
FROM many a LEFT JOIN many b ON a.v < b.v + 1 LEFT JOIN many c ON a.v + b.v < c.v' ],
	[ 'a list that is searched', 'SELECT count(*), sum(a.v) FROM many a JOIN many b ON a.v < b.v + 1
WHERE NOT EXISTS (SELECT FROM many c WHERE a.v + b.v + c.v < 0)' ],
	[ 'lists of groups', 'SELECT count(*), sum(a.v + g.n) FROM many a JOIN (SELECT v, count(*) AS n FROM many x GROUP BY v) g ON a.v < g.v + 1
JOIN many c ON a.v + g.v < c.v' ],
	[ 'chains below windows', 'SELECT count(*), max(s.r), max(s.n) FROM (SELECT rank() OVER (PARTITION BY a.v % 3 ORDER BY b.id) AS r, dense_rank() OVER (ORDER BY c.id) AS n
FROM many a JOIN many b ON a.k = b.k JOIN many c ON b.k = c.k AND ' . join(' AND ', map { "a.v + $_ * b.v + c.v = -$_" } (1 .. 5)) .
		') s JOIN small o ON o.id = s.r' ]);
# One group, of other kinds, whose rows never end; choices and orders of groups and rows behind them.
my ($chains) = $long[0][1] =~ /FROM (.*)/;
push @long, [ 'one group of a hash table', "SELECT a.k * 1000003::bigint, count(*), sum(a.v), min(c.v) FROM $chains GROUP BY 1" ],
	[ 'DISTINCT of one group', "SELECT a.k * 1000003::bigint, count(DISTINCT b.v), sum(DISTINCT a.v) FROM $chains GROUP BY 1" ],
	[ 'a percentile of one group', "SELECT a.k, percentile_disc(0.5) WITHIN GROUP (ORDER BY b.v) FROM $chains GROUP BY 1" ],
	[ 'a choice among groups', "SELECT b.v, count(*), sum(c.v) FROM $chains GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10" ],
	[ 'rows in an order', "SELECT a.id, b.id, c.id FROM $chains AND a.v + 1000003::bigint * b.v + c.v / 100000 = 7919 * 1000004::bigint ORDER BY c.v DESC, 1 LIMIT 10" ];
# Each edge between the steps of the first.
push @long, [ "chains, $_", $long[0][1], "SET gpuconc.debug_pipeline_edge = $_; SET gpuconc.debug_edge_step = 1", "Edges: $_ before step 1" ]
	foreach ('refill', 'materialize', 'channel');

sub few
{
	my ($query) = @_;

	return $query =~ s/\bmany\b/(SELECT * FROM many WHERE id < 150)/gr =~ s/\bless\b/(SELECT * FROM less WHERE id < 6)/gr;
}

sub cancel
{
	my ($name) = @_;

	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = '$name'");
	return;
}

# A query that would take weeks: it is of its kind, others are answered meanwhile, and a cancel ends it.
sub drive
{
	my ($kind, $query, $set, $shown) = (@_, '', '');
	my $session = session($node, 'long', "SET statement_timeout = '2h'; $set");

	is_offloaded($node, "$set; " . few($query), "$kind: few rows");
	like($node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $set; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) " . few($query)), qr/$shown/, "$kind: it is one");
	ask($session, $query);
	wait_until_waiting($node, '^long');
	wait_until($node, q{SELECT running > 0 FROM gpuconc_devices});
	is_offloaded($node, $other, "$kind: another session is answered meanwhile");
	wait_until($node, q{SELECT running = 1 FROM gpuconc_devices}, "$kind: which goes on");
	cancel('long');
	like(rows_of($session), qr/canceling statement due to user request/, "$kind: cancelled");
	wait_until($node, q{SELECT running = 0 FROM gpuconc_devices}, "$kind: the device is free");
	is_offloaded($node, $other, "$kind: the next one is answered");
	$session->quit;
	return;
}

is_offloaded($node, $other, 'alone');
like($node->safe_psql('postgres', "SET gpuconc.enabled = on; SET gpuconc.debug_offload = require; EXPLAIN $long[9][1]"), qr/Rows: many, 2 windows/, 'windows of rows that are kept');
drive(@$_) foreach (@long);
nothing_held($node, 'joins that were cancelled');

# A build that is quickly filled does not wait for one that is not, nor for groups.  So others that use it do not, either.
my $shared = 'EXISTS (SELECT FROM many x WHERE x.id = s.id AND x.v < 50000)';
my %before = (
	build => "SELECT count(*) FROM small s WHERE EXISTS (SELECT FROM many a JOIN many b ON a.k = b.k JOIN many c ON b.k = c.k AND a.v + b.v < c.v
WHERE a.id = s.id) AND $shared",
	groups => "SELECT count(*), sum(n) FROM (SELECT a.v % 10 AS g, count(*) AS n FROM many a JOIN many b ON a.k = b.k
JOIN many c ON b.k = c.k AND a.v + b.v < c.v GROUP BY 1) AS s JOIN small AS o ON o.g = s.g WHERE EXISTS (SELECT FROM many x WHERE x.id = o.id AND x.v < 50000)");
foreach my $what (sort keys %before)
{
	my $filler = session($node, 'filler', q{SET statement_timeout = '2h'});

	is_offloaded($node, few($before{$what}), "$what: few rows");
	$node->safe_psql('postgres', q{SELECT gpuconc_evict('many'), gpuconc_prewarm('many')});
	ask($filler, $before{$what});
	wait_until_waiting($node, '^filler');
	wait_until($node, q{SELECT running > 0 FROM gpuconc_devices});
	is_offloaded($node, "SELECT count(*), sum(s.id) FROM small s WHERE $shared", "$what: who uses a build of the request is answered meanwhile");
	wait_until($node, q{SELECT running = 1 FROM gpuconc_devices}, "$what: which goes on");
	cancel('filler');
	like(rows_of($filler), qr/canceling statement due to user request/, "$what: cancelled");
	wait_until($node, q{SELECT running = 0 FROM gpuconc_devices}, "$what: the device is free");
	$filler->quit;
}

# Members of a shared scan leave: the scan ends with the last one.
my @members = map { $long[0][1] =~ s/c\.v$/c.v WHERE a.v > $_/r } (5, 6);
my @scan = map { session($node, "member$_", q{SET statement_timeout = '2h'}) } (0, 1);
my $launches = 'SELECT main_launches FROM gpuconc_stat_sharing';
is_offloaded($node, few($_), 'members of a shared scan: few rows') foreach (@members);
configure($node, 'gpuconc.debug_force_shared_scan' => 'fused');
configure($node, 'gpuconc.debug_hold_requests' => 2);
my $before = $node->safe_psql('postgres', $launches);
ask($scan[$_], $members[$_]) foreach (0, 1);
wait_until_waiting($node, '^member', 2);
wait_until($node, q{SELECT running = 2 FROM gpuconc_devices}, 'both members are on the device');
is($node->safe_psql('postgres', $launches) - $before, 1, 'by one launch');
configure($node, 'gpuconc.debug_hold_requests' => 0);
configure($node, 'gpuconc.debug_force_shared_scan' => 'off');
foreach my $i (0, 1)
{
	cancel("member$i");
	like(rows_of($scan[$i]), qr/canceling statement due to user request/, "member $i is cancelled");
	is_offloaded($node, $other, 'the next one is answered');
	cmp_ok($node->safe_psql('postgres', 'SELECT running FROM gpuconc_devices'), '>', 0, 'the scan goes on for the other one') if $i == 0;
}
wait_until($node, q{SELECT running = 0 FROM gpuconc_devices}, 'the scan ends with its last member');
$_->quit foreach (@scan);
nothing_held($node, 'builds and scans that were given up');

# Two sessions have one join, and one of them leaves.
my @same = map { session($node, "same$_", q{SET statement_timeout = '2h'}) } (0, 1);
ask($_, $long[0][1]) foreach (@same);
wait_until_waiting($node, '^same', 2);
wait_until($node, q{SELECT running > 0 FROM gpuconc_devices});
cancel('same0');
like(rows_of($same[0]), qr/canceling statement due to user request/, 'one of two sessions with the same join leaves');
is_offloaded($node, $other, 'the next one is answered');
wait_until($node, q{SELECT running = 1 FROM gpuconc_devices}, "the other one's join goes on");

# A request that cannot have its result does not wait until the device is idle.
my ($status, $rows, $error) = $node->psql('postgres', q{SET gpuconc.debug_offload = require;
SELECT count(*), sum(n) FROM (SELECT a.id + b.id AS n, a.g, b.id FROM small a, small b WHERE a.id <= 900 OFFSET 0) s});
like($error, qr/result too large/, 'a result that does not fit');
wait_until($node, q{SELECT running = 1 FROM gpuconc_devices}, 'while the join goes on');

# The device is busy with a join when the worker and the server end.
my $worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($worker)");
like(rows_of($same[1]), qr/not offloaded/, 'the worker is terminated');
wait_until($node, "SELECT state = 'ready' AND worker_pid <> $worker FROM gpuconc_devices");
is_offloaded($node, $other, 'and another one answers');
ask($same[1], $long[5][1]);
wait_until_waiting($node, '^same1');
wait_until($node, q{SELECT running > 0 FROM gpuconc_devices});
$node->stop('fast');
is($node->{_pid}, undef, 'and the server stops');

# Passes of a join, and of its groups
my $passes = 'wide a JOIN wide w ON a.v = w.v JOIN less b ON a.k = b.k JOIN less c ON b.k = c.k JOIN less d ON c.k = d.k AND b.v + c.v < d.v';
$node->append_conf('postgresql.conf', "gpuconc.device_memory_limit = 1MB\n");
start_server($node);
drive('passes', "SELECT count(*), sum(a.v), sum(w.id) FROM $passes", '', 'passes=(?:[2-9]|\d\d)');
drive('passes of groups', "SELECT a.v, count(*), sum(b.v), min(c.v), max(d.v) FROM $passes GROUP BY 1 ORDER BY 1", '', 'passes=(?:[2-9]|\d\d)');
nothing_held($node, 'passes that were cancelled');
$node->stop('fast');

# A request that two devices share
$node->append_conf('postgresql.conf', "gpuconc.device_memory_limit = 0\n");
$node->append_conf('postgresql.conf', "gpuconc.devices = 'host:0, host:1'\ngpuconc.debug_split = always\ngpuconc.debug_chunk_pages = 8\n");
start_server($node);
is_offloaded($node, few($long[0][1]), 'two devices: few rows');
my $split = session($node, 'split', q{SET statement_timeout = '2h'});
foreach my $how ('a cancel', 'a fast shutdown')
{
	ask($split, $long[0][1]);
	wait_until_waiting($node, '^split');
	wait_until($node, q{SELECT min(running) = 1 FROM gpuconc_devices}, "$how: both devices have a part");
	is_offloaded($node, $other, "$how: another session is answered meanwhile");
	last if $how ne 'a cancel';
	cancel('split');
	like(rows_of($split), qr/canceling statement due to user request/, 'a join that two devices share is cancelled');
	wait_until($node, q{SELECT sum(running) = 0 FROM gpuconc_devices}, 'both devices are free');
	is_offloaded($node, $other, 'the next one is answered');
	nothing_held($node, 'a join that two devices shared');
}
$node->stop('fast');
is($node->{_pid}, undef, 'and the server stops');
$node->append_conf('postgresql.conf', "gpuconc.devices = 'auto'\ngpuconc.debug_split = predicted\ngpuconc.debug_chunk_pages = 32\n");

# Kernels of a GPU are told in its own memory, which has to be written.
append_to_file($node->data_dir . '/postgresql.conf', "gpuconc.debug_pretend_gpu = 'H200'\ngpuconc.device_memory_limit = 2MB\n");
start_server($node);
# Waves, which device host does without
drive('waves', 'SELECT count(*), sum(a.v), ' . join(', ', map { "max(a.h$_)" } (0 .. 4)) . ' FROM wide a JOIN less b ON a.k = b.k JOIN less c ON b.k = c.k JOIN less d ON c.k = d.k AND b.v + c.v < d.v', '', 'waves=[1-9]');
nothing_held($node, 'waves that were cancelled');
configure($node, 'gpuconc.device_memory_limit' => 0);
end_worker($node);
is_offloaded($node, $other, 'a pretended GPU');
my $session = session($node, 'long', q{SET statement_timeout = '2h'});
ask($session, $long[0][1]);
wait_until_waiting($node, '^long');
wait_until($node, q{SELECT running > 0 FROM gpuconc_devices});
$worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices');
cancel('long');
like(rows_of($session), qr/canceling statement due to user request/, 'a join there is cancelled');
wait_until($node, q{SELECT running = 0 FROM gpuconc_devices}, 'and the device is free');
is_offloaded($node, $other, 'the next one is answered');
is($node->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices'), $worker, 'by the same worker');
$node->stop('fast');
done_testing();

# One request over several devices: each scans its stripe of the chunks, and the session merges groups, rows and sums.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('split', q{
gpuconc.devices = 'host:0, host:1'
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.host_threads = 2
gpuconc.device_memory_limit = 64MB
restart_after_crash = on
});
$node->safe_psql('postgres', q{
CREATE TABLE dim (k int PRIMARY KEY, name text, w int);
INSERT INTO dim SELECT i, 'name' || i % 10, i % 7 FROM generate_series(0, 99) AS i;
CREATE TABLE big (id int, k int, n numeric(12,2), wide numeric(30,2), d date, s text, v bigint, f float8, b int);
INSERT INTO big SELECT i, i * 7919::bigint % 100, CASE WHEN i % 11 <> 0 THEN i / 7.0 END, i * 1e20, date '1992-01-01' + i % 2000,
	's' || i % 37, (i * 1000003::bigint % 9223372036854775807) * CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END, i / 8.0, i % 1024 FROM generate_series(1, 60000) AS i;
CREATE TABLE floats AS SELECT i AS id, i * 7919::bigint % 100 AS k,
	CASE i % 6 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 0 WHEN 3 THEN NULL WHEN 4 THEN 'Infinity' ELSE i % 50 / 4.0 END::float8 AS z FROM generate_series(1, 60000) AS i;
VACUUM ANALYZE big, dim, floats;
UPDATE big SET b = b + 1, s = 'new' WHERE id % 20000 = 7;
CREATE TABLE halves (id int, v int) PARTITION BY RANGE (id);
CREATE TABLE half1 PARTITION OF halves FOR VALUES FROM (0) TO (15000);
CREATE TABLE half2 PARTITION OF halves FOR VALUES FROM (15000) TO (30001);
INSERT INTO halves SELECT i, i % 77 FROM generate_series(1, 30000) AS i;
VACUUM ANALYZE halves});

my $explain = 'EXPLAIN (ANALYZE, COSTS OFF, FORMAT YAML)';

# The devices that a plan says have shared the request.
sub devices_in
{
	my ($plan) = @_;

	return $plan =~ /Devices: *\n((?: +- "?\d"?\n?)+)/ ? join(' ', $1 =~ /(\d)/g) : 'one';
}

sub devices_of
{
	my ($session, $query) = @_;

	return devices_in($session->query_safe("$explain $query"));
}

# Split over these, with PostgreSQL's answer.
sub is_split
{
	my ($session, $query, $devices, $message) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($session->query_safe($query), own_answer($session, $query), $message // $query);
	is(devices_of($session, $query), $devices, '... split');
	return;
}

sub figures
{
	my ($figure) = @_;

	return split /\|/, query_server($node, "SELECT string_agg(coalesce(($figure)::text, ''), '|' ORDER BY number) FROM gpuconc_devices");
}

#-------------------------------------------------------------------------
# What can be split is, and what cannot be merged is not
#-------------------------------------------------------------------------
my @split = (
	# one group
	'SELECT count(*), count(n), sum(n), avg(n), min(n), max(n), sum(v), min(v), max(v), min(d), max(s), min(s) FROM big',
	'SELECT sum(wide), avg(wide), sum(wide * 1000), bit_and(b | 1), bit_or(b), sum(f), min(f), max(f), bool_and(b > -1), bool_or(b > 1023) FROM big',
	'SELECT count(*), sum(id), min(v) FROM big WHERE id < 0',
	'SELECT stddev(k), variance(n), round(stddev(f)::numeric, 6) FROM big WHERE k < 40',
	# groups by number, and by hash
	'SELECT k, count(*), sum(n), min(s), max(v) FROM big GROUP BY k ORDER BY k',
	'SELECT s, k, count(*), sum(wide), min(d) FROM big GROUP BY s, k ORDER BY s, k',
	'SELECT id, v, sum(k), max(n) FROM big WHERE k < 30 GROUP BY id, v ORDER BY id',
	'SELECT n, count(*) FROM big WHERE id < 700 OR id % 11 = 0 GROUP BY n ORDER BY n NULLS FIRST',
	'SELECT DISTINCT k % 10, s FROM big ORDER BY 1, 2',

	# rows, and the first few
	'SELECT id, s, n, wide FROM big WHERE b = 77 ORDER BY id',
	'SELECT id, v FROM big ORDER BY v DESC, id LIMIT 9',
	'SELECT id, n FROM big WHERE k = 3 ORDER BY n DESC NULLS LAST, id LIMIT 20 OFFSET 5',
	# joins: each device makes the builds
	'SELECT name, count(*), sum(n), max(v) FROM big JOIN dim USING (k) WHERE w < 5 GROUP BY name ORDER BY name',
	'SELECT w, sum(b), min(s) FROM big LEFT JOIN dim ON dim.k = big.k AND w < 3 GROUP BY w ORDER BY w NULLS FIRST',
	'SELECT count(*), sum(v) FROM big WHERE EXISTS (SELECT FROM dim WHERE dim.k = big.k AND w = 2)',
	'SELECT count(*) FROM big WHERE k IN (SELECT w FROM dim GROUP BY w HAVING count(*) > 14)',
	# several tables as one
	'SELECT count(*), sum(id), max(v) FROM halves',
	'SELECT v, count(*) FROM halves WHERE id % 3 = 0 GROUP BY v ORDER BY v',
	# groups that the session chooses among, since a part does not know a group's sums: 18
	'SELECT id, v, sum(k) FROM big GROUP BY id, v HAVING sum(k) > 90 AND min(n) IS NOT NULL ORDER BY id',
	'SELECT k, count(*) FROM big GROUP BY k HAVING sum(id) > 18005000 ORDER BY k',
	'SELECT n, count(*) FROM big GROUP BY n HAVING count(*) > 5 OR n IS NULL ORDER BY n',
	'SELECT id % 7001 AS h, count(*), sum(n), max(s) FROM big GROUP BY h ORDER BY sum(n) DESC NULLS LAST, h LIMIT 12',
	'SELECT id % 7001 AS h, sum(v) FROM big GROUP BY h HAVING count(n) > 7 ORDER BY sum(v), h LIMIT 5 OFFSET 3',
	'SELECT id % 9001 AS h, max(z) FROM floats GROUP BY h ORDER BY max(z) DESC NULLS LAST, h LIMIT 7',
	'SELECT z + 0 AS zz, k, count(*), sum(id) FROM floats GROUP BY zz, k HAVING count(*) > 150 ORDER BY zz, k',
	# grouping sets, which add up finer groups: 25
	'SELECT k, s, count(*), sum(n), min(d), max(v), avg(wide) FROM big GROUP BY ROLLUP (k, s) ORDER BY k, s',
	'SELECT k % 5 AS a, b % 3 AS c, GROUPING(k % 5), count(*), count(n), sum(wide), bit_and(b), min(s) FROM big GROUP BY CUBE (a, c) HAVING count(*) > 4002 ORDER BY 1, 2, 3',
	'SELECT k % 5 AS a, count(*), sum(n), avg(f) FROM big WHERE id < 0 GROUP BY GROUPING SETS ((a), (), ()) ORDER BY 1',
	'SELECT w, name, sum(n), count(*) FROM big JOIN dim USING (k) GROUP BY GROUPING SETS ((w), (name), ()) ORDER BY w, name',
	'SELECT stddev(k), max(z), min(z), k % 3 AS a FROM floats GROUP BY ROLLUP (a) ORDER BY a',
	# what wants each group whole, so that groups are split by their keys: 30
	'SELECT count(DISTINCT s), count(DISTINCT v), sum(DISTINCT k), sum(n), count(*) FROM big',
	'SELECT k, count(DISTINCT v), count(DISTINCT s), sum(b) FROM big GROUP BY k HAVING count(DISTINCT s) > 5 ORDER BY count(DISTINCT v) DESC, k LIMIT 9',
	'SELECT k, count(DISTINCT z), count(DISTINCT id), count(z) FROM floats GROUP BY k ORDER BY k',
	'SELECT k % 3 AS a, count(DISTINCT v), count(DISTINCT n), sum(n) FROM big GROUP BY CUBE (a) ORDER BY a',
	'SELECT count(DISTINCT v), count(DISTINCT n) FROM big WHERE n IS NULL AND id < 5',
	'SELECT count(DISTINCT v), sum(w) FROM big FULL JOIN dim ON dim.k = big.id',
	'SELECT w, count(DISTINCT (f / 3)) FROM big JOIN dim USING (k) GROUP BY w ORDER BY w',
	'SELECT max(c), min(c), sum(t) FROM (SELECT v, count(*) AS c, sum(n) AS t FROM big GROUP BY v) AS g',
	'SELECT c, count(*), max(v) FROM (SELECT v, n, count(*) AS c FROM big GROUP BY v, n) AS g WHERE v > 0 GROUP BY c ORDER BY c',
	'SELECT v, c FROM (SELECT v, n, sum(b) AS c FROM big GROUP BY v, n) AS g WHERE c > 1000 ORDER BY v');
my @whole = (
	# few groups, by number
	'SELECT sum(c) FROM (SELECT k, count(*) AS c FROM big GROUP BY k) AS g',
	# a group of no row
	'SELECT sum(c), count(*) FROM (SELECT k, s, v, count(*) AS c FROM big GROUP BY ROLLUP (k, s, v)) AS g',
	'SELECT count(*), sum(v), sum(w) FROM big FULL JOIN dim ON dim.k = big.id',
	'SELECT count(*) FROM dim',
	# what each device would compute in an order of its own
	'SELECT t, count(*) FROM big JOIN (SELECT k AS j, sum(f) AS t FROM big GROUP BY k) AS s ON j = k GROUP BY t ORDER BY t',
	'SELECT count(*), sum(r) FROM big JOIN (SELECT k AS j, row_number() OVER (PARTITION BY w ORDER BY k) AS r FROM dim) AS s ON j = big.k WHERE r < 3');

my $session = session($node, 'split', 'SET gpuconc.debug_split = always; SET extra_float_digits = 0');

is_split($session, $_, '0 1') foreach (@split);
foreach my $query (@whole)
{
	is($session->query_safe($query), own_answer($session, $query), "whole: $query");
	is(devices_of($session, $query), 'one', '... on one device');
}
like($session->query_safe("EXPLAIN (ANALYZE, COSTS OFF) $split[0]"), qr/^ *Devices: 0, 1$/m, 'EXPLAIN says which');
my $counts = $session->query_safe("EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) SELECT id % 20000, s, count(*) FROM big GROUP BY ROLLUP (1, 2)");
like($counts, qr/^ *Devices: 0, 1$/m, '... of grouping sets, too');
unlike($counts, qr/^ *Group: .*\d out/m, '... and does not count one part\'s groups for all');
nothing_held($node, 'split');

# A session's own rows are one device's.
$session->query_safe('BEGIN; UPDATE big SET v = v + 1, k = 200 WHERE id % 997 = 0; DELETE FROM big WHERE id % 501 = 0');
is_split($session, $_, '0 1', "own rows: $_") foreach (@split[ 0, 4, 5, 10, 11, 13, 19, 21, 25, 31, 37 ]);
$session->query_safe('ROLLBACK');

# Prepared statements, and a cursor's rescans
$session->query_safe('PREPARE p(int) AS SELECT k, sum(v) FROM big WHERE b > $1 GROUP BY k ORDER BY k');
foreach my $b (10, 500, 2000, 10)
{
	is($session->query_safe("EXECUTE p($b)"), own_answer($session, "SELECT k, sum(v) FROM big WHERE b > $b GROUP BY k ORDER BY k"), "prepared: $b");
}

#-------------------------------------------------------------------------
# Random statements, of which the most are split
#-------------------------------------------------------------------------
srand(52);
sub any { return $_[ int(rand(@_)) ] }

my $differ = 0;
my $shared = 0;
foreach my $n (1 .. 30)
{
	my %keys = map { any('k', 's', 'd', 'b % 9', 'n', 'id % 5000') => 1 } (1 .. int(rand(3)));
	my @keys = sort keys %keys;
	my @aggs = map { any('count(DISTINCT v)', 'count(*)', 'count(n)', 'sum(n)', 'min(v)', 'max(v)', 'sum(v)', 'avg(wide)', 'min(s)', 'sum(w)', 'max(d)', 'bit_or(b)') } (1 .. 1 + rand(4));
	my $from = (grep { /\bw\b/ } @aggs) ? 'big JOIN dim USING (k)' : 'big';
	my $where = any('true', 'k < 50', 'b = 3', 'n IS NULL', q{d < '1993-01-01'}, q{s IN ('s1', 's2', 'new')}, 'id > 59000', 'v > 0 AND k <> 4');
	my $by = any('%s', 'ROLLUP (%s)', '%s HAVING count(*) % 3 <> 1');
	my $query = 'SELECT ' . join(', ', @keys, @aggs) . " FROM $from WHERE $where" . (@keys ? ' GROUP BY ' . ($by =~ s/%s/join(', ', 1 .. @keys)/er) : '') .
	  ' ORDER BY ' . join(', ', 1 .. @keys + @aggs) . any('', ' LIMIT 20');
	my ($got, $expected) = ($session->query_safe($query), own_answer($session, $query));

	$shared += devices_of($session, $query) eq '0 1';
	$differ++, diag "$query\n" . substr($got, 0, 500) . "\nnot\n" . substr($expected, 0, 500) if $got ne $expected;
}
is($differ, 0, 'random statements: answers');
cmp_ok($shared, '>=', 25, 'random statements: split');

#-------------------------------------------------------------------------
# Which requests are split: those that do not fit one device; and then nothing is copied twice
#-------------------------------------------------------------------------
my $columns = 'SELECT sum(id), sum(k), sum(n), sum(v), count(d), max(s), sum(f), sum(b), sum(wide) FROM big';
my $predicted = session($node, 'predicted', 'SET extra_float_digits = 0');

is(devices_of($predicted, 'SELECT count(*) FROM big WHERE k = 1'), 'one', 'what fits and is short is one device\'s');
# 18 million pairs of rows take 5 ms on any machine, and are tried in pieces.
my $long = 'SELECT count(*), sum(v) FROM big JOIN generate_series(1, 300) AS i ON b < i AND id % 1000 > i';

$predicted->query_safe("SET gpuconc.debug_split = never; $long");
$predicted->query_safe('SET gpuconc.debug_split = predicted');
is_split($predicted, $long, '0 1', 'what takes long is split');
# The columns take 14 MB, as each chunk takes memory for 16,384 rows.
$node->append_conf('postgresql.conf', 'gpuconc.device_memory_limit = 10MB');
$_->quit foreach ($session, $predicted);
$node->restart;
wait_for_worker($node);
note_memory($node);
($session, $predicted) = map { session($node, "split$_", "SET gpuconc.debug_split = $_; SET extra_float_digits = 0") } ('always', 'predicted');
my $never = session($node, 'never', 'SET gpuconc.debug_split = never; SET extra_float_digits = 0');
my $waves;

is_split($predicted, $columns, '0 1', 'what does not fit one device is split');
$predicted->query_safe($columns) foreach (1, 2);
my $misses;
($waves, $misses) = (stat_of($node, 'waves'), stat_of($node, 'region_misses'));
is($predicted->query_safe($columns), own_answer($predicted, $columns), "warm: answer $_") foreach (1 .. 3);
is(stat_of($node, 'waves') - $waves, 0, 'warm: no wave');
is(stat_of($node, 'region_misses') - $misses, 0, 'warm: no chunk is copied');
$never->query_safe($columns);
cmp_ok(stat_of($node, 'waves'), '>', $waves, 'on one device: in waves');
is_split($session, $_, '0 1', "small memory: $_") foreach (@split[ 0, 5, 6, 10, 13, 18, 25, 31 ]);

#-------------------------------------------------------------------------
# A cancel, and a worker that ends: every slot is given back
#-------------------------------------------------------------------------
my @pids = figures('worker_pid');

suspend_workers($node, $pids[1]);
ask($session, $split[5]);
wait_until_waiting($node, '^splitalways');
$node->safe_psql('postgres', q{SET gpuconc.debug_offload = forbid; SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'splitalways'});
like(rows_of($session), qr/canceling statement due to user request/, 'cancelled');
kill 'CONT', $pids[1];
wait_until($node, 'SELECT sum(backlog) = 0 FROM gpuconc_devices', 'cancelled: nothing waits');
is_split($session, $split[5], '0 1', 'cancelled: the next one');
nothing_held($node, 'after a cancel');

foreach my $lost (0, 1)
{
	my $query = $split[ $lost ? 31 : 5 ];
	my $retries = stat_of($node, 'retries');

	@pids = figures('worker_pid');
	suspend_workers($node, $pids[$lost]);
	ask($session, $query);
	wait_until_waiting($node, '^splitalways');
	wait_until($node, "SELECT bool_and(backlog > 0) FROM gpuconc_devices WHERE number = $lost");
	kill 'TERM', $pids[$lost];
	kill 'CONT', $pids[$lost];
	is(rows_of($session), own_answer($session, $query), "worker $lost ends: rows by the other device");
	cmp_ok(stat_of($node, 'retries'), '>', $retries, "worker $lost ends: the request is tried again");
	wait_until($node, "SELECT state = 'ready' AND worker_pid <> $pids[$lost] FROM gpuconc_devices WHERE number = $lost");
	is_split($session, $query, '0 1', "worker $lost is back");
}
nothing_held($node, 'after workers that ended');

# A device that is lost in the middle, or has no memory for a call
$session->query_safe('SET gpuconc.debug_offload = allow');
foreach my $n (-1, -6, -20, 2, 4, 8)
{
	$node->safe_psql('postgres', q{SELECT gpuconc_evict('big')});
	@pids = figures('worker_pid');
	$node->safe_psql('postgres', "ALTER SYSTEM SET gpuconc.debug_fail_device = $n");
	kill 'HUP', $pids[0];
	foreach my $query (@split[ 5, 10, 21, 25, 31 ])
	{
		my $rows = $session->query_safe($query);
		is($rows, $node->safe_psql('postgres', "SET gpuconc.debug_offload = forbid; $query"), "device 0 fails, $n: $query");
	}
	configure($node, 'gpuconc.debug_fail_device' => 0);
	wait_until($node, q{SELECT bool_and(state = 'ready') FROM gpuconc_devices});
}
$session->query_safe('SET gpuconc.debug_offload = require');
nothing_held($node, 'after devices that failed');

#-------------------------------------------------------------------------
# Three devices, unequal in memory
#-------------------------------------------------------------------------
$_->quit foreach ($session, $predicted, $never);
$node->append_conf('postgresql.conf', "gpuconc.devices = 'host:0, host:1, host:2'\ngpuconc.device_memory_limit = 64MB");
$node->restart;
wait_for_worker($node);
@pids = figures('worker_pid');
configure($node, 'gpuconc.device_memory_limit' => '4MB');
kill 'TERM', $pids[2];
wait_until($node, "SELECT state = 'ready' AND worker_pid <> $pids[2] AND memory_limit <= 4 * 1024 * 1024 FROM gpuconc_devices WHERE number = 2");
$session = session($node, 'three', 'SET gpuconc.debug_split = always; SET extra_float_digits = 0');
note_memory($node);
is_split($session, $_, '0 1 2', "three: $_") foreach (@split);
nothing_held($node, 'three');

# The small one has few of the chunks, so that they stay there; and no request that fits others.
$session->query_safe($columns) foreach (1, 2);
($waves, $misses) = (stat_of($node, 'waves'), stat_of($node, 'region_misses'));
is_split($session, $columns, '0 1 2', 'unequal, warm');
is(stat_of($node, 'waves') - $waves, 0, 'unequal, warm: no wave');
is(stat_of($node, 'region_misses') - $misses, 0, 'unequal, warm: no chunk is copied');
cmp_ok((figures('memory_columns'))[2], '>', 0, 'unequal: the small device has some');
$predicted = session($node, 'fits', 'SET extra_float_digits = 0; SET gpuconc.debug_route = round_robin');
# It has never run, and so is predicted by its bytes to be short.
is(devices_of($predicted, "$columns WHERE b <> 5"), 'one', 'what fits others is not split for the small device');
$predicted->query_safe('SET gpuconc.debug_split = never');
my @went = map { $predicted->query_safe("$explain $columns") =~ /Device Number: (\d)/ } (1 .. 6);
is(join(' ', sort @went), '0 0 0 1 1 1', '... and does not go there');
@went = map { $predicted->query_safe("$explain SELECT count(*) FROM dim WHERE w < $_") =~ /Device Number: (\d)/ } (1 .. 6);
is(join(' ', sort @went), '0 0 1 1 2 2', '... but what fits it does');
$predicted->quit;

# One is killed: PostgreSQL starts all over.
kill_process($node, (figures('worker_pid'))[1]);
eval { $session->quit };
$session = session($node, 'after', 'SET gpuconc.debug_split = always; SET extra_float_digits = 0');
is_split($session, $split[5], '0 1 2', 'after a crash');
$session->quit;
$node->stop;
done_testing();

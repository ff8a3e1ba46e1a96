# Several devices, each with a worker: host pretends to be two or three GPUs.  Requests spread, a table stays where it is,
# and what one device or its worker fails, another one answers.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('devices', q{
gpuconc.devices = 'host:0, host:1'
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.host_threads = 2
gpuconc.device_memory_limit = 64MB
gpuconc.debug_split = never
restart_after_crash = on
});
create_tables($node);
$node->safe_psql('postgres', 'CREATE TABLE other AS SELECT i AS id, i % 10 AS k FROM generate_series(1, 20000) AS i; VACUUM ANALYZE other');

# A figure of each device, the first one's first.
sub figures
{
	my ($figure) = @_;

	return split /\|/, query_server($node, "SELECT string_agg(coalesce(($figure)::text, ''), '|' ORDER BY number) FROM gpuconc_devices");
}

# The device that answers a query, under a policy; in a session, under that one's.
my $explain = 'EXPLAIN (ANALYZE, COSTS OFF, FORMAT YAML)';

sub device_in
{
	my ($session, $query) = @_;

	return $session->query_safe("$explain $query") =~ /Device Number: (\d+)/ ? $1 : 'none';
}

sub device_of
{
	my ($query, $policy) = @_;
	my $plan = $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; SET gpuconc.debug_route = $policy; $explain $query");

	return $plan =~ /Device Number: (\d+)/ ? $1 : 'none';
}

# Change a setting for one worker alone, which is told to read the configuration.
sub configure_one
{
	my ($worker, $setting, $value) = @_;

	$node->safe_psql('postgres', "ALTER SYSTEM SET $setting = $value");
	kill 'HUP', $worker;
	return;
}

#-------------------------------------------------------------------------
# Requests spread
#-------------------------------------------------------------------------
is($node->safe_psql('postgres', q{SELECT string_agg(number || ' ' || card || ' ' || state, ', ' ORDER BY number) FROM gpuconc_devices}),
	'0 host:0 ready, 1 host:1 ready', 'both are ready');
is($node->safe_psql('postgres', q{
SELECT string_agg(application_name, ', ' ORDER BY number) FROM gpuconc_devices JOIN pg_stat_activity ON pid = worker_pid}),
	'gpuconc worker 0, gpuconc worker 1', 'pg_stat_activity says which worker is whose');

my $spread = session($node, 'spread', 'SET gpuconc.debug_route = round_robin');
foreach my $query (@queries)
{
	my $expected = own_answer($spread, $query);

	is($spread->query_safe($query), $expected, "$_: $query") foreach ('one device', 'the other one');
}
my @answered = figures('requests');
cmp_ok($answered[$_], '>=', scalar @queries, "device $_ has answered") for (0, 1);
my @columns = figures('memory_columns');
cmp_ok($columns[$_], '>', 0, "device $_ has columns") for (0, 1);
is($node->safe_psql('postgres', 'SELECT string_agg(DISTINCT device::text, $$ $$) FROM gpuconc_stat_batches'), '0 1', 'batches of both');
is($node->safe_psql('postgres', 'SELECT string_agg(DISTINCT device::text, $$ $$) FROM gpuconc_stat_kernels'), '0 1', 'kernels of both');
is( $node->safe_psql('postgres', q{
SELECT string_agg(DISTINCT e -> 'args' ->> 'name', ', ') FROM jsonb_array_elements(gpuconc_timeline()::jsonb -> 'traceEvents') AS e
WHERE e -> 'args' ->> 'name' ~ '^device'}), 'device 0, device 1', 'the timeline has both');
like($spread->query_safe("EXPLAIN (ANALYZE, COSTS OFF) $queries[0]"), qr/Device: [01] \(/, 'EXPLAIN says which');

# Several tables as one
$node->safe_psql('postgres', q{
CREATE TABLE parts (id int, v int) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (5000);
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (5000) TO (10001);
INSERT INTO parts SELECT i, i % 77 FROM generate_series(1, 10000) AS i;
VACUUM ANALYZE parts});
is_offloaded($node, "SET gpuconc.debug_route = $_; SELECT count(*), sum(v) FROM parts", "partitions, $_") foreach ('affinity', 'predicted');

#-------------------------------------------------------------------------
# What has changed is seen on both, and what was evicted goes from both
#-------------------------------------------------------------------------
foreach my $i (1 .. 6)
{
	$node->safe_psql('postgres', "UPDATE t SET n = n + $i, s = 'new$i' WHERE id % 10 = $i");
	$node->safe_psql('postgres', 'VACUUM t') if $i % 2;
	foreach my $query (@queries[ 0, 1 ])
	{
		my $expected = own_answer($spread, $query);

		is($spread->query_safe($query), $expected, "after change $i, $_: $query") foreach ('one device', 'the other one');
	}
}
$spread->query_safe('SELECT count(*), sum(k) FROM other') foreach (0, 1);
$node->safe_psql('postgres', q{SELECT gpuconc_evict('t')});
again_until(sub {
	# A worker sees what was evicted when it has something to do.
	$spread->query_safe('SELECT count(*), sum(k) FROM other') foreach (0, 1);
	@columns = figures("chunk_columns < 10");
	return "@columns" eq 'true true' });
is("@columns", 'true true', 'both have given back the columns of a table that was evicted');

#-------------------------------------------------------------------------
# A table stays on its device; another one goes where there is less
#-------------------------------------------------------------------------
foreach my $policy ('affinity', 'predicted')
{
	$node->restart;
	wait_for_worker($node);
	my $home = device_of($queries[0], $policy);
	my $away = device_of('SELECT count(*), sum(k) FROM other', $policy);

	isnt($away, $home, "$policy: another table goes elsewhere");
	is(join(' ', map { device_of($_, $policy) } (@queries[ 0, 1, 3 ], 'SELECT count(*), min(k) FROM other')), "$home $home $home $away", "$policy: both stay");
}
$spread->quit;

# Where columns are on both, a build stays.
my $join = 'SELECT name, count(*), sum(id) FROM t JOIN dim USING (k)';
$spread = session($node, 'spread', 'SET gpuconc.debug_route = round_robin');
$spread->query_safe("$join WHERE dim.k < 90 GROUP BY name") foreach (0, 1);
my @used = figures('memory_used');
my $fuller = $used[0] > $used[1] ? 0 : 1;
foreach my $most (40, 50, 60)
{
	# A build that is on the fuller device alone.  A session's requests go to one device after another.
	my $limit = $most;

	$limit++ while $limit < $most + 9 && device_in($spread, "$join WHERE dim.k < $limit GROUP BY name") ne $fuller;
	is(device_of("SELECT name, sum(id) FROM t JOIN dim USING (k) WHERE dim.k < $limit GROUP BY name", 'predicted'), $fuller, "a build stays, $most");
}
$spread->quit;

#-------------------------------------------------------------------------
# A worker that does not move, and then ends: its requests go elsewhere
#-------------------------------------------------------------------------
my @pids = figures('worker_pid');
my $home = device_of($queries[0], 'predicted');
my $away = 1 - $home;
my @sessions = map { session($node, "devices$_", 'SET gpuconc.debug_route = predicted') } (0 .. 5);
my %expected = map { $_ => own_answer($sessions[0], $_) } @queries;

suspend_workers($node, $pids[$home]);
my @before = figures('requests');
foreach my $i (0 .. 5)
{
	ask($sessions[$i], $queries[ $i % @queries ]);
	# It is submitted, or over.
	wait_until($node, "SELECT wait_event_type = 'Extension' OR state = 'idle' FROM pg_stat_activity WHERE application_name = 'devices$i'");
}
wait_until($node, "SELECT requests > $before[$away] FROM gpuconc_devices WHERE number = $away", 'the other device answers what would wait');
cmp_ok((figures('backlog'))[$home], '>', 0, 'others wait');
kill 'TERM', $pids[$home];
kill 'CONT', $pids[$home];
is(rows_of($sessions[$_]), $expected{ $queries[ $_ % @queries ] }, "session $_: rows by a device") for (0 .. 5);
wait_until($node, "SELECT state = 'ready' AND worker_pid <> $pids[$home] FROM gpuconc_devices WHERE number = $home", 'the worker starts anew');
cmp_ok((figures('requests'))[$away], '>=', $before[$away] + 6, 'the other one has answered all');
is((figures('worker_pid'))[$away], $pids[$away], 'and the other one is the same');
is((figures('backlog'))[$home], 0, 'nothing waits any more');

# One that ends leaves the requests of another one alone.
@pids = figures('worker_pid');
suspend_workers($node, @pids);
ask($sessions[$_], $queries[$_]) for (0 .. 3);
wait_until_waiting($node, '^devices[0-3]', 4);
@before = figures('backlog');
cmp_ok($before[$_], '>', 0, "requests wait for device $_") for (0, 1);
kill 'TERM', $pids[$home];
kill 'CONT', $pids[$home];
wait_until($node, "SELECT state = 'ready' AND worker_pid <> $pids[$home] FROM gpuconc_devices WHERE number = $home");
cmp_ok((figures('backlog'))[$away], '>=', $before[$away], 'those of the other one still wait');
kill 'CONT', $pids[$away];
is(rows_of($sessions[$_]), $expected{ $queries[$_] }, "session $_: rows by a device") for (0 .. 3);
is((figures('worker_pid'))[$away], $pids[$away], 'the other one is still the same');
nothing_held($node, 'after a worker that ended');

#-------------------------------------------------------------------------
# A device that is lost, or has no memory: the other one answers
#-------------------------------------------------------------------------
foreach my $n (1, 5, 12)
{
	@pids = figures('worker_pid');
	$node->safe_psql('postgres', "SELECT gpuconc_evict('t')");
	# Idle workers look at it at once.
	configure_one($pids[0], 'gpuconc.debug_fail_device', -$n);
	$_->query_safe('SET gpuconc.debug_route = round_robin') foreach (@sessions);
	my $differ = 0;
	again_until(sub {
		$differ += $_->query_safe($queries[0]) ne $expected{ $queries[0] } foreach (@sessions[ 0, 1 ]);
		return $node->safe_psql('postgres', "SELECT worker_pid <> $pids[0] FROM gpuconc_devices WHERE number = 0") eq 't' });
	is($differ, 0, "lost with call $n: rows by a device");
	wait_until($node, "SELECT state = 'ready' AND worker_pid <> $pids[0] FROM gpuconc_devices WHERE number = 0", "lost with call $n: the worker starts anew");
}
cmp_ok(log_has($node, qr/gpuconc restarts its worker 0 because the device has failed/), '>=', 3, 'lost: the log says which');

# A worker that is started anew takes less memory than the others have: enough for the columns, too little for this result.
my $rows = 'SELECT t.id, u.id + t.k FROM t JOIN t AS u ON u.k = t.k AND u.id % 77 = 0 ORDER BY 1, 2';
my $own = own_answer($sessions[0], $rows);
my $retries = stat_of($node, 'retries');

@pids = figures('worker_pid');
configure($node, 'gpuconc.debug_fail_device' => 0, 'gpuconc.device_memory_limit' => '1MB');
kill 'TERM', $pids[0];
wait_until($node, "SELECT state = 'ready' AND worker_pid <> $pids[0] AND memory_limit <= 1024 * 1024 FROM gpuconc_devices WHERE number = 0");
ok($_->query_safe($rows) eq $own, 'no memory: rows by a device') foreach (@sessions[ 0, 1, 0, 1 ]);
cmp_ok(stat_of($node, 'retries'), '>=', $retries + 2, 'no memory: by the other one');
@pids = figures('worker_pid');
configure($node, 'gpuconc.device_memory_limit' => '64MB');
kill 'TERM', $pids[0];
wait_until($node, "SELECT state = 'ready' AND worker_pid <> $pids[0] FROM gpuconc_devices WHERE number = 0");
@pids = figures('worker_pid');

# What a worker had on its device has gone with it: home is where the columns still are.
foreach my $ended (0, 1)
{
	device_in($_, $queries[0]) foreach (@sessions[ 0, 0, 1, 1 ]);
	kill 'TERM', $pids[$ended];
	wait_until($node, "SELECT state = 'ready' AND worker_pid <> $pids[$ended] FROM gpuconc_devices WHERE number = $ended");
	is(device_of($queries[0], 'affinity'), 1 - $ended, "worker $ended has ended: the other device has the columns");
	@pids = figures('worker_pid');
}

#-------------------------------------------------------------------------
# A device that is short of memory gets no copies of what another one has
#-------------------------------------------------------------------------
$node->safe_psql('postgres', 'CREATE TABLE big AS SELECT ' . join(', ', map { "hashint8extended(i, $_) AS c$_" } (0 .. 7))
	  . ' FROM generate_series(1, 100000) AS i; VACUUM ANALYZE big');
# Copying takes longer than the request.
$_->quit foreach (@sessions);
configure($node, 'gpuconc.device_memory_limit' => '4MB');
$node->append_conf('postgresql.conf', 'gpuconc.debug_pretend_link = 4MB');
$node->restart;
wait_until($node, "SELECT bool_and(state = 'ready' AND memory_limit <= 4 * 1024 * 1024) FROM gpuconc_devices");
@sessions = map { session($node, "devices$_", 'SET gpuconc.debug_route = predicted') } (0 .. 5);
@pids = figures('worker_pid');
$home = device_of($queries[0], 'affinity');
$away = 1 - $home;
suspend_workers($node, $pids[$home]);
$_->query_safe('SET gpuconc.debug_route = affinity') foreach (@sessions[ 0, 1 ]);
ask($sessions[$_], $queries[0]) for (0, 1);
wait_until_waiting($node, '^devices[01]', 2);
my $waiting = (figures('backlog'))[$home];
again_until(sub {
	$sessions[2]->query_safe('SET gpuconc.debug_route = least_requests');
	$sessions[2]->query_safe("SELECT min(c$_), max(c$_) FROM big") for (0 .. 7);
	$sessions[2]->query_safe('SET gpuconc.debug_route = predicted');
	ask($sessions[2], $queries[0]);
	wait_until($node, "SELECT backlog > $waiting OR (SELECT state = 'idle' FROM pg_stat_activity WHERE application_name = 'devices2') FROM gpuconc_devices WHERE number = $home");
	return 1 if (figures('backlog'))[$home] > $waiting;
	rows_of($sessions[2]);
	return 0; });
is((figures('backlog'))[$home] > $waiting, 1, 'what would drive out data of the other device waits');
kill 'CONT', $pids[$home];
is(rows_of($sessions[$_]), $expected{ $queries[0] }, "session $_: rows") for (0 .. 2);
configure($node, 'gpuconc.device_memory_limit' => '64MB');
kill 'TERM', @pids;
wait_until($node, "SELECT bool_and(state = 'ready' AND worker_pid NOT IN ($pids[0], $pids[1])) FROM gpuconc_devices");
@pids = figures('worker_pid');

#-------------------------------------------------------------------------
# A request is cancelled
#-------------------------------------------------------------------------
$home = device_of($queries[0], 'affinity');
suspend_workers($node, $pids[$home]);
$sessions[0]->query_safe('SET gpuconc.debug_route = affinity');
ask($sessions[0], $queries[0]);
wait_until_waiting($node, '^devices0');
$node->safe_psql('postgres', q{SET gpuconc.debug_offload = forbid; SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'devices0'});
like(rows_of($sessions[0]), qr/canceling statement due to user request/, 'cancelled');
kill 'CONT', $pids[$home];
is($sessions[0]->query_safe($queries[0]), $expected{ $queries[0] }, 'the next one is answered');
wait_until($node, 'SELECT sum(backlog) = 0 FROM gpuconc_devices', 'the cancelled one waits no more');
nothing_held($node, 'after a cancel');
$_->quit foreach (@sessions);

#-------------------------------------------------------------------------
# Three devices; names of one that another has, and of one that is not there
#-------------------------------------------------------------------------
$node->append_conf('postgresql.conf', "gpuconc.devices = 'host:0, host:1, host:2, host:1, host:9'");
my $offset = -s $node->logfile;
$node->restart;
wait_for_worker($node);
note_memory($node);
is($node->safe_psql('postgres', q{SELECT string_agg(state || coalesce(': ' || detail, ''), ', ' ORDER BY card) FROM gpuconc_devices WHERE number <> 4}),
	'ready, ready, ready, no device: Another worker has device host:1.', 'three are ready; one is named twice');
is($node->safe_psql('postgres', 'SELECT state, detail FROM gpuconc_devices WHERE number = 4'), 'no device|There is no device host:9; there are 8.', 'one is not there');
is(log_has($node, qr/gpuconc has no device [134]; queries run without it/, $offset), 2, 'the log says so');
$spread = session($node, 'spread', 'SET gpuconc.debug_route = round_robin');
is($spread->query_safe($queries[0]), $expected{ $queries[0] }, "three: $_") foreach (1 .. 6);
$spread->quit;
is($node->safe_psql('postgres', 'SELECT count(*) FROM gpuconc_devices WHERE requests > 0'), '3', 'three have answered');
is_offloaded($node, $_, "three: $_") foreach (@queries);
nothing_held($node, 'three');

# A request that kills each device that it comes to: another one is tried, and the third one is left alone.
my $killer = session($node, 'killer', 'SET gpuconc.debug_offload = allow');
my $ready = q{SELECT string_agg(worker_pid::text, ' ' ORDER BY number) FROM gpuconc_devices WHERE state = 'ready'};
my %pid_before = map { $_ => 1 } split / /, query_server($node, $ready);

$retries = stat_of($node, 'retries');
configure($node, 'gpuconc.debug_fail_device' => -1);
is($killer->query_safe($queries[0]), $expected{ $queries[0] }, 'what kills devices: rows by PostgreSQL');
is(stat_of($node, 'retries'), $retries + 1, 'what kills devices: one other was tried');
configure($node, 'gpuconc.debug_fail_device' => 0);
my @now;
again_until(sub { @now = split / /, query_server($node, $ready); return @now == 3 && grep({ !$pid_before{$_} } @now) >= 2 });
is(scalar(grep { $pid_before{$_} } @now), 1, 'what kills devices: the third one keeps its worker');

# One that has no memory for a call, where no other one is larger.
my $fallbacks = stat_of($node, 'fallbacks');
$retries = stat_of($node, 'retries');
foreach my $n (1 .. 6)
{
	configure($node, 'gpuconc.debug_fail_device' => $n);
	is($killer->query_safe($queries[0]), $expected{ $queries[0] }, "no memory for call $n: rows");
}
configure($node, 'gpuconc.debug_fail_device' => 0);
cmp_ok(stat_of($node, 'fallbacks'), '>', $fallbacks, 'no memory for a call: some rows are by PostgreSQL');
is(stat_of($node, 'retries'), $retries, 'no memory for a call: no device that is no larger was asked');
$killer->quit;

# One is killed: PostgreSQL starts all over, with all of them.
kill_process($node, $node->safe_psql('postgres', q{SELECT max(worker_pid) FROM gpuconc_devices WHERE state = 'ready'}));
is($node->safe_psql('postgres', q{SELECT count(*) FROM gpuconc_devices WHERE state = 'ready'}), '3', 'after a crash: three are ready');
is_offloaded($node, $_, "after a crash: $_") foreach (@queries);

# More memory than there is.
$offset = -s $node->logfile;
configure($node, 'gpuconc.device_memory_limit' => '2000TB');
kill 'TERM', (figures('worker_pid'))[0];
$node->wait_for_log(qr/gpuconc's device 0 gives \d+ MB of memory, not the 2097152000 MB of gpuconc\.device_memory_limit/, $offset);
unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile, $offset), qr/gpuconc's device [12] gives/, 'of one device that has less memory than it should take');

# What cannot be meant.
foreach my $devices ('nonsense', 'all, 0', 'allx', '0, auto', '', '0,', '0 1', 'GPU-12', 'host:', '0,1,2,3,4,5,6,7,8')
{
	my ($status) = $node->psql('postgres', "ALTER SYSTEM SET gpuconc.devices = '$devices'");
	isnt($status, 0, "refused: '$devices'");
}
foreach my $devices ('all', ' All ', 'cuda', ' Host ', '0,2', 'cuda , 3,GPU-12345678-1234-1234-1234-123456789ABC', 'MIG-12345678-1234-1234-1234-123456789abc')
{
	my ($status) = $node->psql('postgres', "ALTER SYSTEM SET gpuconc.devices = '$devices'");
	is($status, 0, "accepted: '$devices'");
}
$node->stop;
done_testing();

# Device calls that fail in the middle of scans in waves: no memory for one call, as where another process has taken
# it; a device that is lost; a query that is cancelled.  PostgreSQL's answer, and all memory given back.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The link is slow enough that a scan in waves takes a second: what comes meanwhile finds it under way.
my $node = new_server('faults', q{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.debug_pretend_link = 16MB
gpuconc.device_memory_limit = 3MB
gpuconc.debug_gpu_kernels = off
max_parallel_workers_per_gather = 0
});
$node->safe_psql('postgres', q{
CREATE TABLE lo AS SELECT i AS id, i * 7919::bigint % 2556 AS day, i * 1237::bigint % 8000 AS cust, i % 50 AS qty,
	i * 104729::bigint % 1000003 AS price, CASE WHEN i % 13 <> 0 THEN i * 1299709::bigint % 999983 END AS note FROM generate_series(1, 100000) AS i;
CREATE TABLE o AS SELECT i AS cust, i * 1000003::bigint AS wide, i % 25 AS nation, i * 17::bigint % 99991 AS balance FROM generate_series(0, 7999) AS i;
CREATE TABLE small AS SELECT i FROM generate_series(1, 500) AS i;
VACUUM (FREEZE, ANALYZE) lo, o, small});

my @asked = (
	'SELECT count(*), sum(id), sum(price), count(note), sum(note), sum(day), sum(cust) FROM lo',
	'SELECT nation, count(*), sum(price), max(note), sum(balance) FROM lo JOIN o USING (cust) WHERE qty < 45 GROUP BY nation ORDER BY nation',
	'SELECT id, price, note FROM lo WHERE qty = 7 AND note < 300000 ORDER BY id',
	# builds and groups in passes
	'SELECT cust, count(*), sum(price), max(note), min(id) FROM lo GROUP BY cust ORDER BY 3 DESC, 1 LIMIT 20');
my @sessions = map { session($node, "faults$_") } (0 .. 3);
my %expected = map { $_ => own_answer($sessions[0], $_) } @asked;
my $waves = stat_of($node, 'waves');
is_offloaded($node, $_, $_) foreach (@asked);
cmp_ok(stat_of($node, 'waves'), '>', $waves + 20, 'in waves');
$_->query_safe('SET gpuconc.debug_offload = allow') foreach (@sessions);

# Device memory that is taken once all that can go has gone: a request in passes drops builds that nothing uses.  The
# worker sees that columns are evicted when it has something to do.
sub memory_held
{
	my ($message) = @_;

	is_offloaded($node, $asked[3], "$message: what needs all memory runs");
	nothing_held($node, $message);
	is_offloaded($node, 'SELECT count(*), sum(i) FROM small', "$message: what is small runs");
	nothing_held($node, $message);
	is_offloaded($node, 'SELECT count(*) FROM small WHERE i < 400', "$message: and again");
	return stat_of($node, '(SELECT memory_used FROM gpuconc_devices)');
}
my $held = memory_held('before');

# Memory that can be freed may not be free at the first look; memory that is lost stays.
sub is_given_back
{
	my ($message) = @_;
	my $now;

	again_until(sub { ($now = memory_held($message)) <= $held });
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($now, '<=', $held, "$message: all device memory is given back");
	return;
}

# All sessions ask; the answers that are wrong.
sub ask_all
{
	my @queries = @_;
	my $wrong = 0;

	ask($sessions[$_], $queries[$_]) foreach (0 .. $#queries);
	foreach my $s (0 .. $#queries)
	{
		my $got = rows_of($sessions[$s]);

		next if $got eq $expected{ $queries[$s] };
		diag "$queries[$s]\n" . substr($got, 0, 500);
		$wrong++;
	}
	return $wrong;
}

#-------------------------------------------------------------------------
# No memory for one call
#-------------------------------------------------------------------------
my ($fallbacks, $wrong) = (stat_of($node, 'fallbacks'), 0);
foreach my $n (1 .. 12, map { 12 + 7 * $_ } (1 .. 14))
{
	configure($node, 'gpuconc.debug_fail_device' => $n);
	$wrong += ask_all($asked[ $n % @asked ]);
}
is($wrong, 0, 'no memory for one call: answers');
cmp_ok(stat_of($node, 'fallbacks'), '>', $fallbacks + 5, 'no memory for one call: some are PostgreSQL\'s');

# That of one session does not disturb the others, which share what is copied.
foreach my $n (map { 9 * $_ * $_ } (1 .. 6))
{
	configure($node, 'gpuconc.debug_fail_device' => $n);
	$wrong += ask_all(@asked[ 0, 1, 0, 2 ]);
}
is($wrong, 0, 'no memory for one call of several sessions: answers');
configure($node, 'gpuconc.debug_fail_device' => 0);
is_given_back('no memory for a call');
is($node->safe_psql('postgres', 'SELECT state FROM gpuconc_devices'), 'ready', 'the worker is well');
is_offloaded($node, $_, "after it: $_") foreach (@asked);

#-------------------------------------------------------------------------
# The device is lost between two waves
#-------------------------------------------------------------------------
foreach my $n (1, 5, 40, 90)
{
	my $worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices');

	configure($node, 'gpuconc.debug_fail_device' => -$n);
	is(ask_all(@asked[ 0, 1, 3 ]), 0, "lost with call $n: answers");
	wait_until($node, "SELECT state = 'ready' AND worker_pid <> $worker FROM gpuconc_devices", "lost with call $n: the worker starts anew");
	configure($node, 'gpuconc.debug_fail_device' => 0);
	is_offloaded($node, $asked[1], "lost with call $n: the next query runs");
}
is_given_back('lost');
cmp_ok(log_has($node, qr/gpuconc restarts its worker because the device has failed/), '>=', 4, 'lost: the log says so');

#-------------------------------------------------------------------------
# Cancelled in the middle of a wave
#-------------------------------------------------------------------------
my $cancelled = 0;
again_until(sub {
	my $before = stat_of($node, 'waves');

	ask($sessions[0], $asked[0]);
	ask($sessions[1], $asked[1]) if $cancelled > 0;
	wait_until($node, "SELECT waves > $before + 3 FROM gpuconc_stat_memory");
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'faults0' AND state = 'active'");
	my $got = rows_of($sessions[0]);
	my $other = $cancelled > 0 ? rows_of($sessions[1]) : '';

	is($other, $expected{ $asked[1] }, 'cancelled in a wave: the other goes on') if $cancelled > 0;
	# On a busy machine all waves may be over before.
	$cancelled++ if $got =~ /canceling statement/;
	return $cancelled == 3;
});
is($cancelled, 3, 'cancelled in a wave: three times');
wait_until($node, 'SELECT running = 0 FROM gpuconc_devices', 'cancelled in a wave: nothing runs');
is_given_back('cancelled');
is(ask_all(@asked[ 0, 1, 2, 3 ]), 0, 'after all: answers');
$_->quit foreach (@sessions);
$node->stop;
done_testing();

# Restart and shutdown, smart, fast and immediate, with requests under way.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('stop');
create_tables($node);

# Rows that meet many others take the device a while.  However soon it is done, go_on() asks again, until lock 1 is taken.
$node->safe_psql('postgres', q{
CREATE TABLE many AS SELECT i % 4 AS k, i AS v FROM generate_series(1, 40000) AS i;
VACUUM ANALYZE many;
CREATE FUNCTION go_on(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	freed bool;
BEGIN
	LOOP
		EXECUTE query INTO answer;
		EXIT WHEN NOT pg_try_advisory_lock_shared(1);
		freed := pg_advisory_unlock_shared(1);
	END LOOP;
	RETURN answer;
END $$});
my $long = 'SELECT sum((a.v * 3 + b.v) % 7) FROM many AS a JOIN many AS b ON a.k = b.k';
my $answer = answer_of($node, $long, 'forbid');

sub worker_pid
{
	return $node->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices');
}

is_offloaded($node, $_, "before: $_") foreach (@queries);

# from sessions that wait for a worker which takes nothing, which works, or compiles
foreach my $state ('stopped', 'working')
{
	foreach my $mode ('fast', 'immediate')
	{
		my $worker = worker_pid();
		suspend_workers($node, $worker) if $state eq 'stopped';
		my @sessions = map { session($node, "waits$_", q{SET statement_timeout = '2h'}) } (0 .. 3);
		start_query($_, $state eq 'stopped' ? $queries[1] : "SELECT go_on('$long')") foreach (@sessions);
		if ($state eq 'stopped')
		{
			wait_until_waiting($node, '^waits', 4);
		}
		else
		{
			wait_until($node, q{SELECT running > 0 FROM gpuconc_devices});
		}
		# pg_ctl waits for the end of all processes; the worker is among them, and must
		# move to be able to end in fast mode.
		kill 'CONT', $worker if $mode eq 'fast';
		$node->stop($mode);
		ok(!kill(0, $worker), "$mode stop, worker $state: no worker is left");
		$_->{run}->kill_kill foreach (@sessions);
		is(log_has($node, qr/TRAP|PANIC|was terminated by signal (?:6|11)/), 0, "$mode stop, worker $state: no crash");
		start_server($node);
		is_offloaded($node, $queries[2], "after $mode stop, worker $state");
		nothing_held($node, "after $mode stop, worker $state");
	}
}

# smart: sessions finish what they do, with the device
my ($session, $teller) = map { session($node, $_) } ('smart', 'teller');
start_query($session, "SELECT go_on('$long')");
wait_until($node, q{SELECT running > 0 FROM gpuconc_devices});
$node->command_ok([ 'pg_ctl', '-D', $node->data_dir, '-m', 'smart', '-W', 'stop' ], 'smart stop is asked for');
$teller->query_safe('SELECT pg_advisory_lock(1)');
like($session->query_until(qr/over/, "\n"), qr/^\Q$answer\E$/m, 'smart stop: the query finishes');
is($session->query_safe($queries[0]), '30000|450015000|1992-01-01|4285.71|2142.8785769808968577', 'smart stop: and so does another');
my $pid_file = $node->data_dir . '/postmaster.pid';
$_->quit foreach ($session, $teller);
foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
{
	last if !-e $pid_file;
	select undef, undef, undef, 0.1;
}
ok(!-e $pid_file, 'smart stop: the server ends with the last session');
$node->_update_pid(0);

# a restart with nothing under way keeps no columns, and loses no answers
start_server($node);
is_offloaded($node, $_, "at last: $_") foreach (@queries);
$node->stop('immediate');
$node->start;
wait_for_worker($node);
is($node->safe_psql('postgres', 'SELECT count(*) FROM gpuconc_cache'), '0', 'the cache is empty after a restart');
is_offloaded($node, $_, "after recovery: $_") foreach (@queries);

$node->stop;
done_testing();

# The worker ends, stops or is killed; requests that wait for it; clients that go away.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('worker', "restart_after_crash = on\n");

create_tables($node);
is_offloaded($node, $_, "before: $_") foreach (@queries);

sub worker_pid
{
	return $node->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices');
}

sub end_session
{
	my ($session) = @_;

	eval { $session->quit };
	$session->{run}->kill_kill;
	return;
}

#-------------------------------------------------------------------------
# a worker at rest: it is seen, and answers what processes ask of each other
#-------------------------------------------------------------------------
my $worker = worker_pid();

wait_until($node, "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $worker AND wait_event_type = 'Extension'");
is($node->safe_psql('postgres', q{
SELECT pid, application_name, datname, state, backend_xmin FROM pg_stat_activity WHERE backend_type = 'gpuconc worker'}),
	"$worker|gpuconc worker|||", 'pg_stat_activity has the worker');
is($node->safe_psql('postgres', "SELECT pg_cancel_backend($worker)"), 't', 'the worker is told to cancel');
# DROP DATABASE waits until every process has closed the database's files.
$node->safe_psql('postgres', "CREATE DATABASE other");
$node->safe_psql('postgres', "DROP DATABASE other");
ok(1, 'a database is dropped beside the worker');
is_offloaded($node, $queries[0], 'after a cancel');
is(worker_pid(), $worker, 'a cancel has no effect on the worker');
is($node->safe_psql('postgres', "SELECT pg_terminate_backend($worker)"), 't', 'the worker is terminated');
wait_until($node, "SELECT count(*) = 1 FROM gpuconc_devices WHERE state = 'ready' AND worker_pid <> $worker");
is_offloaded($node, $queries[0], 'after a worker that was terminated');

#-------------------------------------------------------------------------
# a worker that does not move: whoever waits for it can be interrupted
#-------------------------------------------------------------------------
$worker = worker_pid();
suspend_workers($node, $worker);

my $watcher = $node->background_psql('postgres', on_error_stop => 0);
$watcher->query_safe('SET gpuconc.debug_offload = forbid');

my @sessions = map { session($node, "waits$_", 'SET client_min_messages = error') } (0 .. 4);
start_query($sessions[$_], $queries[$_]) for (0 .. 4);
wait_until_waiting($node, '^waits', 5);

is($watcher->query_safe(q{
SELECT bool_and(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name IN ('waits0', 'waits1')}), 't', 'cancelled');
$sessions[$_]->query_until(qr/over/, "\n") for (0, 1);
like($sessions[$_]->{stderr}, qr/canceling statement due to user request/, 'a stopped worker: cancel') for (0, 1);
$watcher->query_safe(q{
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'waits2'});
wait_until($node, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'waits2'});
ok(1, 'a stopped worker: terminate');
# A client that goes away without a word is noticed at latest by this.
$sessions[3]->{run}->kill_kill;
my ($status, $out, $error) = $node->psql('postgres', "SET statement_timeout = '100ms'; $queries[0]");
like($error, qr/statement timeout/, 'a stopped worker: statement_timeout');
($status, $out, $error) = $node->psql('postgres', "SET idle_in_transaction_session_timeout = '100ms'; SET lock_timeout = '50ms'; SET statement_timeout = '300ms'; BEGIN\\; $queries[2]");
like($error, qr/statement timeout/, 'a stopped worker: only the timeout that is due');
my $disconnected = session($node, 'disconnected', q{SET client_connection_check_interval = '50ms'});
start_query($disconnected, $queries[1]);
wait_until_waiting($node, 'disconnected');
$disconnected->{run}->kill_kill;
wait_until($node, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'disconnected'});
ok(1, 'a stopped worker: a client that has gone');

# caught errors, one after another, in one session: each request is let go of
my $catcher = session($node, 'catcher', q{SET statement_timeout = 0});
$catcher->query_safe(q{
CREATE FUNCTION try(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'done';
EXCEPTION WHEN query_canceled THEN
	RETURN 'canceled';
END $$});
for my $i (1 .. 5)
{
	start_query($catcher, "SELECT try('$queries[1]')");
	wait_until_waiting($node, 'catcher');
	$watcher->query_safe(q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'catcher'});
	like($catcher->query_until(qr/over/, "\n"), qr/canceled/, "a stopped worker: cancel is caught, $i");
}

kill 'CONT', $worker;
like($sessions[4]->query_until(qr/over/, "\n"), qr/1995/, 'a worker that goes on: the one that waited gets its rows');
is($catcher->query_safe("SELECT try('$queries[1]')"), 'done', 'and so does one that was cancelled before');
end_session($_) foreach (@sessions, $disconnected, $catcher);
wait_until($node, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name ~ '^waits'});
nothing_held($node, 'after a stopped worker');
is_offloaded($node, $_, "after a stopped worker: $_") foreach (@queries);

#-------------------------------------------------------------------------
# a worker that is asked to end: its requests are answered by PostgreSQL's own plans,
# and a new one is started
#-------------------------------------------------------------------------
suspend_workers($node, $worker);
@sessions = map { session($node, "ended$_", 'SET gpuconc.debug_offload = allow') } (0 .. 3);
start_query($sessions[$_], $queries[$_]) for (0 .. 3);
wait_until_waiting($node, '^ended', 4);
my $fallbacks = $watcher->query_safe(q{SELECT fallbacks FROM gpuconc_stat});
kill 'TERM', $worker;
kill 'CONT', $worker;
for my $i (0 .. 3)
{
	my $expected = $watcher->query_safe($queries[$i]);
	like($sessions[$i]->query_until(qr/over/, "\n"), qr/\Q$expected\E/, "a worker that ends: its request is answered, $i");
	end_session($sessions[$i]);
}
wait_until($node, "SELECT count(*) = 1 FROM gpuconc_devices WHERE state = 'ready' AND worker_pid <> $worker");
is($node->safe_psql('postgres', q{SELECT count(*) FROM gpuconc_devices WHERE state = 'ready'}), '1', 'a new worker is ready');
is_offloaded($node, $_, "by a new worker: $_") foreach (@queries);
nothing_held($node, 'after a worker that ended');

# again and again, while sessions go on
my $load = "$PostgreSQL::Test::Utils::tmp_check/load.sql";
append_to_file($load, 'SELECT count(*) = 30000 AND sum(id) = 450015000 AS good FROM t \gset' . "\n\\if :good\n\\else\nSELECT 1 / 0;\n\\endif\n");
my $pgbench = IPC::Run::start(
	[ 'pgbench', '-n', '-c', '4', '-T', '5', '-f', $load, $node->connstr('postgres') ],
	'<', \undef, '>', \$out, '2>', \$error);
for (1 .. 3)
{
	$worker = worker_pid();
	kill 'TERM', $worker;
	wait_until($node, "SELECT count(*) = 1 FROM gpuconc_devices WHERE state = 'ready' AND worker_pid <> $worker");
}
$pgbench->finish;
like($out, qr/number of failed transactions: 0 /, 'sessions go on while workers come and go') or diag $error;
nothing_held($node, 'after workers that came and went');
$watcher->quit;

#-------------------------------------------------------------------------
# killed: PostgreSQL starts all over, as after any crash of such a process
#-------------------------------------------------------------------------
for my $case ('waiting', 'compiling')
{
	$node->safe_psql('postgres', q{SELECT gpuconc_prewarm('t')});
	$worker = worker_pid();
	suspend_workers($node, $worker) if $case eq 'waiting';
	@sessions = map { session($node, "killed$_") } (0 .. 2);
	# a constant does not make a new kernel, another expression does
	start_query($sessions[$_], 'SELECT sum(' . join(' + ', map { "id * $_" } (1 .. 10 + $_)) . ') FROM t') for (0 .. 2);
	wait_until_waiting($node, '^killed', 3) if $case eq 'waiting';
	kill_process($node, $worker, sub { end_session($_) foreach (@sessions) });
	is_offloaded($node, $_, "after a crash, $case: $_") foreach (@queries);
	nothing_held($node, "after a crash, $case");
}

$node->stop;
done_testing();

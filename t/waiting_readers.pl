# A reader that only waits for another one's reading of hot pages is cancelled and terminated at once, and the other
# one goes on.  The one that reads is stopped with the pages claimed, at a moment when it waits for no lock any more:
# else its claim would be taken over.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# A check for deadlocks holds locks of all sessions: nobody is to be stopped in one.
my $node = new_server('waiting_readers', q{
gpuconc.debug_hot_pages = 1
gpuconc.loader_workers = 0
deadlock_timeout = 1h
log_statement = none
});
my $stopped;

END { kill 'CONT', $stopped if $stopped }

# One chunk, with values that are read from a TOAST table.
$node->safe_psql('postgres', q{
CREATE TABLE h (id int, n int, t text);
ALTER TABLE h ALTER t SET STORAGE EXTERNAL;
INSERT INTO h SELECT i, i % 7, CASE WHEN i % 100 = 0 THEN repeat(chr(97 + i % 9), 2100) END FROM generate_series(1, 3000) AS i;
CREATE FUNCTION block() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE (SELECT 'REINDEX TABLE ' || reltoastrelid::regclass FROM pg_class WHERE relname = 'h');
END $$});
my $query = 'SELECT count(*), sum(n), max(id), count(DISTINCT t) FROM h';
my $event = $node->pg_version >= 17 ? 'GpuconcLoad' : 'Extension';
my $reader = session($node, 'reads');

# Have a session stop while it reads hot pages.
sub start_reading
{
	my $blocker = $node->background_psql('postgres');

	$blocker->query_safe('BEGIN; SELECT block()');
	ask($reader, $query);
	wait_until($node, q{SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE application_name = 'reads'});
	my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE application_name = 'reads'});
	kill('STOP', $pid) == 1 or die 'the reader cannot be stopped';
	$stopped = $pid;
	$blocker->query_safe('COMMIT');
	$blocker->quit;
	return;
}

sub is_reading
{
	my ($message) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($node->safe_psql('postgres', "SELECT pid = $stopped, chunks_total - chunks_done FROM gpuconc_load_progress"), 't|1',
		"$message: the other one still reads");
	return;
}

sub go_on_reading
{
	kill 'CONT', $stopped;
	$stopped = undef;
	return;
}

# Are pages served by version now, and each of them read once for all?
sub is_read_once
{
	my ($loaded, $message) = @_;
	my @pages = pages_of($node, $query);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($node->safe_psql('postgres', "SELECT pages_loaded - $loaded = pg_relation_size('h') / 8192 FROM gpuconc_stat"), 't',
		"$message: each page is read once");
	cmp_ok($pages[0], '>', 10, "$message: pages are served by version");
	is($pages[1], 0, "$message: and none is read by a session");
	return;
}

# Pages that nobody has read are read by one for all.
my $answer = answer_of($node, $query, 'forbid');
my $loaded = stat_of($node, 'pages_loaded');
my %waiting = map { $_ => session($node, $_) } ('canceled', 'terminated', 'patient');

start_reading();
ask($waiting{$_}, $query) foreach (sort keys %waiting);
wait_until($node, qq{
SELECT count(*) = 3 FROM pg_stat_activity
WHERE application_name IN ('canceled', 'terminated', 'patient') AND wait_event_type = 'Extension' AND wait_event = '$event'},
	'three wait for the pages that another one reads');
is($node->safe_psql('postgres', 'SELECT running FROM gpuconc_devices'), '0', 'and for no device');
is_reading('three wait');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'canceled'});
like(rows_of($waiting{canceled}), qr/canceling statement due to user request/, 'one is cancelled');
is_reading('one is cancelled');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'terminated'});
$waiting{terminated}->{run}->finish;
like($waiting{terminated}->{stderr}, qr/terminating connection due to administrator command/, 'one is terminated');
is_reading('one is terminated');
go_on_reading();
is(rows_of($reader), $answer, 'the one that reads has its answer');
is(rows_of($waiting{patient}), $answer, 'and so has the one that still waits');
ask($waiting{canceled}, $query);
is(rows_of($waiting{canceled}), $answer, 'and the cancelled one, when it asks again');
is_read_once($loaded, 'never read');

# Few pages that were changed since: the others read them themselves, and wait for nobody.
$node->safe_psql('postgres', 'UPDATE h SET n = n + 1 WHERE id % 5 = 0');
$answer = answer_of($node, $query, 'forbid');
$loaded = stat_of($node, 'pages_loaded');
start_reading();
foreach my $name ('canceled', 'patient')
{
	ask($waiting{$name}, $query);
	is(rows_of($waiting{$name}), $answer, 'changed since: others do not wait');
}
is_reading('changed since, others do not wait');
go_on_reading();
is(rows_of($reader), $answer, 'changed since: the one that reads has its answer');
is_read_once($loaded, 'changed since');

$_->quit foreach ($reader, @waiting{ 'canceled', 'patient' });
nothing_held($node, 'at last');
is(log_has($node, qr/PANIC|TRAP|was terminated by signal/), 0, 'nothing bad in the log');
$node->stop;
done_testing();

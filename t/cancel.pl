# Storms: queries cancelled and sessions ended at random moments, more sessions than
# can be served at once, as many as the server lets in.  Afterwards nothing is held.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('cancel', "max_connections = 30\nsuperuser_reserved_connections = 3\n"
	  . "log_min_messages = fatal\nlog_statement = none\n");
create_tables($node);
# the session computes these of what the device returns
push @queries, 'SELECT id, rank() OVER (PARTITION BY k ORDER BY n, id), sum(n) OVER (PARTITION BY s ORDER BY id ROWS 9 PRECEDING) FROM t ORDER BY id';
$node->safe_psql('postgres', q{
CREATE TABLE expected (n int, answer text);
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'') FROM (%s) AS q', query) INTO result;
	RETURN result;
END $$;});

my $script = "$PostgreSQL::Test::Utils::tmp_check/storm.sql";
my $number = 0;

# Every answer that comes is the right one, whatever happens to others.
foreach my $query (@queries)
{
	(my $quoted = $query) =~ s/'/''/g;
	$node->safe_psql('postgres',
		"SET gpuconc.debug_offload = forbid; INSERT INTO expected SELECT $number, answer('$quoted')");
	append_to_file("$script.$number", qq{
SELECT answer('$quoted') = answer AS same FROM expected WHERE n = $number \\gset
\\if :same
\\else
SELECT 'WRONG ANSWER' / 0;
\\endif
});
	$number++;
}

# Sessions that ask, for as long or as often as pgbench is told.
sub storm
{
	my ($clients, @length) = @_;
	my ($out, $error) = ('', '');
	my $run = IPC::Run::start(
		[ 'pgbench', '-n', '-c', $clients, '-j', '2', @length,
			'--random-seed=7', (map { ('-f', "$script.$_") } (0 .. $number - 1)),
			$node->connstr('postgres') . ' application_name=storm' ],
		'<', \undef, '>', \$out, '2>', \$error);

	return { run => $run, out => \$out, error => \$error };
}

sub is_well
{
	my ($message) = @_;

	is($node->safe_psql('postgres', q{SELECT state FROM gpuconc_devices}), 'ready', "$message: the worker is well");
	nothing_held($node, $message);
	is_offloaded($node, $_, "$message: $_") foreach (@queries);
	return;
}

# cancel: pgbench gives up a client whose query fails, so that they are run by plpgsql
$node->safe_psql('postgres', q{
CREATE FUNCTION ask(seconds float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	good int := 0;
	canceled int := 0;
	e record;
	query text;
	until timestamptz := clock_timestamp() + seconds * interval '1 s';
BEGIN
	-- what hits one block's handler is caught by the next one
	WHILE clock_timestamp() < until LOOP
		BEGIN
			BEGIN
				FOR e IN SELECT x.n, x.answer, q.query FROM expected AS x JOIN asked AS q USING (n) ORDER BY random() LOOP
					BEGIN
						IF answer(e.query) IS DISTINCT FROM e.answer THEN
							RETURN 'WRONG ANSWER to ' || e.query;
						END IF;
						good := good + 1;
					EXCEPTION WHEN query_canceled THEN
						canceled := canceled + 1;
					END;
				END LOOP;
			EXCEPTION WHEN query_canceled THEN
				canceled := canceled + 1;
			END;
		EXCEPTION WHEN query_canceled THEN
			canceled := canceled + 1;
		END;
	END LOOP;
	RETURN format('%s good, %s canceled', good, canceled);
END $$;
CREATE TABLE asked (n int, query text)});
foreach my $i (0 .. $number - 1)
{
	(my $quoted = $queries[$i]) =~ s/'/''/g;
	$node->safe_psql('postgres', "INSERT INTO asked VALUES ($i, '$quoted')");
}

my ($good, $canceled) = (0, 0);

sub storm_of_cancels
{
	my @sessions = map { $node->background_psql('postgres', on_error_stop => 0) } (0 .. 9);

	$_->query_safe(q{SET application_name = 'asks'}) foreach (@sessions);
	start_query($_, 'SELECT ask(8)') foreach (@sessions);
	# evictions meanwhile make for loads to be cancelled, too
	$node->safe_psql('postgres', q{
DO $$
DECLARE
	until timestamptz := clock_timestamp() + interval '7 s';
BEGIN
	WHILE clock_timestamp() < until LOOP
		PERFORM pg_cancel_backend(pid) FROM pg_stat_activity
		WHERE application_name = 'asks' AND random() < 0.3;
		IF random() < 0.05 THEN
			PERFORM gpuconc_evict('t');
		END IF;
		PERFORM pg_sleep(random() * 0.02);
	END LOOP;
END $$});
	foreach my $session (@sessions)
	{
		my $said = $session->query_until(qr/over/, "\n");

		if ($said =~ /(\d+) good, (\d+) canceled/)
		{
			$good += $1;
			$canceled += $2;
		}
		else
		{
			# cancelled outside of the inner block
			unlike($said . $session->{stderr}, qr/WRONG|not offloaded/, 'a storm of cancels: no wrong answer') or diag $said;
		}
		$session->quit;
	}
	return $good > 20 && $canceled > 200;
}

# Again until there were some of each: a slow machine answers hardly anything in that time.
again_until(\&storm_of_cancels);
note "$good good, $canceled canceled";
cmp_ok($good, '>', 20, 'a storm of cancels: answers came, all right');
cmp_ok($canceled, '>', 200, 'a storm of cancels: queries were cancelled');
is_well('a storm of cancels');

# terminate
foreach my $round (1 .. 4)
{
	my $storm = storm(12, '-T', 3600);
	wait_until($node, q{SELECT count(*) = 12 FROM pg_stat_activity WHERE application_name = 'storm'});
	$node->safe_psql('postgres', qq{
DO \$\$
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'storm') LOOP
		PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE application_name = 'storm' AND state = 'active' AND random() < 0.2;
		PERFORM pg_sleep(random() * 0.05);
		-- otherwise the view's state within this transaction would never change
		PERFORM pg_stat_clear_snapshot();
	END LOOP;
END \$\$});
	eval { $storm->{run}->finish };
	unlike(${ $storm->{error} }, qr/WRONG|not offloaded|server closed the connection unexpectedly\n(?!.*terminating)/s,
		"a storm of terminations, $round: no wrong answer")
	  if $round == 1;
}
is_well('a storm of terminations');

# clients that are killed
my $storm = storm(12, '-T', 3600);
wait_until($node, q{SELECT count(*) = 12 FROM pg_stat_activity WHERE application_name = 'storm'});
$storm->{run}->kill_kill;
wait_until($node, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'storm'});
is_well('clients that are killed');

# as many as are let in, and some more that are not
my $offloaded = stat_of($node, 'offloaded');
# held back until all of them are there
configure($node, 'gpuconc.debug_hold_requests' => 100);
$storm = storm(26, '-t', 20);
wait_until($node, q{SELECT count(*) = 26 FROM pg_stat_activity WHERE application_name = 'storm'});
configure($node, 'gpuconc.debug_hold_requests' => 0);
$storm->{run}->finish;
like(${ $storm->{out} }, qr/number of failed transactions: 0 /, 'as many sessions as are let in') or diag ${ $storm->{error} };
cmp_ok(stat_of($node, 'offloaded'), '>', $offloaded + 50, 'as many sessions as are let in: offloaded');
is_well('as many sessions as are let in');

# each of many open cursors has its rows; more than the slots of one session
my $session = $node->background_psql('postgres', on_error_stop => 0);
$session->query_safe('SET gpuconc.debug_offload = require; BEGIN');
$session->query_safe("DECLARE c$_ SCROLL CURSOR FOR SELECT id, n FROM t WHERE k = $_ ORDER BY id, n; FETCH 1 FROM c$_") for (0 .. 39);
is($session->query_safe("FETCH ABSOLUTE 2 FROM c$_"), 100 + ($_ || 0) . '|' . sprintf('%.2f', (100 + $_) / 7), "cursor $_ goes on")
  for (1, 12, 39);
$session->query_safe('ROLLBACK');
$session->quit;
is_well('many cursors');
is(log_has($node, qr/PANIC|TRAP|was terminated by signal/), 0, 'nothing bad in the log');

$node->stop;
done_testing();

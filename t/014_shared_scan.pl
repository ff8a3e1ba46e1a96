# Shared scans: one kernel that answers several sessions.  Each has its own answer, by
# its own snapshot, whatever happens to the others.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('shared_scan', q{
gpuconc.chunk_pages = 8
gpuconc.batch_log_size = 4096
restart_after_crash = on
max_connections = 60
log_statement = none
});
my @sessions;

sub new_sessions
{
	my ($settings) = @_;

	@sessions = map { session($node, "shares$_", $settings) } (0 .. 19);
	return;
}

sub last_batch
{
	return $node->safe_psql('postgres', 'SELECT coalesce(max(id), 0) FROM gpuconc_stat_batches');
}

# Members of each shared scan after a batch, the largest first.
sub scans_after
{
	my ($last) = @_;

	return $node->safe_psql('postgres', qq{
SELECT coalesce(string_agg(members, ' ' ORDER BY members::int DESC), 'none')
FROM (SELECT e -> 'args' ->> 'members' AS members FROM jsonb_array_elements(gpuconc_timeline(4096)::jsonb -> 'traceEvents') AS e
	WHERE e ->> 'cat' = 'shared scan' AND (e -> 'args' ->> 'batch')::bigint > $last
	GROUP BY members, e -> 'args' -> 'batch', e -> 'args' -> 'scan') AS m});
}

# PostgreSQL's answer in a session, which sees what no other does.
sub own_answer
{
	my ($session, $query) = @_;
	my $answer = $session->query_safe("SET gpuconc.debug_offload = forbid; $query");

	$session->query_safe('SET gpuconc.debug_offload = require');
	return $answer;
}

# Queries of the first sessions, together: are the answers right, and are the shared
# scans of so many members?
sub share
{
	my ($message, $scans, @asked) = @_;
	my @expected = map { own_answer($sessions[$_], $asked[$_]) } (0 .. $#asked);
	my $last = last_batch();
	my @got = together($node, \@sessions, @asked);
	my @wrong = grep { $got[$_] ne $expected[$_] } (0 .. $#asked);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(scalar @wrong, 0, "$message: right answers")
	  or diag map { "session $_: $asked[$_]\n" . substr($got[$_], 0, 1000) . "\nnot\n" . substr($expected[$_], 0, 1000) . "\n" } @wrong;
	ref $scans ? like(scans_after($last), $scans, "$message: the shared scans") : is(scans_after($last), $scans, "$message: the shared scans")
	  if defined $scans;
	return;
}

# Shapes and bodies are those of a table's chunks: forget what was asked before.
sub fresh
{
	$node->safe_psql('postgres', q{SELECT gpuconc_evict('t'), gpuconc_prewarm('t')});
	return;
}

create_tables($node, 20000);
$node->safe_psql('postgres', q{
CREATE TABLE gaps AS SELECT i AS id, i % 13 AS g, CASE WHEN i < 4000 THEN i % 50 END AS early, CASE WHEN i % 3 = 0 THEN i END AS third,
	NULL::int AS never, CASE WHEN i % 4 <> 1 THEN 'v' || i % 9 END AS v, CASE WHEN i > 6000 THEN (i / 8.0)::numeric(10,3) END AS late,
	date '2000-01-01' + i % 700 AS d FROM generate_series(1, 9000) AS i;
CREATE TABLE big AS SELECT i AS id, 2147483000 + i % 600 AS i4, i % 10 AS z, 9223372036854775000 + i % 700 AS i8 FROM generate_series(1, 9000) AS i;
VACUUM ANALYZE gaps, big;
});

# What is asked, by sink; the argument is the constant, which makes no other kernel.
my %query = (
	ungrouped => sub { "SELECT count(*), sum(id), min(n), max(d), avg(n) FROM t WHERE k < 55 + $_[0]" },
	dense => sub { "SELECT k, count(*), sum(n), min(id) FROM t WHERE id > 10 + $_[0] GROUP BY k ORDER BY k" },
	hash => sub { "SELECT n, s, count(*), sum(k) FROM t WHERE id < 400 + $_[0] GROUP BY n, s ORDER BY n, s" },
	rows => sub { "SELECT id, n, s FROM t WHERE k = $_[0] AND id % 3 = 0 ORDER BY id, n, s" },
	joined => sub { "SELECT name, count(*), sum(id) FROM t JOIN dim ON dim.k = t.k WHERE id % 7 <> $_[0] GROUP BY name ORDER BY name" },
	joined_rows => sub { "SELECT id, name FROM t JOIN dim ON dim.k = t.k AND dim.k > $_[0] WHERE s = 's3' ORDER BY id, name" },
	text => sub { "SELECT s, min(d), max(s), count(n) FROM t WHERE d > date '1993-01-01' + $_[0] GROUP BY s ORDER BY s" });
my @kinds = sort keys %query;

is_offloaded($node, $query{$_}->(5), "alone: $_") foreach (@kinds);
is(stat_of($node, 'retries'), '0', 'no request has to be repeated');
like($node->safe_psql('postgres', 'SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) ' . $query{$_}->(5)), qr/Group Table: $_/, "$_: the group table")
  foreach ('dense', 'hash');
configure($node, 'gpuconc.schedule' => 'twostage', 'gpuconc.debug_force_shared_scan' => 'on');
new_sessions();

#-------------------------------------------------------------------------
# members of one shape, and of several
#-------------------------------------------------------------------------
foreach my $kind (@kinds)
{
	fresh();
	share("$kind, $_ of a shape", $_, map { $query{$kind}->($_ + 1) } (1 .. $_)) foreach (2, 3, 8);
}
# a shape has 8 bodies at most
fresh();
share('more members than bodies', '8 8', map { $query{ungrouped}->($_ + 1) } (1 .. 16));
share('more members than bodies, by one', '8', map { $query{ungrouped}->($_ + 1) } (1 .. 9));
fresh();
share('of each shape one', scalar @kinds, map { $query{$_}->(4) } @kinds);
share('of each shape two', 2 * @kinds, map { ($query{$_}->(4), $query{$_}->(5)) } @kinds);
fresh();
share('16 of many shapes', '16', map { $query{ $kinds[ $_ % @kinds ] }->($_ + 1) } (1 .. 16));
share('some of its bodies', 3, map { $query{$_}->(6) } @kinds[ 1 .. 3 ]);

# columns in common, in every combination of which column comes first
fresh();
share('columns in common', '6', 'SELECT sum(id), sum(k) FROM t WHERE k > 3', 'SELECT sum(k), sum(id) FROM t WHERE id > 30',
	'SELECT count(n), max(k) FROM t WHERE n > 5', q{SELECT min(n), max(id) FROM t WHERE s > 's2'}, q{SELECT s, sum(k) FROM t WHERE n > 7 AND id < 15000 GROUP BY s ORDER BY s},
	q{SELECT count(*) FROM t WHERE d < '1994-01-01' AND n < 900});
share('no column at all', '2', 'SELECT count(*) FROM t', 'SELECT sum(id) FROM t');
# two tables: two scans in one batch
share('two tables', '3 2', map({ $query{dense}->($_) } (1 .. 3)), map { "SELECT g, count(third), sum(early) FROM gaps WHERE id > $_ GROUP BY g ORDER BY g" } (1, 2));
# the same request and others
share('the same twice', '3', $query{dense}->(1), $query{dense}->(2), $query{dense}->(1), $query{dense}->(3), $query{dense}->(2));
# chunks that one of them skips
share('other chunks', '4', 'SELECT count(*), sum(k) FROM t WHERE id BETWEEN 1 AND 700', 'SELECT count(*), sum(k) FROM t WHERE id BETWEEN 19000 AND 25000',
	'SELECT count(*), sum(k) FROM t WHERE id BETWEEN 600 AND 19500', 'SELECT count(*), sum(n) FROM t');
share('one that no chunk can match', undef, 'SELECT count(*), sum(k) FROM t WHERE id > 700000', 'SELECT count(*), sum(k) FROM t WHERE id > 7', 'SELECT count(*), sum(k) FROM t WHERE id > 70');

# more shapes than there are bodies
my @shapes = map { 'SELECT sum(id' . (' + k' x $_) . '), count(*) FROM t WHERE k < 60' } (1 .. 20);
fresh();
share('20 shapes', '16', @shapes);
share('20 shapes, again', undef, @shapes);
share('20 shapes, the others', undef, reverse @shapes);

#-------------------------------------------------------------------------
# NULLs
#-------------------------------------------------------------------------
my @nulls = ('SELECT count(early), sum(early), min(early) FROM gaps', 'SELECT count(*), sum(third), max(late) FROM gaps WHERE early IS NULL',
	'SELECT g, sum(early), count(third), min(late) FROM gaps GROUP BY g ORDER BY g', 'SELECT v, count(*), sum(late) FROM gaps WHERE third IS NOT NULL GROUP BY v ORDER BY v',
	'SELECT id, third, v FROM gaps WHERE early = 7 ORDER BY id', 'SELECT early, count(*), max(v) FROM gaps GROUP BY early ORDER BY early',
	'SELECT count(never), sum(never), max(third) FROM gaps WHERE never IS NULL', 'SELECT count(*), sum(never) FROM gaps WHERE never > 5 OR late > 800');
share('NULLs', undef, @nulls);
share("NULLs, two of $_", '2', $nulls[$_], $nulls[ $_ - 1 ]) for (1 .. 5);

#-------------------------------------------------------------------------
# what EXPLAIN and the views tell
#-------------------------------------------------------------------------
fresh();
$node->safe_psql('postgres', 'SELECT gpuconc_stat_reset()');
my $last = last_batch();
my @plans = together($node, \@sessions, map { 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) ' . $query{$_}->(5) } @kinds);
my $n = @kinds;
like($_, qr/Schedule: twostage\n.*Shared Scan Requests: $n\n.*Batch Requests: $n\n/s, 'EXPLAIN') foreach (@plans);
is($node->safe_psql('postgres', q{SELECT kind, sum(launches), sum(requests), bool_and(total_time > 0), bool_and(threads > 0) FROM gpuconc_stat_kernels GROUP BY kind}),
	"shared scan|1|$n|t|t", 'gpuconc_stat_kernels');
is($node->safe_psql('postgres', 'SELECT kernels, shared_scans, waiting, failed, decision_time >= 0, predicted_time > 0, actual_time > 0 FROM gpuconc_stat_batches'),
	"$n|1|0|0|t|t|t", 'gpuconc_stat_batches');

#-------------------------------------------------------------------------
# snapshots: private chunks, visible rows
#-------------------------------------------------------------------------
my @delta = ($query{ungrouped}->(35), $query{dense}->(1), $query{hash}->(0), $query{rows}->(5), $query{joined}->(1), $query{text}->(2), $query{joined_rows}->(1), 'SELECT count(*), sum(id) FROM t');

$sessions[$_]->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t') for (0, 3, 6);
$sessions[1]->query_safe(q{BEGIN; INSERT INTO t SELECT i, 5, i, '1999-01-01', 's3' FROM generate_series(1, 40) AS i});
$sessions[2]->query_safe('BEGIN; DELETE FROM t WHERE id BETWEEN 100 AND 400');
$sessions[5]->query_safe(q{BEGIN; UPDATE t SET s = 'own', k = 99 - k WHERE id % 4000 = 5});
share('uncommitted changes', undef, @delta);
my $old = own_answer($sessions[0], $delta[7]);
$sessions[$_]->query_safe('COMMIT') for (1, 2);
$sessions[5]->query_safe('ROLLBACK');
my $new = own_answer($sessions[4], $delta[7]);
isnt($old, $new, 'the snapshots differ');
share('committed changes, old snapshots and new ones', '8', @delta);
share("every snapshot, $_", qr/^\d/, ($delta[$_]) x 3, map { $query{dense}->($_) } (1 .. 5)) for (0, 1, 3, 4);
is((together($node, \@sessions, ($delta[7]) x 8))[$_], $_ == 0 || $_ == 3 || $_ == 6 ? $old : $new, "session $_ sees its own snapshot") for (0, 1, 3, 7);
$sessions[$_]->query_safe('COMMIT') for (0, 3, 6);
share('all of them see the changes', '8', @delta);
$node->safe_psql('postgres', 'UPDATE t SET n = n + 1 WHERE id % 1000 = 3');
share('never vacuumed', '8', @delta);
$sessions[1]->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t');
$node->safe_psql('postgres', 'DELETE FROM t WHERE id % 1000 = 4');
share('rows that some see, and not others', '8', @delta);
$node->safe_psql('postgres', 'VACUUM t');
share('after VACUUM, with an old snapshot', undef, @delta);
$sessions[1]->query_safe('COMMIT');
$node->safe_psql('postgres', 'VACUUM t');
share('after VACUUM', undef, @delta);
share('after VACUUM, again', '8', @delta);

# subtransactions, cursors, prepared statements
$sessions[0]->query_safe('BEGIN; SAVEPOINT a; DELETE FROM t WHERE k = 5; ROLLBACK TO a; SAVEPOINT b; DELETE FROM t WHERE k = 6');
$sessions[1]->query_safe('PREPARE p (int) AS SELECT count(*), sum(id) FROM t WHERE k < $1; SET plan_cache_mode = force_generic_plan');
$sessions[2]->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT id FROM t WHERE k = 7 ORDER BY id');
my @expected = (own_answer($sessions[0], $delta[0]), $node->safe_psql('postgres', 'SET gpuconc.debug_offload = forbid; SELECT count(*), sum(id) FROM t WHERE k < 33'), '7', answer_of($node, $delta[1], 'forbid'));
my @got = together($node, \@sessions, $delta[0], 'EXECUTE p(33)', 'FETCH 1 FROM c', $delta[1]);
is($got[$_], $expected[$_], "subtransaction, prepared statement, cursor: $_") for (0 .. 3);
$sessions[$_]->query_safe('ROLLBACK') for (0, 2);
# A row on every page was deleted, so that no chunk could serve any.
$node->safe_psql('postgres', 'VACUUM t');
fresh();

#-------------------------------------------------------------------------
# members that fail
#-------------------------------------------------------------------------
my @fine = ('SELECT count(*), sum(i4), sum(i8) FROM big', 'SELECT z, sum(id) FROM big GROUP BY z ORDER BY z', 'SELECT id FROM big WHERE z = 3 AND id < 500 ORDER BY id');
$node->safe_psql('postgres', q{SELECT gpuconc_prewarm('big')});
my @fine_answers = map { answer_of($node, $_, 'forbid') } @fine;

foreach my $case ([ 'SELECT sum(i4 + 1000) FROM big', 'integer out of range' ], [ 'SELECT z, max(i8 + 1000) FROM big GROUP BY z', 'bigint out of range' ],
	[ 'SELECT id FROM big WHERE i4 * 2 > id', 'integer out of range' ], [ 'SELECT sum(10 / z) FROM big', 'division by zero' ])
{
	my $before = last_batch();
	my $reasons = stat_of($node, q{(fallback_reasons ->> 'data condition')::int});

	@got = together($node, \@sessions, $fine[0], $case->[0], $fine[1], $fine[2]);
	like($got[1], qr/^ERROR:  $case->[1]/, "one fails: $case->[0]");
	is(join("\n", @got[ 0, 2, 3 ]), join("\n", @fine_answers), "the others have their answers: $case->[0]");
	is($node->safe_psql('postgres', "SELECT sum(kernels), sum(failed), sum(shared_scans) FROM gpuconc_stat_batches WHERE id > $before"), '4|1|1', 'in one scan, of which one has failed');
	is(scans_after($before), '4', 'of four members');
	is(stat_of($node, q{(fallback_reasons ->> 'data condition')::int}) - $reasons, 1, 'counted as one fallback');
}
share('after errors', '3', @fine);

# while they are held back: cancelled, terminated, timed out
sub held
{
	my ($message, $do) = @_;
	my @asked = map { $query{ $kinds[ $_ % @kinds ] }->($_ + 1) } (0 .. 7);
	my @right = map { answer_of($node, $_, 'forbid') } @asked;
	my $other = $query{ $kinds[2] }->(12);
	my $other_right = answer_of($node, $other, 'forbid');
	my $before = last_batch();

	configure($node, 'gpuconc.debug_hold_requests' => 8);
	ask($sessions[$_], $asked[$_]) for (0 .. 6);
	wait_until_waiting($node, '^shares', 7);
	$do->();
	# What has gone is replaced, and the last one lets them go.  It asks something else:
	# who asks the same may have the result of one that has gone, but is still there.
	ask($sessions[8], $other);
	ask($sessions[7], $asked[7]);
	is(rows_of($sessions[$_]), $right[$_], "$message: $_ has its answer") for (0, 1, 3 .. 7);
	is(rows_of($sessions[8]), $other_right, "$message: and so has who comes later");
	is(scans_after($before), '8', "$message: one scan");
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	return;
}

held('cancelled', sub {
	$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'shares2'});
	like(rows_of($sessions[2]), qr/canceling statement due to user request/, 'cancelled while it is held back') });
$sessions[2]->query_safe(q{SET statement_timeout = '200ms'});
held('timed out', sub { like(rows_of($sessions[2]), qr/canceling statement due to statement timeout/, 'timed out while it is held back') });
held('terminated', sub {
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'shares2'});
	wait_until($node, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'shares2'}) });
eval { $sessions[2]->quit };
$sessions[2] = session($node, 'shares2');

# while they run: the worker is stopped with some of them ready, and goes on when two have gone
my $worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices');
foreach my $round (1 .. 5)
{
	my @asked = map { $query{ $kinds[ $_ % @kinds ] }->($_ + $round) } (0 .. 7);
	my @right = map { answer_of($node, $_, 'forbid') } @asked;

	configure($node, 'gpuconc.debug_hold_requests' => 8);
	ask($sessions[$_], $asked[$_]) for (0 .. 6);
	wait_until_waiting($node, '^shares', 7);
	kill 'STOP', $worker;
	ask($sessions[7], $asked[7]);
	wait_until_waiting($node, '^shares', 8);
	$node->safe_psql('postgres', 'ALTER SYSTEM SET gpuconc.debug_hold_requests = 0; SELECT pg_reload_conf()') if $round % 2;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name IN ('shares$round', 'shares6')");
	like(rows_of($sessions[$_]), qr/canceling statement/, "cancelled, $round") for ($round, 6);
	kill 'CONT', $worker;
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	is(rows_of($sessions[$_]), $right[$_], "the others have their answers, $round: $_") for (grep { $_ != $round && $_ != 6 } (0 .. 7));
}
nothing_held($node, 'members that fail');

# a storm of cancels over scans that are under way
$node->safe_psql('postgres', q{
CREATE FUNCTION storm(c int, rounds int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	own bigint;
	other bigint;
	expected bigint;
	good int := 0;
	canceled int := 0;
BEGIN
	PERFORM set_config('gpuconc.debug_offload', 'forbid', true);
	SELECT sum(id) INTO expected FROM t WHERE k < c;
	PERFORM set_config('gpuconc.debug_offload', 'require', true);
	FOR i IN 1 .. rounds LOOP
		BEGIN
			SELECT sum(id) INTO own FROM t WHERE k < c;
			SELECT sum(x) INTO other FROM (SELECT k, sum(id) AS x FROM t GROUP BY k HAVING k < c) AS g;
			IF own <> expected OR other <> expected THEN
				RETURN format('WRONG: %s, %s, not %s', own, other, expected);
			END IF;
			good := good + 1;
		EXCEPTION WHEN query_canceled THEN
			canceled := canceled + 1;
		END;
	END LOOP;
	RETURN format('%s good, %s canceled', good, canceled);
END $$});
$_->query_safe('SET gpuconc.debug_offload = allow') foreach (@sessions);
$last = last_batch();
ask($sessions[$_], "SELECT storm(@{[10 + $_]}, 300)") for (0 .. 7);
$node->safe_psql('postgres', q{
DO $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT storm%' AND state = 'active') LOOP
		PERFORM pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT storm%' AND state = 'active' AND random() < 0.2;
		PERFORM pg_stat_clear_snapshot();
		PERFORM pg_sleep(0.002);
	END LOOP;
END $$});
# one that is hit outside of the inner block is cancelled as a whole
like(rows_of($sessions[$_]), qr/^\d+ good, \d+ canceled$|canceling statement/, 'a storm of cancels') for (0 .. 7);
isnt(scans_after($last), 'none', 'a storm of cancels: over shared scans');
$_->query_safe('SET gpuconc.debug_offload = require') foreach (@sessions);
nothing_held($node, 'a storm of cancels');
share('after a storm', undef, map { $query{$_}->(3) } @kinds);
share('after a storm, again', scalar @kinds, map { $query{$_}->(4) } @kinds);

#-------------------------------------------------------------------------
# tables that change between scans
#-------------------------------------------------------------------------
foreach my $change (q{ALTER TABLE t ADD COLUMN extra int DEFAULT 7}, q{ALTER TABLE t ALTER k TYPE bigint}, q{VACUUM FULL t},
	q{INSERT INTO t SELECT i, i % 90, i / 3.0, '2001-01-01', 's' || i % 60 FROM generate_series(30000, 33000) AS i}, q{VACUUM t},
	q{UPDATE t SET s = s || 'x' WHERE id % 5 = 0}, q{VACUUM t}, q{ALTER TABLE t DROP COLUMN extra}, q{SELECT gpuconc_evict('t')},
	q{BEGIN; TRUNCATE t; INSERT INTO t SELECT i, i % 100, i / 4.0, '1997-01-01', 's' || i % 20 FROM generate_series(1, 9000) AS i; COMMIT}, q{VACUUM ANALYZE t}, q{UPDATE dim SET name = name || k; VACUUM dim})
{
	$node->safe_psql('postgres', $change);
	share($change, undef, map { $query{$_}->(2) } @kinds);
	share("$change, again", undef, map { $query{$_}->(3) } @kinds);
}
share('after all changes', scalar @kinds, map { $query{$_}->(4) } @kinds);

# without shared scans
configure($node, 'gpuconc.enable_shared_scan' => 'off');
share('enable_shared_scan = off', 'none', map { $query{$_}->(5) } @kinds);
configure($node, 'gpuconc.enable_shared_scan' => 'on', 'gpuconc.schedule' => 'streams');
share('schedule = streams', 'none', map { $query{$_}->(6) } @kinds);
configure($node, 'gpuconc.schedule' => 'twostage');
share('and on again', scalar @kinds, map { $query{$_}->(7) } @kinds);

#-------------------------------------------------------------------------
# nothing is left behind
#-------------------------------------------------------------------------
my @used;
for (1 .. 4)
{
	fresh() if $_ == 1;
	share("repeated, $_", scalar @kinds, map { $query{$_}->(8) } @kinds);
	push @used, $node->safe_psql('postgres', 'SELECT memory_used, chunk_columns, build_tables, running FROM gpuconc_devices');
}
is($used[$_], $used[0], 'no memory of the device is lost') for (1 .. 3);
nothing_held($node, 'shared scans');

#-------------------------------------------------------------------------
# the worker ends, and is killed, while members wait
#-------------------------------------------------------------------------
my @asked = map { $query{ $kinds[ $_ % @kinds ] }->($_ + 1) } (0 .. 7);
@expected = map { answer_of($node, $_, 'forbid') } @asked;
$_->query_safe('SET gpuconc.debug_offload = allow') foreach (@sessions);
configure($node, 'gpuconc.debug_hold_requests' => 9);
ask($sessions[$_], $asked[$_]) for (0 .. 7);
wait_until_waiting($node, '^shares', 8);
kill 'TERM', $worker;
is(rows_of($sessions[$_]), $expected[$_], "the worker ends: PostgreSQL answers $_") for (0 .. 7);
configure($node, 'gpuconc.debug_hold_requests' => 0);
wait_until($node, "SELECT count(*) = 1 FROM gpuconc_devices WHERE state = 'ready' AND worker_pid <> $worker");
$_->query_safe('SET gpuconc.debug_offload = require') foreach (@sessions);
fresh();
share('a new worker', scalar @kinds, map { $query{$_}->(9) } @kinds);
nothing_held($node, 'a worker that ended');

foreach my $case ('held back', 'running')
{
	$worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices');
	configure($node, 'gpuconc.debug_hold_requests' => $case eq 'running' ? 8 : 9);
	kill 'STOP', $worker if $case eq 'running';
	ask($sessions[$_], $asked[$_]) for (0 .. 7);
	wait_until_waiting($node, '^shares', 8);
	my $offset = -s $node->logfile;
	if ($case eq 'running')
	{
		kill 'CONT', $worker;
	}
	kill 'KILL', $worker;
	foreach my $session (@sessions)
	{
		eval { $session->quit };
		$session->{run}->kill_kill;
	}
	$node->wait_for_log(qr/all server processes terminated; reinitializing/, $offset);
	$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
	wait_for_worker($node);
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	new_sessions();
	fresh();
	share("after a crash, $case", scalar @kinds, map { $query{$_}->(2) } @kinds);
	nothing_held($node, "after a crash, $case");
}
$_->quit foreach (@sessions);
is(log_has($node, qr/PANIC|TRAP|was terminated by signal (?!9)/), 0, 'nothing bad in the log');

$node->stop;
done_testing();

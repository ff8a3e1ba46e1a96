# Every scheduling policy, with few and with many sessions: the answers are PostgreSQL's,
# nobody is forgotten, and the views tell what was started together.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $many = 100;
my $node = new_server('schedule', q{
max_connections = 120
gpuconc.batch_log_size = 4096
log_statement = none
});
my @policies = ('sequential', 'streams', 'random', 'kernel', 'twostage');

create_tables($node);
$node->safe_psql('postgres', q{
CREATE TABLE empty (id int, v numeric(10,2));
CREATE TABLE other AS SELECT i AS id, i % 7 AS g, ((i % 1000) / 8.0)::numeric(10,3) AS f, CASE WHEN i % 5 <> 0 THEN i END AS maybe FROM generate_series(1, 9000) AS i;
CREATE TABLE wide AS SELECT i AS id, i * 1000003::bigint AS big, i % 3 = 0 AS flag, 'w' || i % 5 AS w FROM generate_series(1, 4000) AS i;
VACUUM ANALYZE empty, other, wide;
});

# filters and sums, joins, groups of every kind, rows, several tables, one without rows,
# and some more than once
my @mixed = (
	@queries,
	'SELECT count(*), sum(id), min(v) FROM empty',
	'SELECT g, count(*), sum(maybe), avg(f) FROM other GROUP BY g ORDER BY g',
	'SELECT count(*), sum(n * k) FROM t WHERE d BETWEEN \'1993-01-01\' AND \'1994-06-30\' AND s <> \'s3\'',
	'SELECT count(*), sum(n * k) FROM t WHERE d BETWEEN \'1994-01-01\' AND \'1995-06-30\' AND s <> \'s4\'',
	'SELECT k, s, count(*), max(id) FROM t WHERE id % 2 = 1 GROUP BY k, s ORDER BY k, s',
	'SELECT w, flag, sum(big), count(*) FROM wide GROUP BY w, flag ORDER BY w, flag',
	'SELECT id, maybe FROM other WHERE f > 124 ORDER BY id',
	'SELECT name, count(*), min(g) FROM other JOIN dim ON dim.k = other.g GROUP BY name ORDER BY name',
	'SELECT count(*), sum(id), min(d), max(n), avg(n) FROM t',
	'SELECT s, count(*), sum(n) FROM t WHERE k < 50 GROUP BY s ORDER BY s',
	'SELECT count(*) FROM t WHERE s IS NULL OR n IS NULL');
my @expected = map { answer_of($node, $_, 'forbid') } @mixed;
my @sessions = map { session($node, "schedule$_") } (0 .. $#mixed);

# Nobody has to ask twice, as together() wants it; loads are over.
is_offloaded($node, $_, "alone: $_") foreach (@mixed);
is(stat_of($node, 'retries'), '0', 'no request has to be repeated');

# A row of figures about the batches after some number.
sub batches_after
{
	my ($last, $figures) = @_;

	return $node->safe_psql('postgres', "SELECT $figures FROM gpuconc_stat_batches WHERE id > $last");
}

# Are the answers of together() right?  It returns the last batch before.
sub right_together
{
	my ($message, $asked, $wanted) = @_;
	my $last = last_batch($node);
	my @got = together($node, \@sessions, @$asked);
	my @wrong = grep { $got[$_] ne $wanted->[$_] } (0 .. $#got);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(scalar @wrong, 0, "$message: right answers") or diag map { "$asked->[$_]\n$got[$_]\nnot\n$wanted->[$_]\n" } @wrong;
	return $last;
}

#-------------------------------------------------------------------------
# 2, 5 and 16 sessions
#-------------------------------------------------------------------------
foreach my $policy (@policies, 'twostage without shared scans')
{
	configure($node, 'gpuconc.schedule' => $policy =~ /^(\w+)/, 'gpuconc.enable_shared_scan' => $policy =~ /without/ ? 'off' : 'on');
	foreach my $n (2, 5, 16)
	{
		my $name = "$policy, $n sessions";
		my @asked = @mixed[0 .. $n - 1];
		my %different = map { $_ => 1 } @asked;
		my $kernels = keys %different;
		my $last = right_together($name, \@asked, \@expected);

		is(batches_after($last, q{string_agg(DISTINCT schedule, ',')}), $policy =~ s/ .*//r, "$name: the policy is used");
		is(batches_after($last, 'sum(kernels), sum(failed)'), "$kernels|0", "$name: each request is in a batch, the same one only once");
		is(batches_after($last, 'bool_and(decision_time >= 0), bool_and(predicted_time > 0), bool_and(actual_time >= 0)'), 't|t|t', "$name: times are there");
		if ($policy eq 'sequential')
		{
			is(batches_after($last, q{string_agg(waiting::text, ' ' ORDER BY id), max(kernels), max(co_running), sum(shared_scans)}),
				join(' ', reverse(0 .. $kernels - 1)) . '|1|0|0', "$name: one by one, and the others wait");
		}
		elsif ($policy eq 'twostage')
		{
			# Which of them share a scan depends on how long they took.
			is(batches_after($last, 'bool_and(shared_scans * 2 <= kernels), min(kernels) > 0'), 't|t', "$name: no shared scan of one");
		}
		else
		{
			is(batches_after($last, 'count(*), sum(waiting), sum(co_running), sum(shared_scans)'), '1|0|0|0', "$name: all at once, side by side");
		}
	}

	# One execution for all who ask the same
	my $shared = stat_of($node, 'results_shared');
	my $last = right_together("$policy, all the same", [ ($mixed[1]) x @sessions ], [ ($expected[1]) x @sessions ]);
	is(batches_after($last, 'count(*), sum(kernels), sum(waiting)'), '1|1|0', "$policy: one execution for all who ask the same");
	is(stat_of($node, 'results_shared') - $shared, $#sessions, "$policy: whose result they share");
}

# A batch has the requests of one decision, so EXPLAIN tells them all the same.
configure($node, 'gpuconc.schedule' => 'streams');
my $last = last_batch($node);
my @plans = together($node, \@sessions, map { "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, FORMAT YAML) $_" } @mixed[0 .. 4]);
like($_, qr/Schedule: "streams"\n/, 'EXPLAIN: the policy') foreach (@plans);
my $batch = $last + 1;
like($_, qr/Co-Running Requests: 4\n.*Shared Scan Requests: 1\n.*Batch: $batch\n.*Batch Requests: 5\n/s, 'EXPLAIN: the batch') foreach (@plans);

#-------------------------------------------------------------------------
# sequential: never two kernels on the device at the same time
#-------------------------------------------------------------------------
sub overlapping
{
	my ($after) = @_;

	return $node->safe_psql('postgres', qq{
WITH e AS (
	SELECT (e ->> 'ts')::numeric AS ts, (e ->> 'ts')::numeric + (e ->> 'dur')::numeric AS till, (e -> 'args' ->> 'batch')::bigint AS batch, ordinality AS n
	FROM jsonb_array_elements(gpuconc_timeline(4096)::jsonb -> 'traceEvents') WITH ORDINALITY AS x(e, ordinality)
	WHERE e ->> 'cat' IN ('kernel', 'shared scan') AND (e -> 'args' ->> 'batch')::bigint > $after)
SELECT count(DISTINCT a.n), count(b.n) FROM e AS a LEFT JOIN e AS b ON a.n < b.n AND a.ts < b.till AND b.ts < a.till});
}

configure($node, 'gpuconc.schedule' => 'sequential');
$last = last_batch($node);
right_together("sequential again, $_", \@mixed, \@expected) for (1 .. 5);
is(overlapping($last), 5 * 14 . '|0', 'sequential: no two kernels at the same time');

#-------------------------------------------------------------------------
# the same seed, another seed
#-------------------------------------------------------------------------
foreach my $seed (0, 0, 2147483647)
{
	configure($node, 'gpuconc.schedule' => 'random', 'gpuconc.debug_schedule_seed' => $seed);
	right_together("random, seed $seed", \@mixed, \@expected);
}

#-------------------------------------------------------------------------
# requests that go away while they are held back
#-------------------------------------------------------------------------
configure($node, 'gpuconc.schedule' => 'streams', 'gpuconc.debug_hold_requests' => 4);
$last = last_batch($node);
ask($sessions[$_], $mixed[$_]) for (0 .. 2);
wait_until_waiting($node, '^schedule', 3);
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'schedule1'});
like(rows_of($sessions[1]), qr/canceling statement due to user request/, 'cancelled while it is held back');
is(last_batch($node), $last, 'the others are still held back');
ask($sessions[$_], $mixed[$_]) for (3, 4);
is(rows_of($sessions[$_]), $expected[$_], "and answered with those that come: $_") for (0, 2, 3, 4);
is(batches_after($last, 'count(*), sum(kernels), sum(failed)'), '1|4|0', 'as one batch');

# A reload with another number lets them go.
ask($sessions[$_], $mixed[$_]) for (0 .. 2);
wait_until_waiting($node, '^schedule', 3);
configure($node, 'gpuconc.debug_hold_requests' => 3);
is(rows_of($sessions[$_]), $expected[$_], "held back no longer: $_") for (0 .. 2);
configure($node, 'gpuconc.debug_hold_requests' => 0);

# One that the device cannot answer is counted, and answered.
$node->safe_psql('postgres', q{
CREATE TABLE overflows AS SELECT 2147483000 + i % 600 AS i4, i AS id FROM generate_series(1, 5000) AS i;
VACUUM ANALYZE overflows});
my $harmless = 'SELECT count(*), sum(id) FROM overflows WHERE id > 7';
is_offloaded($node, $harmless, 'before an overflow');
foreach my $policy (@policies)
{
	configure($node, 'gpuconc.schedule' => $policy);
	$last = last_batch($node);
	my @got = together($node, \@sessions, 'SELECT sum(i4 + 1000) FROM overflows', @mixed[0 .. 3], $harmless);
	like($got[0], qr/integer out of range/, "$policy: an overflow");
	is(join("\n", @got[ 1 .. 4 ]), join("\n", @expected[ 0 .. 3 ]), "$policy: the others beside it");
	is(batches_after($last, 'sum(kernels), sum(failed)'), '6|1', "$policy: one has failed");
}
$_->quit foreach (@sessions);
nothing_held($node, 'policies');

#-------------------------------------------------------------------------
# policies that change under sessions
#-------------------------------------------------------------------------
$node->safe_psql('postgres', q{
CREATE TABLE asked (query text, answer text);
CREATE TABLE enough ();
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT md5(string_agg(q::text, E''\n'')) FROM (%s) AS q', query) INTO result;
	RETURN result;
END $$;
CREATE FUNCTION ask_on() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	good int := 0;
	a asked;
BEGIN
	LOOP
		FOR a IN SELECT * FROM asked ORDER BY random() LOOP
			IF answer(a.query) IS DISTINCT FROM a.answer THEN
				RETURN 'WRONG ANSWER to ' || a.query;
			END IF;
			good := good + 1;
			IF EXISTS (SELECT FROM enough) THEN
				RETURN good || ' good';
			END IF;
		END LOOP;
	END LOOP;
END $$});
my @md5;
foreach my $query (@mixed)
{
	(my $quoted = $query) =~ s/'/''/g;
	push @md5, $node->safe_psql('postgres', "SET gpuconc.debug_offload = forbid; INSERT INTO asked SELECT '$quoted', answer('$quoted') RETURNING answer");
}

my @asking = map { session($node, "asks$_", 'SET gpuconc.debug_offload = allow') } (0 .. 7);
my $fallbacks = stat_of($node, 'fallbacks');

$last = last_batch($node);
ask($_, 'SELECT ask_on()') foreach (@asking);
foreach my $round (1, 2)
{
	foreach my $policy (@policies, 'twostage without shared scans')
	{
		my $from = last_batch($node);
		my ($schedule) = $policy =~ /^(\w+)/;

		configure($node, 'gpuconc.schedule' => $schedule, 'gpuconc.enable_shared_scan' => $policy =~ /without/ ? 'off' : 'on');
		wait_until($node, "SELECT count(*) > 20 FROM gpuconc_stat_batches WHERE id > $from AND schedule = '$schedule'");
		ok(1, "sessions go on under $policy, $round");
	}
}
$node->safe_psql('postgres', 'INSERT INTO enough DEFAULT VALUES');
like(rows_of($_), qr/^\d+ good$/, 'all answers were right') foreach (@asking);
is(batches_after($last, 'max(failed)'), '0', 'policies that change: no request failed');
is(stat_of($node, 'fallbacks'), $fallbacks, 'policies that change: PostgreSQL had to help with none');
$_->quit foreach (@asking);
nothing_held($node, 'policies that change');

#-------------------------------------------------------------------------
# very many requests at once
#-------------------------------------------------------------------------
# Scripts for pgbench; each is one request, so that they can be counted.
my $directory = $PostgreSQL::Test::Utils::tmp_check;
my @scripts;
sub write_script
{
	my ($check) = @_;
	my $script = "$directory/load." . scalar @scripts;

	append_to_file($script, "$check \\gset\n\\if :same\n\\else\nSELECT 'WRONG ANSWER' / 0;\n\\endif\n");
	push @scripts, '-f', $script;
	return;
}

foreach my $n (0 .. $#mixed)
{
	(my $quoted = $mixed[$n]) =~ s/'/''/g;
	write_script("SELECT answer('$quoted') = '$md5[$n]' AS same");
}
# Hardly two of these are the same request.
write_script("\\set a random(1, 30000)\nSELECT count(*) = :a AND sum(id) = :a::bigint * (:a + 1) / 2 AS same FROM t WHERE id <= :a") for (1 .. 5);

foreach my $policy (@policies)
{
	configure($node, 'gpuconc.schedule' => $policy, 'gpuconc.enable_shared_scan' => 'on', 'gpuconc.debug_force_shared_scan' => 'off',
		'gpuconc.debug_hold_requests' => $many);
	my $requests = stat_of($node, 'requests');
	my $shared = stat_of($node, 'results_shared');

	$last = last_batch($node);
	my ($out, $error) = ('', '');
	local $ENV{PGOPTIONS} = '-c gpuconc.debug_offload=require';
	my $run = IPC::Run::start([ 'pgbench', '-n', '-j', '2', '-c', $many, '-t', 3, @scripts, $node->connstr('postgres') ],
		'<', \undef, '>', \$out, '2>', \$error, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));

	# All of the first requests are ready then; the later ones come as they like.
	delete $ENV{PGOPTIONS};
	wait_until($node, "SELECT max(id) > $last FROM gpuconc_stat_batches");
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	$run->finish;
	like($out, qr/number of failed transactions: 0 /, "$policy, $many sessions: none failed");
	unlike($error, qr/WRONG|ERROR|aborted/, "$policy, $many sessions: no wrong answer") or diag substr($error, 0, 3000);
	is(stat_of($node, 'requests') - $requests, 3 * $many, "$policy, $many sessions: all were answered by the device");
	# Some of them have asked the same: how many, is chance.
	is(batches_after($last, 'sum(kernels)') + stat_of($node, 'results_shared') - $shared, 3 * $many, "$policy, $many sessions: in batches, or with another's result");
	cmp_ok(batches_after($last, 'max(waiting)'), '>', 30, "$policy, $many sessions: they had to wait") if $policy eq 'sequential';
}
nothing_held($node, 'very many requests');
is(log_has($node, qr/PANIC|TRAP|was terminated by signal/), 0, 'nothing bad in the log');

$node->stop;
done_testing();

# Tables of one shape, as the shards of a distributed table are, asked by sixteen sessions at once: kernels of one text
# that start together are one launch.  Each session has its own answer, error or end.  On device host, and where
# it pretends to be a GPU.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $many = 16;
my $shards = 32;
my ($node, @sessions);

# Shard 3 is empty, 5 has NULLs, 7 is written to after VACUUM, 9 has texts of its own; 20 has v = 100, which no other has.
sub create_shards
{
	foreach my $i (0 .. $shards - 1)
	{
		my $rows = $i == 3 ? 0 : 3000 + 150 * $i;
		my $v = $i == 5 ? 'CASE WHEN i % 3 > 0 THEN 1 + i % 90 END' : $i == 20 ? '1 + i % 200' : 'CASE WHEN i % 200 = 99 THEN 1 ELSE 1 + i % 200 END';
		my $s = $i == 9 ? "'own' || i % 300" : "'s' || i % 7";

		$node->safe_psql('postgres', qq{
CREATE TABLE s$i (id int, g int, v int, n numeric(12,2), d date, s text);
INSERT INTO s$i SELECT i, i % 9, $v, i / 4.0, date '2020-01-01' + i % 700, $s FROM generate_series(1, $rows) AS i;
VACUUM ANALYZE s$i});
	}
	$node->safe_psql('postgres', 'UPDATE s7 SET v = v + 1 WHERE id % 50 = 0; INSERT INTO s7 VALUES (9000, 1, 2, 3, \'2021-01-01\', \'s1\')');
	return;
}

# Sums of one group, groups by number, hashed groups, groups by text, rows.  The constants are the session's.
my %query = (
	one => sub { "SELECT count(*), sum(n), max(v), min(d) FROM s$_[0] WHERE v > $_[1]" },
	groups => sub { "SELECT g, count(*), sum(n), count(v) FROM s$_[0] WHERE id > $_[1] GROUP BY g ORDER BY g" },
	hashed => sub { "SELECT n, count(*), sum(v) FROM s$_[0] WHERE id < 10 + $_[1] GROUP BY n ORDER BY n" },
	texts => sub { "SELECT s, count(*), max(n) FROM s$_[0] WHERE id > $_[1] GROUP BY s ORDER BY s" },
	rows => sub { "SELECT id, v, n FROM s$_[0] WHERE v = $_[1] + 20 ORDER BY id" });

# Launches of main kernels, and requests of gangs, that some code makes.
sub launches_of
{
	my ($code) = @_;
	my @before = map { stat_of($node, $_) } ('main_launches', 'ganged');

	$code->();
	return (stat_of($node, 'main_launches') - $before[0], stat_of($node, 'ganged') - $before[1]);
}

# Queries of as many sessions, together.  Returns launches and requests in gangs.
sub right_together
{
	my ($message, @asked) = @_;
	my @wanted = map { answer_of($node, $_, 'forbid') } @asked;
	my @got;
	my @counted = launches_of(sub { @got = together($node, \@sessions, @asked) });
	my @wrong = grep { $got[$_] ne $wanted[$_] } (0 .. $#asked);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(scalar @wrong, 0, "$message: right answers") or diag map { "$asked[$_]\n$got[$_]\nnot\n$wanted[$_]\n" } @wrong;
	return @counted;
}

# Each session asks $rounds shards, beginning with another one; in each round all ask together.  What they get has to
# fit into their pipes until it is read.
sub all_shards
{
	my ($kind, $constant, $rounds) = @_;
	my $step = $shards / $rounds;
	my @asked = map { my $i = $_; [map { $query{$kind}->(($i + $step * $_) % $shards, $constant + $i) } (0 .. $rounds - 1)] } (0 .. $many - 1);
	my @wanted = map { answer_of($node, join(';', @$_), 'forbid') } @asked;
	my @got;
	my ($launches, $ganged) = launches_of(sub {
		configure($node, 'gpuconc.debug_hold_requests' => $many);
		ask($sessions[$_], join(";\n", @{ $asked[$_] })) for (0 .. $many - 1);
		@got = map { rows_of($sessions[$_]) } (0 .. $many - 1);
		configure($node, 'gpuconc.debug_hold_requests' => 0);
	});
	my $requests = $many * $rounds;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(scalar(grep { $got[$_] ne $wanted[$_] } (0 .. $many - 1)), 0, "$kind, $many sessions over $shards shards: right answers");
	cmp_ok($launches * 3, '<=', $requests, "$kind: $launches launches for $requests requests");
	cmp_ok($ganged, '>', $requests / 2, "$kind: $ganged of them in gangs");
	return;
}

sub start
{
	my ($name, $conf) = @_;

	@sessions = ();
	$node = new_server($name, "gpuconc.debug_gang = wait\ngpuconc.debug_hot_pages = 1\n$conf");
	create_shards();
	# Nobody has to ask twice, as together() wants it; loads are over.
	foreach my $kind (sort keys %query)
	{
		is_offloaded($node, $query{$kind}->($_, 1), "alone: $kind of shard $_") for (0, 3, 5, 7, 9);
		answer_of($node, join(';', map { $query{$kind}->($_, 1) } (0 .. $shards - 1)), 'require');
	}
	@sessions = map { session($node, "$name$_") } (0 .. $many - 1);
	return;
}

#-------------------------------------------------------------------------
# Device host
#-------------------------------------------------------------------------

start('gangs', '');
is(stat_of($node, 'ganged'), '0', 'one session alone is in no gang');
all_shards($_, 2, $_ eq 'groups' ? $shards : 8) foreach (sort keys %query);

my @distinct = map { $query{groups}->($_, $_) } (0 .. $many - 1);
my ($launches, $ganged) = right_together('other constants', @distinct);
cmp_ok($launches, '<=', 5, "$many requests, $launches launches: one for all shards that are alike");

# EXPLAIN tells how many were together.
my @got = together($node, \@sessions, 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' . $query{groups}->(16, 5), map { $query{groups}->($_, 6) } (17 .. 16 + $many - 1));
cmp_ok($got[0] =~ /Requests: .*gang=(\d+)/ ? $1 : 0, '>', $many / 2, 'EXPLAIN shows the members of the launch');
unlike($node->safe_psql('postgres', 'SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) ' . $query{groups}->(16, 5)),
	qr/gang=/, 'and nothing where there was one request');

# Shards with several requests each: some equal, some not.
($launches, $ganged) = right_together('two sessions for each shard, with one query', map { $query{groups}->($_ % 8 + 16, 3) } (0 .. $many - 1));
cmp_ok($launches, '<=', 4, "$launches launches");
($launches, $ganged) = right_together('two sessions for each shard, with two constants', map { $query{groups}->($_ % 8 + 16, $_) } (0 .. $many - 1));
# A fused scan for each shard, or where its kernel is not compiled yet, a selection scan and two visits.
cmp_ok($launches, '<=', 3 * $many / 2, "$launches launches");
($launches, $ganged) = right_together('queries of all kinds', map { $query{ (sort keys %query)[$_ % 5] }->($_, 2) } (0 .. $many - 1));
cmp_ok($launches, '<', $many, "$launches launches");
($launches, $ganged) = right_together('all over one shard', map { $query{groups}->(20, $_) } (0 .. $many - 1));
is($ganged, '0', 'are left to shared scans');

# Passes, joins and sums beyond a type are each request's own.
$node->safe_psql('postgres', "CREATE TABLE dim (g int PRIMARY KEY, name text); INSERT INTO dim SELECT i, 'name' || i FROM generate_series(0, 8) AS i; VACUUM ANALYZE dim");
my @joined = map { "SELECT name, count(*), sum(n) FROM s$_ JOIN dim USING (g) WHERE id > $_ GROUP BY name ORDER BY name" } (0 .. $many - 1);
is_offloaded($node, $_, 'a join, alone') foreach (@joined[0, 3, 7]);
answer_of($node, join(';', @joined), 'require');
($launches, $ganged) = right_together('joins with one table', @joined);
cmp_ok($launches, '<=', 4, "$launches launches");

#-------------------------------------------------------------------------
# One member's error or end is its own
#-------------------------------------------------------------------------

my @divided = map { "SELECT count(*), sum(1000 / (v - 100)) FROM s$_ WHERE id > 5" } (16 .. 16 + $many - 1);
my @wanted = map { $_ =~ /s20 / ? '' : answer_of($node, $_, 'forbid') } @divided;
answer_of($node, join(';', grep { !/s20 / } @divided), 'require');
foreach my $round (1, 2)
{
	my $before = stat_of($node, 'ganged');

	@got = together($node, \@sessions, @divided);
	like($got[4], qr/^ERROR:  division by zero/, 'a division by zero');
	is(scalar(grep { $_ != 4 && $got[$_] ne $wanted[$_] } (0 .. $many - 1)), 0, 'and right answers of others');
	is(stat_of($node, 'ganged') - $before, $many, 'that were in its launch');
}

configure($node, 'gpuconc.debug_hold_requests' => $many + 1);
ask($sessions[$_], $distinct[$_]) for (0 .. $many - 1);
wait_until_waiting($node, '^gangs', $many);
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'gangs4'});
like(rows_of($sessions[4]), qr/canceling statement/, 'one is cancelled');
wait_until($node, q{SELECT running = 0 FROM gpuconc_devices});
configure($node, 'gpuconc.debug_hold_requests' => $many - 1);
is(scalar(grep { $_ != 4 && rows_of($sessions[$_]) ne answer_of($node, $distinct[$_], 'forbid') } (0 .. $many - 1)), 0, 'the others have their answers');
configure($node, 'gpuconc.debug_hold_requests' => 0);

# Cancels of requests that wait for the device, or are in a launch.
$node->safe_psql('postgres', q{
CREATE FUNCTION storm(first int, rounds int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	own bigint;
	expected bigint;
	canceled int := 0;
BEGIN
	FOR i IN 1 .. rounds LOOP
		BEGIN
			PERFORM set_config('gpuconc.debug_offload', 'forbid', true);
			EXECUTE format('SELECT sum(id) FROM s%s WHERE v > %s', (first + i) % 32, first) INTO expected;
			PERFORM set_config('gpuconc.debug_offload', 'prefer', true);
			EXECUTE format('SELECT sum(id) FROM s%s WHERE v > %s', (first + i) % 32, first) INTO own;
			IF own IS DISTINCT FROM expected THEN
				RETURN format('WRONG: %s, not %s', own, expected);
			END IF;
		EXCEPTION WHEN query_canceled THEN
			canceled := canceled + 1;
		END;
	END LOOP;
	RETURN format('%s canceled', canceled);
END $$});
my @stormed = map { "SELECT sum(id) FROM s$_ WHERE v > $_" } (16 .. 16 + $many - 1);
answer_of($node, join(';', map { s/s(1[6-9]|2\d|3[01])/'s' . ($1 - 16)/er } @stormed), 'require');
answer_of($node, join(';', @stormed), 'require');
right_together('before a storm', @stormed);
my $before = stat_of($node, 'ganged');
# A request waits for another one; the last one is cancelled.
configure($node, 'gpuconc.debug_hold_requests' => 4);
ask($sessions[$_], "SELECT storm($_, 10)") for (0 .. $many - 1);
$node->safe_psql('postgres', q{
DO $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT storm%' AND state = 'active') LOOP
		PERFORM pg_cancel_backend(pid) FROM (SELECT pid FROM pg_stat_activity
			WHERE query LIKE 'SELECT storm%' AND state = 'active' AND wait_event_type = 'Extension' ORDER BY random() LIMIT 1) AS one;
		PERFORM pg_stat_clear_snapshot();
		PERFORM pg_sleep(0.02);
	END LOOP;
END $$});
like(rows_of($sessions[$_]), qr/^\d+ canceled$|canceling statement/, 'a storm of cancels') for (0 .. $many - 1);
configure($node, 'gpuconc.debug_hold_requests' => 0);
cmp_ok(stat_of($node, 'ganged'), '>', $before, 'over gangs');
nothing_held($node, 'a storm of cancels');
right_together('after a storm', @distinct);

#-------------------------------------------------------------------------
# Partitions, settings, another worker
#-------------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE TABLE p (shard int, id int, g int, n numeric(12,2)) PARTITION BY LIST (shard);'
	  . join('', map { "CREATE TABLE p$_ PARTITION OF p FOR VALUES IN ($_); INSERT INTO p SELECT $_, id, g, n FROM s$_;" } (0 .. $shards - 1)) . 'VACUUM ANALYZE p');
my @pruned = map { "SELECT g, count(*), sum(n) FROM p WHERE shard = $_ AND id > $_ GROUP BY g ORDER BY g" } (4 .. 4 + $many - 1);
is_offloaded($node, $_, 'a partition, alone') foreach (@pruned[0, 1, 3]);
answer_of($node, join(';', @pruned), 'require');
($launches, $ganged) = right_together('partitions', @pruned);
cmp_ok($launches, '<=', 4, "$launches launches");
my @whole = map { "SELECT g, count(*), sum(n) FROM p WHERE id > $_ GROUP BY g ORDER BY g" } (0 .. $many - 1);
is_offloaded($node, $whole[0], 'all partitions, alone');
right_together('all partitions', @whole);

configure($node, 'gpuconc.debug_gang' => 'auto');
($launches, $ganged) = right_together('auto', @distinct);
cmp_ok($launches, '<=', 5, 'what starts together is one launch without waiting, too');
configure($node, 'gpuconc.debug_gang' => 'off');
($launches, $ganged) = right_together('off', @distinct);
is("$launches $ganged", "$many 0", 'each has a launch of its own');
configure($node, 'gpuconc.debug_gang' => 'wait', 'gpuconc.schedule' => 'streams');
($launches, $ganged) = right_together('schedule = streams', @distinct);
is("$launches $ganged", "$many 0", 'and under another schedule');
configure($node, 'gpuconc.schedule' => 'twostage');

my $worker = query_server($node, 'SELECT worker_pid FROM gpuconc_devices');
@wanted = map { answer_of($node, $_, 'forbid') } @distinct;
$_->query_safe('SET gpuconc.debug_offload = prefer') foreach (@sessions);
configure($node, 'gpuconc.debug_hold_requests' => $many + 1);
ask($sessions[$_], $distinct[$_]) for (0 .. $many - 1);
wait_until_waiting($node, '^gangs', $many);
kill 'TERM', $worker;
is(rows_of($sessions[$_]), $wanted[$_], "the worker ends: PostgreSQL answers $_") for (0 .. $many - 1);
configure($node, 'gpuconc.debug_hold_requests' => 0);
wait_until($node, "SELECT count(*) = 1 FROM gpuconc_devices WHERE state = 'ready' AND worker_pid <> $worker");
$_->query_safe('SET gpuconc.debug_offload = require') foreach (@sessions);
answer_of($node, join(';', @distinct), 'require');
($launches, $ganged) = right_together('another worker', @distinct);
cmp_ok($launches, '<=', 5, "$launches launches");

# Requests that a setting lets go, in a worker that finds the kernel of their gang on disk: nothing wakes it for that kernel.
end_worker($node);
answer_of($node, join(';', @distinct), 'require');
configure($node, 'gpuconc.debug_hold_requests' => $many + 1);
($launches, $ganged) = launches_of(sub {
	ask($sessions[$_], $distinct[$_]) for (0 .. $many - 1);
	wait_until_waiting($node, '^gangs', $many);
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	is(rows_of($sessions[$_]), $wanted[$_], "let go by a setting: $_") for (0 .. $many - 1);
});
cmp_ok($ganged, '>=', 2, "let go by a setting: $ganged in gangs");
nothing_held($node, 'gangs');
$_->quit foreach (@sessions);
stop_server($node);

#-------------------------------------------------------------------------
# A GPU that is pretended.  Scans of one request by selection are not what is tested here.
#-------------------------------------------------------------------------

start('pretended_gangs', "gpuconc.debug_pretend_gpu = 'H200'\ngpuconc.debug_shared_selection = off\n");
all_shards($_, 2, 8) foreach ('groups', 'hashed');
right_together('queries of all kinds', map { $query{ (sort keys %query)[$_ % 5] }->($_, 2) } (0 .. $many - 1));
nothing_held($node, 'gangs of a pretended GPU');
$_->quit foreach (@sessions);
stop_server($node);

done_testing();

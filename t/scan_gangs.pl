# Tables of one shape, as the shards of a distributed table are, each asked by two sessions at once: shared scans whose
# kernels have the same text are one launch, fused or by selection.  Each session has its own answer, error or end.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Rows of each shard.  Around what a word and a warp's threads take; the last three are several chunks.
my @rows = (0, 1, 63, 64, 65, 5000, 6000, 9000, 12000, 20000);
my $nulls = 7;		# its v is NULL in two of three rows: its kernels have other texts
my $hot = 6;		# it is written to after VACUUM
my $zero = 8;		# it has v = 100, which no other has
# Those whose kernels have one text: ids of the others have shorter codes, or there are none.
my @alike = grep { $_ > 1 && $_ != $nulls } (0 .. $#rows);
my $many = 2 * @rows;
my ($node, @sessions);

# Ids are spread, so that codes are as long in small shards.
sub create_shards
{
	foreach my $i (0 .. $#rows)
	{
		my $v = $i == $nulls ? 'CASE WHEN i % 3 = 0 THEN 1 + i % 90 END' : $i == $zero ? '1 + i % 200' : 'CASE WHEN i % 200 = 99 THEN 1 ELSE 1 + i % 200 END';
		my $last = $rows[$i] < 2 ? 1 : $rows[$i] - 1;

		$node->safe_psql('postgres', qq{
CREATE TABLE s$i (id int, g int, v int, n numeric(12,2));
INSERT INTO s$i SELECT i * 40000 / $last, i % 9, $v, (i * 40000 / $last) / 4.0 FROM generate_series(0, $rows[$i] - 1) AS i;
VACUUM ANALYZE s$i});
	}
	$node->safe_psql('postgres', "UPDATE s$hot SET v = v + 1 WHERE id % 500 = 0; INSERT INTO s$hot VALUES (39000, 1, 2, 3)") if $hot >= 0;
	return;
}

# Sums of one group, groups in shared memory, rows that two columns choose.  The constants are the session's.
my %query = (
	one => sub { "SELECT count(*), sum(n), max(v) FROM s$_[0] WHERE v > $_[1]" },
	groups => sub { "SELECT g, count(*), sum(n), count(v) FROM s$_[0] WHERE id > $_[1] GROUP BY g ORDER BY g" },
	hashed => sub { "SELECT n, count(*), sum(v) FROM s$_[0] WHERE v = 10 + $_[1] AND g < 7 GROUP BY n ORDER BY n" },
	rows => sub { "SELECT id, v, n FROM s$_[0] WHERE v = $_[1] + 20 ORDER BY id" });

# Two requests for each shard, with other constants.
sub for_all
{
	my ($kind, $constant) = @_;

	return map { $query{$kind}->($_ >> 1, $constant + $_) } (0 .. $many - 1);
}

# Queries of as many sessions, together.  Returns launches of main kernels, and requests in gangs.
sub right_together
{
	my ($message, @asked) = @_;
	my @wanted = map { answer_of($node, $_, 'forbid') } @asked;
	my @before = map { stat_of($node, $_) } ('main_launches', 'ganged');
	my @got = together($node, \@sessions, @asked);
	my @wrong = grep { $got[$_] ne $wanted[$_] } (0 .. $#asked);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(scalar @wrong, 0, "$message: right answers") or diag map { "$asked[$_]\n$got[$_]\nnot\n$wanted[$_]\n" } @wrong;
	return (stat_of($node, 'main_launches') - $before[0], stat_of($node, 'ganged') - $before[1]);
}

# The queries of all take at least $least launches less in gangs than without.
sub saved
{
	my ($kind, $least) = @_;
	my $in_gangs = 2 * @alike;

	configure($node, 'gpuconc.debug_gang' => 'off');
	my ($single, $none) = right_together("$kind, no gangs", for_all($kind, 1));
	is($none, '0', "$kind: no gangs");
	configure($node, 'gpuconc.debug_gang' => 'wait');
	# The first may meet kernels that were asked for and are not ready, as the two of a shape that was not known.
	right_together("$kind, first gangs", for_all($kind, 2));
	my ($launches, $ganged) = right_together("$kind, gangs", for_all($kind, 3));
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($ganged, '>=', $in_gangs, "$kind: $ganged requests in gangs");
	cmp_ok($launches, '<=', $single - $least, "$kind: $launches launches instead of $single");
	return;
}

sub start
{
	my ($name, $conf) = @_;

	$node = new_server($name, "gpuconc.debug_gang = wait\ngpuconc.debug_hot_pages = 1\ngpuconc.debug_versioned_pages = off\n$conf");
	keep_session($node);
	create_shards();
	# Nobody has to ask twice, as together() wants it; loads are over.
	answer_of($node, join(';', for_all($_, 1), for_all($_, 1)), 'require') foreach (sort keys %query);
	@sessions = map { session($node, "$name$_") } (0 .. $many - 1);
	return;
}

sub finish
{
	nothing_held($node, 'gangs of scans');
	$_->quit foreach (@sessions);
	is(log_has($node, qr/PANIC|TRAP|was terminated by signal (?!9)/), 0, 'nothing bad in the log');
	stop_server($node);
	return;
}

my $spared = @alike - 1;

start('scan_gangs', '');
is_offloaded($node, $query{$_}->($hot, 1), "alone: $_") foreach (sort keys %query);

#-------------------------------------------------------------------------
# Fused scans
#-------------------------------------------------------------------------

configure($node, 'gpuconc.debug_force_shared_scan' => 'fused');
saved('one', $spared);
saved('groups', $spared);
my @explained = together($node, \@sessions, map { 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' . $_ } for_all('one', 5));
like($explained[2 * $alike[3]], qr/shared scan=2 gang=[1-9]/, 'EXPLAIN shows both');

# Two tables whose scan shapes came in another order have one text, too.
$node->safe_psql('postgres', 'CREATE TABLE s90 AS SELECT * FROM s9; CREATE TABLE s91 AS SELECT * FROM s9; VACUUM ANALYZE s90, s91');
my @orders = map { my $c = $_; [(map { $query{$_}->(90, $c++) } ('one', 'one', 'groups', 'groups')), (map { $query{$_}->(91, $c++) } ('groups', 'groups', 'one', 'one'))] } (1, 20);
answer_of($node, join(';', "SELECT gpuconc_prewarm('s90'), gpuconc_prewarm('s91')", map { "SET gpuconc.debug_offload = require; $_" } @{ $orders[0] }), 'forbid');
configure($node, 'gpuconc.debug_hold_requests' => 8);
foreach my $asked (@orders)
{
	my @expected = map { answer_of($node, $_, 'forbid') } @$asked;
	my $before = stat_of($node, 'ganged');

	foreach my $i (0 .. 7)
	{
		ask($sessions[$i], $asked->[$i]);
		wait_until_waiting($node, '^scan_gangs', $i + 1) if $i < 7;
	}
	is(scalar(grep { rows_of($sessions[$_]) ne $expected[$_] } (0 .. 7)), 0, 'other orders: right answers');
	cmp_ok(stat_of($node, 'ganged') - $before, '>=', 8, 'other orders: one text') if $asked == $orders[1];
}
configure($node, 'gpuconc.debug_hold_requests' => 0);

# One member's error is its own.
my @divided = map { 'SELECT count(*), sum(1000 / (v - 100)) FROM s' . ($_ >> 1) . " WHERE id > $_" } (0 .. $many - 1);
my @wanted = map { $_ >> 1 == $zero ? '' : answer_of($node, $divided[$_], 'forbid') } (0 .. $many - 1);
foreach my $round (1 .. 3)
{
	my $before = stat_of($node, 'ganged');
	my @got = together($node, \@sessions, @divided);

	like($got[ 2 * $zero + $_ ], qr/^ERROR:  division by zero/, 'a division by zero') foreach (0, 1);
	is(scalar(grep { $_ >> 1 != $zero && $got[$_] ne $wanted[$_] } (0 .. $many - 1)), 0, 'and right answers of others');
	cmp_ok(stat_of($node, 'ganged') - $before, '>=', 2 * @alike, 'that were in its launch') if $round == 3;
}

# One member's end is its own: all are held back, and one of shard 5 is cancelled.
sub one_cancelled
{
	my ($message, @asked) = @_;
	my $gone = 10;
	my @expected = map { answer_of($node, $_, 'forbid') } @asked;
	my $before = stat_of($node, 'ganged');

	configure($node, 'gpuconc.debug_hold_requests' => $many + 1);
	ask($sessions[$_], $asked[$_]) for (0 .. $many - 1);
	wait_until_waiting($node, '^scan_gangs', $many);
	query_server($node, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'scan_gangs$gone'");
	like(rows_of($sessions[$gone]), qr/canceling statement/, "$message: one is cancelled");
	# It may still be in the worker when the others start, and then be in their scan.
	configure($node, 'gpuconc.debug_hold_requests' => $many - 1);
	is(scalar(grep { $_ != $gone && rows_of($sessions[$_]) ne $expected[$_] } (0 .. $many - 1)), 0, "$message: the others have their answers");
	cmp_ok(stat_of($node, 'ganged') - $before, '>=', 2 * @alike - 2, "$message: in gangs");
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	return;
}

one_cancelled('fused', for_all('one', 7));

#-------------------------------------------------------------------------
# Selection scans: their members' own kernels are one launch, too
#-------------------------------------------------------------------------

configure($node, 'gpuconc.debug_force_shared_scan' => 'selection');
saved($_, $spared + 2 * @alike - 1) foreach ('one', 'groups', 'hashed', 'rows');
# Visits of several texts.
my @mixed = map { $query{ (sort keys %query)[$_ % 2 ? 0 : 2] }->($_ >> 1, $_) } (0 .. $many - 1);
right_together('selection, two texts, first', @mixed);
my ($launches, $ganged) = right_together('selection, two texts', @mixed);
cmp_ok($ganged, '>=', 2 * @alike, "$ganged requests in gangs, $launches launches");
one_cancelled('selection', for_all('rows', 7));

# Cancelled in any state, while scans start.
my $storm = q{DO $$
BEGIN
	FOR i IN 1 .. 40 LOOP
		PERFORM pg_cancel_backend(pid) FROM (SELECT pid FROM pg_stat_activity
			WHERE application_name ~ '^scan_gangs' AND state = 'active' AND wait_event_type = 'Extension' ORDER BY random() LIMIT 1) AS one;
		PERFORM pg_stat_clear_snapshot();
	END LOOP;
END $$};
configure($node, 'gpuconc.debug_hold_requests' => 4);
foreach my $kind ('rows', 'one')
{
	my @asked = for_all($kind, 11);
	my @expected = map { answer_of($node, $_, 'forbid') } @asked;

	ask($sessions[$_], $asked[$_]) for (0 .. $many - 1);
	query_server($node, $storm);
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	my @got = map { rows_of($_) } @sessions;
	is(scalar(grep { $got[$_] ne $expected[$_] && $got[$_] !~ /canceling statement/ } (0 .. $many - 1)), 0, "a storm of cancels, $kind: right answers or none");
}
saved('rows', $spared);

#-------------------------------------------------------------------------
# Settings; little memory
#-------------------------------------------------------------------------

configure($node, 'gpuconc.schedule' => 'streams');
($launches, $ganged) = right_together('schedule = streams', for_all('one', 13));
is($ganged, '0', 'no gangs under another schedule');
finish();

# Memory that scans need beside columns is not there for all of them.
foreach my $limit ('4MB', '8MB')
{
	start("little_$limit", "gpuconc.device_memory_limit = $limit\ngpuconc.debug_force_shared_scan = selection\n");
	right_together("$limit of memory, $_", for_all($_, 1)) foreach ('one', 'rows', 'one');
	finish();
}

# More tables in one decision than one gang takes: each has its scan set.
@rows = (5000) x 40;
$hot = $zero = $nulls = -1;
$many = 2 * @rows;
start('forty', "max_connections = 100\ngpuconc.debug_force_shared_scan = fused\n");
right_together('40 tables, first', for_all('one', 1));
configure($node, 'gpuconc.debug_gang' => 'off');
($launches, $ganged) = right_together('40 tables, no gangs', for_all('one', 2));
is($launches, scalar @rows, '40 tables: a shared scan of each');
configure($node, 'gpuconc.debug_gang' => 'wait');
($launches, $ganged) = right_together('40 tables, gangs', for_all('one', 3));
is($ganged, $many, "40 tables: all requests in gangs, $launches launches");
finish();

done_testing();

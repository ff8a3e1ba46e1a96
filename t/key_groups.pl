# Group-coded columns: selection scans that read what another table says of a column's values, and
# not the values.  Whatever happens to that table, or to the one that is scanned, each
# session has the answer that its own snapshot gives; and key groups come back.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use SharedScan;
use Test::More;

my $scan = SharedScan->new(name => 'key_groups', sessions => 12, kind => 'selection scan',
	counters => [ 'key_group_scans', 'key_group_mismatches', 'kernels' ]);
my $node = $scan->node;

# Queries of the first sessions, together, in one selection scan.  By how many did the group-coded columns
# that it could read grow, those of them that did not fit, and the kernels?
sub selection
{
	my ($message, @asked) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return $scan->share($message, scalar @asked, @asked);
}

# Such queries, which test so many columns with key groups, and all of them fit.
sub by_classes
{
	my ($message, $columns, @asked) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($scans, $mismatches) = selection($message, @asked);
	is("$scans $mismatches", "$columns 0", "$message: group-coded columns that were there, and mismatches");
	return;
}

# There is at least one that does not fit.
sub mismatches
{
	my ($message, @asked) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($scans, $mismatches) = selection($message, @asked);
	cmp_ok($mismatches, '>', 0, "$message: some group-coded column does not fit");
	return;
}

sub without_classes
{
	my ($message, @asked) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($scans) = selection($message, @asked);
	is($scans, 0, "$message: no group-coded column");
	return;
}

# Repeat the queries until key groups fit, as they must when mismatches have been borne often enough.
sub fits_again
{
	my ($message, @asked) = @_;
	my ($scans, $mismatches, $rounds) = (0, 1, 0);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	($scans, $mismatches) = selection("$message, until it fits", @asked) while $mismatches > 0 && $rounds++ < 8;
	ok($scans > 0 && $mismatches == 0, "$message: key groups fit again");
	return;
}

sub fresh
{
	my ($table) = @_;

	$scan->fresh($table // 'fact');
	return;
}

# VACUUM leaves a page as it is that somebody reads at that moment, a loader say; then again.
sub vacuum
{
	my ($table) = @_;

	again_until(sub {
		$scan->sql("VACUUM $table");
		return $scan->sql("SELECT relallvisible >= relpages FROM pg_class WHERE relname = '$table'") eq 't' })
	  or die "VACUUM does not come to all pages of $table";
	return;
}

sub new_tables
{
	$scan->sql(q{
CREATE TABLE snow (k int PRIMARY KEY, region text, rank int);
INSERT INTO snow SELECT i, 'region' || i % 5, i % 7 FROM generate_series(1, 40) AS i;
CREATE TABLE d4 (k int PRIMARY KEY, city text, n int, day date, sub int, own int);
INSERT INTO d4 SELECT i, CASE WHEN i % 31 <> 3 THEN 'city' || i % 30 END, CASE WHEN i % 7 <> 2 THEN i % 50 END,
	date '1995-01-01' + i % 300, 1 + i % 40, i * 3 FROM generate_series(1, 3000) AS i;
CREATE TABLE d8 (k bigint PRIMARY KEY, name text, n int);
INSERT INTO d8 SELECT 5000000000 + i, 'name' || i % 20, i % 17 FROM generate_series(1, 2000) AS i;
CREATE TABLE d2 (k smallint PRIMARY KEY, t text, n int);
INSERT INTO d2 SELECT i, 't' || i % 12, i % 9 FROM generate_series(1, 1000) AS i;
CREATE TABLE twin (k int PRIMARY KEY, other int);
INSERT INTO twin SELECT i, (i * 7) % 23 FROM generate_series(1, 3000) AS i WHERE i % 4 <> 1;
CREATE TABLE wide (k int PRIMARY KEY, own int, few int);
INSERT INTO wide SELECT i, (i * 37) % 6007, i % 6 FROM generate_series(1, 6000) AS i;
CREATE TABLE fact (id int, k4 int, k8 bigint, k2 smallint, kn int, kw int, v int);
INSERT INTO fact SELECT i, 1 + (i * 7) % 3000, 5000000001 + (i * 11) % 2000, 1 + (i * 13) % 1000,
	CASE WHEN i % 5 <> 0 THEN 1 + (i * 17) % 3000 END, 1 + (i * 19) % 6000, i % 997 FROM generate_series(1, 100000) AS i;
VACUUM ANALYZE snow, d4, d8, d2, twin, wide, fact;
});
	return;
}

# Joins with one table each; the argument is a constant, which makes no other kernel.
my %query = (
	city => sub { "SELECT count(*), sum(id), max(v) FROM fact JOIN d4 ON d4.k = k4 WHERE city = 'city$_[0]'" },
	n => sub { "SELECT n, count(*), sum(id) FROM fact JOIN d4 ON d4.k = k4 WHERE n < $_[0] GROUP BY n ORDER BY n" },
	day => sub { "SELECT day, count(*), sum(v) FROM fact JOIN d4 ON d4.k = k4 WHERE day > date '1995-01-01' + 250 + $_[0] GROUP BY day ORDER BY day" },
	region => sub { "SELECT city, count(*), sum(v) FROM fact JOIN d4 ON d4.k = k4 JOIN snow ON snow.k = sub WHERE region = 'region" . $_[0] % 5 . "' GROUP BY city ORDER BY city" },
	d8 => sub { "SELECT name, count(*), min(id) FROM fact JOIN d8 ON d8.k = k8 AND d8.n = $_[0] GROUP BY name ORDER BY name" },
	d2 => sub { "SELECT count(*), sum(id) FROM fact JOIN d2 ON d2.k = k2 AND t = 't$_[0]'" },
	nulls => sub { "SELECT count(*), sum(id) FROM fact JOIN d4 ON d4.k = kn AND d4.n = $_[0]" });

sub set_up
{
	new_tables();
	cmp_ok($scan->sql(q{SELECT pg_relation_size('fact') / 8192 / 32}), '>', 5, 'several chunks');
	$scan->alone(map { $_ => $query{$_}->(3) } (keys %query));
	$scan->force('selection');
	$scan->new_sessions;
	return;
}

# Attributes that are known, and new ones.
sub attributes
{
	fresh();
	by_classes('a text', 1, map { $query{city}->($_) } (1 .. 4));
	by_classes('other constants', 1, map { $query{city}->($_ * 2) } (5 .. 10));
	by_classes('a new attribute', 1, map { $query{n}->($_) } (1 .. 3));
	by_classes('both attributes', 1, $query{city}->(3), $query{n}->(20), $query{city}->(4), $query{n}->(21));
	by_classes('by way of another table', 1, map { $query{region}->($_) } (0 .. 3));
	by_classes('a date', 1, map { $query{day}->($_) } (1, 10, 30));
	by_classes('all of them', 1, map { ($query{city}->($_), $query{n}->($_), $query{region}->($_), $query{day}->($_)) } (1, 2));
	by_classes('bigint', 1, map { $query{d8}->($_) } (1 .. 3));
	by_classes('smallint', 1, map { $query{d2}->($_) } (1 .. 3));
	by_classes('NULLs', 1, map { $query{nulls}->($_) } (1 .. 3));
	by_classes('all columns', 4, map { $query{$_}->(2) } (sort keys %query));
	by_classes('all in one query', 4, map {
		"SELECT count(*), sum(id) FROM fact, d4, d8, d2, d4 AS dn WHERE d4.k = k4 AND d8.k = k8 AND d2.k = k2 AND dn.k = kn AND d4.n < 30 AND d8.n > $_ AND d2.t <> 't$_' AND dn.n > $_" } (1 .. 3));
	fresh();
	by_classes('all columns, at once', 4, map { $query{$_}->(5) } (sort keys %query));
	return;
}

# A chunk's key groups are written when it is read first, and kept.
sub chunks
{
	my @few = map { "SELECT count(*), sum(v) FROM fact JOIN d4 ON d4.k = k4 AND n = $_ WHERE id < 5000" } (1, 2);
	my @all = map { "SELECT count(*), sum(v) FROM fact JOIN d4 ON d4.k = k4 AND n = $_ WHERE id < 500000" } (1, 2);
	my %kernels;

	selection('their shape', @few);
	fresh();
	foreach my $case ('few chunks', 'few chunks again', 'all chunks', 'all chunks again')
	{
		my ($scans, $mismatches, $kernels) = selection($case, $case =~ /few/ ? @few : @all);

		$kernels{$case} = $kernels;
		is("$scans $mismatches", '1 0', "$case: by key groups");
	}
	is($kernels{'all chunks'} - $kernels{'all chunks again'}, 1, 'the other chunks are written once');
	is($kernels{'few chunks again'}, $kernels{'all chunks again'}, 'and none is written again');
	return;
}

sub settings
{
	my @asked = map { $query{$_}->(5) } (sort keys %query);

	configure($node, 'gpuconc.debug_key_groups' => 'off');
	without_classes('debug_key_groups = off', @asked);
	fresh();
	without_classes('debug_key_groups = off, a table that is new', @asked);
	configure($node, 'gpuconc.debug_key_groups' => 'on');
	by_classes('on again', 4, @asked);
	configure($node, 'gpuconc.debug_key_groups' => 'off');
	without_classes('off again', @asked);
	configure($node, 'gpuconc.debug_key_groups' => 'on');
	by_classes('and on', 4, @asked);
	return;
}

# Tests that key groups may know nothing of.
sub tests
{
	fresh();
	by_classes('which keys there are', 1, 'SELECT count(*), sum(id) FROM fact JOIN twin ON twin.k = k4', 'SELECT count(*), max(v) FROM fact JOIN twin ON twin.k = k4', 'SELECT min(id), max(v) FROM fact WHERE EXISTS (SELECT FROM twin WHERE twin.k = k4)');
	by_classes('IN', 1, map { "SELECT count(*), sum(id) FROM fact JOIN d4 ON d4.k = k4 AND city IN ('city$_', 'city11', 'none')" } (1 .. 3));
	by_classes('IS NULL', 1, map { "SELECT count(*), sum(id) FROM fact JOIN d4 ON d4.k = k4 AND $_" } ('city IS NULL', 'n IS NULL', 'city IS NOT NULL AND n IS NULL', 'coalesce(n, 12) = 12'));
	by_classes('OR', 1, map { "SELECT count(*), sum(id) FROM fact JOIN d4 ON d4.k = k4 AND (city = 'city$_' OR n = $_)" } (1 .. 3));
	by_classes('expressions', 1, map { "SELECT count(*), sum(id) FROM fact JOIN d4 ON d4.k = k4 AND $_" } ('n % 7 = 3', q{city LIKE '%7'}, 'extract(month FROM day) = 3', 'CASE WHEN n > 30 THEN n - 30 ELSE n END < 5'));
	# by a key itself
	fresh();
	mismatches('some keys', map { "SELECT count(*), sum(id) FROM fact JOIN d4 ON d4.k = k4 AND n > 3 WHERE k4 <> 105 * $_" } (1 .. 3));
	by_classes('tests of another column', 2, map { "SELECT count(*), sum(id) FROM fact JOIN d4 ON d4.k = k4 AND n > $_ JOIN d2 ON d2.k = k2 AND t = 't3' WHERE id > v" } (1 .. 3));
	my ($scans) = selection('with a test of the table itself', $query{city}->(2), map { "SELECT count(*), sum(id) FROM fact JOIN d4 ON d4.k = k4 AND n > 3 WHERE v > $_" } (300, 600));
	cmp_ok($scans, '>', 0, 'with a test of the table itself: group-coded columns');

	by_classes('NULLs', 1, map { "SELECT count(*), sum(id) FROM fact JOIN d4 ON d4.k = kn AND $_" } ('n IS NULL', 'n < 40', q{city = 'city7'}));
	selection('NULL and not, without a join', 'SELECT count(*), sum(id) FROM fact WHERE kn IS NULL', 'SELECT count(*), sum(id) FROM fact WHERE kn IS NOT NULL', 'SELECT count(*), max(id) FROM fact WHERE coalesce(kn, 7) = 7', $query{nulls}->(6));
	return;
}

# Two tables whose keys are in one column; the attributes are in the same place.
sub two_tables
{
	my @one = map { $query{city}->($_) } (11 .. 13);
	my @other = map { "SELECT count(*), sum(id) FROM fact JOIN twin ON twin.k = k4 AND other = $_" } (1 .. 3);

	fresh();
	by_classes('one table', 1, @one);
	by_classes('another with the same keys', 1, @other);
	by_classes("both, $_", 1, @one, @other) for (1 .. 6);
	by_classes('one of them', 1, @one);
	return;
}

# More key groups than there may be: they stay what they were.
sub too_many
{
	my @own = map { "SELECT count(*), sum(id) FROM fact JOIN wide ON wide.k = kw AND own < 1000 * $_" } (1 .. 3);
	my @few = map { "SELECT count(*), sum(id) FROM fact JOIN wide ON wide.k = kw AND few = $_" } (1 .. 3);

	# all of its columns, or it would be another table once one more is read
	fresh('wide');
	fresh();
	without_classes("too many, $_", @own) for (1 .. 2);
	by_classes('another attribute', 1, @few);
	mismatches("too many, $_", @own) for (3 .. 9);
	by_classes('another attribute, again', 1, @few);
	return;
}

# Classes that never fit are given up, and with them the group-coded column.
sub given_up
{
	my @asked = map { "SELECT count(*), sum(id) FROM fact JOIN d4 ON d4.k = k4 AND n > 3 WHERE k4 <> 105 * $_" } (1 .. 3);
	my ($scans, $rounds) = (1, 0);

	fresh();
	mismatches('they do not fit', @asked);
	while ($scans > 0 && $rounds++ < 80)
	{
		my ($before) = $scan->counters;

		together($node, $scan->sessions, @asked);
		$scans = ($scan->counters)[0] - $before;
	}
	# and no earlier than it is worth
	is($rounds, 64, 'given up after 64 mismatches');
	without_classes('given up', @asked);
	without_classes('also for those that would fit', map { $query{city}->($_) } (1 .. 3));
	fresh();
	by_classes('another directory', 1, map { $query{city}->($_) } (1 .. 3));
	return;
}

# The table that has the attributes changes.
sub dimension_changes
{
	my @asked = map { ($query{city}->($_), $query{n}->($_ + 9)) } (5, 6, 7);

	fresh();
	by_classes('before any change', 1, @asked);
	$scan->in_session(1, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM d4');
	$scan->sql(q{UPDATE d4 SET city = 'city5' WHERE k BETWEEN 1000 AND 1010});
	mismatches('one snapshot is older', @asked);
	isnt(own_answer($scan->sessions->[0], $asked[0]), own_answer($scan->sessions->[1], $asked[0]), 'the snapshots differ');
	$scan->in_session(2, q{BEGIN; UPDATE d4 SET n = 9, city = 'city6' WHERE k % 97 = 0});
	mismatches('one session sees its own change', @asked);
	$scan->in_session(3, 'BEGIN; DELETE FROM d4 WHERE k < 50');
	$scan->in_session(4, q{BEGIN; INSERT INTO d4 SELECT i, 'city7', 5, '1995-03-03', 1, 0 FROM generate_series(4001, 4100) AS i});
	mismatches('three do', @asked);
	mismatches('three do, the same of all', ($query{city}->(5)) x 1, map { $query{city}->($_) } (6, 7, 8, 9));
	$scan->in_session($_, 'COMMIT') for (1, 2, 4);
	$scan->in_session(3, 'ROLLBACK');
	selection('all are over', @asked);
	vacuum('d4');
	fresh('d4');
	fits_again('after VACUUM', @asked);
	by_classes('and again', 1, @asked);
	return;
}

# Each change of it alone, until key groups fit again; the device's memory stays as it is.
sub dimension_anew
{
	my @asked = map { ($query{city}->($_), $query{n}->($_ + 9)) } (8, 9);
	my @used;

	foreach my $change (q{UPDATE d4 SET city = 'city8' WHERE k % 100 = 4}, q{DELETE FROM d4 WHERE k % 100 = 8}, q{INSERT INTO d4 SELECT k, 'city9', 7, '1995-02-02', 3, 1 FROM generate_series(8, 3000, 100) AS k},
		q{INSERT INTO d4 SELECT k, 'city9', 7, '1995-02-02', 3, 1 FROM generate_series(-20, -1) AS k}, q{BEGIN; TRUNCATE d4; INSERT INTO d4 SELECT i, 'city' || i % 29, i % 41, date '1995-01-01' + i % 250, 1 + i % 40, i FROM generate_series(1, 2900) AS i; COMMIT},
		q{BEGIN; TRUNCATE d4; INSERT INTO d4 SELECT i, 'city' || i % 30, i % 50, date '1995-01-01' + i % 300, 1 + i % 40, i * 3 FROM generate_series(1, 3000) AS i; COMMIT}, 'VACUUM FULL d4', 'ALTER TABLE d4 ADD COLUMN extra int DEFAULT 3')
	{
		$scan->sql($change);
		selection("$change, not vacuumed", @asked);
		vacuum('d4');
		fresh('d4');
		fits_again("$change", @asked);
		push @used, $scan->sql('SELECT memory_used FROM gpuconc_devices');
	}
	# key groups that were replaced take none: they have a byte for each row of fact
	cmp_ok($used[3] - $used[0], '<', 100000, 'no memory of the device is lost with former key groups');
	return;
}

# The table that is scanned changes.
sub fact_changes
{
	my @asked = map { $query{$_}->(4) } (sort keys %query);

	$scan->in_session(0, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM fact');
	$scan->in_session(1, 'BEGIN; UPDATE fact SET k4 = 17, kn = NULL WHERE id % 9000 = 5');
	$scan->in_session(2, 'BEGIN; DELETE FROM fact WHERE id BETWEEN 50000 AND 52000');
	$scan->in_session(3, 'BEGIN; INSERT INTO fact SELECT i, 2999, 5000000007, 3, NULL, 5, 6 FROM generate_series(1, 300) AS i');
	# Where a write moves the map's LSN, chunks are read again.  Without this, some of the sessions would have the old ones.
	$scan->sql(q{SELECT gpuconc_prewarm('fact')});
	selection('uncommitted changes', @asked);
	$scan->in_session($_, 'COMMIT') for (1 .. 3);
	selection('committed, with an old snapshot', @asked);
	$scan->in_session(0, 'COMMIT');
	foreach my $change ('VACUUM fact', 'INSERT INTO fact SELECT i, 1 + i % 3500, 5000000000 + i % 2500, i % 1200, i % 4000, i % 7000, i % 900 FROM generate_series(100001, 130000) AS i', 'VACUUM fact',
		'UPDATE fact SET k4 = k4 + 1 WHERE id % 5000 = 3', 'DELETE FROM fact WHERE id < 900; VACUUM fact', 'ALTER TABLE fact ADD COLUMN extra int DEFAULT 3', 'VACUUM FULL fact; VACUUM fact')
	{
		$scan->sql("$change; SELECT gpuconc_prewarm('fact')");
		selection($change, @asked);
	}
	fresh();
	by_classes('after all changes', 4, @asked);
	return;
}

sub cancels
{
	my @asked = map { $query{ (sort keys %query)[ $_ % 7 ] }->(1 + $_) } (0 .. 7);

	foreach my $how ('cancelled', 'terminated', 'disconnected')
	{
		fresh();
		$scan->leaves($how, \@asked, $query{d8}->(16));
		by_classes("$how, and then", 4, @asked);
	}
	nothing_held($node, 'members that go');
	return;
}

sub nothing_is_left
{
	my @asked = map { $query{$_}->(8) } (sort keys %query);
	my @used;

	fresh();
	for (1 .. 4)
	{
		by_classes("repeated, $_", 4, @asked);
		# Sessions have their results a moment before the worker tells that nothing runs.
		wait_until($node, 'SELECT running = 0 FROM gpuconc_devices');
		push @used, $scan->sql('SELECT memory_used, chunk_columns, build_tables FROM gpuconc_devices');
	}
	is($used[$_], $used[1], 'no memory of the device is lost') for (2, 3);
	nothing_held($node, 'group-coded columns');
	return;
}

# Group-coded columns are the first to go.
sub little_memory
{
	$scan->with_little_memory([ '1MB', '2MB', '3MB' ], map { $query{$_}->(8) } (sort keys %query));
	return;
}

set_up();
attributes();
chunks();
settings();
tests();
two_tables();
too_many();
given_up();
dimension_changes();
dimension_anew();
fact_changes();
cancels();
nothing_is_left();
little_memory();
$scan->finish;
done_testing();

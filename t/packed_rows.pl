# Records: requests of selection scans that read a row's columns from one place.  Whatever
# happens to the table, each session has the answer that its own snapshot gives.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use SharedScan;
use Test::More;

my $scan = SharedScan->new(name => 'packed_rows', sessions => 12, kind => 'selection scan', counters => [ 'packed_row_scans', 'kernels' ], conf => q{
gpuconc.debug_packed_rows = on
gpuconc.host_cache_size = 256MB
});
my $node = $scan->node;

# Queries of the first sessions, together, in one selection scan.  By how many did the requests
# that could read packed rows grow, and the kernels?
sub selection
{
	my ($message, @asked) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return $scan->share($message, scalar @asked, @asked);
}

# Such queries, of which so many read packed rows.
sub by_records
{
	my ($message, $requests, @asked) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($scans, $kernels) = selection($message, @asked);
	is($scans, $requests, "$message: requests that could read packed rows");
	return $kernels;
}

# Codes of all widths; in one column the width differs between chunks.
sub new_tables
{
	$scan->sql(q{
CREATE TABLE dim (k int PRIMARY KEY, name text, n int);
INSERT INTO dim SELECT i, 'name' || i % 30, i % 50 FROM generate_series(1, 3000) AS i;
CREATE TABLE fact (id int, k int, tiny int, small int, big bigint, vary int, f float8, r float4, t text, num numeric(12,2), d date, gaps int);
INSERT INTO fact SELECT i, 1 + (i * 7) % 3000, i % 100, i % 30011, i * 1234567890123, CASE WHEN i < 30000 THEN i % 90 ELSE i END,
	i / 7.0, i % 1000, 't' || i % 40, i % 90000 / 100.0, date '1995-01-01' + i % 400, CASE WHEN i % 9 <> 4 THEN i % 600 END
	FROM generate_series(1, 100000) AS i;
CREATE TABLE bare (id int, v int);
INSERT INTO bare SELECT i, i % 997 FROM generate_series(1, 50000) AS i;
VACUUM ANALYZE dim, fact, bare;
});
	return;
}

# The argument is a constant, which makes no other kernel; most leave few rows.
my %query = (
	sums => sub { "SELECT count(*), sum(id), sum(small), sum(vary) FROM fact WHERE tiny = $_[0]" },
	wide => sub { "SELECT max(big), min(f), max(r), sum(num) FROM fact WHERE tiny = $_[0]" },
	nulls => sub { "SELECT count(gaps), sum(gaps), min(id), count(*) FROM fact WHERE tiny = $_[0]" },
	grouped => sub { "SELECT t, count(*), sum(small), max(d) FROM fact WHERE tiny = $_[0] GROUP BY t ORDER BY t" },
	joined => sub { "SELECT name, sum(vary), max(small) FROM fact JOIN dim ON dim.k = fact.k AND dim.n = $_[0] WHERE small < 20000 GROUP BY name ORDER BY name" },
	many => sub { "SELECT count(*), sum(id), sum(small), sum(vary) FROM fact WHERE tiny <> $_[0]" },
	rows => sub { "SELECT id, vary, big, t FROM fact WHERE small = $_[0] ORDER BY id, vary, big" });

sub set_up
{
	new_tables();
	cmp_ok($scan->sql(q{SELECT pg_relation_size('fact') / 8192 / 32}), '>', 5, 'several chunks');
	$scan->alone(map { $_ => $query{$_}->(3) } (keys %query));
	is(stat_of($node, 'packed_row_scans'), '0', 'none of them by packed rows');
	$scan->force('selection');
	$scan->new_sessions;
	return;
}

sub queries
{
	foreach my $name (sort keys %query)
	{
		by_records("$name, three of it", 3, map { $query{$name}->($_) } (3, 30, 45));
	}
	$scan->fresh('fact');
	my ($requests) = selection('one of each', map { $query{$_}->(20) } (sort keys %query));
	cmp_ok($requests, '>', 4, 'one of each: most could read packed rows, in which not all columns have room');
	by_records('alone', 1, $query{sums}->(50));
	by_records('no row at all', 2, map { "SELECT sum(id), sum(vary) FROM fact WHERE tiny = $_ AND small = 8" } (7, 9));
	by_records('one column', 0, map { "SELECT sum(v) FROM bare WHERE v < $_" } (5, 900));
	by_records('no column', 0, map { "SELECT count(*) FROM fact WHERE tiny = $_" } (7, 8));
	return;
}

# A column's chunk is written when it is read first, and kept.
sub written_once
{
	my @few = map { "SELECT sum(small), sum(vary) FROM fact WHERE tiny = $_ AND id < 5000" } (1, 2);
	my @all = map { "SELECT sum(small), sum(vary) FROM fact WHERE tiny = $_ AND id < 500000" } (1, 2);
	my @more = map { "SELECT sum(small), sum(vary), max(f) FROM fact WHERE tiny = $_ AND id < 500000" } (1, 2);
	my %kernels;

	by_records('their shapes', 4, @few, @more);
	$scan->fresh('fact');
	foreach my $case ('few chunks', 'few chunks again', 'all chunks', 'all chunks again')
	{
		$kernels{$case} = by_records($case, 2, $case =~ /few/ ? @few : @all);
	}
	is($kernels{'few chunks'} - $kernels{'few chunks again'}, 2, 'two columns are written');
	is($kernels{'all chunks'} - $kernels{'all chunks again'}, 2, 'the other chunks are');
	is($kernels{'few chunks again'}, $kernels{'all chunks again'}, 'and none is written again');
	is(by_records('another column', 2, @more) - $kernels{'all chunks again'}, 1, 'what is new is written');
	is(by_records('the same again', 2, @more), $kernels{'all chunks again'}, 'once');
	return;
}

sub settings
{
	my @asked = map { $query{$_}->(5) } (sort keys %query);

	$scan->fresh('fact');
	selection('kernels that can read packed rows', @asked);
	configure($node, 'gpuconc.debug_packed_rows' => 'off');
	by_records('debug_packed_rows = off', 0, @asked);
	configure($node, 'gpuconc.debug_packed_rows' => 'on');
	my ($requests) = selection('on again', @asked);
	cmp_ok($requests, '>', 4, 'on again: requests that could read packed rows');
	configure($node, 'gpuconc.debug_packed_rows' => 'off');
	$scan->fresh('fact');
	by_records('off, and kernels that cannot', 0, @asked);
	configure($node, 'gpuconc.debug_packed_rows' => 'on');
	by_records('these do without', 0, @asked);
	$scan->fresh('fact');
	return;
}

# The table changes.
sub changes
{
	my @asked = map { $query{$_}->(4) } (sort keys %query);

	$scan->in_session(0, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM fact');
	$scan->in_session(1, 'BEGIN; UPDATE fact SET small = 17, gaps = NULL WHERE id % 9000 = 5');
	$scan->in_session(2, 'BEGIN; DELETE FROM fact WHERE id BETWEEN 50000 AND 52000');
	$scan->in_session(3, 'BEGIN; INSERT INTO fact SELECT i, 4, 4, 4, i, i, i, i, NULL, 5, NULL, 6 FROM generate_series(1, 300) AS i');
	# Where a write moves the map's LSN, chunks are read again.  Without this, some of the sessions would have the old ones.
	$scan->sql(q{SELECT gpuconc_prewarm('fact')});
	selection('uncommitted changes', @asked);
	$scan->in_session($_, 'COMMIT') for (1 .. 3);
	selection('committed, with an old snapshot', @asked);
	$scan->in_session(0, 'COMMIT');
	foreach my $change ('VACUUM fact', 'INSERT INTO fact SELECT i, i % 3000, i % 100, i % 40000, -i, i * 2000, -i, i, \'new\' || i % 300, 7, \'2020-02-02\', i FROM generate_series(100001, 130000) AS i',
		'VACUUM fact', 'UPDATE fact SET vary = vary + 1 WHERE id % 5000 = 3', 'DELETE FROM fact WHERE id < 900; VACUUM fact', 'ALTER TABLE fact ADD COLUMN extra int DEFAULT 3', 'VACUUM FULL fact; VACUUM fact')
	{
		$scan->sql("$change; SELECT gpuconc_prewarm('fact')");
		selection($change, @asked);
	}
	$scan->fresh('fact');
	my ($requests) = selection('after all changes', @asked);
	cmp_ok($requests, '>', 4, 'after all changes: requests that could read packed rows');
	return;
}

# The first of those that are held back is to write packed rows.
sub cancels
{
	my @asked = map { $query{ (sort keys %query)[ $_ % 7 ] }->(1 + $_) } (0 .. 7);

	foreach my $how ('cancelled', 'terminated')
	{
		$scan->fresh('fact');
		$scan->leaves($how, \@asked, $asked[2]);
		selection("$how, and then", @asked);
	}
	nothing_held($node, 'members that go');
	return;
}

sub nothing_is_left
{
	my @asked = map { $query{$_}->(8) } (sort keys %query);
	my @used;

	for (1 .. 4)
	{
		$scan->fresh('fact');
		selection("repeated, $_", @asked);
		push @used, $scan->sql('SELECT memory_used FROM gpuconc_devices');
	}
	# packed rows take 32 bytes for each row
	cmp_ok($used[3] - $used[1], '<', 100000, "no memory of the device is lost with a table's former packed rows");
	nothing_held($node, 'packed_rows');
	return;
}

# Records are the first to go: columns and builds have the memory.
sub little_memory
{
	$scan->with_little_memory([ '2MB', '5MB', '9MB' ], map { $query{$_}->(8) } (sort keys %query));
	return;
}

set_up();
queries();
written_once();
settings();
changes();
cancels();
nothing_is_left();
little_memory();
$scan->finish;
done_testing();

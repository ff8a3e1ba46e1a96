# Records: requests of selection scans that read a row's columns from one place.  Whatever
# happens to the table, each session has the answer that its own snapshot gives.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($node, @sessions);

sub new_sessions
{
	my ($settings) = @_;

	@sessions = map { session($node, "packed_rows$_", $settings) } (0 .. 11);
	return;
}

# Requests that could read packed rows, kernels.
sub counters
{
	return split /\|/, $node->safe_psql('postgres', 'SELECT packed_row_scans, kernels FROM gpuconc_stat');
}

# Queries of the first sessions, together: are they answered by one selection scan, each
# rightly?  Returns by how much the counters grew.
sub selection
{
	my ($message, @asked) = @_;
	my @before = counters();

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	answered_together($node, \@sessions, $message, 'selection scan', scalar @asked, @asked);
	my @after = counters();
	return map { $after[$_] - $before[$_] } (0 .. $#after);
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

# Forget what is known of the table.
sub fresh
{
	$node->safe_psql('postgres', q{SELECT gpuconc_evict('fact'), gpuconc_prewarm('fact')});
	return;
}

# Codes of all widths; in one column the width differs between chunks.
sub new_tables
{
	$node->safe_psql('postgres', q{
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
	$node = new_server('packed_rows', q{
gpuconc.batch_log_size = 4096
gpuconc.schedule = twostage
gpuconc.enable_packed_rows = on
gpuconc.host_cache_size = 256MB
max_connections = 60
log_statement = none
});
	new_tables();
	cmp_ok($node->safe_psql('postgres', q{SELECT pg_relation_size('fact') / 8192 / 32}), '>', 5, 'several chunks');
	is_offloaded($node, $query{$_}->(3), "alone: $_") foreach (sort keys %query);
	is(stat_of($node, 'packed_row_scans'), '0', 'none of them by packed rows');
	configure($node, 'gpuconc.debug_force_shared_scan' => 'selection');
	new_sessions();
	return;
}

sub queries
{
	foreach my $name (sort keys %query)
	{
		by_records("$name, three of it", 3, map { $query{$name}->($_) } (3, 30, 45));
	}
	fresh();
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
	fresh();
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

	fresh();
	selection('kernels that can read packed rows', @asked);
	configure($node, 'gpuconc.enable_packed_rows' => 'off');
	by_records('enable_packed_rows = off', 0, @asked);
	configure($node, 'gpuconc.enable_packed_rows' => 'on');
	my ($requests) = selection('on again', @asked);
	cmp_ok($requests, '>', 4, 'on again: requests that could read packed rows');
	configure($node, 'gpuconc.enable_packed_rows' => 'off');
	fresh();
	by_records('off, and kernels that cannot', 0, @asked);
	configure($node, 'gpuconc.enable_packed_rows' => 'on');
	by_records('these do without', 0, @asked);
	fresh();
	return;
}

# The table changes.
sub changes
{
	my @asked = map { $query{$_}->(4) } (sort keys %query);

	$sessions[0]->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM fact');
	$sessions[1]->query_safe('BEGIN; UPDATE fact SET small = 17, gaps = NULL WHERE id % 9000 = 5');
	$sessions[2]->query_safe('BEGIN; DELETE FROM fact WHERE id BETWEEN 50000 AND 52000');
	$sessions[3]->query_safe('BEGIN; INSERT INTO fact SELECT i, 4, 4, 4, i, i, i, i, NULL, 5, NULL, 6 FROM generate_series(1, 300) AS i');
	selection('uncommitted changes', @asked);
	$sessions[$_]->query_safe('COMMIT') for (1 .. 3);
	selection('committed, with an old snapshot', @asked);
	$sessions[0]->query_safe('COMMIT');
	foreach my $change ('VACUUM fact', 'INSERT INTO fact SELECT i, i % 3000, i % 100, i % 40000, -i, i * 2000, -i, i, \'new\' || i % 300, 7, \'2020-02-02\', i FROM generate_series(100001, 130000) AS i',
		'VACUUM fact', 'UPDATE fact SET vary = vary + 1 WHERE id % 5000 = 3', 'DELETE FROM fact WHERE id < 900; VACUUM fact', 'ALTER TABLE fact ADD COLUMN extra int DEFAULT 3', 'VACUUM FULL fact; VACUUM fact')
	{
		$node->safe_psql('postgres', "$change; SELECT gpuconc_prewarm('fact')");
		selection($change, @asked);
	}
	fresh();
	my ($requests) = selection('after all changes', @asked);
	cmp_ok($requests, '>', 4, 'after all changes: requests that could read packed rows');
	return;
}

# Something happens to session 2 while requests are held back, of which the first is to
# write packed rows.
sub held
{
	my ($message, $do) = @_;
	my @asked = map { $query{ (sort keys %query)[ $_ % 7 ] }->(1 + $_) } (0 .. 7);
	my @right = map { answer_of($node, $_, 'forbid') } @asked;
	my $last = last_batch($node);

	fresh();
	configure($node, 'gpuconc.debug_hold_requests' => 8);
	ask($sessions[$_], $asked[$_]) for (0 .. 6);
	wait_until_waiting($node, '^packed_rows', 7);
	$do->();
	ask($sessions[7], $asked[7]);
	ask($sessions[8], $asked[2]);
	is(rows_of($sessions[$_]), $right[$_], "$message: $_ has its answer") for (0, 1, 3 .. 7);
	is(rows_of($sessions[8]), $right[2], "$message: and so has who comes later");
	is(scans_after($node, 'selection scan', $last), '8', "$message: one scan");
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	eval { $sessions[2]->quit };
	$sessions[2] = session($node, 'records2');
	selection("$message, and then", @asked);
	return;
}

sub cancels
{
	held('cancelled', sub {
		$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'records2'});
		like(rows_of($sessions[2]), qr/canceling statement due to user request/, 'cancelled while it is held back') });
	held('terminated', sub {
		$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'records2'});
		wait_until($node, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'records2'}) });
	nothing_held($node, 'members that go');
	return;
}

sub nothing_is_left
{
	my @asked = map { $query{$_}->(8) } (sort keys %query);
	my @used;

	for (1 .. 4)
	{
		fresh();
		selection("repeated, $_", @asked);
		push @used, $node->safe_psql('postgres', 'SELECT memory_used FROM gpuconc_devices');
	}
	# packed rows take 32 bytes for each row
	cmp_ok($used[3] - $used[1], '<', 100000, "no memory of the device is lost with a table's former packed rows");
	nothing_held($node, 'packed_rows');
	return;
}

# Records are the first to go: columns and builds have the memory.
sub little_memory
{
	my @asked = map { $query{$_}->(8) } (sort keys %query);

	$_->quit foreach (@sessions);
	with_little_memory($node, [ '2MB', '5MB', '9MB' ], sub { new_sessions(); return \@sessions }, @asked);
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
is(log_has($node, qr/PANIC|TRAP|was terminated by signal (?!9)/), 0, 'nothing bad in the log');
$node->stop;
done_testing();

# Partitioned tables, inheritance trees and UNION ALL whose hot pages are kept, beside writers: sessions that see other
# rows share no build, and those that see the same do.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('append', q{
max_prepared_transactions = 5
gpuconc.debug_hot_pages = 1
gpuconc.loader_workers = 0
});

$node->safe_psql('postgres', q{
CREATE TABLE big (id int, x int);
INSERT INTO big SELECT i % 4000, i % 3 FROM generate_series(1, 30000) AS i;
CREATE TABLE partitioned (id int, n int) PARTITION BY RANGE (id);
CREATE TABLE partitioned_a PARTITION OF partitioned FOR VALUES FROM (0) TO (4000);
CREATE TABLE partitioned_b PARTITION OF partitioned FOR VALUES FROM (4000) TO (8000);
CREATE TABLE inherited (id int, n int);
CREATE TABLE inherited_a (t text) INHERITS (inherited);
CREATE TABLE inherited_b () INHERITS (inherited);
CREATE TABLE united_a (id int, n int);
CREATE TABLE united_b (n int, id int);
});
$node->safe_psql('postgres', 'VACUUM ANALYZE big');

# How many builds does a session make for a question, and is its answer PostgreSQL's?
sub builds_made_by
{
	my ($session, $query, $message) = @_;
	my $before = stat_of($node, 'builds_run');
	my $answer = $session->query_safe("SET gpuconc.debug_offload = require; $query");
	my $made = stat_of($node, 'builds_run') - $before;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($answer, $session->query_safe("SET gpuconc.debug_offload = forbid; $query"), $message);
	return $made;
}

# How many rows says only the device, or only PostgreSQL, to be there?
sub differing
{
	my ($input) = @_;
	my $ask = sub { "CREATE TEMP TABLE $_[0] AS SELECT id, count(*), sum(n) FROM $input AS q GROUP BY id" };

	return $node->safe_psql('postgres', join ';', 'SET gpuconc.debug_offload = require', $ask->('device'),
		'SET gpuconc.debug_offload = forbid', $ask->('own'),
		'SELECT count(*) FROM ((TABLE device EXCEPT ALL TABLE own) UNION ALL (TABLE own EXCEPT ALL TABLE device)) AS d');
}

# kind, what is read, the table that is written to, and another of the same input
foreach my $kind (
	[ 'partitioned', 'partitioned', 'partitioned_a', 'partitioned_b' ],
	[ 'inherited', 'inherited', 'inherited_a', 'inherited' ],
	[ 'united', '(SELECT id, n FROM united_b UNION ALL SELECT id, n FROM united_a)', 'united_a', 'united_b' ])
{
	my ($name, $input, $table, $other) = @$kind;
	my $query = "SELECT x, count(*), sum(n), min(n), max(n) FROM big JOIN $input AS q USING (id) GROUP BY x ORDER BY x";
	my $sums = "SELECT n % 5 AS g, count(*), sum(n), max(id) FROM $input AS q GROUP BY g ORDER BY g";
	my @pages;
	my ($first, $old, $new) = map { $node->background_psql('postgres') } (1 .. 3);

	$node->safe_psql('postgres', "INSERT INTO $table (id, n) SELECT i, 1 FROM generate_series(1, 1999) AS i;
		INSERT INTO $other (id, n) SELECT i, 1 FROM generate_series(4000, 5999) AS i");
	$node->safe_psql('postgres', "VACUUM ANALYZE $_") foreach ($table, $other);

	# The heap's chunk has the rows of pages that were all-visible, and it has no hole until this is seen.
	builds_made_by($new, $query, "$name: all is visible");
	$node->safe_psql('postgres', "BEGIN; UPDATE $table SET n = n + 1 WHERE id % 100 = 0; PREPARE TRANSACTION 'zero'");
	# Another transaction ends, or snapshots would be what they were.
	$node->safe_psql('postgres', 'SELECT pg_current_xact_id()');
	again_until(sub { @pages = pages_of($node, $query); $pages[0] > 5 && $pages[1] == 0 });
	builds_made_by($new, $query, "$name: rows of the heap's chunk are being changed");
	$node->safe_psql('postgres', "COMMIT PREPARED 'zero'");
	builds_made_by($new, $query, "$name: they are changed");
	is(differing($input), '0', "$name: its rows when they are changed");
	$node->safe_psql('postgres', "INSERT INTO $table (id, n) SELECT i, 1 FROM generate_series(2000, 3999) AS i");

	# A snapshot that needs the row that is gone: for others, it is a hole.
	$first->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	$node->safe_psql('postgres', "DELETE FROM $table WHERE id = 3000");
	$node->safe_psql('postgres', "BEGIN; UPDATE $table SET n = 1000 WHERE id = 2500; PREPARE TRANSACTION 'one'");

	# The last of these is served as the one before.
	again_until(sub { @pages = pages_of($node, $query); $pages[0] > 0 && $pages[1] == 0 });
	cmp_ok($pages[0], '>', 5, "$name: pages are served by version");
	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	builds_made_by($_, $query, "$name: a change is in progress") foreach ($old, $new);
	is(builds_made_by($_, $query, "$name: it is in progress still"), 0, "$name: one build is shared by all who see the same")
	  foreach ($old, $new);

	$node->safe_psql('postgres', "COMMIT PREPARED 'one'");
	is(builds_made_by($new, $query, "$name: the change is seen"), 1, "$name: who sees it makes a build");
	is(builds_made_by($new, $query, "$name: it is seen again"), 0, "$name: which others share");
	is(builds_made_by($old, $query, "$name: an old snapshot does not see it"), 0, "$name: and has its own still");
	builds_made_by($first, $query, "$name: the oldest one sees what is gone");
	is_offloaded($node, $sums, "$name: groups of the input itself");
	is(differing($input), '0', "$name: its rows");

	# One row, on a page of another part.
	$node->safe_psql('postgres', "UPDATE $other SET n = 7 WHERE id = 4444");
	cmp_ok(builds_made_by($new, $query, "$name: another part is written to"), '>', 0, "$name: a build of other rows");
	is_offloaded($node, $sums, "$name: groups, another part is written to");
	is(differing($input), '0', "$name: rows, another part is written to");

	# Changes that are undone are not seen, so all is as it was.
	$node->safe_psql('postgres', "BEGIN; DELETE FROM $table WHERE id % 7 = 0; PREPARE TRANSACTION 'two'");
	builds_made_by($new, $query, "$name: rows are being deleted");
	$node->safe_psql('postgres', "ROLLBACK PREPARED 'two'");
	builds_made_by($new, $query, "$name: that is undone");
	is(differing($input), '0', "$name: its rows, at last");
	$_->query_safe('COMMIT') foreach ($first, $old);
	$_->quit foreach ($first, $old, $new);
}

nothing_held($node, 'at last');
is(log_has($node, qr/PANIC|TRAP|was terminated by signal/), 0, 'nothing bad in the log');
$node->stop;
done_testing();

# A table that chunks served wholly is served again to whoever sees equal transactions
# (columns/serve/serving.c), and to nobody else.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Without WAL for standbys, emptying the visibility map takes no transaction id.
my $node = new_server('same', q{
max_prepared_transactions = 5
wal_level = minimal
max_wal_senders = 0
gpuconc.debug_versioned_pages = off
});
my $count = 30000;
my $query = 'SELECT count(*), sum(id), sum(n) FROM t';

create_tables($node, $count);
$node->safe_psql('postgres', qq{
CREATE EXTENSION pg_visibility;
CREATE FUNCTION pages(kind text) RETURNS int LANGUAGE plpgsql AS \$\$
DECLARE
	plan json;
BEGIN
	SET LOCAL gpuconc.debug_offload = require;
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) $query' INTO plan;
	RETURN substring(plan::text FROM '"' || kind || '": (\\d+)');
END \$\$;
});
my $all;

# All is in chunks again, and somebody was served all.
sub settle
{
	$node->safe_psql('postgres', 'VACUUM t');
	wait_until($node, "SELECT pages('Delta Pages') = 0");
	wait_until($node, "SELECT pages('Delta Pages') = 0");
	$all = $node->safe_psql('postgres', q{SELECT pg_relation_size('t') / current_setting('block_size')::int});
	return;
}

sub pages
{
	return $node->safe_psql('postgres', q{SELECT pages('Pages Served') || ' served, ' || pages('Delta Pages') || ' read'});
}

# The device says what PostgreSQL does, and there are so many rows.
sub has_rows
{
	my ($rows, $message) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is_offloaded($node, $query, $message);
	is(answer_of($node, 'SELECT count(*) FROM t', 'require'), $rows, "$message: $rows rows");
	return;
}

sub rows_in
{
	my ($session) = @_;

	return $session->query_safe('SELECT count(*) FROM t');
}

# Who sees the same.
settle();
is(pages(), "$all served, 0 read", 'all pages are served');
$node->safe_psql('postgres', "SELECT pg_truncate_visibility_map('t')");
is(pages(), "$all served, 0 read", 'and again, whatever the map says by now, since nothing has ended that could have changed them');
has_rows($count, 'an emptied map');
$node->safe_psql('postgres', 'SELECT pg_current_xact_id()');
is(pages(), "0 served, $all read", 'once a transaction has ended, the map is asked');
has_rows($count, 'and the table read');

# A transaction that is in progress, and then ends.
my $writer = session($node, 'writer');
my $own = session($node, 'own');
my $old = session($node, 'old');

foreach my $end ('COMMIT', 'ROLLBACK')
{
	foreach my $nested (0, 1)
	{
		my $kind = $nested ? 'a nested one' : 'one';

		settle();
		$writer->query_safe('BEGIN');
		$writer->query_safe('SAVEPOINT s') if $nested;
		$writer->query_safe('DELETE FROM t WHERE id <= 10 OR ctid >= (SELECT max(ctid) FROM t)');
		$writer->query_safe("INSERT INTO t SELECT 1000000 + i FROM generate_series(1, 500) AS i");
		$writer->query_safe('RELEASE s') if $nested;
		has_rows($count, "changes of $kind that is in progress");
		my $changed = rows_in($writer);
		cmp_ok($changed, '>', $count + 400, "its own session sees them");
		has_rows($count, "and others still do not");
		$writer->query_safe($end);
		$count = $changed if $end eq 'COMMIT';
		has_rows($count, "changes of $kind behind $end");
	}
}

# One that began before others ended.
settle();
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is(rows_in($old), $count, 'a snapshot that is kept');
$node->safe_psql('postgres', 'DELETE FROM t WHERE id = 20');
is(rows_in($old), $count, 'does not see what ends behind it');
has_rows($count - 1, 'as newer ones do');
is(rows_in($old), $count, 'in turns');
has_rows($count - 1, 'again and again');
is(rows_in($old), $count, 'with the same rows each');
$old->query_safe('COMMIT');
is(rows_in($old), --$count, 'until it ends');

# One that began before another ended, and changes the table only then: xmax says nothing of it.
settle();
$writer->query_safe('BEGIN; SELECT pg_current_xact_id()');
$node->safe_psql('postgres', 'SELECT pg_current_xact_id()');
is(pages(), "$all served, 0 read", 'all pages are served beside one that has done nothing yet');
$writer->query_safe('DELETE FROM t WHERE id = 23; COMMIT');
has_rows(--$count, 'what it did at last');

# Changes of one's own.
settle();
$own->query_safe('BEGIN');
is(rows_in($own), $count, 'before any change of its own');
$own->query_safe('DELETE FROM t WHERE id = 21');
is(rows_in($own), $count - 1, 'behind one');
has_rows($count, 'that others do not see');
is(rows_in($own), $count - 1, 'although they are served');
$own->query_safe('ROLLBACK');
is(rows_in($own), $count, 'behind its end');

# A prepared transaction is in progress, and nobody's.
settle();
$node->safe_psql('postgres', "BEGIN; DELETE FROM t WHERE id = 22; PREPARE TRANSACTION 'p'");
has_rows($count, 'changes that are prepared');
$node->safe_psql('postgres', 'SELECT pg_current_xact_id()');
has_rows($count, 'with others that end');
$node->safe_psql('postgres', "COMMIT PREPARED 'p'");
has_rows($count - 1, 'changes that were prepared');

$_->quit foreach ($writer, $own, $old);
done_testing();

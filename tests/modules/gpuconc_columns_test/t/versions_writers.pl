# Two writers of one page, in every order with a reader's old snapshot and a load.
#
# gpuconc_columns_test_compare() fails on any difference from the table: first by what is
# cached from earlier steps, then after a load.  What one step has loaded is looked at by
# the next ones under other snapshots.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use ColumnsTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('versions_writers', q{
gpuconc.debug_hot_pages = 1
gpuconc.debug_wal_changes = off
wal_writer_delay = 10s
wal_writer_flush_after = 1GB
});

$node->safe_psql(
	'postgres', q{
CREATE PROCEDURE hot() LANGUAGE plpgsql AS $$
BEGIN
	UPDATE w SET n = -1 WHERE id = 1;
	INSERT INTO w VALUES (11, 11, 'new');
	BEGIN
		DELETE FROM w WHERE id = 2;
		RAISE EXCEPTION 'undone';
	EXCEPTION WHEN raise_exception THEN
		UPDATE w SET n = -3 WHERE id IN (3, 11);
	END;
END $$;
CREATE PROCEDURE key() LANGUAGE plpgsql AS $$
BEGIN
	UPDATE w SET id = id + 100 WHERE id = 5;
	DELETE FROM w WHERE id = 6;
	INSERT INTO w VALUES (21, 21, 'never');
	PERFORM FROM w WHERE id = 7 FOR UPDATE;
END $$;
});

# By session: its beginning, its steps, and what ends it.
my $compare = q{CALL gpuconc_columns_test_compare('w', 1)};
my %sessions = (
	first => { begin => 'BEGIN', steps => [ 'CALL hot()', 'COMMIT' ] },
	second => { begin => 'BEGIN', steps => [ 'CALL key()', 'ROLLBACK' ] },
	old => { begin => 'BEGIN ISOLATION LEVEL REPEATABLE READ', steps => [ 'SELECT FROM w LIMIT 0', $compare ], end => 'COMMIT' },
	fresh => { steps => [$compare], end => $compare });
my @names = sort keys %sessions;
my %psql = map { $_ => $node->background_psql('postgres', on_error_stop => 0) } @names;
$_->set_query_timer_restart foreach values %psql;

# All orders of so many steps of each session, as lists of sessions.
sub orders
{
	my (%left) = @_;
	my @next = grep { $left{$_} > 0 } @names;

	return [] if @next == 0;
	return map {
		my $first = $_;
		map { [ $first, @$_ ] } orders(%left, $first => $left{$first} - 1)
	} @next;
}

# Go through the steps in this order; the first error, or nothing.
sub error_of
{
	my (@order) = @_;
	my %steps = map { $_ => [ @{ $sessions{$_}{steps} } ] } @names;

	return eval {
		$psql{fresh}->query_safe(
			q{CREATE TABLE w (id int PRIMARY KEY, n int, t text); INSERT INTO w SELECT i, i, 't' || i FROM generate_series(1, 8) AS i});
		$psql{$_}->query_safe($sessions{$_}{begin} // '') foreach @names;
		$psql{$_}->query_safe(shift @{ $steps{$_} }) foreach @order;
		$psql{$_}->query_safe($sessions{$_}{end} // '') foreach qw(old fresh);
		$psql{fresh}->query_safe('DROP TABLE w');
		'';
	} // $@;
}

my @orders = orders(map { $_ => scalar @{ $sessions{$_}{steps} } } @names);
my $error = '';
while ($error eq '' && @orders)
{
	my $order = shift @orders;

	$error = error_of(@$order);
	is($error, '', "in the order @$order");
}
is(scalar(@orders), 0, 'in every order');
$_->quit foreach values %psql;

done_testing();

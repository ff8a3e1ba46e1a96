# Joins by hash table in selection scans: what a value of the joining column finds is looked up
# once per value, and rows go by that.  Each session has the answer that its own snapshot
# gives, and the errors that PostgreSQL raises.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use SharedScan;
use Test::More;

my $scan = SharedScan->new(name => 'places', sessions => 12, kind => 'selection scan', counters => ['direct_lookups']);
my $node = $scan->node;

# Queries of the first sessions, together: are they answered by one selection scan that serves
# so many of them and probes so many hash tables by value, each rightly?
sub placed
{
	my ($message, $members, $builds, @asked) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(($scan->share($message, $members, @asked))[0], $builds, "$message: hash tables probed by value");
	return;
}

# Keys of a dimension lie too far apart for anything but a hash table once multiplied.
sub new_tables
{
	$scan->sql(q{
CREATE TABLE one (k int PRIMARY KEY, name text, n int, big bigint, f float8);
INSERT INTO one SELECT i, CASE WHEN i % 31 <> 3 THEN 'name' || i % 30 END, CASE WHEN i % 7 <> 2 THEN i % 50 END,
	i * 1234567890123, i / 7.0 FROM generate_series(1, 3000) AS i WHERE i % 5 <> 4;
CREATE TABLE many (k int, n int, t text);
INSERT INTO many SELECT CASE WHEN i % 11 <> 0 THEN 1 + i % 700 END, i % 13, 't' || i % 4 FROM generate_series(1, 2500) AS i;
CREATE TABLE keys (k bigint PRIMARY KEY, n int);
INSERT INTO keys SELECT i * 5000000007, i % 10 FROM generate_series(1, 500) AS i;
CREATE TABLE fact (id int, k int, kn int, k2 smallint, d date, v int);
INSERT INTO fact SELECT i, 1 + (i * 7) % 3000, CASE WHEN i % 5 <> 0 THEN 1 + (i * 17) % 900 END, (i * 13) % 600,
	date '1995-01-01' + i % 400, i % 997 FROM generate_series(1, 100000) AS i;
VACUUM ANALYZE one, many, keys, fact;
});
	return;
}

my $far = '::bigint * 1000003';

# The argument is a constant, which makes no other kernel.
my %query = (
	one => sub { "SELECT count(*), sum(id), count(n), max(name) FROM fact JOIN one ON one.k$far = fact.k$far WHERE v < $_[0]" },
	grouped => sub { "SELECT name, n, count(*), sum(v) FROM fact JOIN one ON one.k$far = fact.k$far WHERE v > $_[0] GROUP BY name, n ORDER BY name, n" },
	wide => sub { "SELECT n, sum(big), max(f) FROM fact JOIN one ON one.k$far = fact.k$far WHERE v <> $_[0] GROUP BY n ORDER BY n" },
	many => sub { "SELECT t, count(*), sum(many.n) FROM fact JOIN many ON many.k$far = fact.kn$far WHERE v < $_[0] GROUP BY t ORDER BY t" },
	both => sub { "SELECT count(*), sum(many.n + one.n) FROM fact JOIN many ON many.k$far = fact.kn$far JOIN one ON one.k$far = fact.k$far WHERE v < $_[0]" },
	few => sub { "SELECT count(*), sum(id) FROM fact JOIN one ON one.k$far = fact.k$far AND one.n = $_[0] WHERE v > 3" },
	rows => sub { "SELECT id, name FROM fact JOIN one ON one.k$far = fact.k$far WHERE v = $_[0] ORDER BY id" },
	small => sub { "SELECT sum(keys.n), count(*) FROM fact JOIN keys ON keys.k = k2 * 5000000007 WHERE v > $_[0]" },
	day => sub { "SELECT count(*), sum(one.n) FROM fact JOIN one ON (date '1995-01-01' + one.k - date '1970-01-01')::bigint * 1000003 = (d - date '1970-01-01')::bigint * 1000003 WHERE v > $_[0]" });

sub set_up
{
	new_tables();
	$scan->alone(map { $_ => $query{$_}->(3) } (keys %query));
	is(stat_of($node, 'direct_lookups'), '0', 'by their own kernels');
	$scan->force('selection');
	$scan->new_sessions;
	return;
}

sub joins
{
	foreach my $name (sort keys %query)
	{
		placed("$name, three of it", '3', 3 * ($name eq 'both' ? 2 : 1), map { $query{$name}->($_) } (3, 30, 45));
	}
	placed('one of each', scalar(keys %query), 1 + keys %query, map { $query{$_}->(20) } (sort keys %query));
	placed('alone', '1', 1, $query{one}->(500));
	placed('hardly a row is left', '2', 2, $query{one}->(1), $query{grouped}->(995));
	return;
}

# A join that is the one test; keys of two columns, and of what may not be tested, are not.
sub tests
{
	placed('nothing else is tested', '2', 2, map { "SELECT count(*), sum(n) FROM fact JOIN one ON one.k * 100000 + $_ = fact.k * 100000 + $_" } (1, 2));
	placed('a key of two columns is hashed', '2', 0, map { "SELECT count(*), sum(n) FROM fact JOIN one ON one.k$far = (fact.k + fact.id - fact.id)$far WHERE v > $_" } (1, 2));
	placed('two keys of two columns', '2', 0, map { "SELECT count(*), sum(many.n) FROM fact JOIN many ON many.k$far = fact.kn$far AND many.n$far = k2$far WHERE v > $_" } (1, 2));
	placed('two keys of one column', '2', 2, map { "SELECT count(*), sum(many.n) FROM fact JOIN many ON many.k$far = fact.kn$far AND many.n$far = (fact.kn % 13)$far WHERE v > $_" } (1, 2));
	return;
}

# A key that cannot be computed is an error if some row comes to it.
sub errors
{
	my $huge = '::bigint * 4000000000000000';
	my @asked = map { "SELECT count(*), sum(one.n) FROM fact JOIN one ON one.k$far = fact.k$huge WHERE v < 500 AND id > $_" } (5, 6);
	my $before = stat_of($node, 'direct_lookups');
	my $last = last_batch($node);
	my @got = together($node, $scan->sessions, @asked, $query{one}->(400));

	like($got[$_], qr/^ERROR:  bigint out of range/, "$_: PostgreSQL's own error") for (0, 1);
	is($got[2], own_answer($scan->sessions->[2], $query{one}->(400)), 'the other has its answer');
	is(scans_after($node, 'selection scan', $last), '3', 'in one scan');
	is(stat_of($node, 'direct_lookups') - $before, 3, 'by value');
	placed('no row comes to it', '2', 2, map { "SELECT count(*), sum(one.n) FROM fact JOIN one ON one.k$far = fact.k$huge WHERE v < 990 AND fact.k < $_" } (2300, 2301));
	return;
}

# Changes of others to the tables.
sub snapshots
{
	my @asked = ($query{one}->(500), $query{many}->(400), $query{both}->(300), $query{few}->(7), $query{grouped}->(600));

	$scan->in_session(0, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM one');
	$scan->in_session(1, 'BEGIN; INSERT INTO many SELECT i % 900, i, \'own\' FROM generate_series(1, 300) AS i');
	$scan->in_session(2, 'BEGIN; DELETE FROM one WHERE k % 3 = 0');
	placed('uncommitted changes', '5', 6, @asked);
	$scan->sql('UPDATE one SET n = n + 1 WHERE k % 4 = 1 AND k % 3 <> 0; INSERT INTO many SELECT 5, 3, \'new\' FROM generate_series(1, 50)');
	my $old = own_answer($scan->sessions->[0], $asked[4]);
	my $new = own_answer($scan->sessions->[4], $asked[4]);
	isnt($old, $new, 'the snapshots differ');
	my @got = together($node, $scan->sessions, ($asked[4]) x 5);
	is($got[$_], own_answer($scan->sessions->[$_], $asked[4]), "session $_ sees its own snapshot") for (0 .. 4);
	placed('old snapshots and new ones', '5', 6, @asked);
	$scan->in_session($_, $_ == 2 ? 'ROLLBACK' : 'COMMIT') for (0 .. 2);
	$scan->sql('VACUUM one, many');
	placed('all of them see the changes', '5', 6, @asked);
	$scan->sql('INSERT INTO one SELECT i, \'late\', 7, i, i FROM generate_series(3001, 3300) AS i; UPDATE fact SET k = 3000 + id WHERE id <= 300; VACUUM fact, one');
	placed('new keys and values', '5', 6, @asked);
	$scan->sql('TRUNCATE many');
	placed('an empty table', '5', 4, @asked);
	return;
}

# Two rows with one key in what the planner takes for unique are errors nowhere: chains.
sub duplicates
{
	$scan->sql(q{INSERT INTO many SELECT 1 + i % 3, i, 't' || i % 7 FROM generate_series(1, 20000) AS i; VACUUM ANALYZE many});
	placed('long chains', '3', 3, map { $query{many}->($_) } (5, 9, 11));
	return;
}

sub cancels
{
	$scan->leaves('cancelled', [ map { $query{both}->(40 + $_) } (0 .. 3) ], $query{both}->(50));
	nothing_held($node, 'a cancelled request');
	return;
}

set_up();
joins();
tests();
errors();
snapshots();
duplicates();
cancels();
$scan->finish;
done_testing();

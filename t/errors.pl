# Errors in the middle: PostgreSQL's own, at the place where PostgreSQL has them, and
# the session goes on.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('errors');
create_tables($node);
$node->safe_psql('postgres', q{
CREATE TABLE big (id int, i4 int, i8 bigint, n numeric(30,2), z int, t text);
INSERT INTO big SELECT i, 2147483000 + i % 600, 9223372036854775000 + i % 700, i, i % 10, 'x' || i FROM generate_series(1, 20000) AS i;
VACUUM ANALYZE big;
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'') FROM (%s OFFSET 0) AS q', query) INTO result;
	RETURN 'rows ' || coalesce(result, 'none');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$});

# the device meets what PostgreSQL raises an error for
my @failing = (
	[ 'SELECT sum(i4 + 1000) FROM big', 'integer out of range' ],
	[ 'SELECT id FROM big WHERE i4 + 1000 > 5', 'integer out of range' ],
	[ 'SELECT max(i8 + 1000) FROM big', 'bigint out of range' ],
	[ 'SELECT sum(i4 * i4) FROM big', 'integer out of range' ],
	[ 'SELECT sum(10 / z) FROM big', 'division by zero' ],
	[ 'SELECT z, sum(id % z) FROM big GROUP BY z', 'division by zero' ],
	[ 'SELECT sum(i4::smallint) FROM big', 'smallint out of range' ],
	[ 'SELECT count(*) FROM big JOIN dim ON dim.k = big.z AND i4 + 1000 > dim.k', 'integer out of range' ]);

foreach my $case (@failing)
{
	my ($query, $message) = @$case;
	my %error;

	foreach my $mode ('allow', 'require', 'forbid')
	{
		my ($status, $out, $error) = $node->psql('postgres', "SET gpuconc.debug_offload = $mode; $query");
		isnt($status, 0, "$mode: an error: $query");
		$error =~ s/^psql:[^ ]* //mg;
		$error{$mode} = $error;
	}
	like($error{forbid}, qr/ERROR:  $message/, "PostgreSQL's error: $query");
	is($error{allow}, $error{forbid}, "the device's is the same: $query");
	is($error{require}, $error{forbid}, "and when required: $query");
}
cmp_ok(stat_of($node, q{(fallback_reasons ->> 'data condition')::int}), '>=', 2 * @failing, 'all of them were tried on the device');

# sums do not fail where their parts do not
is_offloaded($node, 'SELECT sum(i4), sum(i8), sum(n), avg(i8) FROM big', 'sums beyond the range of their arguments');
# an error that PostgreSQL does not reach is not raised
is_answered($node, $_, "no error: $_")
  foreach ('SELECT sum(CASE WHEN z <> 0 THEN 10 / z END) FROM big', 'SELECT count(*) FROM big WHERE false AND 1 / z > 0',
	'SELECT sum(10 / z) FROM big WHERE z > 0', 'SELECT i4 + 1000 AS o FROM big WHERE id < 0',
	'SELECT coalesce(sum(10 / z), 0) FROM big WHERE id = -1');

# in one session: errors in blocks, subtransactions and transactions, again and again
my $session = session($node, 'errors');
foreach my $round (1 .. 3)
{
	foreach my $case (@failing)
	{
		(my $quoted = $case->[0]) =~ s/'/''/g;
		like($session->query_safe("SELECT outcome('$quoted')"), qr/^22\d\d\d $case->[1]/, "caught, $round: $case->[0]");
	}
	is($session->query_safe($queries[1]), answer_of($node, $queries[1], 'forbid'), "the session goes on, $round");
}
$session->query_safe('BEGIN; INSERT INTO t VALUES (30001, 1, 1, NULL, NULL)');
foreach my $round (1 .. 12)
{
	$session->query("SAVEPOINT s; INSERT INTO t VALUES (0, 0, 0, NULL, NULL); $failing[$round % @failing]->[0]");
	like($session->{stderr}, qr/ERROR/, "an error in a subtransaction, $round");
	$session->{stderr} = '';
	is($session->query_safe('ROLLBACK TO s; SELECT count(*), min(id) FROM t'), '30001|1', "rolled back, $round");
}
$session->query_safe('COMMIT');
is($session->query_safe('SELECT count(*), min(id) FROM t'), '30001|1', 'committed');

# a statement that fails in its consumer, with the device's rows half read
foreach my $round (1 .. 20)
{
	$session->query('SELECT 1 / (id - 77) FROM (SELECT id FROM t WHERE k = 77 OFFSET 0) AS x');
	$session->{stderr} = '';
}
$session->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT id FROM t WHERE k = 3 ORDER BY id; FETCH 2 FROM c; ROLLBACK');
is($session->query_safe('SELECT id FROM (SELECT id FROM t WHERE k = 3 OFFSET 0) AS x ORDER BY id LIMIT 2'), "3\n103", 'rows that nobody reads');

# functions called by an expression, that fail or ask themselves
$session->query_safe(q{
CREATE FUNCTION fails(x text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF x = 's5' THEN
		RAISE EXCEPTION 'not that one';
	END IF;
	RETURN true;
END $$;
CREATE FUNCTION asks(x int) RETURNS bigint STABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) FROM t WHERE k = x);
END $$});
my ($status, $out, $error) = $node->psql('postgres', q{SELECT count(*) FROM t WHERE fails(s)});
like($error, qr/ERROR:  not that one/, 'the error of a function');
is_answered($node, q{SELECT count(*) FROM t WHERE s <> 's5' AND fails(s)}, 'a function that does not meet what it fails for');
is_answered($node, 'SELECT name, asks(k) FROM dim WHERE k < 3 ORDER BY k', 'a function that asks the device itself');
is_answered($node, 'SELECT asks(k), count(*) FROM t WHERE k < 2 GROUP BY k ORDER BY k', 'a query within a query');
$session->quit;

# errors of many sessions at once leave the others alone
my $directory = $PostgreSQL::Test::Utils::tmp_check;
append_to_file("$directory/bad.sql", "SELECT outcome('$_->[0]') NOT LIKE '22%' AS wrong \\gset\n\\if :wrong\nSELECT 1 / 0;\n\\endif\n") foreach (@failing);
append_to_file("$directory/good.sql", "SELECT count(*) = 30001 AS good FROM t \\gset\n\\if :good\n\\else\nSELECT 1 / 0;\n\\endif\n");
$node->command_checks_all([ 'pgbench', '-n', '-c', '8', '-t', '20', '-f', "$directory/bad.sql\@1", '-f', "$directory/good.sql\@3", $node->connstr('postgres') ],
	0, [qr/number of failed transactions: 0 /], [qr/^/], 'errors and answers, side by side');

nothing_held($node, 'after errors');
is_offloaded($node, $_, "after errors: $_") foreach (@queries);
is(log_has($node, qr/PANIC|TRAP|was terminated by signal/), 0, 'nothing bad in the log');

$node->stop;
done_testing();

# Readers and writers at once: each reader asks the device and PostgreSQL within one
# snapshot, and finds no difference.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seconds = 20;
my $node = new_server('writers', q{
autovacuum = on
autovacuum_naptime = 1s
autovacuum_vacuum_cost_delay = 0
gpuconc.debug_chunk_pages = 8
gpuconc.loader_workers = 2
shared_buffers = 64MB
log_statement = none
});

create_tables($node, 10000);
$node->safe_psql('postgres', q{
ALTER TABLE t ADD PRIMARY KEY (id);
ALTER TABLE t ADD note text DEFAULT 'old';
CREATE TABLE accounts AS SELECT i AS id, 1000 AS balance, i % 10 AS branch FROM generate_series(1, 5000) AS i;
ALTER TABLE accounts ADD PRIMARY KEY (id);
CREATE TABLE differences (query text, device text, own text);
VACUUM t, accounts, dim;

-- One query, both ways, in the caller's snapshot.
CREATE FUNCTION differs(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	device text;
	own text;
	wrapped text := format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s) AS q', query);
BEGIN
	PERFORM set_config('gpuconc.debug_offload', 'require', true);
	BEGIN
		EXECUTE wrapped INTO device;
	EXCEPTION WHEN feature_not_supported OR system_error OR configuration_limit_exceeded OR out_of_memory THEN
		RAISE NOTICE '% %', SQLERRM, query;
		PERFORM set_config('gpuconc.debug_offload', 'allow', true);
		EXECUTE wrapped INTO device;
	END;
	PERFORM set_config('gpuconc.debug_offload', 'forbid', true);
	EXECUTE wrapped INTO own;
	IF device IS DISTINCT FROM own THEN
		RAISE WARNING E'DIFFERENT: %\n%\n%', query, left(device, 1000), left(own, 1000);
		RETURN true;
	END IF;
	RETURN false;
END $$;
});

my $directory = $PostgreSQL::Test::Utils::tmp_check;
my $query = 0;

foreach (@queries,
	'SELECT note, count(*), sum(id) FROM t GROUP BY note ORDER BY note',
	'SELECT sum(balance), count(*) FROM accounts',
	'SELECT branch, sum(balance), min(balance), max(balance) FROM accounts GROUP BY branch ORDER BY branch',
	'SELECT name, count(*), sum(balance) FROM t JOIN accounts ON accounts.id = t.id JOIN dim ON dim.k = t.k GROUP BY name ORDER BY name')
{
	(my $quoted = $_) =~ s/'/''/g;
	append_to_file("$directory/read.$query", qq{
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT differs('$quoted') AS first \\gset
SELECT differs('$quoted') AS second \\gset
COMMIT;
\\if :first
SELECT 1 / 0;
\\endif
\\if :second
SELECT 1 / 0;
\\endif
});
	$query++;
}

# what a session has not yet committed is seen by it, and by nobody else
append_to_file("$directory/read.own", q{
\set id random(100000, 100000000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO t SELECT :id, 5, 1.5, '1996-01-01', 'mine' FROM dim WHERE NOT EXISTS (SELECT FROM t WHERE id = :id) LIMIT 1;
SELECT differs('SELECT s, count(*), sum(n) FROM t GROUP BY s ORDER BY s') AS first \gset
DELETE FROM t WHERE s = 's7' AND k = :id % 100;
SELECT differs('SELECT s, count(*), sum(n) FROM t GROUP BY s ORDER BY s') AS second \gset
ROLLBACK;
\if :first
SELECT 1 / 0;
\endif
\if :second
SELECT 1 / 0;
\endif
});

my %writers = (
	transfer => q{
\set a random(1, 5000)
\set b random(1, 5000)
\set amount random(1, 100)
BEGIN;
UPDATE accounts SET balance = balance - :amount WHERE id = least(:a, :b);
UPDATE accounts SET balance = balance + :amount WHERE id = greatest(:a, :b);
COMMIT;
},
	insert => q{
\set id random(1, 50000)
\set year random(1990, 2010)
INSERT INTO t VALUES (:id, :id % 120, :id / 3.0, make_date(:year, 2, 3), 's' || :id % 50, 'new' || :id % 5)
ON CONFLICT (id) DO UPDATE SET n = excluded.n, note = excluded.note, d = excluded.d;
},
	delete => q{
\set id random(1, 50000)
DELETE FROM t WHERE id BETWEEN :id AND :id + 3;
},
	rolled_back => q{
\set id random(1, 50000)
BEGIN;
UPDATE t SET k = k + 1, s = 'never' WHERE id BETWEEN :id AND :id + 20;
ROLLBACK;
},
	vacuum => q{
VACUUM t;
\sleep 50 ms
VACUUM (FREEZE) accounts;
\sleep 50 ms
});
append_to_file("$directory/write.$_", $writers{$_}) foreach (keys %writers);

sub start_pgbench
{
	my ($clients, @scripts) = @_;
	my ($out, $error) = ('', '');
	my $run = IPC::Run::start(
		[ 'pgbench', '-n', '-c', $clients, '-T', $seconds, '--max-tries=100', (map { ('-f', $_) } @scripts), $node->connstr('postgres') ],
		'<', \undef, '>', \$out, '2>', \$error);

	return { run => $run, out => \$out, error => \$error };
}

# Again until there were some of each: at first, a slow machine compiles kernels all the time.
my @names = ('readers', 'writers', 'VACUUM');
my @done = (0, 0, 0);
my $notices = '';
my $round = 0;
again_until(sub {
	$round++;
	my @running = (
		start_pgbench(10, (map { "$directory/read.$_" } (0 .. $query - 1)), "$directory/read.own"),
		start_pgbench(3, "$directory/write.transfer\@6", "$directory/write.insert\@3", "$directory/write.delete\@1", "$directory/write.rolled_back\@1"),
		start_pgbench(1, "$directory/write.vacuum"));

	foreach my $n (0 .. $#running)
	{
		$running[$n]->{run}->finish;
		like(${ $running[$n]->{out} }, qr/number of failed transactions: 0 /, "$names[$n]: none failed")
		  or diag substr(${ $running[$n]->{error} }, 0, 3000);
		unlike(${ $running[$n]->{error} }, qr/DIFFERENT|ERROR|aborted/, "$names[$n]: no difference")
		  or diag substr(${ $running[$n]->{error} }, 0, 3000);
		$done[$n] += $1 if ${ $running[$n]->{out} } =~ /number of transactions actually processed: (\d+)/;
		note "$names[$n]: $done[$n] transactions after round $round";
	}
	$notices .= ${ $running[0]->{error} };
	return !grep { $_ <= 20 } @done;
});
cmp_ok($done[$_], '>', 20, "$names[$_]: there were some") foreach (0 .. $#done);
my $requests = stat_of($node, 'requests');
cmp_ok(stat_of($node, 'offloaded'), '>', $requests * 0.9, 'nearly all was offloaded')
  or diag stat_of($node, 'fallback_reasons'), substr($notices, 0, 1000);
is($node->safe_psql('postgres', 'SET gpuconc.debug_offload = require; SELECT sum(balance) FROM accounts'),
	'5000000', 'no money is lost');
$node->safe_psql('postgres', 'VACUUM t');
is_offloaded($node, $_, "at last: $_") foreach (@queries);
nothing_held($node, 'at last');
is(log_has($node, qr/PANIC|TRAP|was terminated by signal|page .* is not marked all-visible/), 0, 'nothing bad in the log');

$node->stop;
done_testing();

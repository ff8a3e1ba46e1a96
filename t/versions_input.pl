# Hot pages of unusual tables, transactions and servers: answers are PostgreSQL's, or its errors.  There
# are pages without WAL, hint bits with and without checksums, and 10,000 subtransactions.  Cursors and
# functions change what they read, pages are corrupt, tables are a subscriber's, and the cache is small.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Fcntl qw(SEEK_SET);
use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $conf = q{
gpuconc.debug_hot_pages = 1
gpuconc.loader_workers = 0
shared_buffers = 1MB
log_statement = none
};
my $minimal = new_server('minimal', $conf . q{
wal_level = minimal
max_wal_senders = 0
wal_skip_threshold = 0
}, no_data_checksums => 1);
my $checked = new_server('checked', $conf . q{
wal_level = logical
max_wal_senders = 5
}, extra => ['--data-checksums']);
my $sum = 'SELECT count(*), sum(n), count(DISTINCT t) FROM x';

# A table of some 50 pages; what follows the keywords is up to the caller.
sub create_x
{
	my ($node, $kind) = @_;

	$node->safe_psql('postgres', qq{
DROP TABLE IF EXISTS x;
CREATE $kind TABLE x (id int, n int, t text);
INSERT INTO x SELECT i, i % 100, 't' || i % 7 FROM generate_series(1, 9000) AS i});
	return;
}

sub are_versioned
{
	my ($node, $query, $message) = @_;
	my @pages = pages_of($node, $query);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($pages[0], '>', 20, "$message: pages are served by version");
	is($pages[1], 0, "$message: none is read by the session");
	return;
}

#
# Pages without WAL
#
my $fill = 'CREATE TABLE skipped (id int, n int, t text); COPY skipped FROM PROGRAM \'seq 1 9000 | sed "s/.*/&\t7\tt&/"\'';
my $skipped = 'SELECT count(*), sum(n), max(id) FROM skipped';

is($minimal->safe_psql('postgres', "BEGIN; $fill; SET LOCAL gpuconc.debug_offload = prefer; $skipped; COMMIT"),
	"9000|63000|9000", 'a table that was made in this transaction');
is_offloaded($minimal, $skipped, 'pages without WAL');
my @pages = pages_of($minimal, $skipped);
is($pages[0], 0, 'pages without WAL are not served by version');
cmp_ok($pages[1], '>', 20, 'but read by the session');
$minimal->safe_psql('postgres', 'UPDATE skipped SET n = n + 1 WHERE id % 10 = 0');
is_offloaded($minimal, $skipped, 'WAL of an update') foreach (1, 2);
are_versioned($minimal, $skipped, 'WAL of an update');
$minimal->safe_psql('postgres', q{
BEGIN; TRUNCATE skipped; COPY skipped FROM PROGRAM 'seq 1 5000 | sed "s/.*/&\t8\tt&/"' (FREEZE); COMMIT});
is_offloaded($minimal, $skipped, 'frozen by COPY, without WAL') foreach (1, 2);
$minimal->safe_psql('postgres', 'INSERT INTO skipped SELECT i, 9, NULL FROM generate_series(1, 5000) AS i');
is_offloaded($minimal, $skipped, 'and more') foreach (1, 2);
my $rolled_back = 'BEGIN; SAVEPOINT s; TRUNCATE skipped; INSERT INTO skipped VALUES (1, 1, 1); ROLLBACK TO s; UPDATE skipped SET n = n + 1 WHERE id = 7';
is($minimal->safe_psql('postgres', "$rolled_back; SET LOCAL gpuconc.debug_offload = require; $skipped; ROLLBACK"),
	$minimal->safe_psql('postgres', "$rolled_back; SET LOCAL gpuconc.debug_offload = forbid; $skipped; ROLLBACK"), 'after a TRUNCATE that was rolled back');
is_offloaded($minimal, $skipped, 'and after all of it was');

# The LSN of an unlogged table's page says nothing: its tables are PostgreSQL's.
create_x($_, 'UNLOGGED') foreach ($minimal, $checked);
foreach my $node ($minimal, $checked)
{
	my $name = $node->name;

	is_answered($node, $sum, "$name: an unlogged table");
	unlike($node->safe_psql('postgres', "SET gpuconc.debug_offload = prefer; EXPLAIN $sum"), qr/GpuConc/i, "$name: which is PostgreSQL's");
	$node->safe_psql('postgres', 'ALTER TABLE x SET LOGGED');
	is_offloaded($node, $sum, "$name: a table that was unlogged") foreach (1, 2);
	$node->safe_psql('postgres', 'UPDATE x SET n = n + 1 WHERE id % 10 = 0');
	is_offloaded($node, $sum, "$name: and was changed then") foreach (1, 2);
	are_versioned($node, $sum, "$name: a table that was unlogged");
	$node->safe_psql('postgres', 'ALTER TABLE x SET UNLOGGED; UPDATE x SET n = n + 1 WHERE id % 10 = 1');
	is_answered($node, $sum, "$name: a table that is unlogged again");
}

#
# Hint bits: with checksums they move a page's LSN after a checkpoint, and else they do not
#
my $versions = q{SELECT versioned FROM gpuconc_columns_test_versions('x')};
SKIP:
{
	skip 'gpuconc_columns_test is not installed', 1
	  if $minimal->safe_psql('postgres', q{SELECT count(*) FROM pg_extension WHERE extname = 'gpuconc_columns_test'}) eq '0';
	foreach my $node ($minimal, $checked)
	{
		my $name = $node->name;
		my $writer = $node->background_psql('postgres');

		create_x($node, '');
		$writer->query_safe(q{BEGIN; INSERT INTO x SELECT i, 1, NULL FROM generate_series(1, 9000) AS i});
		is_offloaded($node, $sum, "$name: rows of a transaction in progress") foreach (1, 2);
		my $all = $node->safe_psql('postgres', $versions);
		cmp_ok($all, '>', 60, "$name: are served by version");
		$writer->query_safe('COMMIT');
		$writer->quit;
		$node->safe_psql('postgres', 'CHECKPOINT');
		is($node->safe_psql('postgres', $versions), $all, "$name: and when it has committed");
		is($node->safe_psql('postgres', "SET gpuconc.debug_offload = forbid; $sum"), '18000|454500|7', "$name: hint bits are set");
		if ($name eq 'minimal')
		{
			is($node->safe_psql('postgres', $versions), $all, "$name: and change nothing");
		}
		else
		{
			# A look that is in time for all transactions that have ended still does.
			is($node->safe_psql('postgres', $versions), $all, "$name: and nobody looks again before a transaction ends");
			$node->safe_psql('postgres', 'SELECT gpuconc_columns_test_ended()');
			cmp_ok($node->safe_psql('postgres', $versions), '<', $all - 20, "$name: and change LSNs");
		}
		is_offloaded($node, $sum, "$name: after hint bits were set") foreach (1, 2);
		are_versioned($node, $sum, "$name: after hint bits were set");
	}
}

#
# A long transaction, and one of 10,000 subtransactions
#
my $node = $minimal;
my $old = session($node, 'old');

create_x($node, '');
$node->safe_psql('postgres', q{
CREATE PROCEDURE many(times int) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
	FOR i IN 1 .. times LOOP
		BEGIN
			UPDATE x SET n = n + 1000 WHERE id = i AND ctid = (SELECT c FROM at WHERE at.id = i);
			IF i % 3 = 0 THEN
				RAISE EXCEPTION 'undone';
			END IF;
			INSERT INTO x VALUES (-i, i, 'many');
		EXCEPTION WHEN raise_exception THEN
			NULL;
		END;
	END LOOP;
END $$;
CREATE TABLE at AS SELECT id, ctid AS c FROM x;
CREATE INDEX ON at (id);
});
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $first = $old->query_safe($sum);
my $many = session($node, 'many');
$many->query_safe('BEGIN; CALL many(10000)');
is_offloaded($node, $sum, '10,000 subtransactions in progress') foreach (1, 2);
are_versioned($node, $sum, '10,000 subtransactions in progress');
is($node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $sum"), $first, 'of which nothing is seen');
is($many->query_safe($sum), own_answer($many, $sum), 'a session with 10,000 subtransactions');
my $middle = session($node, 'middle', 'BEGIN ISOLATION LEVEL REPEATABLE READ');
is($middle->query_safe($sum), $first, 'a snapshot that has overflowed');
$many->query_safe('COMMIT');
is_offloaded($node, $sum, '10,000 subtransactions are over') foreach (1, 2);
isnt($node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $sum"), $first, 'of which two thirds are seen');
foreach my $pair ([ 'a snapshot from before', $old ], [ 'a snapshot that has overflowed', $middle ])
{
	is($pair->[1]->query_safe($sum), $first, "$pair->[0]: sees what it saw");
	$node->safe_psql('postgres', 'UPDATE x SET n = n + 1 WHERE id % 20 = 3');
	is($pair->[1]->query_safe($sum), $first, "$pair->[0]: still");
	is(own_answer($pair->[1], $sum), $first, "$pair->[0]: as does PostgreSQL");
	$pair->[1]->query_safe('COMMIT');
}
$_->quit foreach ($old, $middle, $many);

#
# Cursors, and functions that see what they have changed
#
create_x($node, '');
$node->safe_psql('postgres', q{
CREATE FUNCTION changed(i int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE a int; b int; c int;
BEGIN
	UPDATE x SET n = n + 7 WHERE id = i;
	DELETE FROM x WHERE id = i + 1;
	SELECT count(*), sum(n), count(DISTINCT t) INTO a, b, c FROM x;
	RETURN concat(a, ' ', b, ' ', c);
END $$;
CREATE FUNCTION seen() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE a int; b int; c int;
BEGIN
	SELECT count(*), sum(n), count(DISTINCT t) INTO a, b, c FROM x;
	RETURN concat(a, ' ', b, ' ', c);
END $$;
});
my %scripts = (
	'a function sees its own changes' => 'BEGIN; SELECT changed(i) FROM generate_series(1, 20, 3) AS i; ROLLBACK',
	'a stable function does not see those of its statement' =>
	  'BEGIN; SELECT changed(i), seen() FROM generate_series(1, 20, 3) AS i; ROLLBACK',
	'changes of a statement are seen by the next' =>
	  "BEGIN; WITH u AS (UPDATE x SET n = -n WHERE id < 50 RETURNING n) SELECT sum(n), seen() FROM u; SELECT seen(); $sum; ROLLBACK",
	'a cursor does not see later changes' =>
	  "BEGIN; DECLARE c CURSOR FOR SELECT id, n FROM x WHERE n < 5 ORDER BY id, n; FETCH 3 FROM c; UPDATE x SET n = n + 1000; DELETE FROM x WHERE id < 100; FETCH 30 FROM c; $sum; ROLLBACK",
	'nor one that is held' =>
	  "BEGIN; DECLARE h CURSOR WITH HOLD FOR SELECT t, sum(n) FROM x GROUP BY t ORDER BY t; SAVEPOINT s; UPDATE x SET n = n + 1 WHERE id = 5; ROLLBACK TO s; COMMIT; FETCH ALL FROM h; CLOSE h",
	'a rolled back savepoint' =>
	  "BEGIN; UPDATE x SET n = 0 WHERE id < 9; $sum; SAVEPOINT s; DELETE FROM x WHERE id % 2 = 0; $sum; ROLLBACK TO s; $sum; RELEASE s; $sum; ROLLBACK",
	'MERGE' =>
	  "BEGIN; MERGE INTO x USING generate_series(8990, 9010) AS i ON id = i WHEN MATCHED AND id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = 500 WHEN NOT MATCHED THEN INSERT VALUES (i, i, 'merged'); $sum; ROLLBACK");
is_offloaded($node, $sum, 'before cursors and functions');
foreach my $message (sort keys %scripts)
{
	# A statement that changes a table is never offloaded, nor is a query that has one in WITH.
	my $mode = $scripts{$message} =~ /WITH u/ ? 'prefer' : 'require';
	my $offloaded = stat_of($node, 'offloaded');
	my @answers = map { $node->safe_psql('postgres', "SET gpuconc.debug_offload = $_; $scripts{$message}") } ($mode, 'forbid');

	cmp_ok(stat_of($node, 'offloaded'), '>', $offloaded, "$message: offloaded");
	is($answers[0], $answers[1], $message);
	is_offloaded($node, $sum, "$message, and afterwards");
}

#
# Pages that are corrupt
#
sub path_of_x
{
	my ($node) = @_;

	return $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('x')});
}

sub bytes_at
{
	my ($path, $offset, $new) = @_;
	my $old;

	open my $file, '+<:raw', $path or die "$path: $!";
	sysseek($file, $offset, SEEK_SET);
	sysread($file, $old, 4);
	sysseek($file, $offset, SEEK_SET);
	syswrite($file, $new) if defined $new;
	close $file;
	return $old;
}

# Have all of x on disk, and something else in shared buffers.
sub push_out
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
CHECKPOINT;
DROP TABLE IF EXISTS filler;
CREATE TABLE filler AS SELECT i, repeat('f', 500) AS f FROM generate_series(1, 4000) AS i;
UPDATE filler SET i = -i;
CHECKPOINT});
	return;
}

# Is this PostgreSQL's error, for each query once, and is nothing else the matter?
sub fails_alike
{
	my ($node, $query, $message) = @_;
	my $start = -s $node->logfile;
	my %error;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	foreach my $mode ('require', 'forbid')
	{
		my ($status, $out, $error) = $node->psql('postgres', "SET gpuconc.debug_offload = $mode; $query");

		$error =~ s/^psql:[^:]*:\d+: //mg;
		like($error, qr/^ERROR:  invalid page in block 3 of relation/m, "$message: an error ($mode)");
		$error{$mode} = join "\n", grep { /ERROR/ } split /\n/, $error;
	}
	is($error{require}, $error{forbid}, "$message: it is PostgreSQL's");
	is(log_has($node, qr/ERROR:/, $start), 2, "$message: it is one error");
	is_offloaded($node, 'SELECT count(*), sum(i) FROM filler', "$message: another table");
	return;
}

foreach my $node ($minimal, $checked)
{
	my $name = $node->name;
	# The checksum, or the beginning and the end of the page's free space.
	my $offset = 3 * 8192 + ($name eq 'checked' ? 8 : 12);
	my $pid = slurp_file($node->data_dir . '/postmaster.pid');
	my ($path, $good);

	create_x($node, '');
	foreach my $state ('before it was read', 'after it was read')
	{
		is_offloaded($node, $sum, "$name: a page before it is corrupt") if $state eq 'after it was read';
		push_out($node);
		$path = path_of_x($node);
		$good = bytes_at($path, $offset, "\xfe\xca\xad\xde");
		fails_alike($node, $sum, "$name: a page is corrupt $state") foreach (1, 2);
		is($node->safe_psql('postgres', "SET zero_damaged_pages = on; SET gpuconc.debug_offload = require; $sum"),
			$node->safe_psql('postgres', "SET zero_damaged_pages = on; SET gpuconc.debug_offload = forbid; $sum"),
			"$name: a page is corrupt $state, and zero for who wants that");
		push_out($node);
		bytes_at($path, $offset, $good);
		is_offloaded($node, $sum, "$name: and is not corrupt any more") foreach (1, 2);
		are_versioned($node, $sum, "$name: and is not corrupt any more");
	}
	is(slurp_file($node->data_dir . '/postmaster.pid'), $pid, "$name: the server has stayed up");
	nothing_held($node, $name);
}

#
# A subscriber's table, written by an apply worker
#
$node = $checked;
$node->safe_psql('postgres', q{
CREATE TABLE accounts (id int PRIMARY KEY, balance int);
INSERT INTO accounts SELECT i, 100 FROM generate_series(1, 5000) AS i;
CREATE PUBLICATION p FOR TABLE accounts;
SELECT pg_create_logical_replication_slot('s', 'pgoutput');
CREATE DATABASE subscriber});
my $connection = sprintf "host=%s port=%s dbname=postgres", $node->host, $node->port;
$node->safe_psql('subscriber', qq{
CREATE TABLE accounts (id int PRIMARY KEY, balance int);
INSERT INTO accounts SELECT i, 100 FROM generate_series(1, 5000) AS i;
CREATE SUBSCRIPTION s CONNECTION '$connection' PUBLICATION p WITH (create_slot = false, copy_data = false)});

my $balance = 'SELECT sum(balance), count(*) FROM accounts';
my $directory = $PostgreSQL::Test::Utils::tmp_check;
append_to_file("$directory/apply.sql", q{
\set a random(1, 5000)
\set b random(1, 5000)
BEGIN;
UPDATE accounts SET balance = balance - 1 WHERE id = least(:a, :b);
SAVEPOINT s;
UPDATE accounts SET balance = balance + 1 WHERE id = greatest(:a, :b);
DELETE FROM accounts WHERE id = :a;
ROLLBACK TO s;
UPDATE accounts SET balance = balance + 1 WHERE id = greatest(:a, :b);
DELETE FROM accounts WHERE id = -:a;
COMMIT;
});
my ($out, $error) = ('', '');
my $pgbench = IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-t', 400, '--max-tries=1000', '-f', "$directory/apply.sql", $connection ],
	'<', \undef, '>', \$out, '2>', \$error);
my %answers;
my $versioned = 0;
foreach (1 .. 15)
{
	my $plan = $node->safe_psql('subscriber',
		"SET gpuconc.debug_offload = require; $balance; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT YAML) $balance");

	$answers{ (split /\n/, $plan)[0] }++;
	$versioned += $1 if $plan =~ /Versioned Pages: (\d+)/;
}
$pgbench->finish;
unlike($error, qr/ERROR|aborted/, 'a publisher is written to') or diag substr($error, 0, 3000);
is(join(' ', keys %answers), '500000|5000', 'a subscriber: sums stay the same');
cmp_ok($versioned, '>', 15, 'a subscriber: pages are served by version');
$node->wait_for_catchup('s');
my $all = 'SELECT md5(string_agg(id || $$:$$ || balance, $$,$$ ORDER BY id)) FROM accounts';
is($node->safe_psql('subscriber', $all), $node->safe_psql('postgres', $all), 'a subscriber has caught up');
is_offloaded($node, $_, "a subscriber: $_", 'subscriber')
  foreach ($balance, 'SELECT count(*), sum(id), min(balance), max(balance) FROM accounts WHERE balance <> 100');
$node->safe_psql('subscriber', 'DROP SUBSCRIPTION s');

#
# A small cache: hot pages are evicted by use, as all is
#
# Bytes of hot chunks, and of all that is in use.
sub hot_bytes
{
	return $node->safe_psql('postgres', 'SELECT coalesce(sum(bytes), 0) FROM (SELECT max(hot_bytes) AS bytes FROM gpuconc_cache GROUP BY relid) AS r');
}

foreach my $table ('a', 'b', 'large')
{
	my $rows = $table eq 'large' ? 300000 : 60000;

	$node->safe_psql('postgres',
		"CREATE TABLE $table AS SELECT i AS id, i / 7.0::float8 AS f, i % 9 AS n, 't' || i % 50 AS t FROM generate_series(1, $rows) AS i");
	# Hint bits are set, which would move LSNs later, and a load of all pages anew would need room for both.
	$node->safe_psql('postgres', "SET gpuconc.debug_offload = forbid; SELECT count(*) FROM $table");
}
my $whole = 'SELECT count(*), sum(n), max(id), min(t), max(f) FROM';
my $part = 'SELECT count(*), sum(n), min(t) FROM';
is_offloaded($node, "$whole a", 'a table that is hot as a whole');
are_versioned($node, "$whole a", 'a table that is hot as a whole');
my $bytes = hot_bytes();
my $room = int($bytes * 1.4 / (1024 * 1024) + 1);
note "$bytes bytes of hot pages, $room MB";
$node->append_conf('postgresql.conf', "gpuconc.host_cache_size = ${room}MB");
$node->restart;
wait_for_worker($node);
note_memory($node);
# A transaction that stays open needs old versions, and keeps them from being left out.
my $long = session($node, 'long', 'SET gpuconc.debug_offload = prefer; BEGIN ISOLATION LEVEL REPEATABLE READ');
my %was = map { $_ => $long->query_safe("$whole $_") } ('a', 'b');
foreach my $round (1 .. 3)
{
	foreach my $table ('a', 'b')
	{
		is_offloaded($node, "$whole $table", "little room: table $table, round $round");
		are_versioned($node, "$whole $table", "little room: table $table, round $round");
		cmp_ok(hot_bytes(), '<=', $room * 1024 * 1024, "little room: it suffices, round $round");
		$node->safe_psql('postgres', "UPDATE $table SET n = n + 1 WHERE id % 6000 = $round");
		is($long->query_safe("$whole $table"), $was{$table}, "little room: a long transaction sees what it saw, table $table, round $round");
		cmp_ok(hot_bytes(), '<=', $room * 1024 * 1024, "little room: it suffices beside a long transaction, round $round");
	}
	cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM gpuconc_cache WHERE relation = 'a'::regclass}),
		'<', 4, "little room: table a has lost columns, round $round");
}
is(own_answer($long, "$whole a"), $was{a}, 'little room: as does PostgreSQL');
$long->query_safe('COMMIT');
$long->quit;
# How large a table will be is told from its first chunks, also where most of their pages are copied.
$node->safe_psql('postgres', q{
CREATE TABLE copied AS SELECT i AS id, repeat('x', 100) AS pad FROM generate_series(1, 60000) AS i;
SET gpuconc.debug_offload = forbid;
SELECT count(*) FROM copied});
my $ids = 'SELECT count(*), sum(id), max(id) FROM copied';
is_offloaded($node, $ids, 'little room: many pages');
are_versioned($node, $ids, 'little room: many pages');
$node->safe_psql('postgres', 'UPDATE copied SET id = -id WHERE id = 1 OR id > 20000');
is_offloaded($node, $ids, 'little room: of which many are changed');
are_versioned($node, $ids, 'little room: of which many are changed');
$node->safe_psql('postgres', 'DROP TABLE copied');
# Columns that are used again and again stay.
is_offloaded($node, "$part a", 'little room: some columns');
foreach my $round (1 .. 3)
{
	is_offloaded($node, "$part a", "little room: some columns, round $round");
	is_offloaded($node, "SELECT max(f) FROM b", "little room: and one of another table, round $round");
	is((pages_of($node, "$part a"))[1], 0, "little room: what is used stays, round $round");
}
is_answered($node, "$whole large", "little room: a table that is too large, round $_") foreach (1, 2);
cmp_ok(hot_bytes(), '<=', $room * 1024 * 1024, 'little room: it suffices for a table that is too large');
is_offloaded($node, "$part b", 'little room: and another one afterwards');
nothing_held($node, 'little room');

foreach my $node ($minimal, $checked)
{
	is(log_has($node, qr/PANIC|TRAP|was terminated by signal|could not access status/), 0, 'nothing bad in the log of ' . $node->name);
	$node->stop;
}
done_testing();

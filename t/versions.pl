# Tables that are written to and never vacuumed: readers are served hot pages by version, and
# are right.  Writers of all kinds beside readers with invariants, at a transaction id beyond
# the first epoch; exported snapshots; recovery from a crash; and a standby's replay.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seconds = 15;
# A chunk's replacement lies beside it until the last request that began before has ended.  On a busy machine that may take
# seconds, of a writer's pace: room for these.
my $node = new_server('versions', q{
gpuconc.host_cache_size = 256MB
max_prepared_transactions = 10
gpuconc.debug_hot_pages = 1
gpuconc.loader_workers = 0
hot_standby_feedback = on
log_statement = none
}, allows_streaming => 1, start => 0);

# Transaction ids of the first epoch are told from those of others.
command_ok([ 'pg_resetwal', '-e', '3', '-D', $node->data_dir ], 'a later epoch');
start_server($node);

$node->safe_psql('postgres', q{
CREATE TABLE accounts (id int PRIMARY KEY, balance int, note text) WITH (fillfactor = 90);
INSERT INTO accounts SELECT i, 100, 'n' || i % 7 FROM generate_series(1, 6000) AS i;
CREATE TABLE pairs (id bigserial PRIMARY KEY, half int, n int);
INSERT INTO pairs (half, n) SELECT h, i FROM generate_series(1, 500) AS i, (VALUES (1), (-1)) AS v (h);
CREATE TABLE parts (id int, balance int) PARTITION BY RANGE (id);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES FROM (0) TO (1001);
CREATE TABLE parts_b PARTITION OF parts FOR VALUES FROM (1001) TO (2001);
CREATE TABLE parts_c PARTITION OF parts FOR VALUES FROM (2001) TO (4001);
CREATE TABLE tree (id int, balance int);
CREATE TABLE tree_a (t text) INHERITS (tree);
CREATE TABLE one (balance int, id int);
CREATE TABLE two (id int, balance int);
CREATE VIEW both_tables AS SELECT id, balance FROM one UNION ALL SELECT id, balance FROM two;
INSERT INTO parts SELECT i, 100 FROM generate_series(1, 2000) AS i;
INSERT INTO tree SELECT i, 100 FROM generate_series(1, 1000) AS i;
INSERT INTO tree_a SELECT i, 100 FROM generate_series(1001, 2000) AS i;
INSERT INTO one SELECT 100, i FROM generate_series(1, 1000) AS i;
INSERT INTO two SELECT i, 100 FROM generate_series(1001, 2000) AS i;});
$node->safe_psql('postgres', "CREATE INDEX ON $_ (id)") foreach (qw(parts tree tree_a one two));
create_transfer($node);
isnt($node->safe_psql('postgres', 'SELECT pg_current_xact_id()::text::bigint >> 32'), '0', 'ids are of a later epoch');

my $sum = 'SELECT sum(balance), count(*), count(DISTINCT note) FROM accounts';
my $halves = 'SELECT sum(half), count(*) % 2 FROM pairs';
# Several tables that are read as one, by themselves and as a build of a join.
my @appended = qw(parts tree both_tables);
my @of_appended = map { ("SELECT sum(balance), count(*) AS n FROM $_",
	"SELECT sum(a.balance * q.balance) FROM accounts AS a JOIN $_ AS q USING (id)") } @appended;
my @pages = pages_of($node, $sum);
cmp_ok($pages[0], '>', 20, 'pages are served by version');
is($pages[1], 0, 'and none is read by the session');

# A build over hot pages is made once for all that see the same rows, and anew for others.
my $joined = 'SELECT count(*), sum(n) FROM pairs JOIN accounts ON accounts.id = n WHERE balance > 0';

sub builds_made_by
{
	my ($query) = @_;
	my $made = sub { $node->safe_psql('postgres', 'SELECT builds_run FROM gpuconc_stat_sharing') };
	my $before = $made->();
	my $answer = $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $query");

	is($answer, $node->safe_psql('postgres', "SET gpuconc.debug_offload = forbid; $query"), 'a join over hot pages is right');
	return $made->() - $before;
}

is(builds_made_by($joined), 1, 'a build over hot pages');
is(builds_made_by($joined), 0, 'is shared');
$node->safe_psql('postgres', 'UPDATE pairs SET n = n WHERE id = 77');
is(builds_made_by($joined), 1, 'but not by a snapshot that sees other rows');

my $directory = $PostgreSQL::Test::Utils::tmp_check;
my %scripts = (
	transfer => q{
\set a random(1, 5000)
\set b random(1, 5000)
BEGIN;
UPDATE accounts SET balance = balance - 1 WHERE id = least(:a, :b);
SELECT id FROM accounts WHERE id = :a FOR KEY SHARE;
UPDATE accounts SET balance = balance + 1 WHERE id = greatest(:a, :b);
COMMIT;
CALL transfer(:a, :b);
},
	prepared => q{
\set a random(1, 5000)
\set b random(1, 5000)
BEGIN;
UPDATE accounts SET balance = balance - 1 WHERE id = least(:a, :b);
SAVEPOINT s;
UPDATE accounts SET balance = balance + 1 WHERE id = greatest(:a, :b);
RELEASE s;
PREPARE TRANSACTION ':client_id';
COMMIT PREPARED ':client_id';
},
	# a key update, a delete and an insert, undone or not; of accounts that take no part in transfers
	moved => q{
\set a random(5001, 6000)
\set undone random(0, 1)
BEGIN;
UPDATE accounts SET id = -id WHERE id = :a;
UPDATE accounts SET id = -id WHERE id = -:a;
WITH gone AS (DELETE FROM accounts WHERE id = :a RETURNING *) INSERT INTO accounts SELECT -id, balance, note FROM gone;
UPDATE accounts SET id = -id WHERE id = -:a;
\if :undone
ROLLBACK;
\else
COMMIT;
\endif
},
	pairs => q{
\set n random(1, 100000) + 1000000 * :client_id
\set undone random(0, 2)
BEGIN;
INSERT INTO pairs (half, n) VALUES (1, :n), (-1, :n);
DELETE FROM pairs WHERE n / 1000000 = :client_id AND n = (SELECT n FROM pairs WHERE n / 1000000 = :client_id ORDER BY id LIMIT 1);
\if :undone
COMMIT;
\else
ROLLBACK;
\endif
},
	# transfers between tables that are read as one, and rows that move; who has row b of parts has it of the others
	appended => q{
\set a random(1, 1000)
\set b random(1001, 2000)
\set undone random(0, 2)
BEGIN;
UPDATE parts SET balance = balance - 1 WHERE id = :a;
UPDATE parts SET balance = balance + 1 WHERE id = :b;
UPDATE parts SET id = id + 2000 WHERE id = :b;
UPDATE parts SET id = id - 2000 WHERE id = :b + 2000;
UPDATE tree SET balance = balance - 1 WHERE id = :a;
WITH gone AS (DELETE FROM tree WHERE id = :b RETURNING *) INSERT INTO tree_a SELECT id, balance + 1 FROM gone;
UPDATE one SET balance = balance - 1 WHERE id = :a;
SAVEPOINT s;
DELETE FROM two WHERE id = :b;
ROLLBACK TO s;
UPDATE two SET balance = balance + 1 WHERE id = :b;
\if :undone
COMMIT;
\else
ROLLBACK;
\endif
},
	# prunes, freezes, and makes all-visible what is written to again
	vacuum => q{
\set freeze random(0, 3)
\if :freeze
VACUUM pairs, parts, one;
\else
VACUUM (FREEZE) accounts;
\endif
SELECT count(*) FROM accounts, accounts AS a WHERE a.id = accounts.id;
});
append_to_file("$directory/$_.sql", $scripts{$_}) foreach (keys %scripts);

# A reader's questions, in one snapshot, are answered alike, by the device twice and by PostgreSQL; and
# what it changes then is seen by it, too.  An error ends pgbench.
append_to_file("$directory/read.sql", qq{
\\set a random(1, 5000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL gpuconc.debug_offload = require;
SELECT sum(balance) AS sum, count(*) AS n, max(id) AS last FROM accounts \\gset
SELECT sum(half) AS half, count(*) AS npairs FROM pairs \\gset
SELECT sum(balance) AS sum2, count(*) AS n2, max(id) AS last2 FROM accounts \\gset
SET LOCAL gpuconc.debug_offload = forbid;
SELECT :sum = 600000 AND :n = 6000 AND :last = 6000 AND :half = 0 AND :npairs % 2 = 0
	AND :sum2 = :sum AND :n2 = :n AND :last2 = :last
	AND (SELECT sum(balance) = :sum AND count(*) = :n FROM accounts)
	AND (SELECT sum(half) = :half AND count(*) = :npairs FROM pairs) AS good \\gset
COMMIT;
\\if :good
\\else
SELECT ('snapshot: ' || :sum || ' ' || :n || ' ' || :last || ' ' || :half || ' ' || :npairs || ' ' || :sum2 || ' ' || :n2 || ' ' || :last2)::int;
\\endif
BEGIN;
SET LOCAL gpuconc.debug_offload = require;
UPDATE accounts SET balance = balance + 7 WHERE id = :a;
SELECT sum(balance) AS sum FROM accounts \\gset
SAVEPOINT s;
DELETE FROM accounts WHERE id = :a;
SELECT count(*) AS n FROM accounts \\gset
ROLLBACK TO s;
SELECT sum(balance) AS sum2, count(*) AS n2 FROM accounts \\gset
ROLLBACK;
SELECT :sum = 600007 AND :n = 5999 AND :sum2 = 600007 AND :n2 = 6000 AS good \\gset
\\if :good
\\else
SELECT ('own: ' || :sum || ' ' || :n || ' ' || :sum2 || ' ' || :n2)::int;
\\endif
});

# So are questions about several tables as one.
my ($questions, @agree, @detail) = ('');
foreach my $way ([ 'device', 'require' ], [ 'again', 'require' ], [ 'own', 'forbid' ])
{
	$questions .= "SET LOCAL gpuconc.debug_offload = $way->[1];\n";
	for my $i (0 .. $#of_appended)
	{
		my $answer = ":$way->[0]_$i";

		$questions .= "$of_appended[$i] \\gset $way->[0]_${i}_\n";
		push @agree, $i % 2 == 0 ? "${answer}_sum = 200000 AND ${answer}_n = 2000" : "${answer}_sum = :device_${i}_sum";
		push @detail, "${answer}_sum";
	}
}
my $agree = join ' AND ', @agree;
my $detail = join " || ' ' || ", @detail;
append_to_file("$directory/read_appended.sql", qq{
BEGIN ISOLATION LEVEL REPEATABLE READ;
${questions}COMMIT;
SELECT $agree AS good \\gset
\\if :good
\\else
SELECT ('appended: ' || $detail)::int;
\\endif
});

sub start_pgbench
{
	my ($server, $clients, @scripts) = @_;
	my ($out, $error) = ('', '');
	my $run = IPC::Run::start(
		[ 'pgbench', '-n', '-c', $clients, '-T', $seconds, '--max-tries=1000', (map { ('-f', "$directory/$_") } @scripts), $server->connstr('postgres') ],
		'<', \undef, '>', \$out, '2>', \$error);

	return { run => $run, out => \$out, error => \$error };
}

# Again until there were some of each: at first, a slow machine compiles kernels all the time.
my $versioned = 0;
my %versioned_of;
my %done = (readers => 0, writers => 0, VACUUM => 0);
my %least = (readers => 20, writers => 20, VACUUM => 2);
my $round = 0;
again_until(sub {
	$round++;
	my %running = (
		readers => start_pgbench($node, 4, 'read.sql@2', 'read_appended.sql@1'),
		writers => start_pgbench($node, 4, 'transfer.sql@4', 'prepared.sql@2', 'moved.sql@2', 'pairs.sql@2', 'appended.sql@3'),
		VACUUM => start_pgbench($node, 1, 'vacuum.sql'));

	$versioned += (pages_of($node, $sum))[0] for (1 .. 10);
	$versioned_of{$_} += (pages_of($node, $_))[0] foreach (@of_appended);
	foreach my $who (sort keys %running)
	{
		$running{$who}->{run}->finish;
		unlike(${ $running{$who}->{error} }, qr/ERROR|aborted/, "$who: no wrong answer") or diag substr(${ $running{$who}->{error} }, 0, 3000);
		$done{$who} += $1 if ${ $running{$who}->{out} } =~ /number of transactions actually processed: (\d+)/;
		note "$who: $done{$who} transactions after round $round";
	}
	return $versioned > 20 && !(grep { $versioned_of{$_} == 0 } @of_appended) && !grep { $done{$_} <= $least{$_} } keys %done;
});
cmp_ok($versioned, '>', 20, 'pages are served by version beside writers');
cmp_ok($versioned_of{$_}, '>', 0, "and those of $_") foreach (@of_appended);
cmp_ok($done{$_}, '>', $least{$_}, "$_: there were some") foreach (sort keys %done);
is_offloaded($node, $_, "at last: $_") foreach ($sum, $halves, @of_appended);

# An exported snapshot is older than what others have read since.
my $exporter = $node->background_psql('postgres');
$exporter->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $id = $exporter->query_safe('SELECT pg_export_snapshot()');
my $before = $node->safe_psql('postgres', "SET gpuconc.debug_offload = forbid; $sum");
$node->safe_psql('postgres', q{UPDATE accounts SET balance = 0 WHERE id <= 4000});
pages_of($node, $sum);
is($node->safe_psql('postgres', "BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$id'; SET gpuconc.debug_offload = require; $sum; COMMIT"),
	$before, 'an exported snapshot sees what it saw');
$exporter->query_safe('COMMIT');
$exporter->quit;
is_offloaded($node, $sum, 'and a new one what is there now');

# A safe snapshot of a serializable transaction is served, too.
is($node->safe_psql('postgres', "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE; SET LOCAL gpuconc.debug_offload = require; $sum; COMMIT"),
	answer_of($node, $sum, 'forbid'), 'a safe snapshot');

# A standby follows; its transactions in progress are known from the log.
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('versions_standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby, 'replay');
wait_for_worker($standby);
@pages = pages_of($standby, $sum);
cmp_ok($pages[0], '>', 20, 'a standby: pages are served by version');

my $writer = $node->background_psql('postgres');
my $reader = $standby->background_psql('postgres');
sub agrees
{
	my ($message, $asked, $query) = @_;
	$query //= $sum;
	my $device = $asked->query_safe("SET gpuconc.debug_offload = require; $query");
	my $own = $asked->query_safe("SET gpuconc.debug_offload = forbid; $query");

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($device, $own, "a standby: $message");
	return $own;
}

my $fresh = $standby->background_psql('postgres');
$writer->query_safe('BEGIN; UPDATE accounts SET balance = balance + 1 WHERE id % 3 = 0; SAVEPOINT s; DELETE FROM accounts WHERE id % 5 = 0');
$node->safe_psql('postgres', 'SELECT pg_switch_wal()');
$node->wait_for_catchup($standby, 'replay');
agrees('changes in progress', $fresh);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $first = agrees('an old snapshot', $reader);
$writer->query_safe('ROLLBACK TO s; DELETE FROM accounts WHERE id % 7 = 0');
$node->wait_for_catchup($standby, 'replay');
agrees('an undone savepoint', $fresh);
is(agrees('an old snapshot, later', $reader), $first, 'a standby: a repeatable read repeats');
$writer->query_safe('COMMIT');
$node->wait_for_catchup($standby, 'replay');
isnt(agrees('the changes are committed', $fresh), $first, 'a standby: they are seen');
is(agrees('an old snapshot, at last', $reader), $first, 'a standby: a repeatable read repeats still');
$reader->query_safe('COMMIT');

# Each of these is asked for while it is under way, and when it has ended, by an older snapshot and by new ones.
my $sharer = $node->background_psql('postgres');
$node->safe_psql('postgres', q{
CREATE TABLE copied (id int, n int);
CREATE PROCEDURE many() LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 150 LOOP
		BEGIN
			UPDATE accounts SET balance = balance + 3 WHERE id = i * 40;
			IF i % 3 = 0 THEN
				RAISE EXCEPTION 'undone';
			END IF;
		EXCEPTION WHEN raise_exception THEN
			NULL;
		END;
	END LOOP;
END $$});
my @kinds = (
	[ 'a prepared transaction', q{BEGIN; UPDATE accounts SET balance = balance + 2 WHERE id % 11 = 0; PREPARE TRANSACTION 'standby'}, q{COMMIT PREPARED 'standby'} ],
	[ 'a prepared one that is undone', q{BEGIN; DELETE FROM accounts WHERE id % 11 = 1; PREPARE TRANSACTION 'undone'}, q{ROLLBACK PREPARED 'undone'} ],
	[ '150 subtransactions', 'BEGIN; CALL many()', 'COMMIT' ],
	[ '150 subtransactions, undone', 'BEGIN; CALL many()', 'ROLLBACK' ],
	[ 'changes of tables that are read as one', 'BEGIN; UPDATE accounts SET balance = balance + 1 WHERE id = 1; UPDATE parts SET id = id + 1000 WHERE id < 50; UPDATE tree SET balance = 1 WHERE id % 100 = 0; DELETE FROM one WHERE id < 9', 'COMMIT' ],
	[ 'multixacts', 'BEGIN; UPDATE accounts SET balance = balance + 5 WHERE id BETWEEN 3000 AND 3100', 'COMMIT' ]);
foreach my $kind (@kinds)
{
	my ($message, $begin, $end) = @$kind;

	$sharer->query_safe('BEGIN; SELECT count(*) FROM (SELECT FROM accounts WHERE id BETWEEN 3000 AND 3100 FOR KEY SHARE) AS s') if $message eq 'multixacts';
	$writer->query_safe($begin);
	$node->safe_psql('postgres', 'SELECT pg_switch_wal()');
	$node->wait_for_catchup($standby, 'replay');
	$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	my $before = agrees("$message, in progress, an old snapshot", $reader);
	is(agrees("$message, in progress", $fresh), $before, "a standby: $message, in progress: nothing of it is seen");
	$writer->query_safe($end);
	$sharer->query_safe('COMMIT') if $message eq 'multixacts';
	$node->wait_for_catchup($standby, 'replay');
	my $after = agrees("$message, ended", $fresh);
	$message =~ /undone/ ? is($after, $before, "a standby: $message: is as before") : isnt($after, $before, "a standby: $message: is seen");
	is(agrees("$message, ended, an old snapshot", $reader), $before, "a standby: $message: a repeatable read repeats");
	agrees("$message, $_, an old snapshot", $reader, $_), agrees("$message, $_", $fresh, $_) foreach ($message =~ /as one/ ? @of_appended : ());
	$reader->query_safe('COMMIT');
}
my $copied = 'SELECT count(*), sum(n), max(id) FROM copied';
my $copy = q{BEGIN; TRUNCATE copied; COPY copied FROM PROGRAM 'seq 1 9000 | sed "s/.*/&\t7/"' (FREEZE)};
$node->safe_psql('postgres', "$copy; COMMIT");
$node->wait_for_catchup($standby, 'replay');
is(agrees('frozen by COPY', $fresh, $copied), '9000|63000|9000', 'a standby: rows that COPY has frozen');
$node->safe_psql('postgres', 'UPDATE copied SET n = 8 WHERE id % 10 = 0; INSERT INTO copied VALUES (9001, 0)');
$node->wait_for_catchup($standby, 'replay');
is(agrees('frozen by COPY, and written to', $fresh, $copied), '9001|63900|9001', 'a standby: and what was written since');
$node->safe_psql('postgres', "$copy; ROLLBACK");
$node->wait_for_catchup($standby, 'replay');
is(agrees('COPY of frozen rows, undone', $fresh, $copied), '9001|63900|9001', 'a standby: and COPY is undone');
$_->quit foreach ($reader, $fresh, $writer, $sharer);
cmp_ok((pages_of($standby, $sum))[0], '>', 20, 'a standby: pages are served by version still');
$standby->stop;

# After a crash, what was in progress has failed, and a prepared transaction is still there.
$node->safe_psql('postgres', q{
BEGIN; UPDATE accounts SET balance = balance + 5 WHERE id % 2 = 0; PREPARE TRANSACTION 'crash'});
$writer = $node->background_psql('postgres');
$writer->query_safe('BEGIN; UPDATE accounts SET balance = balance + 11 WHERE id % 2 = 1; INSERT INTO pairs (half, n) VALUES (1, 0)');
$node->safe_psql('postgres', 'SELECT pg_switch_wal()');
$node->stop('immediate');
$writer->{run}->finish;
$node->start;
wait_for_worker($node);
is_offloaded($node, $_, "after a crash: $_") foreach ($sum, $halves);
is_offloaded($node, $_, "after a crash, by version: $_") foreach ($sum, $halves, @of_appended);
cmp_ok((pages_of($node, $sum))[0], '>', 20, 'after a crash: pages are served by version');
$node->safe_psql('postgres', q{COMMIT PREPARED 'crash'});
is_offloaded($node, $sum, 'after a crash: the prepared transaction is committed');

nothing_held($node, 'at last');
is(log_has($_, qr/PANIC|TRAP|was terminated by signal|could not access status/), 0, 'nothing bad in the log of ' . $_->name) foreach ($node, $standby);
$node->stop;
done_testing();

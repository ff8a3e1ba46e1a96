# Transaction ids pass 2^32 while tables are written to: hot pages that were read before are served afterwards,
# without being read again, and what old and new snapshots see of them stays right.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# With checksums, hint bits would have pages read anew.
my $node = new_server('epochs', q{
max_prepared_transactions = 10
gpuconc.debug_hot_pages = 1
gpuconc.loader_workers = 0
autovacuum_freeze_max_age = 2000000000
log_statement = none
}, start => 0, no_data_checksums => 1);

# The next id becomes this one.  The status of ids beside it is in a file that is missing then.
sub move_next_xid
{
	my ($xid, @more) = @_;
	my $segment = sprintf '%s/pg_xact/%04X', $node->data_dir, $xid >> 20;

	command_ok([ 'pg_resetwal', '-x', $xid, @more, '-D', $node->data_dir ], "the next transaction id is $xid");
	append_to_file($segment, "\0" x (32 * 8192)) unless -e $segment;
	return;
}

# An id is compared with others up to 2^31 away.  So there are steps, and all rows are frozen at each; there is
# one database, so that this is all there is to freeze.
$node->start;
$node->safe_psql('postgres', q{
UPDATE pg_database SET datistemplate = false, datallowconn = true WHERE datname <> 'postgres'});
$node->safe_psql('postgres', "DROP DATABASE $_") foreach ('template0', 'template1');
foreach my $xid (1_450_000_000, 2_900_000_000)
{
	$node->safe_psql('postgres', 'VACUUM FREEZE');
	$node->stop;
	move_next_xid($xid);
	$node->start;
}
$node->safe_psql('postgres', 'VACUUM FREEZE');
$node->stop;
move_next_xid(2**32 - 3000, '-e', 3);
start_server($node);

sub epoch
{
	return $node->safe_psql('postgres', 'SELECT pg_current_xact_id()::text::bigint >> 32');
}

$node->safe_psql('postgres', q{
CREATE TABLE accounts (id int PRIMARY KEY, balance int) WITH (fillfactor = 90);
INSERT INTO accounts SELECT i, 100 FROM generate_series(1, 6000) AS i;
CREATE TABLE kept (id int, n int, pad text);
INSERT INTO kept SELECT i, i % 100, repeat('x', 50) FROM generate_series(1, 5000) AS i;});
create_transfer($node);
my $sum = 'SELECT sum(balance), count(*), sum(id * balance::bigint) FROM accounts';
my $kept = 'SELECT count(*), sum(n), sum(id), max(n) FROM kept';

# Before: an old snapshot, and changes of the table that is kept: by transactions that have ended since that, that
# end later, and that are prepared.
my $old = session($node, 'old', 'BEGIN ISOLATION LEVEL REPEATABLE READ');
my %was = map { $_ => $old->query_safe($_) } ($sum, $kept);
my $ended = 'UPDATE kept SET n = n + 1000 WHERE id % 10 = 1';
my %open = map { $_ => $node->background_psql('postgres') } ('committed', 'undone');

$node->safe_psql('postgres', $ended);
$open{committed}->query_safe('BEGIN; UPDATE kept SET n = n + 10000 WHERE id % 10 = 2');
$open{undone}->query_safe('BEGIN; DELETE FROM kept WHERE id % 10 = 3; INSERT INTO kept SELECT i, 777 FROM generate_series(1, 500) AS i');
$node->safe_psql('postgres', q{BEGIN; UPDATE kept SET n = n + 100000 WHERE id % 10 = 4; PREPARE TRANSACTION 'kept'});

# Pages with a multixact that has an updater are not kept; writers leave some in the other table.
sub are_versioned
{
	my ($query, $message) = @_;
	my @pages = pages_of($node, $query);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($pages[0], '>', 20, "$message: pages are served by version");
	is($pages[1], 0, "$message: none is read by the session") if $query eq $kept;
	return;
}

sub repeats
{
	my ($message) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	foreach my $query ($sum, $kept)
	{
		is($old->query_safe($query), $was{$query}, "$message: an old snapshot sees what it saw: $query");
		is(own_answer($old, $query), $was{$query}, "$message: as PostgreSQL says");
	}
	return;
}

is_offloaded($node, $_, "before: $_") foreach ($sum, $kept);
are_versioned($_, "before: $_") foreach ($sum, $kept);
repeats('before');
is(epoch(), '3', 'all of that was in one epoch');
my $loaded = stat_of($node, 'pages_loaded');
is_offloaded($node, $kept, 'before: the table that is kept');
is(stat_of($node, 'pages_loaded'), $loaded, 'before: it is read no more');

# Writers that need more ids than are left, and readers.  An error ends pgbench.
my $directory = $PostgreSQL::Test::Utils::tmp_check;
append_to_file("$directory/write.sql", q{
\set a random(1, 6000)
\set b random(1, 6000)
BEGIN;
UPDATE accounts SET balance = balance - 1 WHERE id = least(:a, :b);
SELECT id FROM accounts WHERE id = :a FOR KEY SHARE;
UPDATE accounts SET balance = balance + 1 WHERE id = greatest(:a, :b);
COMMIT;
CALL transfer(:a, :b);
});
append_to_file("$directory/read.sql", q{
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL gpuconc.debug_offload = require;
SELECT sum(balance) AS sum, count(*) AS n, sum(id * balance::bigint) AS hash FROM accounts \gset
SELECT sum(balance) AS sum2, count(*) AS n2, sum(id * balance::bigint) AS hash2 FROM accounts \gset
SET LOCAL gpuconc.debug_offload = forbid;
SELECT :sum = 600000 AND :n = 6000 AND :sum2 = :sum AND :n2 = :n AND :hash2 = :hash
	AND (SELECT sum(balance) = :sum AND count(*) = :n AND sum(id * balance::bigint) = :hash FROM accounts) AS good \gset
COMMIT;
\if :good
\else
SELECT ('wrong: ' || :sum || ' ' || :n || ' ' || :hash || ' ' || :sum2 || ' ' || :n2 || ' ' || :hash2)::int;
\endif
});
sub start_pgbench
{
	my ($script, @options) = @_;
	my ($out, $error) = ('', '');
	my $run = IPC::Run::start([ 'pgbench', '-n', @options, '--max-tries=1000', '-f', "$directory/$script", $node->connstr('postgres') ],
		'<', \undef, '>', \$out, '2>', \$error);

	return { run => $run, error => \$error };
}

my %running = (
	writers => start_pgbench('write.sql', '-c', 4, '-t', 400),
	readers => start_pgbench('read.sql', '-c', 2, '-t', 40));
foreach my $name (sort keys %running)
{
	ok($running{$name}->{run}->finish, "$name: all end well") or diag substr(${ $running{$name}->{error} }, 0, 3000);
}
is(epoch(), '4', 'transaction ids are of the next epoch');

# After it.  Nothing of the table that is kept is read again, whatever becomes of its transactions.
$loaded = stat_of($node, 'pages_loaded');
my @answers = ($node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $kept"));
is(stat_of($node, 'pages_loaded'), $loaded, 'after: no page of the table that is kept is read again');
repeats('after');
is_offloaded($node, $_, "after: $_") foreach ($sum, $kept);
are_versioned($_, "after: $_") foreach ($sum, $kept);
$loaded = stat_of($node, 'pages_loaded');
$open{committed}->query_safe('COMMIT');
is_offloaded($node, $kept, 'after: a transaction of the last epoch has committed');
push @answers, $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $kept");
$open{undone}->query_safe('ROLLBACK');
is_offloaded($node, $kept, 'after: one has failed');
is($node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $kept"), $answers[1], 'after: and nothing of it is seen');
$node->safe_psql('postgres', q{COMMIT PREPARED 'kept'});
is_offloaded($node, $kept, 'after: one that was prepared has committed');
push @answers, $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $kept");
is(stat_of($node, 'pages_loaded'), $loaded, 'after: no page was read for that');
is(scalar(keys %{ { map { $_ => 1 } ($was{$kept}, @answers) } }), 4, 'after: each of them was seen when it had ended');
repeats('after these');

# Written to and read in the new epoch, beside rows of the last one.
$node->safe_psql('postgres', 'UPDATE kept SET n = n + 1 WHERE id % 10 = 5; UPDATE accounts SET balance = balance + 1 WHERE id % 100 = 7');
is_offloaded($node, $_, "written to: $_") foreach ($kept, $sum);
are_versioned($_, "written to: $_") foreach ($kept, $sum);
repeats('written to');
$old->query_safe('COMMIT');
$_->quit foreach ($old, values %open);
$node->safe_psql('postgres', 'VACUUM FREEZE kept; VACUUM accounts');
is_offloaded($node, $_, "vacuumed: $_") foreach ($kept, $sum);
nothing_held($node, 'at last');
is(log_has($node, qr/PANIC|TRAP|was terminated by signal|could not access status/), 0, 'nothing bad in the log');
$node->stop;
done_testing();

# Changes of hot pages are read in the WAL (src/columns/trail.h): no page is looked at, whether the WAL is still in its
# buffers or in files, flushed or not.  Whatever becomes of the trail, answers are right: much WAL, another segment, a crash,
# a standby and its promotion, tables without WAL, and writers of all kinds.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $conf = q{
gpuconc.debug_hot_pages = 1
gpuconc.debug_trail_bytes = 8388608
gpuconc.loader_workers = 0
max_prepared_transactions = 20
log_statement = none
};
my $node = new_server('trail', "$conf\nwal_buffers = 64kB\nmin_wal_size = 32MB", allows_streaming => 1);
my $sum = 'SELECT count(*), sum(id), min(d), max(n) FROM t';

create_tables($node, 30000);
is_offloaded($node, $sum, 'a table of several chunks');
$node->safe_psql('postgres', "UPDATE t SET n = n + 1 WHERE id % 10 = 3; SET gpuconc.debug_offload = require; $sum; $sum");
my $pages = $node->safe_psql('postgres', q{SELECT pg_relation_size('t') / current_setting('block_size')::int});

# Pages that are looked at for questions behind each of $times writes, by sessions that load none.
sub looked_at
{
	my ($server, $times, $settings, $between) = @_;
	my $read = 'SELECT pages_looked_at FROM gpuconc_stat';
	my $before = $server->safe_psql('postgres', $read);

	$server->safe_psql('postgres', "SET gpuconc.debug_offload = require; SET gpuconc.debug_hot_pages = 1000; $settings;" .
		join(';', map { "UPDATE t SET n = n + 1 WHERE id = $_ * 37; $between; $sum" } (1 .. $times)));
	return $server->safe_psql('postgres', $read) - $before;
}

# The first question puts the hot chunk on the trail.
looked_at($node, 1, '', '');
my $times = 10;
cmp_ok(looked_at($node, $times, 'SET gpuconc.enable_wal_trail = off', ''), '>', $times * $pages / 2, 'without the trail, hot pages are looked at');
cmp_ok(looked_at($node, $times, '', ''), '<', $times * $pages / 4, 'with it, they are not');
is_offloaded($node, $sum, 'with the trail');
cmp_ok(looked_at($node, $times, 'SET synchronous_commit = off', ''), '<', $times * $pages / 4, 'nor where the WAL is not flushed yet');
is_offloaded($node, $sum, 'where the WAL is not flushed yet');

# More WAL than its buffers have, so that it is read from files.
$node->safe_psql('postgres', 'CREATE TABLE much (n int, pad text)');
my $some = q{INSERT INTO much SELECT i, repeat('x', 500) FROM generate_series(1, 1000) AS i};
cmp_ok(looked_at($node, $times, '', $some), '<', $times * $pages / 4, 'nor where it is in files');
is_offloaded($node, $sum, 'where the WAL is in files');

# So much that the trail is lost; another segment; and files that are gone.
my $lost = q{INSERT INTO much SELECT i, repeat('x', 500) FROM generate_series(1, 20000) AS i};
foreach my $what ($lost, 'SELECT pg_switch_wal()', 'CHECKPOINT', "$lost; SELECT pg_switch_wal(); CHECKPOINT; $lost; CHECKPOINT")
{
	$node->safe_psql('postgres', "UPDATE t SET n = n + 1 WHERE id % 1000 = 7");
	$node->safe_psql('postgres', $_) foreach split /; /, $what;
	$node->safe_psql('postgres', "DELETE FROM t WHERE id % 5000 = 9");
	is_offloaded($node, $sum, 'behind ' . substr($what, 0, 40));
}

# What a session has changed itself, and what has not ended.
my $writer = $node->background_psql('postgres');
$writer->query_safe('BEGIN; UPDATE t SET n = n + 1000 WHERE id % 500 = 1');
is_offloaded($node, $sum, 'beside a transaction');
is($writer->query_safe("SET LOCAL gpuconc.debug_offload = require; SELECT max(n) FROM t"),
	$writer->query_safe("SET LOCAL gpuconc.enabled = off; SELECT max(n) FROM t"), 'its own changes');
$writer->query_safe('COMMIT');
is_offloaded($node, $sum, 'which has ended');
$writer->quit;

# A standby has no trail; it has one as soon as it is promoted, on another timeline.
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('trail_standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
wait_for_worker($standby);
foreach (1 .. 3)
{
	$node->safe_psql('postgres', "UPDATE t SET n = n + 1 WHERE id = $_");
	$node->wait_for_catchup($standby, 'replay');
	is_offloaded($standby, $sum, 'on a standby');
}
$standby->promote;
foreach (1 .. 3)
{
	$standby->safe_psql('postgres', "UPDATE t SET n = n + 1 WHERE id = $_");
	is_offloaded($standby, $sum, 'promoted');
}
looked_at($standby, 1, '', '');
cmp_ok(looked_at($standby, $times, '', ''), '<', $times * $pages / 4, 'a promoted server has a trail');
$standby->stop;

# A crash.
$node->stop('immediate');
$node->start;
wait_for_worker($node);
is_offloaded($node, $sum, 'after a crash');
$node->safe_psql('postgres', 'UPDATE t SET n = n + 1 WHERE id % 100 = 11');
is_offloaded($node, $sum, 'and a write');

# A database that is elsewhere for a while: its tables' files have the same numbers there.
sub move_to
{
	my ($tablespace) = @_;

	# Workers that are still connected make it fail.
	return ok($node->poll_query_until('postgres', "ALTER DATABASE moved SET TABLESPACE $tablespace", 'ALTER DATABASE'), "moved to $tablespace");
}
$node->safe_psql('postgres', $_)
  foreach q{SET allow_in_place_tablespaces = on; CREATE TABLESPACE elsewhere LOCATION ''}, 'CREATE DATABASE moved';
$node->safe_psql('moved', q{
CREATE EXTENSION gpuconc;
CREATE TABLE m AS SELECT i, i % 7 AS n FROM generate_series(1, 30000) AS i;
VACUUM ANALYZE m});
my $moved = 'SELECT count(*), sum(i), sum(n) FROM m';
is_offloaded($node, $moved, 'a table that will be moved', 'moved');
foreach (1 .. 3)
{
	$node->safe_psql('moved', "UPDATE m SET n = n + 1 WHERE i % 10 = $_");
	is_offloaded($node, $moved, 'with hot pages', 'moved');
}
move_to('elsewhere');
$node->safe_psql('moved', 'SET gpuconc.enabled = off; UPDATE m SET n = n + 1 WHERE i % 10 = 5');
move_to('pg_default');
is_offloaded($node, $moved, 'moved there and back', 'moved');
# What is held at last is asked for in the other database.
$node->safe_psql('moved', q{SELECT gpuconc_evict('m')});

# Writers of all kinds.
my ($out, $error) = ('', '');
{
	local %ENV = $node->_get_env(PGDATABASE => 'postgres');

	IPC::Run::run([ 'python3', "$FindBin::RealBin/../bench/fresh/soak", '--for', 12, '--rows', 6000 ], '>', \$out, '2>', \$error);
	is($?, 0, 'no client has failed') or diag substr($error, 0, 3000);
}
note $out;
like($out, qr/^\| wrong answers \| 0 \|$/m, 'no answer is wrong') or diag substr($error, 0, 3000);
nothing_held($node, 'at last');
$node->stop;

# Changes without WAL.
my $minimal = new_server('minimal', "$conf\nwal_level = minimal\nmax_wal_senders = 0");
create_tables($minimal, 5000);
is_offloaded($minimal, $sum, 'with little WAL');
$minimal->safe_psql('postgres', 'UPDATE t SET n = n + 1 WHERE id % 100 = 11');
is_offloaded($minimal, $sum, 'with little WAL, and a write');
$minimal->safe_psql('postgres', q{
BEGIN;
CREATE TABLE kept AS SELECT * FROM t;
TRUNCATE t;
INSERT INTO t SELECT * FROM kept WHERE id % 3 = 0;
COMMIT});
is_offloaded($minimal, $sum, 'without WAL');
$minimal->safe_psql('postgres', 'UPDATE t SET n = n + 1 WHERE id % 9 = 0');
is_offloaded($minimal, $sum, 'without WAL, and a write');
$minimal->stop;

is(log_has($_, qr/PANIC|TRAP|was terminated by signal|could not access status/), 0, 'nothing bad in the log of ' . $_->name)
	foreach ($node, $standby, $minimal);
done_testing();

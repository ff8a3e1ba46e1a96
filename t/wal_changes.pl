# Changes of cached pages are read in the WAL (src/columns/serve/wal_changes.h): no other page is looked at.  Whatever becomes of
# that, answers are right: commits that are not flushed, much WAL, another segment, a crash, a standby and its promotion,
# tables without WAL, and writers of all kinds.

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
gpuconc.debug_wal_bytes = 67108864
gpuconc.loader_workers = 0
max_prepared_transactions = 20
log_statement = none
};
my $node = new_server('wal', "$conf\nwal_writer_delay = 10s\nwal_writer_flush_after = 1GB\nmin_wal_size = 32MB", allows_streaming => 1);
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

# From the first question behind a write on, the WAL is read.
looked_at($node, 1, '', '');
my $times = 10;
cmp_ok(looked_at($node, $times, 'SET gpuconc.debug_wal_changes = off', ''), '>', $times * $pages / 20, 'without the WAL, hot pages are looked at');
cmp_ok(looked_at($node, $times, '', ''), '<', 5 * $times, 'with it, only those that were written to');
is_offloaded($node, $sum, 'with the WAL');
# Where the LSNs of the map do not tell, as from 17.11 and 18.6 on, the same goes for all pages.
my $distrust = 'SET gpuconc.debug_map_lsns = off';
looked_at($node, 1, $distrust, '');
cmp_ok(looked_at($node, $times, "$distrust; SET gpuconc.debug_wal_changes = off", ''), '>', $times * $pages / 2, 'without the WAL and the map, all pages are looked at');
cmp_ok(looked_at($node, $times, $distrust, ''), '<', 5 * $times, 'with the WAL alone, only those that were written to');

# Changes that are committed, and not flushed, are seen at once; the WAL's writer takes its time.
my $hasty = $node->background_psql('postgres');
my $unflushed = 0;
$hasty->query_safe('SET synchronous_commit = off');
foreach (1 .. 20)
{
	$hasty->query_safe("UPDATE t SET n = n + 1 WHERE id = $_ * 1401");
	$unflushed++ if $hasty->query_safe('SELECT pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn()') eq 't';
	is_offloaded($node, $sum, 'behind a commit that is not flushed');
}
cmp_ok($unflushed, '>', 10, 'most commits were not flushed');
$hasty->quit;

# More WAL than its buffers have.
$node->safe_psql('postgres', 'CREATE TABLE much (n int, pad text)');
my $some = q{INSERT INTO much SELECT i, repeat('x', 500) FROM generate_series(1, 1000) AS i};
cmp_ok(looked_at($node, $times, '', $some), '<', 5 * $times, 'nor where there is more of it');
is_offloaded($node, $sum, 'with more of it');

# So much that it is not read any more; another segment; and files that are gone.
my $lost = q{INSERT INTO much SELECT i, repeat('x', 500) FROM generate_series(1, 130000) AS i};
foreach my $what ($lost, 'SELECT pg_switch_wal()', 'CHECKPOINT', "$lost; SELECT pg_switch_wal(); CHECKPOINT; $lost; CHECKPOINT")
{
	$node->safe_psql('postgres', "UPDATE t SET n = n + 1 WHERE id % 1000 = 7");
	$node->safe_psql('postgres', $_) foreach split /; /, $what;
	$node->safe_psql('postgres', "DELETE FROM t WHERE id % 5000 = 9");
	is_offloaded($node, $sum, 'behind ' . substr($what, 0, 40));
}

# A page that the ring has no more: pages that another table's readers have read of since take its place.
$node->safe_psql('postgres', $_) foreach 'CREATE TABLE small AS SELECT i AS id, i AS n FROM generate_series(1, 1000) AS i', 'VACUUM small', 'CREATE TABLE narrow AS SELECT 1 AS n', 'VACUUM narrow';
my $small = 'SELECT count(*), sum(n) FROM small';
is_offloaded($node, 'SELECT sum(n) FROM narrow', 'what is cached takes places of the ring');
is_offloaded($node, $sum, 'before the ring is full');
$node->safe_psql('postgres', 'UPDATE t SET n = n + 1 WHERE id % 10000 = 17');
foreach (1 .. 8)
{
	$node->safe_psql('postgres', "INSERT INTO narrow SELECT i FROM generate_series(1, 50000) AS i; UPDATE small SET n = n + 1 WHERE id = $_");
	is_offloaded($node, $small, 'of the other table');
}
my $before = $node->safe_psql('postgres', 'SELECT pages_looked_at FROM gpuconc_stat');
$node->safe_psql('postgres', "SET gpuconc.debug_offload = require; SET gpuconc.debug_hot_pages = 1000; $sum");
cmp_ok($node->safe_psql('postgres', 'SELECT pages_looked_at FROM gpuconc_stat') - $before, '>', $pages / 20, 'after the ring was full, pages are looked at');
is_offloaded($node, $sum, 'and then');

# A session's own changes, and those of a transaction that has not ended.
my $writer = $node->background_psql('postgres');
$writer->query_safe('BEGIN; UPDATE t SET n = n + 1000 WHERE id % 500 = 1');
is_offloaded($node, $sum, 'beside a transaction');
is($writer->query_safe("SET LOCAL gpuconc.debug_offload = require; SELECT max(n) FROM t"),
	$writer->query_safe("SET LOCAL gpuconc.enabled = off; SELECT max(n) FROM t"), 'its own changes');
$writer->query_safe('COMMIT');
is_offloaded($node, $sum, 'which has ended');
$writer->quit;

# On a standby, what is replayed counts; promoted, it goes on on another timeline.
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('wal_standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
wait_for_worker($standby);
sub looked_at_while_replaying
{
	my ($settings) = @_;
	my $read = 'SELECT pages_looked_at FROM gpuconc_stat';
	my $before;

	foreach (0 .. $times)
	{
		$before = $standby->safe_psql('postgres', $read) if $_ == 1;
		$node->safe_psql('postgres', "UPDATE t SET n = n + 1 WHERE id = 100 + $_ * 37");
		$node->wait_for_catchup($standby, 'replay');
		$standby->safe_psql('postgres', "SET gpuconc.debug_offload = require; SET gpuconc.debug_hot_pages = 1000; $settings; $sum");
	}
	return $standby->safe_psql('postgres', $read) - $before;
}
is_offloaded($standby, $sum, 'on a standby') foreach (1 .. 2);
cmp_ok(looked_at_while_replaying('SET gpuconc.debug_wal_changes = off'), '>', $times * $pages / 20, 'a standby looks at hot pages without the WAL');
cmp_ok(looked_at_while_replaying(''), '<', 5 * $times, 'and with it at those that were written to');
cmp_ok(looked_at_while_replaying($distrust), '<', 5 * $times, 'also without the map');
foreach (1 .. 3)
{
	$node->safe_psql('postgres', "UPDATE t SET n = n + 1 WHERE id = $_");
	$node->wait_for_catchup($standby, 'replay');
	is_offloaded($standby, $sum, 'on a standby that follows');
}
# An older snapshot of a standby is not served what a newer one sees.
my $late = $node->background_psql('postgres');
$late->query_safe('BEGIN; UPDATE t SET n = n + 5000 WHERE id % 3000 = 1');
$node->safe_psql('postgres', 'UPDATE t SET n = n + 1 WHERE id = 77');
$node->wait_for_catchup($standby, 'replay');
my $old = $standby->background_psql('postgres');
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$late->query_safe('COMMIT');
$late->quit;
$node->wait_for_catchup($standby, 'replay');
is_offloaded($standby, $sum, 'on a standby, beside an older snapshot') foreach (1 .. 2);
is($old->query_safe("SET LOCAL gpuconc.debug_offload = require; $sum"), $old->query_safe("SET LOCAL gpuconc.enabled = off; $sum"),
	'and of that one');
$old->query_safe('COMMIT');
$old->quit;
$standby->promote;
foreach (1 .. 3)
{
	$standby->safe_psql('postgres', "UPDATE t SET n = n + 1 WHERE id = $_");
	is_offloaded($standby, $sum, 'promoted');
}
looked_at($standby, 1, '', '');
cmp_ok(looked_at($standby, $times, '', ''), '<', 5 * $times, 'a promoted server reads its WAL');
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
# Columns held at last are asked for in the other database.
$node->safe_psql('moved', q{SELECT gpuconc_evict('m')});

# Writers of all kinds, with the LSNs of the map and commits that are flushed, and without.
foreach my $map ('on', 'off')
{
	my ($out, $error) = ('', '');
	local %ENV = $node->_get_env(PGDATABASE => 'postgres');

	$node->safe_psql('postgres', $_)
	  foreach "ALTER SYSTEM SET gpuconc.debug_map_lsns = $map", "ALTER SYSTEM SET synchronous_commit = $map", 'SELECT pg_reload_conf()';
	IPC::Run::run([ 'python3', "$FindBin::RealBin/../bench/fresh/soak", '--for', 12, '--rows', 6000 ], '>', \$out, '2>', \$error);
	is($?, 0, "no client has failed, map and flushes $map") or diag substr($error, 0, 3000);
	note $error, $out;
	like($out, qr/^\| wrong answers \| 0 \|$/m, "no answer is wrong, map and flushes $map") or diag substr($error, 0, 3000);
}
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

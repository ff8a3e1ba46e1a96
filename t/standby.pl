# A hot standby has its own device: exact answers that follow replay, conflicts with
# recovery, and promotion.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = new_server('primary', "max_standby_streaming_delay = 200ms\nautovacuum = off\n", allows_streaming => 1);

create_tables($primary);
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby, 'replay');
wait_for_worker($standby);
note_memory($standby);

sub follows
{
	my ($message) = @_;

	$primary->wait_for_catchup($standby, 'replay');
	is_offloaded($standby, $_, "on the standby, $message: $_") foreach (@queries);
	is(answer_of($standby, $queries[1], 'require'), answer_of($primary, $queries[1], 'require'), "the primary's answer, $message");
	return;
}

is($standby->safe_psql('postgres', 'SELECT pg_is_in_recovery(), device, state FROM gpuconc_devices'), 't|host|ready', 'a standby has a device');
follows('at first');
foreach my $change (
	q{UPDATE t SET n = n + 1, s = s || 'x' WHERE k IN (1, 7)},
	'DELETE FROM t WHERE id BETWEEN 1000 AND 2000',
	q{INSERT INTO t SELECT i, i % 100, i, '1997-01-01', 'new' FROM generate_series(30001, 31000) AS i},
	'VACUUM t', 'VACUUM FULL t', 'ALTER TABLE t ALTER k TYPE bigint', q{ALTER TABLE dim ADD COLUMN x int DEFAULT 3},
	q{BEGIN; TRUNCATE t; INSERT INTO t SELECT i, i % 100, i, '1997-01-01', 's7' FROM generate_series(1, 5000) AS i; COMMIT},
	'VACUUM t',
	'DROP TABLE t; CREATE TABLE t AS SELECT i AS id, i % 10 AS k, (i / 8.0)::numeric(12,2) AS n, date \'1996-01-01\' + i AS d, \'s\' || i % 17 AS s FROM generate_series(1, 4000) AS i')
{
	$primary->safe_psql('postgres', $change);
	follows($change);
}

# A database that was copied by files, and has the number of one of which the standby has chunks.
my $sum = 'SELECT count(*), sum(k), max(s) FROM t';

$standby->append_conf('postgresql.conf', 'gpuconc.debug_wal_bytes = 100000000');
$standby->reload;
$primary->safe_psql('postgres', 'CREATE DATABASE original');
create_tables($primary, 20000, 'original');
$primary->safe_psql('postgres', 'CREATE DATABASE one TEMPLATE original STRATEGY file_copy OID 200000');
$primary->safe_psql('one', q{UPDATE t SET k = k + 1, s = 'z' WHERE id % 1000 = 0});
$primary->safe_psql('one', 'VACUUM t');
$primary->wait_for_catchup($standby, 'replay');
is_offloaded($standby, $sum, 'a database on the standby', 'one');
$primary->safe_psql('postgres', 'DROP DATABASE one');
$primary->safe_psql('postgres', 'CREATE DATABASE two TEMPLATE original STRATEGY file_copy OID 200000');
$primary->wait_for_catchup($standby, 'replay');
is_offloaded($standby, $sum, 'another one of its number', 'two');
$primary->safe_psql('postgres', "DROP DATABASE $_") foreach ('two', 'original');

# While changes are replayed, each snapshot is one.
$primary->safe_psql('postgres', q{
CREATE TABLE accounts AS SELECT i AS id, 100 AS balance FROM generate_series(1, 5000) AS i;
ALTER TABLE accounts ADD PRIMARY KEY (id);
VACUUM accounts});
$primary->wait_for_catchup($standby, 'replay');
my $directory = $PostgreSQL::Test::Utils::tmp_check;
append_to_file("$directory/transfer.sql", q{
\set a random(1, 5000)
\set b random(1, 5000)
BEGIN;
UPDATE accounts SET balance = balance - 1 WHERE id = least(:a, :b);
UPDATE accounts SET balance = balance + 1 WHERE id = greatest(:a, :b);
COMMIT;
});
append_to_file("$directory/vacuum.sql", "VACUUM accounts;\n\\sleep 100 ms\n");
append_to_file("$directory/audit.sql", q{
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL gpuconc.debug_offload = require;
SELECT sum(balance) AS sum, count(*) AS n, max(balance) AS top FROM accounts \gset
SET LOCAL gpuconc.debug_offload = forbid;
SELECT :sum = 500000 AND :n = 5000 AND max(balance) = :top AS good FROM accounts \gset
COMMIT;
\if :good
\else
SELECT 1 / 0;
\endif
});
my ($out, $error) = ('', '');
# A conflict with recovery may end a reader, so they are started several times; nothing
# else may end one.  Again until there were some: at first, a slow machine compiles kernels.
my $read = 0;
again_until(sub {
	my @writers = map {
		IPC::Run::start([ 'pgbench', '-n', '-c', $_ eq 'vacuum' ? 1 : 3, '-T', '8', '-f', "$directory/$_.sql", $primary->connstr('postgres') ],
			'<', \undef, '>', \my $ignored, '2>', \my $also)
	} ('transfer', 'vacuum');

	for (1 .. 4)
	{
		my $all = '';

		IPC::Run::run([ 'pgbench', '-n', '-c', '4', '-T', '2', '-f', "$directory/audit.sql", $standby->connstr('postgres') ],
			'<', \undef, '>', \$out, '2>', \$all);
		$read += $1 if $out =~ /actually processed: (\d+)/;
		$error .= $all;
	}
	$_->finish foreach (@writers);
	return $read > 20 });
$error =~ s/^.*(?:conflict with recovery|aborted).*$//mg;
unlike($error, qr/division by zero|not offloaded|unexpectedly/, 'a standby that follows: every sum is right') or diag $error;
cmp_ok($read, '>', 20, 'a standby that follows: there were readers');

# a conflict ends a session that waits for the device, at once
my $worker = $standby->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices');
is_offloaded($standby, 'SELECT sum(balance) FROM accounts', 'before a conflict');
suspend_workers($standby, $worker);
my $session = session($standby, 'conflict');
start_query($session, 'SELECT sum(balance) FROM accounts');
wait_until_waiting($standby, 'conflict');
$primary->safe_psql('postgres', 'TRUNCATE accounts');
$primary->wait_for_catchup($standby, 'replay');
ok(1, 'replay is not held up by a session that waits for the device');
kill 'CONT', $worker;
$session->{run}->kill_kill;
is_offloaded($standby, 'SELECT count(*), sum(balance) FROM accounts', 'after a conflict');

# promotion
follows('before promotion');
$standby->promote;
is_offloaded($standby, $_, "promoted: $_") foreach (@queries);
$standby->safe_psql('postgres', q{UPDATE t SET s = 'promoted', k = 1 WHERE id % 5 = 0});
is_offloaded($standby, $_, "promoted and changed: $_") foreach (@queries);
$standby->safe_psql('postgres', 'VACUUM t');
is_offloaded($standby, $_, "promoted and vacuumed: $_") foreach (@queries);
# Nobody has told a standby's cache of dropped tables: whoever looks finds them gone.
is($standby->safe_psql('postgres', 'SELECT count(*) FROM gpuconc_cache WHERE relid NOT IN (SELECT oid FROM pg_class)'),
	'0', 'dropped tables are not cached');
nothing_held($standby, 'promoted');
is(log_has($_, qr/PANIC|TRAP|was terminated by signal/), 0, 'nothing bad in the log of ' . $_->name) foreach ($primary, $standby);

$standby->stop;
$primary->stop;
done_testing();

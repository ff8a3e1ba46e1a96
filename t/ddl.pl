# Cached columns of tables and databases that are dropped, copied, moved or rewritten:
# no stale answer, no memory left behind.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('ddl');
create_tables($node);

sub cached
{
	my ($database) = @_;

	return $node->safe_psql('postgres', qq{
SELECT count(*) FROM gpuconc_cache_columns() AS c JOIN pg_database AS d ON d.oid = datid WHERE datname = '$database'});
}

sub all_offloaded
{
	my ($message, $database) = @_;

	is_offloaded($node, $_, "$message: $_", $database) foreach (@queries);
	return;
}

all_offloaded('before');
cmp_ok(cached('postgres'), '>', 0, 'something is cached');

#-------------------------------------------------------------------------
# databases
#-------------------------------------------------------------------------
foreach my $strategy ('wal_log', 'file_copy')
{
	$node->safe_psql('postgres', "CREATE DATABASE a STRATEGY $strategy");
	create_tables($node, 20000, 'a');
	all_offloaded("a database, $strategy", 'a');
	# The copy has the same file numbers, and then other rows.
	$node->safe_psql('postgres', "CREATE DATABASE b TEMPLATE a STRATEGY $strategy");
	all_offloaded("a copy, $strategy", 'b');
	$node->safe_psql('b', 'UPDATE t SET n = n + 1, s = s || 7, k = k / 2; VACUUM t');
	all_offloaded("a changed copy, $strategy", 'b');
	all_offloaded("its template, $strategy", 'a');
	$node->safe_psql('a', q{DELETE FROM t WHERE id % 2 = 0; UPDATE dim SET name = 'new' || name; VACUUM t, dim});
	all_offloaded("its changed template, $strategy", 'a');
	all_offloaded("and the copy, $strategy", 'b');

	my $offset = $node->safe_psql('postgres', q{SELECT oid FROM pg_database WHERE datname = 'b'});
	$node->safe_psql('postgres', 'DROP DATABASE b');
	is($node->safe_psql('postgres', "SELECT count(*) FROM gpuconc_cache WHERE datid = $offset"),
		'0', "DROP DATABASE forgets, $strategy");
	$node->safe_psql('postgres', "CREATE DATABASE b TEMPLATE a STRATEGY $strategy");
	all_offloaded("made anew, $strategy", 'b');
	$node->safe_psql('postgres', 'ALTER DATABASE b RENAME TO c');
	all_offloaded("renamed, $strategy", 'c');
	$node->safe_psql('postgres', 'DROP DATABASE a; DROP DATABASE c WITH (FORCE)');
	nothing_held($node, "databases, $strategy");
}

#-------------------------------------------------------------------------
# tablespaces
#-------------------------------------------------------------------------
my $place = "$PostgreSQL::Test::Utils::tmp_check/place";
mkdir $place;
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$place'");
all_offloaded('here');
$node->safe_psql('postgres', 'ALTER TABLE t SET TABLESPACE elsewhere');
all_offloaded('moved');
$node->safe_psql('postgres', q{UPDATE t SET s = 'there' WHERE k = 7; VACUUM t});
all_offloaded('moved and changed');
$node->safe_psql('postgres', 'ALTER TABLE t SET TABLESPACE pg_default; DROP TABLESPACE elsewhere');
all_offloaded('moved back');
$node->safe_psql('postgres', 'CREATE DATABASE d');
create_tables($node, 5000, 'd');
mkdir "$place.d";
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$place.d'");
all_offloaded('before ALTER DATABASE', 'd');
$node->safe_psql('postgres', 'ALTER DATABASE d SET TABLESPACE elsewhere');
$node->safe_psql('d', 'UPDATE t SET k = 99 - k; VACUUM t');
all_offloaded('after ALTER DATABASE', 'd');
$node->safe_psql('postgres', 'DROP DATABASE d; DROP TABLESPACE elsewhere');

#-------------------------------------------------------------------------
# tables, with a session that has its plans prepared
#-------------------------------------------------------------------------
my $session = $node->background_psql('postgres');
$session->query_safe('SET gpuconc.debug_offload = require; SET plan_cache_mode = force_generic_plan');

sub prepare_all
{
	$session->query_safe('DEALLOCATE ALL');
	$session->query_safe("PREPARE q$_ AS $queries[$_]") for (0 .. $#queries);
	return;
}

prepare_all();
foreach my $change (
	'VACUUM FULL t',
	'CLUSTER dim USING dim_pkey',
	'ALTER TABLE t ALTER k TYPE bigint',
	'ALTER TABLE t ALTER n TYPE numeric(14,4)',
	'ALTER TABLE t ADD COLUMN extra int DEFAULT 7',
	'ALTER TABLE t DROP COLUMN extra',
	q{BEGIN; TRUNCATE t; INSERT INTO t SELECT i, i % 50, i / 3.0, '1999-01-01', 's7' FROM generate_series(1, 3000) AS i; COMMIT},
	q{BEGIN; TRUNCATE t; ROLLBACK},
	q{ALTER TABLE t RENAME TO t_old; CREATE TABLE t AS SELECT id + 1 AS id, k, n, d, s FROM t_old},
	q{ALTER TABLE dim RENAME COLUMN name TO name2; ALTER TABLE dim ADD COLUMN name text DEFAULT 'same'},
	'ALTER TABLE t SET UNLOGGED', 'ALTER TABLE t SET LOGGED',
	'REFRESH MATERIALIZED VIEW m',
	'DROP TABLE t_old',
	'DO $$ BEGIN UPDATE t SET k = k + 1; RAISE EXCEPTION \'undone\'; EXCEPTION WHEN OTHERS THEN NULL; END $$')
{
	$node->safe_psql('postgres', 'CREATE MATERIALIZED VIEW IF NOT EXISTS m AS SELECT * FROM t') if $change =~ /MATERIALIZED/;
	$node->safe_psql('postgres', $change);
	# PostgreSQL's cached plans must not change the types of their results.
	prepare_all() if $change =~ /TYPE|TABLE t AS/;
	# Pages of unlogged tables have no LSN that would prove anything.
	$session->query_safe('SET gpuconc.debug_offload = ' . ($change =~ /UNLOGGED/ ? 'allow' : 'require'));
	foreach my $n (0 .. $#queries)
	{
		is($session->query_safe("EXECUTE q$n"), answer_of($node, $queries[$n], 'forbid'), "$change: q$n");
	}
	$node->safe_psql('postgres', 'VACUUM t, dim');
	is($session->query_safe("EXECUTE q$_"), answer_of($node, $queries[$_], 'forbid'), "$change, VACUUM: q$_") for (1, 2);
}
$session->quit;

# prepared transactions that drop, and those that do not
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 2');
$node->stop;
start_server($node);
all_offloaded('before PREPARE TRANSACTION');
$node->safe_psql('postgres', q{BEGIN; DELETE FROM t WHERE id % 3 = 0; PREPARE TRANSACTION 'p'});
all_offloaded('prepared');
$node->safe_psql('postgres', q{COMMIT PREPARED 'p'});
all_offloaded('committed');
$node->safe_psql('postgres', q{BEGIN; DROP TABLE dim CASCADE; PREPARE TRANSACTION 'p'});
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'p'});
all_offloaded('not dropped');

# Drops that a subtransaction has undone are forgotten with the transaction: the next one notes its own in memory of its own.
foreach my $undone (3, 10, 20)
{
	$node->safe_psql('postgres', join '', map {
		'BEGIN;' . 'SAVEPOINT s;' x $undone . 'DROP TABLE t CASCADE; ROLLBACK TO s; COMMIT;'
		. 'BEGIN;' . 'SAVEPOINT s;' x (10 * $_) . 'DROP TABLE t CASCADE;' . 'SAVEPOINT s;' x 20 . 'ROLLBACK;'
	} 1 .. 4);
}
all_offloaded('dropped and undone');
nothing_held($node, 'after DDL');
$node->safe_psql('postgres', 'SELECT gpuconc_prewarm(\'t\')');
$node->safe_psql('postgres', 'DROP TABLE t CASCADE');
is($node->safe_psql('postgres', q{SELECT count(*) FROM gpuconc_cache WHERE relation = 'dim'::regclass OR relation IS NOT NULL}), '0', 'nothing is cached of a dropped table');
nothing_held($node, 'after DROP TABLE');

$node->stop;
done_testing();

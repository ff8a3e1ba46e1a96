# A hot standby loads and serves by its own visibility map.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use ColumnsTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = new_server('primary', "gpuconc.loader_workers = 2\nmax_standby_streaming_delay = 1s\n",
	allows_streaming => 1);

$primary->safe_psql('postgres',
	"CREATE TABLE t AS SELECT i AS id, i % 10 AS n, 't' || i % 10 AS t FROM generate_series(1, 20000) AS i");
$primary->safe_psql('postgres', 'VACUUM t');
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby, 'replay');

sub served
{
	return $standby->safe_psql('postgres', "SELECT served > 0, complete FROM gpuconc_columns_test_served('t')");
}

is_exact($standby, 't', 'loaded on a standby');
is(served(), 't|t', 'served on a standby');

# changes on the primary, seen as they are replayed
foreach my $change (
	'UPDATE t SET n = n + 1 WHERE id IN (1, 10000, 20000)',
	'DELETE FROM t WHERE id BETWEEN 5000 AND 5100',
	"INSERT INTO t SELECT i, i, 'new' FROM generate_series(20001, 21000) AS i")
{
	$primary->safe_psql('postgres', $change);
	$primary->wait_for_catchup($standby, 'replay');
	is_exact($standby, 't', $change, ', load => false');
	is(served(), 't|f', "a part is served after $change");
}
$primary->safe_psql('postgres', 'VACUUM t');
$primary->wait_for_catchup($standby, 'replay');
is_exact($standby, 't', 'after VACUUM, without a reload', ', load => false');
is_exact($standby, 't', 'after VACUUM');
is(served(), 't|t', 'all is served after VACUUM');

# new files
foreach my $change (
	'VACUUM FULL t', 'ALTER TABLE t ALTER n TYPE int8',
	"ALTER TABLE t ADD COLUMN c int DEFAULT 5",
	"BEGIN; TRUNCATE t; INSERT INTO t SELECT i, i, 'x' FROM generate_series(1, 1000) AS i; COMMIT",
	'DROP TABLE t; CREATE TABLE t AS SELECT i AS id FROM generate_series(1, 500) AS i')
{
	$primary->safe_psql('postgres', $change);
	$primary->wait_for_catchup($standby, 'replay');
	is_exact($standby, 't', $change);
	$primary->safe_psql('postgres', 'VACUUM t');
	$primary->wait_for_catchup($standby, 'replay');
	is_exact($standby, 't', "$change; VACUUM");
	is(served(), 't|t', "$change: served");
}

# promotion changes nothing
$standby->promote;
is_exact($standby, 't', 'after promotion', ', load => false');
is(served(), 't|t', 'served after promotion');
$standby->safe_psql('postgres', 'UPDATE t SET id = -id WHERE id = 1');
is_exact($standby, 't', 'changed after promotion', ', load => false');

$standby->stop;
$primary->stop;
done_testing();

# A base keeps versions that were open (src/columns/serve/amend.c).  VACUUM may freeze their page since, and pg_xact forget their
# transactions: they are not asked for any more.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('forgotten', q{
gpuconc.debug_hot_pages = 1
gpuconc.loader_workers = 0
}, start => 0);

# The next transactions are the last ones of a file of pg_xact, which is made here as far as it was skipped.
my $of_file = 1048576;
$node->start;
$node->stop;
command_ok([ 'pg_resetwal', '-x', 3 * $of_file - 100, $node->data_dir ], 'near the end of a file of pg_xact');
append_to_file($node->data_dir . '/pg_xact/0002', "\0" x ($of_file / 4));
start_server($node);

my $query = 'SELECT count(*), sum(n) FROM t';
my $require = "SET gpuconc.debug_offload = require; $query";
$node->safe_psql('postgres', 'CREATE TABLE t AS SELECT i AS id, i AS n FROM generate_series(1, 20000) AS i');
$node->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) t');
$node->safe_psql('postgres', 'UPDATE t SET n = n + 1 WHERE id = 1');

# One in progress for the base, which commits.
my $writer = $node->background_psql('postgres');
$writer->query_safe('BEGIN; UPDATE t SET n = n + 5 WHERE id = 7');
my $writers_xid = $writer->query_safe('SELECT pg_current_xact_id()');
$node->safe_psql('postgres', "$require; $query");
my ($versioned, $delta) = pages_of($node, $query);
is("$versioned $delta", '2 0', 'hot pages are served by version');
$writer->query_safe('COMMIT');
cmp_ok($writers_xid, '<', 3 * $of_file, 'its id is in the file');

# The next file begins, and another writer keeps both pages from becoming all-visible: so it stays the base.
$node->safe_psql('postgres', 'SELECT pg_current_xact_id()') foreach (1 .. 120);
$writer->query_safe('BEGIN; UPDATE t SET n = n + 100 WHERE id IN (8, 20000)');
$node->safe_psql('postgres', 'UPDATE pg_database SET datallowconn = true');
$node->safe_psql($_, 'VACUUM (FREEZE)') foreach ('template0', 'template1', 'postgres', 'template1', 'postgres');
ok(!-e $node->data_dir . '/pg_xact/0002', 'the file is gone');

is_offloaded($node, $query, 'a base whose transactions are forgotten');
$writer->query_safe('COMMIT');
is_offloaded($node, $query, 'and another writer has committed');
$writer->quit;
$node->stop;
done_testing();

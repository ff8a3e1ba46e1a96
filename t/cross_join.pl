# A cross join of 10^12 pairs: others are answered meanwhile, it is cancelled, and nothing of it stays.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('cross_join', "max_parallel_workers_per_gather = 0\n");
$node->safe_psql('postgres', q{
CREATE TABLE million AS SELECT i AS id, i * 7919::bigint % 1000003 AS v FROM generate_series(1, 1000000) i;
CREATE TABLE small AS SELECT i AS id, i % 7 AS g FROM generate_series(1, 5000) i;
VACUUM ANALYZE million, small});
my $pairs = 'SELECT count(*), sum(a.v) FROM million a, million b WHERE a.v + b.v < a.id + b.id';
my $other = 'SELECT g, count(*), sum(id) FROM small GROUP BY g ORDER BY g';

# Both tables are loaded, and kernels compiled, before: the pairs' by the same join of few rows.
is_offloaded($node, $other, 'alone');
is_offloaded($node, "$pairs AND a.id <= 50 AND b.id <= 50", 'a few of the pairs');
my $session = session($node, 'pairs');
ask($session, $pairs);
wait_until($node, q{SELECT running > 0 FROM gpuconc_devices});
wait_until_waiting($node, '^pairs');
is_offloaded($node, $other, "another session is answered meanwhile, $_") foreach (1 .. 3);
wait_until($node, q{SELECT running = 1 FROM gpuconc_devices}, 'while the pairs are tried');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'pairs'});
like(rows_of($session), qr/canceling statement due to user request/, 'the join is cancelled');
wait_until($node, q{SELECT running = 0 FROM gpuconc_devices}, 'and the device stops to try pairs');
is_offloaded($node, $other, 'the next one is answered');
$session->quit;
nothing_held($node, 'a cross join that was cancelled');
$node->stop;
done_testing();

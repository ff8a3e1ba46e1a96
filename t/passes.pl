# Builds and groups that do not fit into device memory: requests run in passes.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('passes', "gpuconc.device_memory_limit = 1MB\nmax_parallel_workers_per_gather = 0");

# Keys are missing on either side, come twice, are NULL, or are of text; `wide` ones are too sparse for an array.
$node->safe_psql('postgres', q{
CREATE TABLE a AS SELECT i AS id, (i * 7919::bigint) % 26003 AS k, i % 11 AS m,
	CASE WHEN i % 50 <> 0 THEN i % 45000 END AS n, 'text ' || i % 30000 AS t
	FROM generate_series(1, 40000) AS i;
CREATE TABLE b AS SELECT i * 1000003::bigint AS wide, i % 23000 AS twice, i % 11 AS m,
	CASE WHEN i % 40 <> 0 THEN i END AS n, 'text ' || i AS t, i AS id, i * 31::bigint AS v, i % 5001 * 1000003::bigint AS sparse
	FROM generate_series(1, 50000) AS i;
VACUUM ANALYZE a, b});

my $sums = 'count(*), sum(a.id), sum(b.id), sum(b.v), count(b.v)';
my $wide = 'a.k * 1000003 = b.wide';
my @passing = (
	# kinds of join
	"SELECT $sums FROM a JOIN b ON $wide",
	"SELECT $sums FROM a LEFT JOIN b ON $wide",
	"SELECT $sums FROM a FULL JOIN b ON $wide",
	"SELECT count(*), sum(id) FROM a WHERE NOT EXISTS (SELECT FROM b WHERE $wide)",
	"SELECT count(*), sum(id) FROM a WHERE EXISTS (SELECT FROM b WHERE $wide AND b.id > a.id)",
	# keys: repeated, NULL, text, of several columns
	"SELECT $sums FROM a JOIN b ON a.k = b.twice",
	"SELECT $sums FROM a LEFT JOIN b ON a.k = b.twice AND b.v > a.n",
	"SELECT $sums FROM a FULL JOIN b ON a.t = b.t",
	"SELECT $sums FROM a LEFT JOIN b ON a.n = b.n AND a.m = b.m AND a.t = b.t",
	# rows, in an order, and groups
	"SELECT a.id, b.id FROM a JOIN b ON $wide ORDER BY b.id DESC, 1 LIMIT 10",
	"SELECT a.m, $sums FROM a LEFT JOIN b ON $wide GROUP BY a.m ORDER BY 1",
	'SELECT k, count(*), sum(id), min(n), bit_xor(id) FROM a GROUP BY k ORDER BY 1',
	'SELECT k, count(*) FROM a GROUP BY k HAVING count(*) > 1 ORDER BY 2 DESC, 1 LIMIT 20',
	'SELECT m, k, count(*), sum(id) FROM a GROUP BY ROLLUP (m, k) ORDER BY 1, 2, 3, 4',
	"SELECT a.k, $sums FROM a JOIN b ON a.k = b.twice GROUP BY a.k ORDER BY 1",
	# several builds: with different keys, with the same
	"SELECT $sums, sum(c.id) FROM a JOIN b ON $wide JOIN b AS c ON a.id * 1000003::bigint = c.wide",
	"SELECT count(*), sum(id) FROM a WHERE EXISTS (SELECT FROM b WHERE $wide) AND NOT EXISTS (SELECT FROM b AS c WHERE a.k * 1000003 = c.wide AND c.v > 400000)",
	# groups of subqueries: scanned, joined, with others like them
	'SELECT sum(c), count(*) FROM (SELECT k, count(*) AS c FROM a GROUP BY k) AS g',
	'SELECT m, sum(c), sum(s), count(*) FROM a LEFT JOIN (SELECT twice, count(*) AS c, sum(id) AS s FROM b GROUP BY twice) AS g ON twice = k GROUP BY m ORDER BY 1',
	'SELECT count(*), sum(a.id), sum(s) FROM a JOIN (SELECT c.k, sum(b.id) AS s FROM a AS c JOIN b ON c.n = b.n GROUP BY c.k HAVING sum(b.id) > 3000) AS x ON x.k = a.k',
	# groups that several pipelines scan are whole in each pass
	'WITH g AS (SELECT sparse AS x, sum(id) AS s FROM b GROUP BY sparse) SELECT count(*), sum(p.s), sum(q.s), sum(a.id) FROM g AS p JOIN g AS q ON p.x = q.x + 1000003 JOIN a ON a.k * 1000003 = p.x JOIN b ON a.id * 1000003::bigint = b.wide',
	# so are rows that several pipelines read, which all passes of their own pipeline have added to
	"WITH w AS MATERIALIZED (SELECT a.id, a.m, b.v FROM a LEFT JOIN b ON $wide WHERE a.id < 4000) SELECT x.m, count(*), sum(x.id), sum(y.v) FROM w AS x JOIN w AS y ON x.id = y.id + 1 GROUP BY x.m ORDER BY 1",
	"WITH w AS MATERIALIZED (SELECT id, k, m FROM a WHERE id < 5000) SELECT $sums FROM w AS a LEFT JOIN b ON $wide JOIN w AS c ON c.id = a.id + 1");

foreach my $query (@passing)
{
	my $before = stat_of($node, 'in_passes');

	is_offloaded($node, $query, $query);
	is(stat_of($node, 'in_passes'), $before + 1, '... in passes');
}
# Windows over groups are the session's if the device cannot keep all of them, however dear that is.
my $windows = 'SELECT k, sum(count(*)) OVER (ORDER BY k ROWS 2 PRECEDING), rank() OVER (ORDER BY count(*), k) FROM a GROUP BY k ORDER BY k';
my $dear = 'SET gpuconc.debug_build_cost = 0; SET gpuconc.debug_tuple_cost = 0; SET cpu_operator_cost = 1';
is($node->safe_psql('postgres', "$dear; SET gpuconc.debug_offload = require; $windows"),
	$node->safe_psql('postgres', "SET gpuconc.debug_offload = forbid; $windows"), 'windows over groups in passes');
like($node->safe_psql('postgres', "SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, COSTS OFF) $passing[0]"),
	qr/passes=[2-9]/, 'EXPLAIN shows passes');
unlike($node->safe_psql('postgres', 'SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, COSTS OFF) SELECT count(*) FROM a WHERE m = 3'),
	qr/passes=/, 'what fits has one');

# One key in most rows of a build: hashing does not help, and PostgreSQL answers.
$node->safe_psql('postgres', 'CREATE TABLE skewed AS SELECT CASE WHEN i % 10 = 0 THEN i ELSE 5 END * 1000003::bigint AS k, i FROM generate_series(1, 30000) AS i; VACUUM ANALYZE skewed');
is_answered($node, 'SELECT count(*), sum(i) FROM a JOIN skewed AS s ON s.k = a.id * 1000003::bigint', 'skewed keys');

# Rows that are kept are not split.
is_answered($node, 'WITH w AS MATERIALIZED (SELECT id, wide, twice, v, sparse FROM b WHERE v > 31) SELECT count(*), sum(x.v), sum(y.wide), sum(y.sparse), sum(x.twice) FROM w AS x JOIN w AS y ON x.id = y.id + 1', 'rows that do not fit');

# PostgreSQL answers a query that raises an error in one pass.
my ($status, $out, $error) = $node->psql('postgres', "SET gpuconc.debug_offload = prefer; SELECT sum(1 / (b.id - 19500)) FROM a JOIN b ON $wide");
like($error, qr/division by zero/, 'PostgreSQL raises the error of a pass');

my ($two_builds) = grep { $passing[$_] =~ /c\.wide$/ } 0 .. $#passing;

# Sessions share the little there is, each for a part of its own time.
my $script = "$PostgreSQL::Test::Utils::tmp_check/passes.sql";
append_to_file($script, join ";\n", 'SET gpuconc.debug_offload = require', @passing[0, 2, 3, 10, 14], '');
$node->command_checks_all([ 'pgbench', '-n', '-c', '4', '-j', '2', '-t', '2', '-f', $script, $node->connstr('postgres') ],
	0, [qr/number of failed transactions: 0 /], [qr/^/], 'four sessions');
foreach my $query (@passing[0, 2])
{
	is_offloaded($node, $query, "after them: $query");
}

# A session leaves between passes.
for my $timeout (5, 20, 60)
{
	($status, $out, $error) = $node->psql('postgres',
		"SET gpuconc.debug_offload = require; SET statement_timeout = $timeout; $passing[$two_builds]");
	like($error, qr/^$|canceling statement/, "cancelled after $timeout ms");
}
wait_until($node, 'SELECT running = 0 FROM gpuconc_devices', 'nothing runs');
is_offloaded($node, $passing[$two_builds], 'the next request runs');
nothing_held($node, 'after all');
done_testing();

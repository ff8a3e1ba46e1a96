# Columns that do not fit into device memory: requests scan tables in waves of chunks.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# A server with a device that has this much memory of its own, and many small chunks.
sub small_device
{
	my ($name, $limit, $conf) = @_;

	return new_server($name, qq{
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.device_memory_limit = $limit
max_parallel_workers_per_gather = 0
} . ($conf // ''));
}

# The fact table has a delta, hot pages and NULLs; `o` makes builds that are large themselves.
my $tables = q{
CREATE TABLE dates (day int PRIMARY KEY, year int, month text);
INSERT INTO dates SELECT i, 1992 + i / 365, 'm' || i % 12 FROM generate_series(0, 2555) AS i;
CREATE TABLE parts (part int PRIMARY KEY, brand text, maker int);
INSERT INTO parts SELECT i, 'brand' || i % 40, i % 5 FROM generate_series(1, 2000) AS i;
CREATE TABLE lo (id int, day int, part int, cust int, qty int, discount int, price bigint, revenue numeric(12,2), mode text, note int);
INSERT INTO lo SELECT i, i * 7919::bigint % 2556, i * 31::bigint % 2000 + 1, i * 1237::bigint % 30000, i % 50 + 1, i % 11,
	i * 104729::bigint % 1000003, i % 90000 / 7.0, 'mode ' || i % 7, CASE WHEN i % 13 <> 0 THEN i % 1000 END
	FROM generate_series(1, 150000) AS i;
CREATE TABLE o AS SELECT i AS cust, i * 1000003::bigint AS wide, i % 25 AS nation, 'seg ' || i % 5 AS segment, i * 17::bigint % 99991 AS balance,
	i % 300 AS a, i % 70000 AS b FROM generate_series(0, 59999) AS i;
VACUUM ANALYZE dates, parts, lo, o};

my $node = small_device('waves', '4MB');
$node->safe_psql('postgres', "$tables; UPDATE lo SET qty = qty WHERE id % 30000 = 5");

# Offloaded, in more than one wave, with PostgreSQL's answer.
sub in_waves
{
	my ($query, $message) = @_;
	my ($waves, $bytes) = (stat_of($node, 'waves'), stat_of($node, 'wave_bytes'));

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is_offloaded($node, $query, $message // $query);
	cmp_ok(stat_of($node, 'waves') - $waves, '>', 1, '... in waves');
	return stat_of($node, 'wave_bytes') - $bytes;
}

my @star = (
	'SELECT sum(price * discount) FROM lo, dates WHERE lo.day = dates.day AND year = 1993 AND discount BETWEEN 1 AND 3 AND qty < 25',
	'SELECT sum(revenue), year, brand FROM lo JOIN dates USING (day) JOIN parts USING (part) WHERE maker = 1 GROUP BY year, brand ORDER BY year, brand',
	'SELECT nation, mode, count(*), sum(revenue), max(note) FROM lo JOIN o USING (cust) JOIN dates USING (day) WHERE year > 1994 GROUP BY nation, mode ORDER BY 1, 2',
	'SELECT year, nation, sum(revenue - price) FROM lo JOIN o USING (cust) JOIN parts USING (part) JOIN dates USING (day) WHERE maker < 2 GROUP BY year, nation ORDER BY 1, 2');
my @others = (
	# rows, in an order, and few of many
	'SELECT id, day, revenue, mode FROM lo WHERE qty = 7 AND discount = 3 AND note < 40 ORDER BY id',
	'SELECT id, price, note FROM lo ORDER BY price DESC, id LIMIT 9',
	'SELECT sum(id), avg(revenue), count(note), min(mode), max(price), sum(day), sum(part) FROM lo',
	# groups: many, and of several keys
	'SELECT part, count(*), sum(revenue), sum(price), min(day) FROM lo GROUP BY part ORDER BY part',
	'SELECT day, mode, qty, count(*), sum(price) FROM lo WHERE part < 300 GROUP BY day, mode, qty HAVING count(*) > 1 ORDER BY 1, 2, 3',
	# joins of other kinds
	'SELECT count(*), sum(id), sum(price) FROM lo WHERE EXISTS (SELECT FROM o WHERE o.cust = lo.cust AND nation = 3 AND balance > lo.qty)',
	'SELECT count(*), sum(lo.price), sum(balance), sum(note), sum(day) FROM lo LEFT JOIN o ON o.cust = lo.cust AND nation < 9',
	# groups of a subquery, scanned; arms of UNION ALL
	'SELECT count(*), sum(c), max(s) FROM (SELECT cust, count(*) AS c, sum(price) AS s, min(revenue) AS r FROM lo WHERE day < 900 GROUP BY cust) AS g WHERE r > 10',
	'SELECT k, count(*), sum(v), sum(w) FROM (SELECT day AS k, price AS v, part AS w FROM lo JOIN dates USING (day) WHERE year > 1993 UNION ALL SELECT a, balance, maker FROM o JOIN parts ON part = a + 1) AS u GROUP BY k ORDER BY k');

in_waves($_) foreach (@star, @others);

# Builds queue all their waves at once, which hold what they keep in memory until they are done.
in_waves($_) foreach (
	'SELECT o.cust, balance, sum(price) FROM lo JOIN o USING (cust) WHERE cust IN (SELECT cust FROM lo GROUP BY cust HAVING sum(qty) > 150) GROUP BY o.cust, balance ORDER BY 3 DESC, 1 LIMIT 9',
	'SELECT c.cust, o.wide, a.b, sum(lo.qty) FROM o AS c, o, lo, o AS a WHERE lo.id % 60000 IN (SELECT id % 60000 FROM lo GROUP BY id % 60000 HAVING sum(qty) > 120) AND o.cust = lo.cust AND c.cust = o.nation AND a.cust = o.a GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 9');

my $plan = $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, COSTS OFF) $star[1]");
like($plan, qr/ waves=(?:[2-9]|\d\d+) waves copied=\d+kB(?! waves shared)/, 'EXPLAIN shows waves');
unlike($node->safe_psql('postgres', 'SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, COSTS OFF) SELECT count(*) FROM dates WHERE year = 1994'),
	qr/waves=/, 'what fits has none');

# The timeline shows when waves were copied, and when they were computed.
my $timeline = q{
FROM (SELECT e ->> 'cat' AS cat, (e ->> 'pid')::int AS pid, (e ->> 'tid')::int AS tid, (e ->> 'ts')::float8 AS ts, (e ->> 'dur')::float8 AS dur, e -> 'args' AS args
	FROM jsonb_array_elements(gpuconc_timeline(100)::jsonb -> 'traceEvents') AS e WHERE e ->> 'ph' = 'X' AND e -> 'args' ? 'wave') AS x};
is($node->safe_psql('postgres', "SELECT cat, min(ts) >= 0, min(dur) >= 0, max(dur) > 0, max(ts) < 3.6e9, count(*) = count(DISTINCT args -> 'wave') $timeline GROUP BY cat ORDER BY cat"),
	"copies|t|t|t|t|t\nkernels of a wave|t|t|t|t|t", 'the timeline has waves');
is($node->safe_psql('postgres', qq{
SELECT bool_and((args ->> 'kB')::int > 0) FILTER (WHERE cat = 'copies'), bool_and((args ->> 'requests')::int = 1), count(*) FILTER (WHERE cat <> 'copies') > 100 $timeline}),
	't|t|t', 'with what they copied, and for how many');
is($node->safe_psql('postgres', "SELECT count(*) FROM (SELECT args -> 'wave' AS wave, max(ts + dur) FILTER (WHERE cat = 'copies') AS copied, min(ts) FILTER (WHERE cat <> 'copies') AS ran $timeline GROUP BY 1) AS w WHERE ran < copied - 0.01"),
	'0', 'kernels come after the copies');
$node->safe_psql('postgres', 'CREATE ROLE other LOGIN');
is($node->safe_psql('postgres', "SET ROLE other; SELECT count(*) $timeline"), '0', 'others do not see them');

# The timeline shows copies outside waves, too: of columns that are loaded whole, of a lookup table, and of a large result.
my $roomy = small_device('roomy', '64MB');
$roomy->safe_psql('postgres', q{CREATE TABLE whole AS SELECT i AS a, i % 997 AS b, 'text ' || i % 500 AS t FROM generate_series(1, 20000) AS i; VACUUM ANALYZE whole});
sub copies_of
{
	my ($what) = @_;

	return "FROM (SELECT e -> 'args' AS args, (e ->> 'dur')::float8 AS dur, (e ->> 'ts')::float8 AS ts
		FROM jsonb_array_elements(gpuconc_timeline(100)::jsonb -> 'traceEvents') AS e WHERE e ->> 'ph' = 'X' AND e ->> 'cat' = 'copies' AND e ->> 'name' = '$what') AS x";
}
is_offloaded($roomy, 'SELECT sum(a), sum(b) FROM whole', 'columns are loaded whole');
is($roomy->safe_psql('postgres', "SELECT count(*), sum((args ->> 'column_kB')::numeric) / (SELECT sum(host_bytes) / 1024 FROM gpuconc_cache WHERE relation = 'whole'::regclass AND column_name IN ('a', 'b')) BETWEEN 0.9 AND 1,
	sum((args ->> 'lookup_kB')::numeric), bool_and(dur > 0 AND ts >= 0) " . copies_of('columns')), '1|t|0.0|t', 'the timeline has their copies');
is_offloaded($roomy, 'SELECT sum(a), sum(b) FROM whole', 'columns are there');
is($roomy->safe_psql('postgres', 'SELECT count(*) ' . copies_of('columns')), '1', 'what is there is not copied');
is_offloaded($roomy, "SELECT count(*) FROM whole WHERE t LIKE '%9%4'", 'a lookup table');
is($roomy->safe_psql('postgres', "SELECT count(*) " . copies_of('columns') . " WHERE (args ->> 'lookup_kB')::numeric > 0"), '1', 'the timeline has its copy');
is($roomy->safe_psql('postgres', 'SELECT count(*) ' . copies_of('result')), '0', 'small results are not told');
is_offloaded($roomy, 'SELECT a, b, t FROM whole WHERE b <> 5 ORDER BY a', 'a large result');
is($roomy->safe_psql('postgres', "SELECT count(*), bool_and((args ->> 'kB')::numeric > 400 AND dur > 0) " . copies_of('result')), '1|t', 'the timeline has its copy');
$roomy->stop;

#-------------------------------------------------------------------------
# Cached columns are used where they are, and a scan does not drop chunks that it is about to need
#-------------------------------------------------------------------------
in_waves($others[2], 'once more');
my $again = in_waves($others[2], 'and again');
my $all = $node->safe_psql('postgres', q{
SELECT sum(host_bytes) FROM gpuconc_cache WHERE relation = 'lo'::regclass AND column_name IN ('id', 'revenue', 'note', 'mode', 'price', 'day', 'part')});
cmp_ok($again, '<', 0.95 * $all, 'part of the columns stays in device memory');
cmp_ok($again, '>', 0.2 * $all, 'and part of them does not');

#-------------------------------------------------------------------------
# Sessions share what is copied
#-------------------------------------------------------------------------
my @sessions = map { session($node, "waves$_") } (0 .. 3);
my @same = map { "SELECT sum(id), avg(revenue), count(note), max(price) FROM lo WHERE qty <> $_" } (1 .. 4);
my $alone = in_waves($same[0], 'alone');
my ($bytes, $shared) = (stat_of($node, 'wave_bytes'), stat_of($node, 'wave_bytes_shared'));
answered_together($node, \@sessions, 'four at once', undef, undef, @same);
cmp_ok(stat_of($node, 'wave_bytes') - $bytes, '<', 2 * $alone, 'four at once: copied for all of them');
cmp_ok(stat_of($node, 'wave_bytes_shared') - $shared, '>', 0.5 * $alone, 'four at once: and that is counted');

# Other columns each, some for few chunks, with groups and rows
foreach my $round ([ @star ], [ @others[0 .. 3] ], [ @same[0, 1], $star[0], 'SELECT count(*), sum(price) FROM lo WHERE id < 3000 AND qty < 9' ])
{
	answered_together($node, \@sessions, 'others at once', undef, undef, @$round);
}

# Some come while others are under way.
my @asked = map { [ @star, @others ]->[ $_ * 5 % 13 ] } (0 .. 11);
my %expected = map { $_ => own_answer($sessions[0], $_) } @asked;
my $wrong = 0;
foreach my $turn (0 .. 2)
{
	ask($sessions[$_], $asked[ 4 * $turn + $_ ]) foreach (0 .. 3);
	foreach my $s (0 .. 3)
	{
		my $got = rows_of($sessions[$s]);

		next if $got eq $expected{ $asked[ 4 * $turn + $s ] };
		diag $asked[ 4 * $turn + $s ] . "\n" . substr($got, 0, 500);
		$wrong++;
	}
}
is($wrong, 0, 'late comers join');

#-------------------------------------------------------------------------
# Sessions leave, and tables change
#-------------------------------------------------------------------------
foreach my $timeout (3, 6, 12, 25)
{
	ask($_, "SET statement_timeout = 0; $same[1]") foreach (@sessions[0, 1]);
	my ($status, $out, $error) = $node->psql('postgres', "SET gpuconc.debug_offload = require; SET statement_timeout = $timeout; $same[0]");
	like($error, qr/^$|canceling statement/, "cancelled after $timeout ms");
	is(rows_of($_), $sessions[3]->query_safe("SET gpuconc.debug_offload = forbid; $same[1]; SET gpuconc.debug_offload = require"), 'the others go on') foreach (@sessions[0, 1]);
}
wait_until($node, 'SELECT running = 0 FROM gpuconc_devices', 'nothing runs');
in_waves($same[0], 'the next request runs');

# Rows are written anew while they are read, and copies of them are dropped.
my $sum = 'SELECT count(*), sum(id), sum(price), count(note), sum(day), sum(part), sum(revenue) FROM lo';
my $expected = own_answer($sessions[0], $sum);
$sessions[$_]->query_safe('SET gpuconc.debug_offload = allow') foreach (0 .. 3);
$wrong = 0;
foreach my $change ('TRUNCATE lo; INSERT INTO lo SELECT * FROM copy', 'VACUUM lo', "SELECT gpuconc_evict('lo')", 'VACUUM FULL lo',
	"SELECT gpuconc_evict('lo')", 'CREATE TABLE IF NOT EXISTS copy AS SELECT * FROM lo; UPDATE lo SET qty = qty + 1 WHERE id % 1000 = 3', 'VACUUM lo')
{
	$node->safe_psql('postgres', 'CREATE TABLE copy AS SELECT * FROM lo') if $change =~ /TRUNCATE/;
	ask($_, $sum) foreach (@sessions);
	$node->safe_psql('postgres', $change =~ /VACUUM/ ? $change : "BEGIN; $change; COMMIT");
	$wrong += rows_of($_) ne $expected foreach (@sessions);
}
is($wrong, 0, 'a table changes while it is scanned');
in_waves($sum, 'and is scanned in waves again');

ask($_, $sum) foreach (@sessions);
is(rows_of($_), $expected, 'all answer') foreach (@sessions);
$_->quit foreach (@sessions);
nothing_held($node, 'after all');
# The worker sees that when it has something to do.
is_offloaded($node, 'SELECT count(*), sum(maker) FROM parts', 'what is small runs');
wait_until($node, 'SELECT memory_used < 500000 FROM gpuconc_devices', 'no device memory is held');
$node->stop;

#-------------------------------------------------------------------------
# Builds that do not fit, whose own columns do not fit: passes and waves
#-------------------------------------------------------------------------
$node->append_conf('postgresql.conf', 'gpuconc.device_memory_limit = 2MB');
start_server($node);
foreach my $query (
	'SELECT count(*), sum(lo.price), sum(o.balance), sum(o.a), sum(o.b) FROM lo JOIN o ON o.wide = lo.cust * 1000003::bigint',
	'SELECT count(*), sum(lo.price), sum(o.balance), sum(o.a), sum(o.nation) FROM lo FULL JOIN o ON o.wide = lo.cust * 1000003::bigint',
	'SELECT cust, count(*), sum(price), max(revenue), min(day) FROM lo GROUP BY cust ORDER BY 3 DESC, 1 LIMIT 20')
{
	my $passes = stat_of($node, 'in_passes');

	in_waves($query);
	cmp_ok(stat_of($node, 'in_passes'), '>', $passes, '... and in passes');
}

nothing_held($node, 'passes');
in_waves('SELECT k, count(*), sum(v), sum(w) FROM (SELECT day AS k, price AS v, part AS w FROM lo WHERE qty < 40 UNION ALL SELECT a, balance, b FROM o) AS u GROUP BY k ORDER BY k',
	'tables that are one input');
$node->stop;

#-------------------------------------------------------------------------
# Less memory than two chunks take: PostgreSQL answers
#-------------------------------------------------------------------------
$node = small_device('tiny', '1MB', "gpuconc.debug_chunk_pages = 8168\n");
$node->safe_psql('postgres', $tables);
falls_back($node, $_, 'out of device memory', "tiny: $_") foreach ($others[2], $star[3]);
is_offloaded($node, 'SELECT count(*), sum(maker) FROM parts', 'tiny: what is small runs');
nothing_held($node, 'tiny');
done_testing();

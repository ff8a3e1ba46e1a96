# Chunks whose join keys are all outside of what a build has are not read, once the build's keys are known: tables that are
# sorted by the key, and tables that are not; keys at the ends of chunks; what is written meanwhile.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('skipped', "gpuconc.debug_chunk_pages = 8\nautovacuum = off\n");

# 100 facts a day, and some without one; days of ten years. 
$node->safe_psql('postgres', q{
CREATE TABLE days AS SELECT i AS k, 1990 + i / 365 AS y, i % 12 AS m, 'day' || i AS name FROM generate_series(-365, 3649) AS i;
CREATE TABLE shops AS SELECT i AS k, i % 5 AS city FROM generate_series(0, 99) AS i;
CREATE TABLE facts AS SELECT CASE WHEN i % 997 <> 0 THEN i / 10 END AS k, i / 400 AS shop, i % 7 AS g, i::bigint * 1000000000 AS v
FROM generate_series(-1000, 36999) AS i ORDER BY i;
CREATE TABLE mixed AS SELECT * FROM facts ORDER BY hashint8(v);
ALTER TABLE days ADD PRIMARY KEY (k);
ALTER TABLE shops ADD PRIMARY KEY (k);
VACUUM ANALYZE days, shops, facts, mixed});

my $session = session($node, 'skipped', '');

sub skipped
{
	my ($query) = @_;

	return $session->query_safe("SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, VERBOSE, FORMAT YAML) $query") =~ /Chunks Skipped: (\d+)/ ? $1 : 'none';
}

# PostgreSQL's rows each time, and so many chunks that are skipped when the builds' keys are known. The days have four chunks,
# which filters skip.
sub skips
{
	my ($query, $what, $compare, $than) = @_;

	is_offloaded($node, $query, "$what, $_") foreach ('first', 'second', 'third');
	cmp_ok(skipped($query), $compare, $than, "$what: chunks skipped");
	return;
}

my $chunks = $node->safe_psql('postgres', q{SELECT ceil(pg_relation_size('facts') / 8192.0 / 8)::int});
my $sums = 'count(*), sum(v), min(facts.k), max(facts.k)';

cmp_ok($chunks, '>=', 25, 'facts have many chunks');
skips("SELECT $sums FROM facts JOIN days USING (k) WHERE y = 1993", 'a year', '>=', $chunks * 8 / 10);
skips("SELECT $sums FROM facts JOIN days USING (k) WHERE y IN (1989, 1999)", 'the first and the last year', '<=', 4);
skips("SELECT $sums FROM facts JOIN days USING (k) WHERE y = 1889", 'no day', '>=', $chunks);
skips("SELECT $sums FROM facts JOIN days USING (k) WHERE days.k = $_", "the day $_", '>=', $chunks - 2) foreach (-100, -1, 0, 1, 1234, 3649);
skips("SELECT $sums FROM facts WHERE k IN (SELECT k FROM days WHERE y = 1993)", 'a semi join', '>=', $chunks * 8 / 10);
skips("SELECT g, $sums FROM facts JOIN days USING (k) JOIN shops ON shop = shops.k WHERE y >= 1998 AND city = 3 GROUP BY g ORDER BY g", 'two builds', '>=', $chunks * 7 / 10);
skips("SELECT g, count(name), $sums FROM facts JOIN days USING (k) JOIN shops ON shop = shops.k WHERE shops.k = 50 GROUP BY g ORDER BY g", 'the second build', '>=', $chunks * 8 / 10);
skips("SELECT v, name FROM facts JOIN days USING (k) WHERE y = 1995 AND m = 5 ORDER BY v", 'rows', '>=', $chunks * 8 / 10);
skips("SELECT count(*), sum(v), count(name) FROM mixed JOIN days USING (k) WHERE y = 1993", 'rows in any order', '<=', 4);

# Rows without a match count.
skips("SELECT $sums, count(name) FROM facts LEFT JOIN (SELECT * FROM days WHERE y = 1993) AS d USING (k)", 'a left join', '<=', 4);
skips("SELECT $sums FROM facts WHERE NOT EXISTS (SELECT FROM days WHERE days.k = facts.k AND y = 1993)", 'an anti join', '<=', 4);
skips("SELECT count(*), count(v), count(name) FROM facts FULL JOIN (SELECT * FROM days WHERE y = 1993) AS d USING (k)", 'a full join', '<=', 4);
is_offloaded($node, "SELECT count(*), count(v), count(name), count(city) FROM facts RIGHT JOIN days USING (k) JOIN shops ON shop = shops.k WHERE city = 1", "a right join below, $_")
  foreach (1 .. 3);

# Scans of no chunks at the same time. Each waits for a build of its own, so that others find it under way; scans of all chunks
# between them teach that the kernel takes long.
$node->safe_psql('postgres', q{
CREATE TABLE many AS SELECT i / 100 AS k, i / 4000 AS place, i % 7 AS g, i AS v FROM generate_series(1, 300000) AS i;
CREATE TABLE places AS SELECT i AS k, i % 1000 AS m FROM generate_series(0, 200000) AS i;
VACUUM ANALYZE many, places});
my %at_once = (
	sums => [ 'count(*), sum(v), count(places.m)', '' ],
	dense => [ 'g, count(*), sum(v), count(places.m)', 'GROUP BY g ORDER BY g' ],
	hashed => [ 'v / 50000, g, count(*), sum(places.m)', 'GROUP BY 1, 2 ORDER BY 1, 2' ],
	rows => [ 'v, name, places.m', 'AND v % 1000 = 7 ORDER BY v' ]);
my @sessions = map { session($node, "at once $_") } (1 .. 8);

sub at_once
{
	my ($sink, $year, $most) = @_;

	return "SELECT $at_once{$sink}[0] FROM many JOIN days USING (k) JOIN places ON places.k = place WHERE y + 0 > $year AND places.m < $most $at_once{$sink}[1]";
}

foreach my $sink (sort keys %at_once)
{
	my %right = map { $_ => answer_of($node, at_once($sink, $_, 100), 'forbid') } (1980, 2081);
	my @years = map { $_ % 3 ? 2081 : 1980 } (0 .. 59);

	# All places of `many` are below 100, so that larger constants make other builds, but no other answer.
	foreach my $n (0 .. $#sessions)
	{
		ask($sessions[$n], join ";\n", map { at_once($sink, $years[$_], 100 + $_ * @sessions + $n) } (0 .. $#years));
	}
	is(rows_of($sessions[$_]), join("\n", grep { $_ ne '' } map { $right{$_} } @years), "scans of no chunks at the same time: $sink, $_") foreach (0 .. $#sessions);
}
$_->quit foreach (@sessions);
cmp_ok(skipped(at_once('sums', 2081, 100)), '>', 100, 'scans of no chunks skip them');

# A table that is sorted by what conditions are on needs no other order, and another one would: by a join's key, and by a column.
sub advice
{
	my ($table) = @_;

	return $node->safe_psql('postgres', "SELECT advice FROM gpuconc_advise() WHERE relation = '$table'::regclass");
}

$node->safe_psql('postgres', 'SELECT gpuconc_stat_reset()');
is_offloaded($node, "SELECT count(*), sum(v) FROM $_ JOIN days USING (k) WHERE y = 1993", $_) foreach ('facts', 'mixed');
is(advice('facts'), '', 'sorted');
like(advice('mixed'), qr/^CLUSTER it by k: its requests with conditions on that column read \d+ kB, and would have been spared \d+ kB of it$/, 'not sorted, a join');
$node->safe_psql('postgres', 'SELECT gpuconc_stat_reset()');
is(advice('mixed'), '', 'after a reset');
is_offloaded($node, "SELECT count(*), sum(g) FROM $_ WHERE v BETWEEN 1000000000000 AND 1100000000000 AND g < 6", $_) foreach ('facts', 'mixed');
is(advice('facts'), '', 'sorted');
like(advice('mixed'), qr/^CLUSTER it by v: /, 'not sorted, two comparisons');

# What is written changes the build, or the rows of a chunk.
my $query = "SELECT $sums FROM facts JOIN days USING (k) WHERE y = 1993";

foreach my $change (
	'UPDATE days SET y = 1993 WHERE k = 3649',
	'UPDATE days SET y = 1993 WHERE k IN (-365, -100)',
	'DELETE FROM days WHERE y = 1993 AND k NOT BETWEEN 1095 AND 1100',
	'INSERT INTO facts SELECT 1095 + i % 6, 1, 1, i FROM generate_series(1, 500) AS i',
	'UPDATE facts SET k = 1100 WHERE v = 1000000000',
	'UPDATE facts SET k = 3000 WHERE k = 1097')
{
	$node->safe_psql('postgres', $change);
	is_offloaded($node, $query, "$change, $_") foreach (1 .. 3);
	$node->safe_psql('postgres', 'VACUUM days, facts');
	is_offloaded($node, $query, "$change, vacuumed, $_") foreach (1 .. 3);
}
# A transaction sees what it has written itself, and others do not.
$session->query_safe('SET gpuconc.debug_offload = require; BEGIN; UPDATE days SET y = 1993 WHERE k = 20; UPDATE facts SET k = 20 WHERE k = 2000');
is($session->query_safe($query), own_answer($session, $query), "its own rows, $_") foreach (1 .. 3);
is_offloaded($node, $query, "not another one's rows, $_") foreach (1 .. 3);
$session->query_safe('ROLLBACK');
is($session->query_safe($query), own_answer($session, $query), 'rolled back');
$session->quit;
stop_server($node);

done_testing();

# Shared lookup tables: one for all sessions, extended when its dictionary grows, gone with its
# column or for want of memory, made by one session at a time.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('lookups');
$node->safe_psql('postgres', q{
CREATE TABLE names (id int, name text, d date) WITH (autovacuum_enabled = off);
INSERT INTO names SELECT i, 'name ' || i % 5000, date '2000-01-01' + i % 300 FROM generate_series(1, 20000) AS i;
CREATE TABLE others (name text, k int) WITH (autovacuum_enabled = off);
INSERT INTO others SELECT 'name ' || i * 3, i FROM generate_series(1, 2000) AS i;
VACUUM ANALYZE names, others});

# Counters after a query in a session of its own, less those before.
sub counted
{
	my ($query, $message) = @_;
	my @before = map { stat_of($node, $_) } ('lookups_made', 'lookups_shared');

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is_offloaded($node, $query, $message);
	my @after = map { stat_of($node, $_) } ('lookups_made', 'lookups_shared');
	return ($after[0] - $before[0]) . ' made, ' . ($after[1] - $before[1]) . ' shared';
}

my %of = (
	'an expression' => q{SELECT count(*), sum(id) FROM names WHERE name ~ '7.*9$'},
	'LIKE' => q{SELECT count(*), sum(id) FROM names WHERE name LIKE '%7%9'},
	'text results' => q{SELECT substring(name, 1, 7) AS s, count(*) FROM names GROUP BY s ORDER BY min(id), max(id)},
	'integers' => q{SELECT extract(year FROM d) AS y, count(*) FROM names GROUP BY y ORDER BY y},
	'ranks' => q{SELECT min(name), max(name) FROM names},
	'a translation' => q{SELECT count(*), sum(k) FROM names JOIN others USING (name)});

foreach my $what (sort keys %of)
{
	is(counted($of{$what}, "$what: first"), '1 made, 0 shared', "$what: the first session makes it");
	is(counted($of{$what}, "$what: again"), '0 made, 1 shared', "$what: the second session shares it");
}
is(counted(q{SELECT  count(*) ,   sum(id) FROM names AS n  WHERE n.name LIKE '%7%9'}, 'spelled otherwise'),
	'0 made, 1 shared', 'where an expression stands in its statement does not matter');
is(counted(q{SELECT count(*), sum(id) FROM names WHERE name LIKE '%7%8'}, 'another constant'), '1 made, 0 shared',
	'another constant makes another table');

# settings that immutable functions look at
is(counted(q{SET quote_all_identifiers = off; SELECT quote_ident(name) AS q, count(*) FROM names WHERE id < 9 GROUP BY q ORDER BY min(id)}, 'not quoted'),
	'1 made, 0 shared', 'a table depends on settings');
is(counted(q{SET quote_all_identifiers = on; SELECT quote_ident(name) AS q, count(*) FROM names WHERE id < 9 GROUP BY q ORDER BY min(id)}, 'quoted'),
	'1 made, 0 shared', 'with others there is another table');

# what a time zone does on each day, by which name ever, and what is made of local dates: three tables, and one
$node->safe_psql('postgres', q{
CREATE TABLE moments (id int, z timestamptz) WITH (autovacuum_enabled = off);
INSERT INTO moments SELECT i, timestamptz '1995-01-01 00:30+00' + i * interval '11 hours 7 minutes' FROM generate_series(1, 6000) AS i;
VACUUM ANALYZE moments});
my $days = q{SELECT date_trunc('month', z) AS m, count(*), min(extract(hour FROM z)) FROM moments GROUP BY m ORDER BY m};
my ($berlin, $new_york) = map { "SET timezone = '$_'; " } ('Europe/Berlin', 'America/New_York');
is(counted($berlin . $days, 'Berlin: first'), '4 made, 0 shared', 'Berlin: the first session makes the tables');
is(counted($berlin . $days, 'Berlin: again'), '0 made, 4 shared', 'Berlin: the second session shares them');
is(counted($new_york . $days, 'New York: first'), '4 made, 0 shared', 'another time zone makes others');
is(counted($berlin . $days, 'Berlin: third'), '0 made, 4 shared', 'both time zones have theirs');
is(counted($new_york . q{SELECT date_trunc('hour', z AT TIME ZONE 'Europe/Berlin') AS h, count(*) FROM moments WHERE id % 100 = 1 GROUP BY h ORDER BY h}, 'a zone that is named'),
	'0 made, 3 shared', "a zone that is named has the session's tables");
is(counted("SET timezone = 'ONE-1TWO,M3.5.0,M10.5.0/3'; $days", 'rules: first'), '4 made, 0 shared', 'rules make tables');
is(counted("SET timezone = 'OTHER-1NAMES,M3.5.0,M10.5.0/3'; $days", 'rules: other names'), '0 made, 4 shared', 'equal rules share them, whatever their names');
is(counted("SET timezone = 'ONE-1TWO,M3.5.0,M10.4.0/3'; $days", 'rules: another'), '4 made, 0 shared', 'other rules make others');
$node->safe_psql('postgres', q{INSERT INTO moments SELECT -i, timestamptz '2010-01-01 00:30+00' + i * interval '1 day' FROM generate_series(1, 100) AS i});
is(counted($berlin . $days, 'Berlin: later days'), '4 made, 0 shared', 'tables are extended by days that are new');
is(counted($berlin . $days, 'Berlin: extended'), '0 made, 4 shared', 'what was extended is shared');

# values that are not in the cache yet, and then are
$node->safe_psql('postgres', q{INSERT INTO names SELECT i, 'new 7' || i, date '1999-01-01' + i % 900 FROM generate_series(1, 50) AS i;
INSERT INTO others SELECT 'new 7' || i, i FROM generate_series(1, 20) AS i});
foreach my $what (sort keys %of)
{
	is_offloaded($node, $of{$what}, "$what: new values in the delta");
}
is(counted($of{'LIKE'}, 'LIKE: again with a delta'), '0 made, 1 shared', 'what is shared is not made again for a delta');
$node->safe_psql('postgres', 'VACUUM names, others');
foreach my $what (sort keys %of)
{
	is_offloaded($node, $of{$what}, "$what: the dictionary has grown");
	is(counted($of{$what}, "$what: extended"), '0 made, 1 shared', "$what: the larger table is shared, too");
}

# the worker starts again: tables stay
end_worker($node, sub { is_answered($node, $of{$_}, "$_: after the worker's end") foreach (sort keys %of) });
is(counted($of{'LIKE'}, 'LIKE: with a new worker'), '0 made, 1 shared', 'a new worker reads the tables that there are');

# tables go with their columns
$node->safe_psql('postgres', q{SELECT gpuconc_evict('names')});
is(counted($of{'LIKE'}, 'LIKE: loaded anew'), '1 made, 0 shared', 'a new dictionary has no tables');
nothing_held($node, 'at the end');

# LIKE over a large dictionary is computed by the device, from a copy of the dictionary
$node->safe_psql('postgres', q{
CREATE TABLE large (id int, c text) WITH (autovacuum_enabled = off);
INSERT INTO large SELECT i, CASE WHEN i % 1000 <> 0 THEN 'comment ' || i || ' special' || i * 7 || ' requests' END FROM generate_series(1, 40000) AS i;
VACUUM ANALYZE large});
my $like = q{SELECT count(*), sum(id) FROM large WHERE c NOT LIKE '%special%99%requests'};
is(counted($like, 'the device: first'), '1 made, 0 shared', 'the device makes it');
is(counted($like, 'the device: again'), '0 made, 1 shared', 'the device shares it');
$node->safe_psql('postgres', q{INSERT INTO large SELECT -i, 'new special 99' || i || 'requests' FROM generate_series(1, 30) AS i});
is_offloaded($node, $like, 'the device: new values in the delta');
$node->safe_psql('postgres', 'VACUUM large');
is(counted($like, 'the device: the dictionary has grown'), '1 made, 0 shared', 'the device extends it');
is(counted($like, 'the device: extended'), '0 made, 1 shared', 'the device shares what was extended');
$node->safe_psql('postgres', q{INSERT INTO large SELECT -i, 'newer special 99' || i || 'requests' FROM generate_series(1, 30000) AS i});
$node->safe_psql('postgres', 'VACUUM large');
is(counted($like, 'the device: it has outgrown its room'), '1 made, 0 shared', 'the device makes a larger one');
# Nothing ends a search within a value: it is short on the device.
foreach my $n (50, 100)
{
	my $long = "SELECT count(*), sum(id) FROM large WHERE c LIKE '%' || repeat('c', $n) || '%' OR strpos(c, 'comment 7' || repeat('x', $n)) > 0";

	is_offloaded($node, $long, "a pattern of $n bytes");
	like($node->safe_psql('postgres', "SET gpuconc.enabled = on; SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, VERBOSE) $long"),
		$n < 64 ? qr/Lookup Tables: .*on the device/ : qr/Lookup Tables: (?!.*on the device)/, '... by whom');
}
end_worker($node, sub { is_answered($node, $like, 'the device: after the end of the worker') });
is_offloaded($node, $like, 'the device: with a new worker');
is(counted($like, 'the device: shared by a new worker'), '0 made, 1 shared', 'the device shares it again');
$node->safe_psql('postgres', q{SELECT gpuconc_evict('large')});
is(counted($like, 'the device: loaded anew'), '1 made, 0 shared', 'a new dictionary has no table on the device');

# several sessions at once: one makes the table
$node->safe_psql('postgres', q{SELECT gpuconc_prewarm('names')});
my @sessions = map { session($node, "together$_") } (1 .. 4);
my $made = stat_of($node, 'lookups_made');
ask($_, q{SELECT count(*) FROM names WHERE length(repeat(md5(name), 50)) > 10 AND md5(name) LIKE 'a%'}) foreach (@sessions);
my %rows = map { rows_of($_) => 1 } (@sessions);
is(scalar keys %rows, 1, 'together: one answer');
is(stat_of($node, 'lookups_made') - $made, 2, 'together: each table is made once');
$_->quit foreach (@sessions);

# what takes long for each text is computed by parallel workers, too
$node->safe_psql('postgres', q{
CREATE TABLE addresses (id int, url text, c char(60)) WITH (autovacuum_enabled = off);
INSERT INTO addresses SELECT i, CASE WHEN i % 5 > 0 THEN 'http://www.host' || i % 3001 || '.example/' || repeat('dir/', i % 7) || i % 15011 END, 'c' || repeat(' x', i % 9) || i % 9001 FROM generate_series(1, 45000) AS i;
VACUUM ANALYZE addresses});
my $pattern = q{regexp_replace(repeat(url, 40), '^https?://(?:www\.)?([^/]+)/(.*)$', '\1 ')};
my %long = (
	'texts' => "SELECT $pattern AS site, count(*), sum(id) FROM addresses GROUP BY site ORDER BY site",
	'NULLs' => q{SELECT substring(repeat(url, 40), 'host([0-9]*7)[.]example/(?:dir/)*[0-9]*3http') AS host, count(*), min(id) FROM addresses GROUP BY host ORDER BY host},
	'numbers' => q{SELECT substring(repeat(url, 40), 'example/(?:dir/)*([0-9]*[13579])')::bigint * 1000000007 AS n, count(*), min(id) FROM addresses GROUP BY n ORDER BY n},
	'numerics' => q{SELECT sum(('0.' || substring(repeat(url, 40), 'host([0-9]*)[.]'))::numeric), count(*) FROM addresses},
	'a condition' => "SELECT count(*), sum(id) FROM addresses WHERE $pattern ~ '7.*7'",
	'padded texts' => q{SELECT regexp_replace(repeat(c::text, 60) || octet_length(c), '(.)( x)+', '\2\1', 'g') AS s, count(*) FROM addresses GROUP BY s ORDER BY s});
foreach my $what (sort keys %long)
{
	# PostgreSQL's own plan is parallel, too.
	my $explain = 'SET gpuconc.enabled = on; SET gpuconc.debug_offload = require; SET parallel_setup_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = %d; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) %s';

	like($node->safe_psql('postgres', sprintf($explain, 2, $long{$what})), qr/Lookup Tables: .*by workers/, "workers: $what");
	is_offloaded($node, $long{$what}, "workers: answer of $what");
}
like($node->safe_psql('postgres', "SET gpuconc.enabled = on; SET gpuconc.debug_offload = require; SET max_parallel_workers_per_gather = 0; EXPLAIN (ANALYZE, VERBOSE) SELECT count($pattern || 'z') FROM addresses"),
	qr/Lookup Tables: .*by PostgreSQL/, 'workers: not wanted');
# new texts, which the table lacks; and one for which a worker raises an error, which PostgreSQL's plan raises or not
$node->safe_psql('postgres', q{INSERT INTO addresses SELECT i, 'https://new' || i % 9000 || '.example/' || i FROM generate_series(1, 9000) AS i; VACUUM addresses});
is_offloaded($node, $long{'texts'}, 'workers: the dictionary has grown');
my $bad = "SELECT sum((CASE WHEN length($pattern) > 0 AND url LIKE '%host1377.example/%' THEN 'bad' ELSE '1' END)::int) FROM addresses";
my ($status, $got, $error) = $node->psql('postgres', "SET gpuconc.debug_offload = prefer; $bad");
like($error, qr/invalid input syntax for type integer: "bad"/, 'workers: an error');
my $offset = -s $node->logfile;
$bad .= " WHERE url NOT LIKE '%host1377.example/%'";
like($node->safe_psql('postgres', "SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, VERBOSE) $bad"), qr/Fallback: data condition .*invalid input syntax/,
	'workers: an error that no row has');
is_answered($node, "SET gpuconc.debug_offload = require; $bad", 'workers: the answer without it');
unlike(slurp_file($node->logfile, $offset), qr/ERROR/, 'workers: the log does not have it');
nothing_held($node, 'after workers');

# a session that is cancelled leaves what it has computed to the next one: parts of 65,536, 131,072 and 140,001 entries
$node->safe_psql('postgres', q{
CREATE TABLE parts (id int, t text) WITH (autovacuum_enabled = off);
INSERT INTO parts SELECT i, 'text ' || i FROM generate_series(1, 140000) AS i;
VACUUM ANALYZE parts;
SELECT gpuconc_prewarm('parts')});
my $slow = q{SELECT sum(length(regexp_replace(repeat(t, 40), '([a-z]+) ([0-9]+)', '\2', 'g'))) FROM parts};
my $parts = stat_of($node, 'lookups_made');
my $first = session($node, 'first');
start_query($first, $slow);
wait_until($node, "SELECT lookups_made > $parts FROM gpuconc_stat_get()");
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'first' AND state = 'active'});
wait_until($node, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'first' AND state = 'active'});
is_offloaded($node, $slow, 'parts: an answer');
is(stat_of($node, 'lookups_made') - $parts, 3, 'parts: none is computed twice');
eval { $first->quit };

# a session is cancelled, or ended, while it makes a table; another one makes it then
foreach my $how ('pg_cancel_backend', 'pg_terminate_backend')
{
	my $query = q{SELECT count(*) FROM names WHERE length(regexp_replace(repeat(md5(name), 200), '(.)(.*)\1', '', 'g')) > };
	my $session = session($node, 'maker');
	my $round = length $how;

	# Another constant is another table; one that is made before the test sees its maker is of no use.
	again_until(sub {
		start_query($session, $query . $round++);
		wait_until($node, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'maker' AND query ~ 'regexp_replace'});
		my $stopped = $node->safe_psql('postgres', "SELECT $how(pid) FROM pg_stat_activity WHERE application_name = 'maker' AND state = 'active'");
		wait_until($node, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'maker' AND state = 'active'});
		$session->query_until(qr/over/, "\n") if $stopped eq '';
		return $stopped eq 't';
	});
	is_offloaded($node, q{SELECT count(*) FROM names WHERE name LIKE '%77%'}, "$how: others go on");
	eval { $session->quit };
}
nothing_held($node, 'after makers were stopped');

# little memory: tables are evicted, and answers stay right
$node->append_conf('postgresql.conf', "gpuconc.host_cache_size = 4MB\ngpuconc.device_memory_limit = 4MB");
$node->stop;
start_server($node);
foreach my $round (1 .. 2)
{
	foreach my $i (1 .. 40)
	{
		is_answered($node, "SELECT count(*), min(name) FROM names WHERE upper(name) < 'NAME $i' AND name LIKE '%$i%'", "little memory: $round, $i");
	}
}
is($node->safe_psql('postgres', q{SELECT state FROM gpuconc_devices}), 'ready', 'little memory: the worker is well');
nothing_held($node, 'little memory');
is(log_has($node, qr/PANIC|TRAP|was terminated by signal/), 0, 'nothing bad in the log');
stop_server($node);
done_testing();

# Queries that wait for their columns, which do not fit into gpuconc.host_cache_size together: no page is loaded again and
# again, and a query that has loaded some of its columns gets the others, too.  By counters of pages.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('cycle', q{
gpuconc.host_cache_size = 8MB
gpuconc.debug_chunk_pages = 512
gpuconc.offload_cost = 0
gpuconc.cold = wait
max_parallel_workers_per_gather = 0
log_min_messages = debug1
});
note_memory($node);
my $values = join ', ', map { "(i * " . (1000003 + 2 * $_) . "::bigint % 2000000011)::int AS c$_" } (1 .. 8);
$node->safe_psql('postgres', "CREATE TABLE $_ AS SELECT $values FROM generate_series(1, 300000) AS i; VACUUM (FREEZE, ANALYZE) $_") foreach qw(a b c);
my %pages = map { $_ => $node->safe_psql('postgres', "SELECT relpages FROM pg_class WHERE relname = '$_'") } qw(a b c);

sub query { my ($table, $columns) = @_; return 'SELECT ' . join(', ', map { "max(c$_)" } (1 .. $columns)) . " FROM $table WHERE c1 > 5" }

# Why each of these queries was PostgreSQL's: "no" where it was not.
sub fallbacks_of
{
	my $plans = $node->safe_psql('postgres', join '', map { "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, FORMAT YAML) $_;" } @_);

	return $plans =~ /Fallback: "(.*)"/g;
}

sub loaded { return $node->safe_psql('postgres', 'SELECT pages_loaded FROM gpuconc_stat') }

sub forget { return $node->safe_psql('postgres', "SELECT gpuconc_evict(oid) FROM pg_class WHERE relname IN ('a', 'b', 'c', 'held')") }

# Two of the three tables' columns never fit together.
my $before = loaded();
my %count;
foreach my $round (1 .. 8)
{
	$count{$_}++ foreach fallbacks_of(map { query($_, 4) } qw(a b c));
}
is_deeply([ sort keys %count ], [ 'cache full', 'no' ], 'a cycle: queries are answered by the device or for want of room by PostgreSQL');
cmp_ok($count{no}, '>=', 8, 'a cycle: one of three is always answered by the device');
# Each table once, and once more each time that the machine was so slow that columns were no longer in use: that takes
# twice as long each time (src/columns/load/missing.c).
cmp_ok(loaded() - $before, '<=', 3 * ($pages{a} + $pages{b} + $pages{c}), 'a cycle: pages are not loaded in each round');

# Columns that take more than the cache, as a first load finds out.
forget();
fallbacks_of(query('a', 8));
$before = loaded();
is(join(', ', fallbacks_of((query('a', 8)) x 5)), join(', ', ('cache full') x 5), 'too large: PostgreSQL answers');
is(loaded(), $before, 'too large: nothing is loaded in vain again');
ok(log_has($node, qr/columns can take \d+ kB of gpuconc\.host_cache_size/) > 0, 'too large: the reason says so');
is(join(', ', fallbacks_of(query('c', 3))), 'no', 'too large: another query is loaded');

# A query that has loaded the larger of its tables, and cannot go on with the other: the index of its TOAST table is held.
$node->safe_psql('postgres', q{
CREATE TABLE held (i int, t text);
ALTER TABLE held ALTER t SET STORAGE EXTERNAL;
INSERT INTO held SELECT i, repeat('x' || i, 1000) FROM generate_series(1, 20) i;
VACUUM (FREEZE, ANALYZE) held});
forget();
my $index = $node->safe_psql('postgres', q{
SELECT i.indexrelid::regclass FROM pg_class c, pg_index i WHERE c.oid = 'held'::regclass AND i.indrelid = c.reltoastrelid});
my $halfway = 'SELECT max(c1), max(c2), max(c3), max(c4), max(t) FROM a, held WHERE c1 % 20 = i';
my $expected = answer_of($node, $halfway, 'forbid');
my $holder = $node->background_psql('postgres');
$holder->query_safe("BEGIN; REINDEX INDEX $index");
$before = loaded();
my $session = $node->background_psql('postgres');
$session->query_safe("SET application_name = 'halfway'");
$session->query_until(qr/begun/, "\\echo begun\n$halfway;\n\\echo ended\n");
wait_until($node, q{SELECT count(*) = 4 FROM gpuconc_cache WHERE relation = 'a'::regclass}, 'halfway: a query has loaded a table');
wait_until($node, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'halfway' AND wait_event_type IN ('Lock', 'Extension')},
	'halfway: and waits with the other');
is(join(', ', fallbacks_of(query('b', 4))), 'cache full', 'halfway: another query does not push that out');
# Nor does one that loads in any case.
my ($status, $out, $error) = $node->psql('postgres', "SELECT gpuconc_prewarm('b')");
like($error, qr/could not cache "b": cache full/, 'halfway: there is no room for gpuconc_prewarm()');
is($node->safe_psql('postgres', q{SELECT count(*) FROM gpuconc_cache WHERE relation = 'a'::regclass}), '4', 'halfway: its columns stay');
$holder->query_safe('COMMIT');
$holder->quit;
like($session->query_until(qr/ended/, "\n"), qr/^\Q$expected\E$/m, 'halfway: the query is answered');
is(loaded() - $before, $pages{a} + $node->safe_psql('postgres', q{SELECT relpages FROM pg_class WHERE relname = 'held'}),
	'halfway: each of its pages was loaded once');
$session->quit;

# Once it has its columns, or was cancelled, nothing is reserved: the other one pushes them out.
forget();
$holder = $node->background_psql('postgres');
$holder->query_safe("BEGIN; REINDEX INDEX $index");
$session = $node->background_psql('postgres', on_error_stop => 0);
$session->query_safe("SET application_name = 'halfway'");
$session->query_until(qr/begun/, "\\echo begun\n$halfway;\n\\echo ended\n");
wait_until($node, q{SELECT count(*) = 4 FROM gpuconc_cache WHERE relation = 'a'::regclass});
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'halfway'});
$session->query_until(qr/ended/, "\n");
$session->quit;
$holder->query_safe('COMMIT');
$holder->quit;
ok(again_until(sub { (fallbacks_of(query('c', 4)))[0] eq 'no' }), 'cancelled: another query finds room');

nothing_held($node, 'in the end');
$node->stop;
done_testing();

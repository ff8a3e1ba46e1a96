# Other extensions that set the hooks that gpuconc sets, before it and after it: each of them sees what it
# would see without gpuconc, and what is offloaded stays so.  And what they write when transactions commit is seen.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $directory = `pg_config --pkglibdir`;
chomp $directory;
foreach my $library (qw(pg_stat_statements auto_explain))
{
	plan skip_all => "$library is not installed" unless -e "$directory/$library.so";
}

my $node = new_server('hooks', q{
pg_stat_statements.track_planning = on
pg_stat_statements.track = all
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
}, start => 0);
foreach my $order ('pg_stat_statements,auto_explain,gpuconc', 'gpuconc,auto_explain,pg_stat_statements')
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$order'\n");
	my $offset = -s $node->logfile // 0;

	start_server($node);
	create_tables($node) if $order =~ /^pg/;
	$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()');
	is_offloaded($node, $_, "$order: $_") foreach @queries;

	# Each execution was planned once for them, though gpuconc may have planned two forms of it.
	my $query = 'SELECT count(*), sum(n) FROM t WHERE k NOT IN (SELECT k FROM dim WHERE name IS NULL)';
	is_offloaded($node, $query, "$order: a query that is rewritten");
	is($node->safe_psql('postgres', q{SELECT plans > 0, calls > 0, rows > 0 FROM pg_stat_statements WHERE query LIKE 'SELECT count(*), sum(n) FROM t WHERE k NOT IN%' ORDER BY calls DESC LIMIT 1}),
		't|t|t', "$order: pg_stat_statements counts plans and executions");
	cmp_ok(log_has($node, qr/Custom Scan \(GpuconcAggregate\)/, $offset), '>', 0, "$order: auto_explain shows the node");
	$node->stop;
}

#-------------------------------------------------------------------------
# Calls of each hook, by an extension that counts them (tests/modules)
#-------------------------------------------------------------------------

# How often each hook is called for the same statements, by order of libraries; gpuconc off.
my %calls;

sub calls_of
{
	my ($enabled) = @_;
	my ($counted) = $node->safe_psql('postgres', qq{
SET gpuconc.enabled = $enabled;
SELECT 'before', gpuconc_hooks_test_calls();
CREATE TABLE dropped (a int);
DROP TABLE dropped;
EXPLAIN (COSTS OFF) $queries[0];
PREPARE prepared AS $queries[0];
EXPLAIN (COSTS OFF) EXECUTE prepared;
$queries[2];
SELECT E'calls\n' || gpuconc_hooks_test_calls()}) =~ /^calls\n(.*)/ms;

	return $counted;
}

# Functions of which an object-access hook is told, as a query is executed.
sub functions_called
{
	my ($offload, $query) = @_;
	my ($status, $out, $notices) = $node->psql('postgres', "SET gpuconc.debug_offload = $offload; SET gpuconc_hooks_test.functions = on; $query");

	return join ', ', sort { $a cmp $b } keys %{ { map { $_ => 1 } $notices =~ /calls (.*)/g } };
}

SKIP:
{
	skip 'gpuconc_hooks_test is not installed', 1 unless -e "$directory/gpuconc_hooks_test.so";

	foreach my $order ('gpuconc_hooks_test', 'gpuconc_hooks_test,gpuconc', 'gpuconc,gpuconc_hooks_test')
	{
		$node->append_conf('postgresql.conf', "shared_preload_libraries = '$order'\n");
		if ($order !~ /gpuconc\b/)
		{
			$node->start;
			$node->safe_psql('postgres', q{CREATE FUNCTION gpuconc_hooks_test_calls() RETURNS text LANGUAGE c AS 'gpuconc_hooks_test'});
		}
		else
		{
			start_server($node);
			# The last two have a table that PostgreSQL reads for the node, as rows.
			is_offloaded($node, $_, "$order: $_") foreach @queries, 'SELECT count(*), sum(n) FROM t JOIN dim TABLESAMPLE bernoulli (100) USING (k)',
			  'SELECT count(*), sum(n) FROM t JOIN (SELECT k FROM dim TABLESAMPLE bernoulli (100) WHERE k > 1 OFFSET 0) x USING (k)';
			# Who is asked about EXPLAIN first is not asked about EXECUTE, as without gpuconc.
			like($node->safe_psql('postgres', "PREPARE prepared AS $queries[0]; EXPLAIN (VERBOSE) EXECUTE prepared"), qr/GpuconcAggregate/,
				"$order: EXPLAIN EXECUTE");
			my $refused = $node->safe_psql('postgres', 'PREPARE p AS SELECT string_agg(k::text, NULL) FROM t; EXPLAIN (VERBOSE) EXECUTE p');
			like($refused, qr/^Aggregate/, "$order: EXPLAIN EXECUTE of what is not offloaded");
			(($order =~ /gpuconc$/) ? \&like : \&unlike)->($refused, qr/^Gpuconc: not offloaded: /m, "$order: says why, unless another hook comes first");
			my %counted = split /\s+/, calls_of('on');
			is(scalar keys %counted, 12, "$order: twelve hooks");
			cmp_ok($counted{$_}, '>', 0, "$order: $_ is called") foreach (sort keys %counted);
			# It is told of each function that the executor would call, as PostgreSQL's plan is initialised.
			my %alone = split /\s+/, $calls{gpuconc_hooks_test};
			cmp_ok($counted{object_access}, '>=', $alone{object_access}, "$order: object_access is called for what the device computes");
			# Rewritten, these would call others: such queries stay as they are.
			foreach my $query ('SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY n), avg(n) FROM t GROUP BY k', 'SELECT k, mode() WITHIN GROUP (ORDER BY s) FROM t GROUP BY k',
				'SELECT DISTINCT ON (k) k, id FROM t ORDER BY k, id')
			{
				my $called = functions_called('forbid', $query);

				like($called, qr/\(/, "$order: functions of $query");
				is(functions_called('prefer', $query), $called, "$order: the same are called");
				is_answered($node, "SET gpuconc.debug_offload = prefer; SELECT * FROM ($query) AS q ORDER BY k", "$order: $query");
			}
			is_offloaded($node, 'SELECT count(*), sum(n) FROM t WHERE k NOT IN (SELECT k FROM dim WHERE name IS NULL)', "$order: what calls the same is rewritten");
		}
		$calls{$order} = calls_of('off');
		is($calls{$order}, $calls{gpuconc_hooks_test}, "$order: each hook is called as often as without gpuconc");
		$node->stop;
	}

	# A transaction that gets its id behind gpuconc's callback, and is not flushed: others see it at once.
	my $sum = 'SELECT count(*), sum(k), sum(n) FROM t';
	my $unflushed = 0;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'gpuconc_hooks_test,gpuconc'\nwal_writer_delay = 10s\nwal_writer_flush_after = 1GB\n" .
		"gpuconc.debug_hot_pages = 1\ngpuconc.loader_workers = 0\nautovacuum = off\nlog_statement = none\n");
	start_server($node);
	is_offloaded($node, $sum, 'before late ids');
	my $hasty = session($node, 'hasty', 'RESET gpuconc.debug_offload; SET synchronous_commit = off');
	foreach my $page (1 .. 20)
	{
		$hasty->query_safe('BEGIN');
		$hasty->query_safe("SET LOCAL gpuconc_hooks_test.at_commit = 'UPDATE t SET n = n + 1 WHERE ctid = ''($page,1)'''");
		my $none = $hasty->query_safe('SELECT pg_current_xact_id_if_assigned() IS NULL');
		$hasty->query_safe('COMMIT');
		$unflushed++ if $none eq 't' && $hasty->query_safe('SELECT pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn()') eq 't';
		is_offloaded($node, $sum, "behind a commit with a late id, $page");
	}
	cmp_ok($unflushed, '>', 10, 'most commits had no id before, and were not flushed');
	cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM generate_series(1, 20) AS page WHERE (SELECT count(*) FROM t WHERE ctid = format('(%s,1)', page)::tid) = 0}),
		'>', 10, 'they changed rows');
	$hasty->quit;
	$node->stop;
}
done_testing();

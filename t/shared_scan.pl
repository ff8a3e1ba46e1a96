# Shared scans: one scan of a table that answers several sessions.  Each has its own
# answer, by its own snapshot, whatever happens to the others.  All of it for both kinds,
# fused and selection scans; either() says where they differ: in a fused scan everybody can
# take part, but a shape 8 times at most; in a selection scan, who tests some column.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use SharedScan;
use Test::More;

my %category = (fused => 'shared scan', selection => 'selection scan', groups => 'shared scan');
my ($kind, $scan, $node);

sub either
{
	my ($fused, $selection) = @_;

	return $kind eq 'fused' ? $fused : $selection;
}

# Which scans are shared from now on.
sub of_kind
{
	($kind) = @_;

	$scan->{prefix} = "$kind, ";
	$scan->{kind} = $category{$kind};
	$scan->force($kind);
	return;
}

# Between these queries pages are written to and loaded: their directories have other hot chunks, and
# the same chunks of the heap, which one scan reads for all of them.
sub other_hot_chunks
{
	my (@asked) = @_;
	my $sessions = $scan->sessions;
	my $last = last_batch($node);
	my @right;

	# Room in the table's pages: a longer table has other chunks of the heap.
	$scan->sql("VACUUM t; SELECT gpuconc_prewarm('t')");
	configure($node, 'gpuconc.debug_hot_pages' => 1);
	configure($node, 'gpuconc.debug_hold_requests' => scalar @asked);
	foreach my $i (0 .. $#asked)
	{
		$scan->sql("UPDATE t SET n = n + 1, k = (k + 50) % 100 WHERE id % 500 = 20 + $i; SELECT gpuconc_prewarm('t')");
		push @right, answer_of($node, $asked[$i], 'forbid');
		ask($sessions->[$i], $asked[$i]);
		wait_until_waiting($node, "^$scan->{name}", $i + 1) if $i < $#asked;
	}
	is(rows_of($sessions->[$_]), $right[$_], "$scan->{prefix}other hot chunks: $_ has its answer") foreach (0 .. $#asked);
	is(scans_after($node, $scan->{kind}, $last), scalar @asked, "$scan->{prefix}other hot chunks: one scan");
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	return;
}

# Queries of the first sessions, together: are the answers right, and are the shared
# scans of so many members?
sub share
{
	my ($message, $scans, @asked) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$scan->share($message, $scans, @asked);
	return;
}

# Shapes and bodies are those of a table's chunks: forget what was asked before.
sub fresh
{
	my ($table) = @_;
	$table //= 't';

	$scan->fresh($table);
	return;
}

sub new_tables
{
	create_tables($node, 20000);
	$scan->sql(q{
CREATE TABLE gaps AS SELECT i AS id, i % 13 AS g, CASE WHEN i < 4000 THEN i % 50 END AS early, CASE WHEN i % 3 = 0 THEN i END AS third,
	NULL::int AS never, CASE WHEN i % 4 <> 1 THEN 'v' || i % 9 END AS v, CASE WHEN i > 6000 THEN (i / 8.0)::numeric(10,3) END AS late,
	date '2000-01-01' + i % 700 AS d, CASE WHEN i < 3000 THEN i % 5 WHEN i < 6000 THEN i % 700 ELSE i * 30 END AS vary, i % 300 - 5000 AS below FROM generate_series(1, 9000) AS i;
CREATE TABLE big AS SELECT i AS id, 2147483000 + i % 600 AS i4, i % 10 AS z, 9223372036854775000 + i % 700 AS i8 FROM generate_series(1, 9000) AS i;
} . 'CREATE TABLE cols AS SELECT i * 400 AS many, i * 1000 AS too_many, ' . join(', ', map { "(i * $_) % 97 AS c$_" } (1 .. 20)) . q{ FROM generate_series(1, 9000) AS i;
VACUUM ANALYZE gaps, big, cols;
});
	return;
}

# Queries by sink; the argument is the constant, which makes no other kernel.
my %query = (
	ungrouped => sub { "SELECT count(*), sum(id), min(n), max(d), avg(n), bit_xor(id) FROM t WHERE k < 55 + $_[0]" },
	dense => sub { "SELECT k, count(*), sum(n), min(id), bit_xor(id) FROM t WHERE id > 10 + $_[0] GROUP BY k ORDER BY k" },
	hash => sub { "SELECT n, s, count(*), sum(k) FROM t WHERE id < 400 + $_[0] GROUP BY n, s ORDER BY n, s" },
	rows => sub { "SELECT id, n, s FROM t WHERE k = $_[0] AND id % 3 = 0 ORDER BY id, n, s" },
	joined => sub { "SELECT name, count(*), sum(id) FROM t JOIN dim ON dim.k = t.k WHERE id % 7 <> $_[0] GROUP BY name ORDER BY name" },
	joined_rows => sub { "SELECT id, name FROM t JOIN dim ON dim.k = t.k AND dim.k > $_[0] WHERE s = 's3' ORDER BY id, name" },
	text => sub { "SELECT s, min(d), max(s), count(n) FROM t WHERE d > date '1993-01-01' + $_[0] GROUP BY s ORDER BY s" });
my @sinks = sort keys %query;

# So many queries, of all sinks.
sub of_all_sinks
{
	my ($many) = @_;

	return map { $query{ $sinks[ $_ % @sinks ] }->($_ + 1) } (0 .. $many - 1);
}

sub set_up
{
	my ($which) = @_;

	$scan = SharedScan->new(name => "${which}_scan", sessions => 36, conf => q{
gpuconc.debug_chunk_pages = 8
restart_after_crash = on
});
	$node = $scan->node;
	new_tables();
	$scan->alone(map { $_ => $query{$_}->(5) } @sinks);
	like($scan->sql('SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, FORMAT YAML) ' . $query{$_}->(5)), qr/Group Mode: "$_/, "$_: the group table")
	  foreach ('dense', 'hash');
	of_kind($which);
	$scan->new_sessions;
	return;
}

# Members of one shape, and of several.
sub shapes
{
	foreach my $sink (@sinks)
	{
		fresh();
		share("$sink, $_ of a shape", $_, map { $query{$sink}->($_ + 1) } (1 .. $_)) foreach (2, 3, 8);
	}
	# a shape has 8 bodies at most
	fresh();
	share('more members than bodies', either('8 8', '16'), map { $query{ungrouped}->($_ + 1) } (1 .. 16));
	share('more members than bodies, by one', either('8', '9'), map { $query{ungrouped}->($_ + 1) } (1 .. 9));
	share('more members than a scan has', either(undef, '32 2'), map { $query{ungrouped}->($_ + 1) } (1 .. 34));
	fresh();
	share('of each shape one', scalar @sinks, map { $query{$_}->(4) } @sinks);
	share('of each shape two', 2 * @sinks, map { ($query{$_}->(4), $query{$_}->(5)) } @sinks);
	fresh();
	share('16 of many shapes', '16', of_all_sinks(16));
	share('some of its bodies', 3, map { $query{$_}->(6) } @sinks[ 1 .. 3 ]);
	# the same request and others
	share('the same twice', '3', $query{dense}->(1), $query{dense}->(2), $query{dense}->(1), $query{dense}->(3), $query{dense}->(2));
	# more shapes than there are bodies
	my @shapes = map { 'SELECT sum(id' . (' + k' x $_) . '), count(*) FROM t WHERE k < 60' } (1 .. 20);
	fresh();
	share('20 shapes', either('16', '20'), @shapes);
	share('20 shapes, again', either(undef, '20'), @shapes);
	share('20 shapes, in another order', either(undef, '20'), reverse @shapes);
	share('33 requests of them', either(undef, '32 1'), @shapes, map { s/< 60/< 61/r } @shapes[ 1 .. 13 ]);
	return;
}

# Columns in common, in every combination of which column comes first; other chunks.
sub columns_and_chunks
{
	fresh();
	share('columns in common', '6', 'SELECT sum(id), sum(k) FROM t WHERE k > 3', 'SELECT sum(k), sum(id) FROM t WHERE id > 30',
		'SELECT count(n), max(k) FROM t WHERE n > 5 AND k < n', q{SELECT min(n), max(id) FROM t WHERE s > 's2'}, q{SELECT s, sum(k) FROM t WHERE id > 7 AND id < 15000 GROUP BY s ORDER BY s},
		q{SELECT count(*) FROM t WHERE d < '1994-01-01' AND id < 900});
	share('no column at all', either('2', 'none'), 'SELECT count(*) FROM t', 'SELECT sum(id) FROM t');
	# two tables: two scans in one batch
	share('two tables', '3 2', map({ $query{dense}->($_) } (1 .. 3)), map { "SELECT g, count(third), sum(early) FROM gaps WHERE id > $_ GROUP BY g ORDER BY g" } (1, 2));
	share('other chunks', either('4', '3'), 'SELECT count(*), sum(k) FROM t WHERE id BETWEEN 1 AND 700', 'SELECT count(*), sum(k) FROM t WHERE id BETWEEN 19000 AND 25000',
		'SELECT count(*), sum(k) FROM t WHERE id BETWEEN 600 AND 19500', 'SELECT count(*), sum(n) FROM t');
	share('other chunks, other columns', '3', 'SELECT count(*), sum(k) FROM t WHERE id > 19000', 'SELECT count(*), sum(k) FROM t WHERE k = 7', 'SELECT count(*), sum(id) FROM t WHERE id < 900 AND k > 50');
	share('one that no chunk can match', undef, 'SELECT count(*), sum(k) FROM t WHERE id > 700000', 'SELECT count(*), sum(k) FROM t WHERE id > 7', 'SELECT count(*), sum(k) FROM t WHERE id > 70');
	return;
}

# Conditions that are tests of one column, and others.
sub tests
{
	my @tests = (q{SELECT count(*), sum(id) FROM t WHERE s IN ('s1', 's17', 's30', 'other')}, 'SELECT count(*), sum(id) FROM t WHERE k IN (1, 2, 3, 50, 98, 99, 1000)',
		q{SELECT count(*), min(id) FROM t WHERE s LIKE '%7'}, 'SELECT sum(k), max(id) FROM t WHERE extract(year FROM d) = 1994', 'SELECT count(*), sum(id) FROM t WHERE NOT (k < 20 OR k > 60)',
		q{SELECT sum(id) FROM t WHERE CASE WHEN k > 50 THEN k - 50 ELSE k END < 10}, q{SELECT count(*), min(name) FROM t JOIN dim ON dim.k = t.k AND dim.name IN ('name3', 'name4')});
	my @others = ('SELECT count(*), sum(id) FROM t WHERE id > k', 'SELECT count(*), sum(id) FROM t WHERE 100 / (k * 2 - 101) > 3', 'SELECT count(*), sum(id) FROM t WHERE k < 5 OR id < 700',
		'SELECT k, count(*) FROM t GROUP BY k ORDER BY k', 'SELECT name, count(*) FROM t JOIN dim ON dim.k * 1000003::bigint = t.id GROUP BY name ORDER BY name');

	fresh();
	share('tests', scalar @tests, @tests);
	share('no tests', either(5, 'none'), @others);
	share('tests beside others', either(8, 4), @tests[ 0 .. 3 ], @others[ 0 .. 3 ]);
	share('one test beside others', either(3, 'none'), $tests[0], @others[ 0 .. 1 ]);
	share('tests and more', '3', map { "SELECT count(*), sum(id) FROM t WHERE id > k * $_ AND s > 's2' AND 100 / (k * 2 - 101) > 3 AND k < 70" } (1 .. 3));
	# 16 columns that are tested; one with too many values is none
	share('columns with many values', '2', map { "SELECT count(*), sum(c1) FROM cols WHERE many > $_ * 100000" } (1, 2));
	share('columns with too many values', either('2', 'none'), map { "SELECT count(*), sum(c1) FROM cols WHERE too_many > $_ * 100000" } (1, 2));
	fresh('cols');
	share('20 columns', '16', map { "SELECT count(*), sum(c2) FROM cols WHERE c$_ > 40" } (1 .. 20));
	fresh('cols');
	share('16 columns of each', '3', map { my $n = $_; 'SELECT count(*), sum(c2) FROM cols WHERE ' . join ' AND ', map { "c$_ > $n" } (1 .. 16) } (1 .. 3));
	return;
}

# NULLs; chunks that differ in width, and in whether there is any value.
sub values_of_all_kinds
{
	my @nulls = ('SELECT count(early), sum(early), min(early) FROM gaps', 'SELECT count(*), sum(third), max(late) FROM gaps WHERE early IS NULL',
		'SELECT g, sum(early), count(third), min(late) FROM gaps WHERE third IS NULL OR third > 3000 GROUP BY g ORDER BY g', 'SELECT v, count(*), sum(late) FROM gaps WHERE third IS NOT NULL GROUP BY v ORDER BY v',
		'SELECT id, third, v FROM gaps WHERE early = 7 ORDER BY id', 'SELECT early, count(*), max(v) FROM gaps WHERE late IS NULL GROUP BY early ORDER BY early',
		'SELECT count(never), sum(never), max(third) FROM gaps WHERE never IS NULL', 'SELECT count(*), sum(never) FROM gaps WHERE never > 5 OR late > 800',
		q{SELECT count(*), min(id), max(d) FROM gaps WHERE v IN ('v1', 'v3')}, 'SELECT count(*), sum(id) FROM gaps WHERE coalesce(early, 10) < 20 AND NOT (late <= 900)',
		'SELECT count(*), sum(id) FROM gaps WHERE vary > 300', 'SELECT id FROM gaps WHERE v IS NULL AND below < -4990 AND vary < 200000 ORDER BY id');
	fresh($_) foreach ('gaps', 'big');
	my %test = map { $_ => 1 } grep { $_ != 0 && $_ != 6 && $_ != 7 } (0 .. $#nulls);

	share('NULLs', either(undef, scalar keys %test), @nulls);
	share("NULLs, two of $_", $test{$_} && $test{ $_ - 1 } ? 2 : either(2, 'none'), $nulls[$_], $nulls[ $_ - 1 ]) for (1 .. $#nulls);
	share('extremes', '3', 'SELECT count(*), sum(i8) FROM big WHERE i8 > 9223372036854775300', 'SELECT z, count(*) FROM big WHERE i4 BETWEEN 2147483100 AND 2147483599 GROUP BY z ORDER BY z',
		'SELECT count(*), max(i8) FROM big WHERE i8 < 9223372036854775300 AND i4 <> 2147483007');
	fresh($_) foreach ('gaps', 'big');
	share('ranges of codes', '8', map({ "SELECT count(*), sum(id), count(third), max(early) FROM gaps WHERE g >= $_" } (3, 7)),
		map({ "SELECT count(*), sum(id), sum(third), min(early), max(late) FROM gaps WHERE g = $_ AND below < -4900 + $_" } (1 .. 3)),
		map { "SELECT count(*), sum(below), sum(early), sum(third * 2) FROM gaps WHERE early = $_" } (1 .. 3));
	share('ranges of codes, wide', '8', map { "SELECT sum(i8), count(*), avg(id) FROM big WHERE z = $_ AND i4 > 2147483500 - $_" } (1 .. 8));
	return;
}

# EXPLAIN and the views on shared scans.
sub views
{
	my $n = @sinks;

	fresh();
	$scan->sql('SELECT gpuconc_stat_reset()');
	my @plans = together($node, $scan->sessions, map { 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, FORMAT YAML) ' . $query{$_}->(5) } @sinks);
	like($_, qr/Schedule: "twostage"\n.*Shared Scan Requests: $n\n.*Batch Requests: $n\n/s, 'EXPLAIN') foreach (@plans);
	is($scan->sql(q{SELECT kind, sum(launches), sum(requests), bool_and(total_time > 0), bool_and(threads > 0) FROM gpuconc_stat_kernels GROUP BY kind}),
		"$category{$kind}|1|$n|t|t", 'gpuconc_stat_kernels');
	is($scan->sql('SELECT kernels, shared_scans, waiting, failed, decision_time >= 0, predicted_time > 0, actual_time > 0 FROM gpuconc_stat_batches'),
		"$n|1|0|0|t|t|t", 'gpuconc_stat_batches');
	return;
}

# Private chunks, visible rows.
sub snapshots
{
	# On servers where each write moves the map's LSN, chunks are read again without the pages that were written to.  So each
	# query has rows on others; else it would skip all chunks, and have nothing to share.
	my @delta = ($query{ungrouped}->(35), $query{dense}->(1), $query{hash}->(1000), $query{rows}->(5), $query{joined}->(1), $query{text}->(2), $query{joined_rows}->(1), 'SELECT count(*), sum(id) FROM t');
	my $all = either('8', '7');

	$scan->in_session($_, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t') for (0, 3, 6);
	$scan->in_session(1, q{BEGIN; INSERT INTO t SELECT i, 5, i, '1999-01-01', 's3' FROM generate_series(1, 40) AS i});
	$scan->in_session(2, 'BEGIN; DELETE FROM t WHERE id BETWEEN 100 AND 400');
	$scan->in_session(5, q{BEGIN; UPDATE t SET s = 'own', k = 99 - k WHERE id % 4000 = 5});
	share('uncommitted changes', undef, @delta);
	my $old = own_answer($scan->sessions->[0], $delta[0]);
	$scan->in_session($_, 'COMMIT') for (1, 2);
	$scan->in_session(5, 'ROLLBACK');
	my $new = own_answer($scan->sessions->[4], $delta[0]);
	isnt($old, $new, 'the snapshots differ');
	share('committed changes, old snapshots and new ones', $all, @delta);
	share("every snapshot, $_", qr/^\d/, ($delta[$_]) x 3, map { $query{dense}->($_) } (1 .. 5)) for (0, 1, 3, 4);
	my @got = together($node, $scan->sessions, ($delta[0]) x 8);
	is($got[$_], $_ == 0 || $_ == 3 || $_ == 6 ? $old : $new, "session $_ sees its own snapshot") for (0 .. 7);
	$scan->in_session($_, 'COMMIT') for (0, 3, 6);
	share('all of them see the changes', $all, @delta);
	$scan->sql('UPDATE t SET n = n + 1 WHERE id % 1000 = 3');
	share('never vacuumed', $all, @delta);
	configure($node, 'gpuconc.debug_versioned_pages' => 'on');
	$scan->sql("SELECT gpuconc_prewarm('t')");
	share('versioned pages', undef, @delta);
	share('versioned pages, again', $all, @delta);
	# Some see by version what others do not.
	$scan->in_session($_, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t') for (0, 3, 6);
	$old = own_answer($scan->sessions->[0], $delta[0]);
	$scan->sql("DELETE FROM t WHERE id % 1000 = 6; SELECT gpuconc_prewarm('t')");
	isnt($old, own_answer($scan->sessions->[4], $delta[0]), 'the snapshots differ, by version');
	share('versioned pages, old snapshots and new ones', undef, @delta);
	share('versioned pages, old snapshots and new ones, again', $all, @delta);
	$scan->in_session($_, 'COMMIT') for (0, 3, 6);
	$scan->sql("CREATE TABLE raw AS SELECT i AS id, i % 10 AS k FROM generate_series(1, 5000) AS i; ANALYZE raw; SELECT gpuconc_prewarm('raw')");
	share('no page in a chunk of the heap', 3, map { "SELECT count(*), sum(id) FROM raw WHERE k < 3 + $_" } (1 .. 3));
	$scan->sql('DROP TABLE raw');
	other_hot_chunks($delta[0], $query{ungrouped}->(20), $query{ungrouped}->(3));
	configure($node, 'gpuconc.debug_versioned_pages' => 'off');
	$scan->in_session(1, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t');
	$scan->sql('DELETE FROM t WHERE id % 1000 = 4');
	share('rows that some see, and not others', $all, @delta);
	$scan->sql('VACUUM t');
	share('after VACUUM, with an old snapshot', undef, @delta);
	$scan->in_session(1, 'COMMIT');
	$scan->sql('VACUUM t');
	share('after VACUUM', undef, @delta);
	share('after VACUUM, again', $all, @delta);

	# subtransactions, cursors, prepared statements
	$scan->in_session(0, 'BEGIN; SAVEPOINT a; DELETE FROM t WHERE k = 5; ROLLBACK TO a; SAVEPOINT b; DELETE FROM t WHERE k = 6');
	$scan->in_session(1, 'PREPARE p (int) AS SELECT count(*), sum(id) FROM t WHERE k < $1; SET plan_cache_mode = force_generic_plan');
	$scan->in_session(2, 'BEGIN; DECLARE c CURSOR FOR SELECT id FROM t WHERE k = 7 ORDER BY id');
	my @expected = (own_answer($scan->sessions->[0], $delta[0]), $scan->sql('SET gpuconc.debug_offload = forbid; SELECT count(*), sum(id) FROM t WHERE k < 33'), '7', answer_of($node, $delta[1], 'forbid'));
	@got = together($node, $scan->sessions, $delta[0], 'EXECUTE p(33)', 'FETCH 1 FROM c', $delta[1]);
	is($got[$_], $expected[$_], "subtransaction, prepared statement, cursor: $_") for (0 .. 3);
	$scan->in_session($_, 'ROLLBACK') for (0, 2);
	# A row on every page was deleted, so that no chunk could serve any.
	$scan->sql('VACUUM t');
	fresh();
	return;
}

# Members that fail.
sub errors
{
	my @fine = ('SELECT count(*), sum(i4), sum(i8) FROM big WHERE id > 0', 'SELECT z, sum(id) FROM big WHERE i4 > 5 GROUP BY z ORDER BY z', 'SELECT id FROM big WHERE z = 3 AND id < 500 ORDER BY id');

	$scan->sql(q{SELECT gpuconc_prewarm('big')});
	my @fine_answers = map { answer_of($node, $_, 'forbid') } @fine;
	foreach my $case ([ 'SELECT sum(i4 + 1000) FROM big WHERE z < 9', 'integer out of range' ], [ 'SELECT z, max(i8 + 1000) FROM big WHERE id > 5 GROUP BY z', 'bigint out of range' ],
		[ 'SELECT id FROM big WHERE i4 * 2 > id AND z > 3', 'integer out of range' ], [ 'SELECT sum(10 / z) FROM big WHERE z < 5', 'division by zero' ])
	{
		my $before = last_batch($node);
		my $reasons = stat_of($node, q{(fallback_reasons ->> 'data condition')::int});
		my @got = together($node, $scan->sessions, $fine[0], $case->[0], $fine[1], $fine[2]);

		like($got[1], qr/^ERROR:  $case->[1]/, "one fails: $case->[0]");
		is(join("\n", @got[ 0, 2, 3 ]), join("\n", @fine_answers), "the others have their answers: $case->[0]");
		is($scan->sql("SELECT sum(kernels), sum(failed), sum(shared_scans) FROM gpuconc_stat_batches WHERE id > $before"), '4|1|1', 'in one scan, of which one has failed');
		is(scans_after($node, $category{$kind}, $before), '4', 'of four members');
		is(stat_of($node, q{(fallback_reasons ->> 'data condition')::int}) - $reasons, 1, 'counted as one fallback');
	}
	share('after errors', '3', @fine);
	# what is dropped by the tests cannot fail
	share('errors that no row meets', '2', map { "SELECT sum(10 / z) FROM big WHERE z > $_" } (0, 1));
	return;
}

sub cancels
{
	$scan->leaves($_, [ of_all_sinks(8) ], $query{ $sinks[2] }->(12)) foreach ('cancelled', 'timed out', 'terminated');

	# while they run: the worker is stopped with some of them ready, and goes on when two have gone
	my $worker = $scan->sql('SELECT worker_pid FROM gpuconc_devices');
	foreach my $round (1 .. 5)
	{
		my @asked = map { $query{ $sinks[ $_ % @sinks ] }->($_ + $round) } (0 .. 7);
		my @right = map { answer_of($node, $_, 'forbid') } @asked;

		configure($node, 'gpuconc.debug_hold_requests' => 8);
		ask($scan->sessions->[$_], $asked[$_]) for (0 .. 6);
		wait_until_waiting($node, "^$scan->{name}", 7);
		suspend_workers($node, $worker);
		ask($scan->sessions->[7], $asked[7]);
		wait_until_waiting($node, "^$scan->{name}", 8);
		$scan->sql('ALTER SYSTEM SET gpuconc.debug_hold_requests = 0; SELECT pg_reload_conf()') if $round % 2;
		$scan->sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name IN ('$scan->{name}$round', '$scan->{name}6')");
		like(rows_of($scan->sessions->[$_]), qr/canceling statement/, "cancelled, $round") for ($round, 6);
		kill 'CONT', $worker;
		configure($node, 'gpuconc.debug_hold_requests' => 0);
		is(rows_of($scan->sessions->[$_]), $right[$_], "the others have their answers, $round: $_") for (grep { $_ != $round && $_ != 6 } (0 .. 7));
	}
	nothing_held($node, 'members that fail');
	return;
}

# Cancels over scans that are under way.
sub storm
{
	$scan->sql(q{
CREATE FUNCTION storm(c int, rounds int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	own bigint;
	other bigint;
	expected bigint;
	good int := 0;
	canceled int := 0;
BEGIN
	PERFORM set_config('gpuconc.debug_offload', 'forbid', true);
	SELECT sum(id) INTO expected FROM t WHERE k < c;
	PERFORM set_config('gpuconc.debug_offload', 'require', true);
	FOR i IN 1 .. rounds LOOP
		BEGIN
			SELECT sum(id) INTO own FROM t WHERE k < c;
			SELECT sum(x) INTO other FROM (SELECT k, sum(id) AS x FROM t GROUP BY k HAVING k < c) AS g;
			IF own <> expected OR other <> expected THEN
				RETURN format('WRONG: %s, %s, not %s', own, other, expected);
			END IF;
			good := good + 1;
		EXCEPTION WHEN query_canceled THEN
			canceled := canceled + 1;
		END;
	END LOOP;
	RETURN format('%s good, %s canceled', good, canceled);
END $$});
	$_->query_safe('SET gpuconc.debug_offload = allow') foreach (@{ $scan->sessions });
	my $scans;
	# Again until there was one: kernels may be compiled meanwhile, and no request be left when they are.
	again_until(sub {
		my $last = last_batch($node);

		ask($scan->sessions->[$_], "SELECT storm(@{[10 + $_]}, 300)") for (0 .. 7);
		$scan->sql(q{
DO $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT storm%' AND state = 'active') LOOP
		PERFORM pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT storm%' AND state = 'active' AND random() < 0.2;
		PERFORM pg_stat_clear_snapshot();
		PERFORM pg_sleep(0.002);
	END LOOP;
END $$});
		# one that is hit outside of the inner block is cancelled as a whole
		like(rows_of($scan->sessions->[$_]), qr/^\d+ good, \d+ canceled$|canceling statement/, 'a storm of cancels') for (0 .. 7);
		$scans = scans_after($node, $category{$kind}, $last);
		return $scans ne 'none';
	});
	isnt($scans, 'none', 'a storm of cancels: over shared scans');
	$_->query_safe('SET gpuconc.debug_offload = require') foreach (@{ $scan->sessions });
	nothing_held($node, 'a storm of cancels');
	share('after a storm', undef, map { $query{$_}->(3) } @sinks);
	share('after a storm, again', scalar @sinks, map { $query{$_}->(4) } @sinks);
	return;
}

# Tables that change between scans.
sub changes
{
	foreach my $change (q{ALTER TABLE t ADD COLUMN extra int DEFAULT 7}, q{ALTER TABLE t ALTER k TYPE bigint}, q{VACUUM FULL t},
		q{INSERT INTO t SELECT i, i % 90, i / 3.0, '2001-01-01', 's' || i % 60 FROM generate_series(30000, 33000) AS i}, q{VACUUM t},
		q{UPDATE t SET s = s || 'x' WHERE id % 5 = 0}, q{VACUUM t}, q{ALTER TABLE t DROP COLUMN extra}, q{SELECT gpuconc_evict('t')},
		q{BEGIN; TRUNCATE t; INSERT INTO t SELECT i, i % 100, i / 4.0, '1997-01-01', 's' || i % 20 FROM generate_series(1, 9000) AS i; COMMIT}, q{VACUUM ANALYZE t}, q{UPDATE dim SET name = name || k; VACUUM dim})
	{
		$scan->sql($change);
		share($change, undef, map { $query{$_}->(2) } @sinks);
		share("$change, again", undef, map { $query{$_}->(3) } @sinks);
	}
	share('after all changes', scalar @sinks, map { $query{$_}->(4) } @sinks);
	return;
}

sub settings
{
	configure($node, 'gpuconc.enable_shared_scan' => 'off');
	share('enable_shared_scan = off', 'none', map { $query{$_}->(5) } @sinks);
	configure($node, 'gpuconc.enable_shared_scan' => 'on', 'gpuconc.schedule' => 'streams');
	share('schedule = streams', 'none', map { $query{$_}->(6) } @sinks);
	configure($node, 'gpuconc.schedule' => 'twostage', 'gpuconc.debug_shared_selection' => 'off');
	share('debug_shared_selection = off', either(scalar @sinks, 'none'), map { $query{$_}->(7) } @sinks);
	configure($node, 'gpuconc.debug_shared_selection' => 'on');
	share('and on again', scalar @sinks, map { $query{$_}->(8) } @sinks);
	return;
}

# More tables with shapes of their own than are remembered.
sub many_tables
{
	# GC_MAX_SCAN_SETS and some more: sets are forgotten, and made again.
	my @tables = map { "many$_" } (1 .. 260);
	my $queries = join ';', map { "SELECT '$_', g, count(*), sum(id) FROM $_ WHERE id > 9 GROUP BY g ORDER BY g" } @tables;

	$scan->sql(join '', map { "CREATE TABLE $_ AS SELECT i AS id, i % 5 AS g FROM generate_series(1, 300) AS i;" } @tables);
	$scan->sql('VACUUM ANALYZE ' . join(', ', @tables));
	is(answer_of($node, $queries, 'require'), answer_of($node, $queries, 'forbid'), "many tables, $_") foreach (1, 2);
	return;
}

sub nothing_is_left
{
	my @used;

	for (1 .. 4)
	{
		fresh() if $_ == 1;
		share("repeated, $_", scalar @sinks, map { $query{$_}->(8) } @sinks);
		# Sessions have their results a moment before the worker tells that nothing runs.
		wait_until($node, 'SELECT running = 0 FROM gpuconc_devices');
		push @used, $scan->sql('SELECT memory_used, chunk_columns, build_tables FROM gpuconc_devices');
	}
	is($used[$_], $used[0], 'no memory of the device is lost') for (1 .. 3);
	nothing_held($node, 'shared scans');
	return;
}

# The worker ends, and is killed, while members wait.
sub crashes
{
	my @asked = of_all_sinks(8);
	my @expected = map { answer_of($node, $_, 'forbid') } @asked;
	my $worker = $scan->sql('SELECT worker_pid FROM gpuconc_devices');

	$_->query_safe('SET gpuconc.debug_offload = allow') foreach (@{ $scan->sessions });
	configure($node, 'gpuconc.debug_hold_requests' => 9);
	ask($scan->sessions->[$_], $asked[$_]) for (0 .. 7);
	wait_until_waiting($node, "^$scan->{name}", 8);
	kill 'TERM', $worker;
	is(rows_of($scan->sessions->[$_]), $expected[$_], "the worker ends: PostgreSQL answers $_") for (0 .. 7);
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	wait_until($node, "SELECT count(*) = 1 FROM gpuconc_devices WHERE state = 'ready' AND worker_pid <> $worker");
	$_->query_safe('SET gpuconc.debug_offload = require') foreach (@{ $scan->sessions });
	fresh();
	share('a new worker', scalar @sinks, map { $query{$_}->(9) } @sinks);
	nothing_held($node, 'a worker that ended');

	foreach my $case ('held back', 'running')
	{
		$worker = $scan->sql('SELECT worker_pid FROM gpuconc_devices');
		configure($node, 'gpuconc.debug_hold_requests' => $case eq 'running' ? 8 : 9);
		suspend_workers($node, $worker) if $case eq 'running';
		ask($scan->sessions->[$_], $asked[$_]) for (0 .. 7);
		wait_until_waiting($node, "^$scan->{name}", 8);
		kill 'CONT', $worker if $case eq 'running';
		kill_process($node, $worker, sub {
			foreach my $session (@{ $scan->sessions })
			{
				eval { $session->quit };
				$session->{run}->kill_kill;
			} });
		configure($node, 'gpuconc.debug_hold_requests' => 0);
		$scan->new_sessions;
		fresh();
		share("after a crash, $case", scalar @sinks, map { $query{$_}->(2) } @sinks);
		nothing_held($node, "after a crash, $case");
	}
	return;
}

# Where 16 members' selection bitmaps do not fit a part of the memory, two share a scan; where not even
# their selection bitmaps fit (of chunks with few rows), none do.
sub little_memory
{
	my @asked = map { "SELECT count(*), sum(id) FROM narrow WHERE k = $_" } (1 .. 16);

	$_->quit foreach (@{ $scan->sessions });
	$scan->sql('CREATE TABLE narrow AS SELECT i AS id, i % 100 AS k FROM generate_series(1, 80000) AS i; VACUUM ANALYZE narrow');
	$node->append_conf('postgresql.conf', 'gpuconc.device_memory_limit = 1MB');
	$node->restart;
	wait_for_worker($node);
	$scan->new_sessions;
	share('little memory', either(qr/^\d/, join ' ', (2) x 8), @asked);
	share('little memory, fewer members', '2', @asked[ 0 .. 1 ]);
	nothing_held($node, 'little memory');
	$scan->sql('CREATE TABLE thin WITH (fillfactor = 10) AS SELECT i AS id, i % 100 AS k FROM generate_series(1, 60000) AS i; VACUUM ANALYZE thin');
	share('more chunks', either(qr/^\d/, 'none'), map { s/narrow/thin/r } @asked[ 0 .. 1 ]);
	nothing_held($node, 'more chunks');
	return;
}

# Fused scans whose bodies have a table of groups each: no other scans are shared then.
sub groups
{
	my %grouped = (
		dense => $query{dense},
		kinds => sub { "SELECT g, v, count(*), count(early), sum(late), min(late), max(third), avg(below), sum(early::float8 * 0.5) FROM gaps WHERE vary <> $_[0] GROUP BY g, v ORDER BY g, v" },
		large => sub { "SELECT 2147483000 + i4 % 600, z, sum(i8), count(*), max(i8 + z) FROM big WHERE id > $_[0] GROUP BY i4, z ORDER BY i4, z" },
		months => sub { "SELECT s, sum(n), sum(id::bigint * 1000000007), min(d) FROM t WHERE d > date '1992-01-01' + $_[0] GROUP BY s ORDER BY s" });
	my %table = (dense => 't', kinds => 'gaps', large => 'big', months => 't');

	of_kind('groups');
	foreach my $of (sort keys %grouped)
	{
		is_offloaded($node, $grouped{$of}->(5), "groups, alone: $of");
		foreach my $many (2, 3, 8)
		{
			fresh($table{$of});
			share("$of, $many of a shape", $many, map { $grouped{$of}->($_) } (1 .. $many));
		}
	}
	fresh();
	share('two shapes', '4', map { ($grouped{dense}->($_), $grouped{months}->($_)) } (1, 2));
	share('more members than bodies, groups', '8', map { $grouped{dense}->($_) } (1 .. 9));
	fresh();
	share('beside others', '2', $query{ungrouped}->(1), $query{ungrouped}->(2), $query{joined}->(3), $query{rows}->(4), $query{hash}->(5), map { $grouped{dense}->($_) } (1, 2));
	fresh();
	share('few of the rows', 'none', map { "SELECT k, count(*) FROM t WHERE id = $_ GROUP BY k" } (1 .. 3));
	of_kind('fused');
	return;
}

foreach my $which ('fused', 'selection')
{
	set_up($which);
	shapes();
	columns_and_chunks();
	tests();
	values_of_all_kinds();
	views();
	snapshots();
	errors();
	cancels();
	storm();
	changes();
	settings();
	groups() if $kind eq 'fused';
	many_tables() if $kind eq 'selection';
	nothing_is_left();
	crashes();
	little_memory();
	is($scan->sql("SELECT count(*) FROM gpuconc_stat_kernels WHERE kind NOT IN ('kernel', '$category{$kind}')"), '0', "no other scans than $kind ones");
	$scan->finish;
}
done_testing();

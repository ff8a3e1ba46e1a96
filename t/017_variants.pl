# Variants of kernels: those that run beside others may be launched in another variant than
# the one that is fastest alone.  Device host has no use for that, so the choice is forced
# (gpuconc.debug_force_variant); what is chosen without is for unit tests (line_test,
# policy_test).

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('variants', q{
gpuconc.batch_log_size = 4096
gpuconc.enable_shared_scan = off
gpuconc.enable_kernel_variants = on
});

create_tables($node);
$node->safe_psql('postgres', q{
CREATE TABLE d2 (k int PRIMARY KEY, v int);
INSERT INTO d2 SELECT i, i % 7 FROM generate_series(0, 36) AS i;
VACUUM ANALYZE d2});

# Groups of few kinds, joins with dimensions, both; rows; and what has no variant.
my @asked = (
	'SELECT s, count(*), sum(n), min(d), max(id) FROM t WHERE k < 50 GROUP BY s ORDER BY s',
	'SELECT count(*), sum(id) FROM t JOIN dim ON dim.k = t.k WHERE dim.k < 40',
	'SELECT count(*), sum(id) FROM t JOIN dim ON dim.k = t.k JOIN d2 ON d2.k = t.k % 37 WHERE v < 4 AND dim.k > 9',
	'SELECT name, s, count(*), sum(n) FROM t JOIN dim USING (k) WHERE k % 3 = 1 GROUP BY name, s ORDER BY name, s',
	'SELECT id, n FROM t WHERE k = 7 AND id < 9000 ORDER BY id',
	'SELECT count(*), sum(id), min(d), max(n) FROM t');
my @expected = map { answer_of($node, $_, 'forbid') } @asked;
my @sessions = map { session($node, "variants$_") } (0 .. $#asked);

# Main kernels launched since the last call, by hash.
sub kernels
{
	my $kernels = $node->safe_psql('postgres', q{SELECT string_agg(kernel, ' ' ORDER BY kernel) FROM gpuconc_stat_kernels WHERE kind = 'kernel'});

	$node->safe_psql('postgres', 'SELECT gpuconc_stat_reset()');
	return $kernels;
}

# Ask all together; are the answers right?  Returns the kernels that gave them.
sub right
{
	my ($message) = @_;
	my @got = together($node, \@sessions, @asked);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($got[$_], $expected[$_], "$message: $_") for (0 .. $#asked);
	return kernels();
}

# How many are in both lists?
sub common
{
	my ($one, $other) = @_;
	my %in = map { $_ => 1 } split / /, $one;

	return scalar grep { $in{$_} } split / /, $other;
}

is_offloaded($node, $_, "alone: $_") foreach (@asked);
my $alone = kernels();
is(scalar(split / /, $alone), 6, 'a kernel for each');
is(right("not forced, $_"), $alone, 'the same kernels, together') for (1 .. 3);

#-------------------------------------------------------------------------
# Forced
#-------------------------------------------------------------------------
configure($node, 'gpuconc.debug_force_variant' => 'on');
my $forced = right('forced');
is(scalar(split / /, $forced), 6, 'forced: a kernel for each');
cmp_ok(common($forced, $alone), '<=', 3, 'forced: others where there is a variant');
is(right("forced again, $_"), $forced, 'forced again: the same') for (1, 2);

# EXPLAIN and the batch's kernels tell the variant that ran: device host counts scratch as
# shared memory, and a table of groups takes some in the usual variant only.
sub shared_memory
{
	my $plan = $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) $asked[0]");

	return $plan =~ /Shared Memory per Block: *(\d+)/ ? $1 : 0;
}
my $lean = shared_memory();
kernels();
configure($node, 'gpuconc.enable_kernel_variants' => 'off');
cmp_ok(shared_memory(), '>', $lean, 'EXPLAIN: shared memory of the variant that ran');
kernels();
is(right('enable_kernel_variants = off'), $alone, 'enable_kernel_variants = off: the usual ones');
configure($node, 'gpuconc.enable_kernel_variants' => 'on');
is(right('on again'), $forced, 'on again: the others');
foreach my $policy ('sequential', 'streams', 'random')
{
	configure($node, 'gpuconc.schedule' => $policy);
	is(right($policy), $alone, "$policy: the usual ones");
}
configure($node, 'gpuconc.schedule' => 'kernel');
is(right('kernel'), $forced, 'kernel: the others');
configure($node, 'gpuconc.schedule' => 'twostage');

#-------------------------------------------------------------------------
# Beside shared scans
#-------------------------------------------------------------------------
configure($node, 'gpuconc.enable_shared_scan' => 'on');
foreach my $kind ('fused', 'marked', 'off')
{
	configure($node, 'gpuconc.debug_force_shared_scan' => $kind);
	right("with shared scans, $kind, $_") for (1 .. 3);
}
configure($node, 'gpuconc.enable_shared_scan' => 'off');

#-------------------------------------------------------------------------
# Whatever they belong to comes and goes
#-------------------------------------------------------------------------
foreach my $change ("SELECT gpuconc_evict('t'), gpuconc_prewarm('t')", 'INSERT INTO t SELECT * FROM t WHERE id < 50; DELETE FROM t WHERE id % 900 = 4', 'VACUUM t', 'DELETE FROM dim WHERE k % 10 = 3; VACUUM dim', 'VACUUM FULL t; VACUUM t')
{
	$node->safe_psql('postgres', $change);
	@expected = map { answer_of($node, $_, 'forbid') } @asked;
	right("$change, $_") for (1, 2);
}

# Many directories: more than are remembered.
my @tables = map { "many$_" } (1 .. 36);
$node->safe_psql('postgres', join '', map { "CREATE TABLE $_ AS SELECT i AS id, i % 5 AS g FROM generate_series(1, 3000) AS i; VACUUM ANALYZE $_;" } @tables);
foreach my $round (1, 2)
{
	my $wrong = 0;

	foreach my $table (@tables)
	{
		my $query = "SELECT g, count(*), sum(id) FROM $table GROUP BY g ORDER BY g";

		$wrong++ if answer_of($node, $query, 'require') ne answer_of($node, $query, 'forbid');
	}
	is($wrong, 0, "many tables, $round");
}

# One that goes while it is held back, in a variant.
configure($node, 'gpuconc.debug_hold_requests' => 3);
ask($sessions[$_], $asked[$_]) for (0, 1);
wait_until_waiting($node, '^variants', 2);
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'variants1'});
like(rows_of($sessions[1]), qr/canceling statement due to user request/, 'cancelled while it is held back');
ask($sessions[$_], $asked[$_]) for (2, 3);
is(rows_of($sessions[$_]), $expected[$_], "the others have their answers: $_") for (0, 2, 3);
configure($node, 'gpuconc.debug_hold_requests' => 0);

$_->quit foreach (@sessions);
nothing_held($node, 'variants');

# The texts that a GPU would be given are there: scripts/check compiles them.
is(log_has($node, qr/PANIC|TRAP|was terminated by signal (?!9)/), 0, 'nothing bad in the log');
$node->stop;
done_testing();

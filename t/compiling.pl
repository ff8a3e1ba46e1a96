# Kernels that are being compiled: a session waits for them once (src/exec/cold.c), and then takes the original's plan
# instead of a rewritten query's, until they are there (src/plan/cold_choice.c).  The compiler waits for a file.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $bin = "$PostgreSQL::Test::Utils::tmp_check/compiling";
my $gate = "$PostgreSQL::Test::Utils::tmp_check/compiling.gate";
my ($compiler) = grep { -x $_ } map { ("$_/cc", "$_/gcc") } split /:/, $ENV{PATH};
die 'these tests need a C compiler' unless $compiler;

mkdir $bin or die "mkdir $bin: $!";
append_to_file($gate, 'open');
write_program("$bin/cc", <<"SH");
#!/bin/sh
case "\$*" in *--version*) exec $compiler "\$\@" ;; esac
source=\$(cat)
case "\$source" in
	*gc_kernel*) while [ ! -e $gate ]; do /bin/sleep 0.05; done ;;
esac
printf '%s\\n' "\$source" | $compiler "\$\@"
SH
local $ENV{PATH} = "$bin:$ENV{PATH}";

# Once its kernels are there, one request is cheaper than twenty subqueries.
my $node = new_server('compiling', q{
gpuconc.kernel_cache = 'gpuconc_kernels'
gpuconc.debug_gpu_kernels = off
gpuconc.cold = fallback
gpuconc.offload_cost = 100
gpuconc.debug_tuple_cost = 0
gpuconc.debug_build_cost = 0
});
my $rewritten = 'SELECT count(*) FROM few WHERE v < (SELECT sum(n) FROM many WHERE k = few.k)';
my $plain = 'SELECT sum(n * 3 + k) FROM many WHERE k % 5 = 2';

# PostgreSQL's own plan is estimated to take days, and a session waits for kernels for a fifth of that.
my $patient = 'SET gpuconc.cold = auto; SET cpu_operator_cost = 1000000;';

$node->safe_psql('postgres', q{
CREATE TABLE few AS SELECT i AS k, i * 700 AS v FROM generate_series(1, 20) i;
CREATE TABLE many AS SELECT i AS n, (i * 7919::bigint % 1000)::int AS k FROM generate_series(1, 60000) i;
CREATE INDEX ON many (k)});
$node->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) few, many');
my %expected = map { $_ => answer_of($node, $_, 'forbid') } ($rewritten, $plain);

# Columns are loaded, and kernels that are the same for all queries compiled.
$node->safe_psql('postgres', q{
SET gpuconc.cold = wait;
SET gpuconc.debug_offload = require;
SELECT k, sum(n) FROM many GROUP BY k;
SELECT sum(k), sum(v) FROM few});

sub plan_in
{
	my ($session, $query) = @_;

	return $session->query_safe("EXPLAIN (VERBOSE, COSTS OFF) $query");
}

# Without waiting for kernels.
sub is_answered_in
{
	my ($session, $query, $message) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($session->query_safe($query), $expected{$query}, $message);
	return;
}

sub new_session
{
	my ($settings) = @_;
	my $session = $node->background_psql('postgres');

	$session->set_query_timer_restart;
	$session->query_safe($settings // 'SELECT');
	return $session;
}

unlink $gate;

# A session waits once.
my $first = new_session("SET application_name = 'first'; $patient");
ask($first, $plain);
wait_until_waiting($node, '^first$');
my $second = new_session("SET cpu_operator_cost = 1000000; PREPARE waits AS $plain");
my $before = stat_of($node, "(fallback_reasons ->> 'not ready yet')::int");
is($second->query_safe('EXECUTE waits'), $expected{$plain}, 'a session that does not wait');
is(stat_of($node, "(fallback_reasons ->> 'not ready yet')::int"), $before + 1, 'had its kernels being compiled');
$second->query_safe($patient);
is($second->query_safe('EXECUTE waits'), $expected{$plain}, 'and would wait long, but the plan that it kept is made again');
is(stat_of($node, "(fallback_reasons ->> 'not ready yet')::int"), $before + 1, 'so that it asks for nothing while they still are');
like(plan_in($second, $plain), qr/not offloaded: kernels are compiled in the background/, 'which it knows now, so that it plans without a node');
is_answered_in($second, $plain, 'and answers without one');
wait_until_waiting($node, '^first$');
is($node->safe_psql('postgres', 'SELECT compiling > 0 FROM gpuconc_devices'), 't', 'a device says that it compiles kernels');

# A rewritten query.
my $session = new_session("PREPARE kept AS $rewritten");
like(plan_in($session, $rewritten), qr/Gpuconc[A-Z].*groups of many/s, 'a query is rewritten');
is_answered_in($session, $rewritten, "and its own plan by PostgreSQL's answers, since there are no kernels");
is(stat_of($node, "(fallback_reasons ->> 'not ready yet')::int"), $before + 2, 'for that reason');
my $requests = stat_of($node, 'requests');
my $plan = plan_in($session, $rewritten);
like($plan, qr/SubPlan/, 'then the original is planned');
like($plan, qr/not offloaded: kernels are compiled in the background/, 'and it says why');
is_answered_in($session, $rewritten, 'the original answers');
is($session->query_safe('EXECUTE kept'), $expected{$rewritten}, 'and that of a prepared statement');
is($node->safe_psql('postgres', $rewritten), $expected{$rewritten}, 'another session');
is(stat_of($node, 'requests'), $requests, 'without a request');

# A kernel that a worker was compiling is lost with the worker: it is asked for again.
end_worker($node);
wait_for_worker($node);
like(plan_in($session, $rewritten), qr/groups of many/, 'another worker: the query is rewritten');
is_answered_in($session, $rewritten, 'and answered');
like(plan_in($session, $rewritten), qr/SubPlan/, 'and then the original is planned');

append_to_file($gate, 'open');
is(rows_of($first), $expected{$plain}, 'the session that waited');
ok(again_until(sub { plan_in($session, $rewritten) =~ /groups of many/ }), 'kernels are compiled: the query is rewritten');
ok(again_until(sub { $session->query_safe('EXPLAIN (COSTS OFF) EXECUTE kept') =~ /groups of many/ }), 'so is the prepared one');
wait_until($node, 'SELECT compiling = 0 FROM gpuconc_devices');
$requests = stat_of($node, 'offloaded');
is_answered_in($session, $rewritten, 'the same answer');
is(stat_of($node, 'offloaded'), $requests + 1, 'from the device');

# Kernels of all nodes of a statement are asked for together, once the first one waits.  One of them compares with what
# another one returns.  EXPLAIN asks for none.
my @sums = ('sum(n * 5 - k) FROM many WHERE k % 3 = 1', 'max(n - k * 2) FROM many WHERE n % 7 = 2', 'count(*) FROM few WHERE v % 9 < $1',
	'sum(n * 7) FROM many WHERE k = (SELECT max(k) + 3 FROM few WHERE v % 11 > 2)');
my $all = 'SELECT ' . join(', ', map { "(SELECT $_)" } @sums);
(my $several = $all) =~ s/\$1/4/;

unlink $gate;
$expected{$several} = answer_of($node, $several, 'forbid');
my $cancelled = $node->background_psql('postgres', on_error_stop => 0);
$cancelled->query_safe(q{SET application_name = 'cancelled'; SET gpuconc.cold = wait; SET gpuconc.debug_offload = require;
SET plan_cache_mode = force_generic_plan});
my @nodes = plan_in($cancelled, $several) =~ /Gpuconc/g;
is(@nodes, 5, 'a statement of five nodes');
is($node->safe_psql('postgres', 'SELECT compiling FROM gpuconc_devices'), 0, 'which EXPLAIN does not have compiled');
my $offloaded = stat_of($node, 'offloaded');
$cancelled->query_safe("PREPARE five AS $all");
ask($cancelled, 'EXECUTE five(4)');
wait_until($node, 'SELECT compiling >= 5 FROM gpuconc_devices');
wait_until_waiting($node, '^cancelled$');
is(stat_of($node, 'offloaded'), $offloaded, 'kernels of all of them are asked for before the first one has its own');

# Whether its kernels come or not, a cancelled statement holds nothing.
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'cancelled'});
like(rows_of($cancelled), qr/canceling statement/, 'it is cancelled');
append_to_file($gate, 'open');
wait_until($node, 'SELECT compiling = 0 FROM gpuconc_devices');
my $compiled = stat_of($node, 'kernels_compiled');
$session->query_safe('SET gpuconc.debug_offload = require; SET gpuconc.cold = wait');
is_answered_in($session, $several, 'another session gets the answer');
is(stat_of($node, 'kernels_compiled'), $compiled, 'by the kernels that the cancelled one has asked for');
is(stat_of($node, 'offloaded'), $offloaded + 5, 'of all five nodes');

$_->quit for ($first, $second, $session, $cancelled);
nothing_held($node, 'after kernels were compiled');
$node->stop;
done_testing();

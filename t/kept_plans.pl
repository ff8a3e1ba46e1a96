# Plans that sessions keep, while there is no device and after it is back (src/plan/cached_plans.h).  The worker has no device
# while a file says that its compiler fails.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $bin = "$PostgreSQL::Test::Utils::tmp_check/kept";
my $broken = "$PostgreSQL::Test::Utils::tmp_check/kept.broken";
my ($compiler) = grep { -x $_ } map { ("$_/cc", "$_/gcc") } split /:/, $ENV{PATH};
die 'these tests need a C compiler' unless $compiler;

mkdir $bin or die "mkdir $bin: $!";
foreach my $name ('cc', 'gcc', 'clang')
{
	write_program("$bin/$name", <<"SH");
#!/bin/sh
[ ! -e $broken ] || exit 1
exec $compiler "\$\@"
SH
}
local $ENV{PATH} = "$bin:$ENV{PATH}";

my $node = new_server('kept', q{
gpuconc.kernel_cache = ''
gpuconc.debug_gpu_kernels = off
max_parallel_workers_per_gather = 0
});
$node->safe_psql('postgres', q{
CREATE TABLE many AS SELECT i AS n, (i * 7919::bigint % 1000)::int AS k FROM generate_series(1, 60000) i;
CREATE FUNCTION sum_of(below int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT sum(n) FROM many WHERE k < below);
END $$});
$node->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) many');
my $query = 'SELECT sum(n) FROM many WHERE k < 500';
my $answer = answer_of($node, $query, 'forbid');

# Kinds of kept plans, each in a session of its own; "before" was prepared with a device, and "meanwhile" without one.
my %calls = ('a prepared statement' => 'EXECUTE kept(500)', 'a function' => 'SELECT sum_of(500)');
my %sessions;

sub begin_sessions
{
	my ($when) = @_;

	foreach my $what (keys %calls)
	{
		my $session = $node->background_psql('postgres');

		$session->query_safe('SET plan_cache_mode = force_generic_plan; PREPARE kept(int) AS SELECT sum(n) FROM many WHERE k < $1');
		$sessions{"$what, planned $when"} = [ $session, $calls{$what} ];
	}
	return;
}

# The amount that this call adds to a column of gpuconc_stat.
sub adds
{
	my ($name, $column) = @_;
	my ($session, $call) = @{ $sessions{$name} };
	my $before = stat_of($node, $column);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($session->query_safe($call), $answer, "$name: the answer");
	return stat_of($node, $column) - $before;
}

sub state_is
{
	my ($state) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($node->safe_psql('postgres', 'SELECT state FROM gpuconc_devices'), $state, $state);
	return;
}

begin_sessions('with a device');
is(adds($_, 'offloaded'), 1, "$_: it is offloaded") foreach (sort keys %sessions);

append_to_file($broken, 'broken');
end_worker($node);
state_is('no device');
foreach my $name (sort keys %sessions)
{
	is(adds($name, 'requests'), 1, "$name, without a device: there is a node, which falls back");
	is(adds($name, 'requests'), 0, "$name: then there is none");
}
begin_sessions('without one');
is(adds($_, 'requests'), 0, "$_: nobody is asked") foreach (sort keys %sessions);

unlink $broken or die "unlink: $!";
end_worker($node);
state_is('ready');
foreach my $name (sort keys %sessions)
{
	adds($name, 'requests');
	is(adds($name, 'offloaded'), 1, "$name: once there is a device, it is offloaded");
	is(adds($name, 'offloaded'), 1, "$name: and again");
}

# A worker that is replaced at once.
end_worker($node);
foreach my $name (sort keys %sessions)
{
	adds($name, 'requests');
	is(adds($name, 'offloaded'), 1, "$name: another worker");
}

$_->[0]->quit foreach (values %sessions);
nothing_held($node, 'at last');
$node->stop;
done_testing();

# A request whose rows hold what only PostgreSQL can answer is not sent again: neither by its session nor by another, until
# a value of the statement or a row has changed.  EXPLAIN says why.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# One quotient has more digits before the point than a kernel keeps.
my $node = new_server('refused', "max_parallel_workers_per_gather = 0\n");
$node->safe_psql('postgres', q{
CREATE TABLE part AS SELECT i AS id, (i % 900)::numeric(10, 2) AS n, CASE WHEN i = 777 THEN 0.0000000001 ELSE i % 10 + 1 END::numeric(18, 10) AS d
FROM generate_series(1, 20000) AS i;
VACUUM (FREEZE, ANALYZE) part});

sub query
{
	return "SELECT count(*), sum(id) FROM part WHERE n / d > $_[0]";
}

sub refused
{
	return $node->safe_psql('postgres', q{SELECT coalesce((fallback_reasons ->> 'data condition')::int, 0) FROM gpuconc_stat});
}

# The answer is PostgreSQL's, and so many more requests were refused, and kernels launched, as are expected.
sub asked
{
	my ($session, $than, $more_refused, $more_launches, $what) = @_;
	my $expected = answer_of($node, query($than), 'forbid');
	my ($refused, $launches) = (refused(), stat_of($node, 'main_launches'));

	is($session->query_safe(query($than)), $expected, "$what: the answer");
	is(refused() - $refused, $more_refused, "$what: who gave it");
	is(stat_of($node, 'main_launches') - $launches, $more_launches, "$what: whether the device was asked");
	return;
}

my @sessions = map { session($node, "refused$_") } (0, 1);
$_->query_safe('SET gpuconc.debug_offload = allow') foreach (@sessions);

asked($sessions[0], 10, 1, 1, 'at first');
asked($sessions[0], 10, 1, 0, 'again');
asked($sessions[1], 10, 1, 0, 'in another session');
asked($sessions[0], 20, 1, 1, 'with another value');
asked($sessions[0], 20, 1, 0, 'with this one again');
like($sessions[0]->query_safe('EXPLAIN (ANALYZE, COSTS OFF) ' . query(20)), qr/Fallback: data condition \(PostgreSQL might raise an error for some row\. .*ten minutes ago/,
	'the reason is the first one');
$sessions[0]->query_safe('SET gpuconc.debug_offload = prefer');
asked($sessions[0], 20, 1, 1, 'where the device is to be asked');
$sessions[0]->query_safe('SET gpuconc.debug_offload = allow');
$node->safe_psql('postgres', 'DELETE FROM part WHERE id = 777');
asked($sessions[0], 20, 0, 1, 'without the row');
$node->safe_psql('postgres', q{INSERT INTO part VALUES (777, 777, 0.0000000001); VACUUM part});
asked($sessions[1], 10, 1, 1, 'with a row like it');
asked($sessions[1], 10, 1, 0, 'and again');

$_->quit foreach (@sessions);
nothing_held($node, 'in the end');
$node->stop;
done_testing();

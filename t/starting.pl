# A query just after a start of the server waits for a device that is being opened, as for a compiler: under cold = wait
# until it is there, else for a part of what PostgreSQL's plan takes.  The worker opens its file of constants, a pipe here,
# when it has opened its device, and waits for a writer.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use POSIX qw(mkfifo);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('starting');
my $event = $node->pg_version >= 17 ? 'GpuconcStart' : 'Extension';
my $pipe = $node->basedir . '/constants';
my $query = 'SELECT i % 7, count(*), sum(i) FROM t GROUP BY 1 ORDER BY 1';

$node->safe_psql('postgres', 'CREATE TABLE t AS SELECT i FROM generate_series(1, 20000) AS i');
$node->safe_psql('postgres', 'VACUUM (ANALYZE) t');
my $answer = $node->safe_psql('postgres', "SET gpuconc.enabled = off; $query");
mkfifo($pipe, 0600) or die "no pipe: $!";
$node->append_conf('postgresql.conf', "gpuconc.calibration_file = '$pipe'");

# Let the worker go on.
sub open_pipe
{
	open(my $writer, '>', $pipe) or die "the pipe cannot be opened: $!";
	close($writer);
	wait_for_worker($node);
	return;
}

sub counts
{
	return $node->safe_psql('postgres', 'SELECT offloaded FROM gpuconc_stat');
}

$node->restart;
is($node->safe_psql('postgres', 'SELECT state FROM gpuconc_devices'), 'starting', 'the device is being opened');
my $waiting = session($node, 'waits');
my $ended = session($node, 'ended');
ask($waiting, $query);
ask($ended, $query);
wait_until($node, qq{SELECT count(*) = 2 FROM pg_stat_activity WHERE application_name IN ('waits', 'ended') AND wait_event = '$event'});
ok(again_until(sub { $node->safe_psql('postgres', q{SELECT count(*) FROM gpuconc_cache WHERE relation = 't'::regclass}) == 1 }),
	'its columns are loaded meanwhile');
is($node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended'}), 't', 'one is cancelled');
wait_until($node, q{SELECT state <> 'active' FROM pg_stat_activity WHERE application_name = 'ended'});
is($node->safe_psql('postgres', "SET gpuconc.cold = fallback; $query"), $answer, 'PostgreSQL answers where nothing is waited for');
is(counts(), '0', 'none was offloaded');
open_pipe();
is(rows_of($waiting), $answer, 'the one that waits is answered');
is(counts(), '1', 'by the device');
$waiting->quit;
$ended->quit;

$node->restart;
is($node->safe_psql('postgres', "SET gpuconc.cold = auto; $query"), $answer, 'one that does not wait for ever is answered');
is(counts(), '0', 'without a device');
open_pipe();
$node->stop;

done_testing();

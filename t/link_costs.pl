# The cost of kernels' reads over the link is measured once a worker is idle (src/worker/kernels/link_costs.c).  Where
# such a kernel fails, nothing else suffers, and none is launched again: a device that each worker's kernel destroys
# would have the worker restarted for ever.  The driver is one that only pretends (tests/unit/fake_cuda.c).

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $driver = "$PostgreSQL::Test::Utils::tmp_check/fake";
my @cc = split ' ', $ENV{CC} // 'cc';
plan skip_all => 'there is no C compiler' if system_log(@cc, '--version') != 0;
mkdir $driver;
system_log(@cc, '-std=gnu11', '-fPIC', '-shared', "$FindBin::RealBin/../tests/unit/fake_cuda.c", '-o', "$driver/libcuda.so.1") == 0
  or die 'the driver that pretends is not compiled';

# A server whose worker's first launch gives this result.
sub start
{
	my ($name, $fail) = @_;

	local $ENV{LD_LIBRARY_PATH} = join ':', $driver, $ENV{LD_LIBRARY_PATH} // ();
	local $ENV{FAKE_CUDA_FAIL} = $fail;
	return new_server($name, "gpuconc.devices = cuda\ngpuconc.debug_gpu_kernels = off");
}

# Wait until the log has this message.
sub said
{
	my ($node, $pattern, $what) = @_;

	ok(again_until(sub { log_has($node, $pattern) }), $what);
	return;
}

my $measured = qr/over the link, copies move/;
my $node = start('works', '');
my $state = $node->safe_psql('postgres', 'SELECT state, detail FROM gpuconc_devices');
plan skip_all => $state if $state =~ /^no device/;
said($node, $measured, 'reads over the link are measured');
stop_server($node);

$node = start('refused', 'cuLaunchKernel=701');
said($node, qr/reads over the link could not be measured/, 'a launch that is refused');
my $worker = 'SELECT state, worker_pid FROM gpuconc_devices';
my $before = $node->safe_psql('postgres', $worker);
like($before, qr/^ready/, 'leaves the device as it was');
is(log_has($node, qr/restarts its worker/), 0, 'and the worker');
end_worker($node);
said($node, qr/reads over the link are not measured, as that has failed before/, 'another worker does not try');
is(log_has($node, $measured), 0, 'nothing was measured');
stop_server($node);

$node = start('lost', 'cuLaunchKernel=700');
said($node, qr/restarts its worker because the device has failed/, 'where the device is lost, the worker restarts');
said($node, qr/reads over the link are not measured, as that has failed before/, 'and the next one does not try');
wait_until($node, q{SELECT state = 'ready' FROM gpuconc_devices}, 'but has the device');
is(log_has($node, qr/restarts its worker/), 1, 'that was once');
stop_server($node);

done_testing();

# No GPU, no compiler, or one that fails, hangs or lies: the server starts, says so in
# one line of its log, and answers.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $bin = "$PostgreSQL::Test::Utils::tmp_check/bin";
mkdir $bin or die "mkdir $bin: $!";
# a PATH that has no more than what starts the server
my ($pg_ctl) = grep { -x $_ } map { "$_/pg_ctl" } split /:/, $ENV{PATH};
symlink $pg_ctl, "$bin/pg_ctl" or die "symlink: $!";
my $gate = "$PostgreSQL::Test::Utils::tmp_check/gate";

my $node = new_server('device', "gpuconc.devices = auto\ngpuconc.kernel_cache = ''\n", start => 0);
my $path = $ENV{PATH};

# Start or restart the server with these settings, and a PATH of these directories.
sub with_server
{
	my ($conf, $directories, $expected_state) = @_;

	$node->stop if defined $node->{_pid};
	$node->append_conf('postgresql.conf', $conf);
	my $offset = -e $node->logfile ? -s $node->logfile : 0;
	{
		local $ENV{PATH} = $directories;
		$node->start;
	}
	$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS gpuconc');
	wait_for_worker($node);
	is($node->safe_psql('postgres', 'SELECT state FROM gpuconc_devices'), $expected_state, "$conf: $expected_state");
	return $offset;
}

sub answers
{
	my ($message) = @_;

	is_answered($node, $_, "$message: $_") foreach (@queries);
	return;
}

# The compiler's stand-in: passes on to the real one, or does what $bad says.
my ($real) = grep { -x $_ } map { ("$_/cc", "$_/gcc") } split /:/, $path;
die 'these tests need a C compiler' unless $real;

sub stand_in
{
	my ($bad) = @_;

	write_program("$bin/cc", <<"SH");
#!/bin/sh
case "\$*" in *--version*) exec $real "\$\@" ;; esac
output=; previous=
for a; do [ "\$previous" = -o ] && output=\$a; previous=\$a; done
source=\$(cat)
case "\$source" in
	*gc_kernel*) $bad ;;
esac
printf '%s\\n' "\$source" | $real "\$\@"
SH
	return;
}

#-------------------------------------------------------------------------
# no GPU
#-------------------------------------------------------------------------
my $offset = with_server('', $path, 'ready');
create_tables($node);
is($node->safe_psql('postgres', 'SELECT device FROM gpuconc_devices'), 'host', 'auto takes the host where there is no GPU');
my $why = $node->safe_psql('postgres', 'SELECT detail FROM gpuconc_devices');
is_offloaded($node, $_, "auto: $_") foreach (@queries);
is(log_has($node, qr/gpuconc/, $offset), log_has($node, qr/gpuconc uses device host/, $offset)
	  + log_has($node, qr/gpuconc asks for 64 MB of shared memory/, $offset) + log_has($node, qr/statement: .*gpuconc/, $offset), 'auto: a line in the log for the device, and one for the cache');

SKIP:
{
	skip 'this machine has a GPU', 10 if glob '/dev/nvidia[0-9]*';
	$offset = with_server('gpuconc.devices = cuda', $path, 'no device');
	answers('cuda without a GPU');
	is(log_has($node, qr/LOG:  gpuconc has no device; queries run without it\n.*DETAIL:  \S/, $offset),
		1, 'cuda without a GPU: one line in the log says why');
	my ($status, $out, $error) = $node->psql('postgres', "SET gpuconc.debug_offload = require; $queries[0]");
	like($error, qr/no device/, 'cuda without a GPU: require names the reason');
	is($node->safe_psql('postgres', q{SELECT detail <> '' FROM gpuconc_devices}), 't', 'the view says why');
	is($why, $node->safe_psql('postgres', 'SELECT detail FROM gpuconc_devices'), 'and did so where the host was taken instead');
}

#-------------------------------------------------------------------------
# calibration files
#-------------------------------------------------------------------------
my $calibration = "$PostgreSQL::Test::Utils::tmp_check/device.calibration";

# Restart with this calibration file.  Of what the log says about it, this much; and
# was the first prediction made by a launch_us of 777 ms?
sub calibrated
{
	my ($name, $file, $in_log, $expected) = @_;
	my $mine = with_server("gpuconc.calibration_file = '$file'", $path, 'ready');

	is(log_has($node, qr/LOG:  .*calibration/, $mine), defined $in_log ? 1 : 0, "$name: lines in the log");
	is(log_has($node, $in_log, $mine), 1, "$name: the log says why") if defined $in_log;
	is_offloaded($node, $queries[0], $name);
	is($node->safe_psql('postgres', q{
SELECT predicted_time >= 777 AND predicted_time < 778 FROM gpuconc_stat_batches WHERE predicted_time IS NOT NULL
ORDER BY id LIMIT 1}), $expected, "$name: the prediction");
	return;
}

$node->append_conf('postgresql.conf', 'gpuconc.devices = host');
calibrated('no such calibration file', "$calibration.absent",
	qr/LOG:  could not open calibration file ".*absent": No such file or directory\n/, 'f');
append_to_file($calibration, "# a device of the tests\r\nlaunch_us = 777000\r\nread_bandwidth = 1e9\r\n");
calibrated('a calibration file', $calibration, undef, 't');
append_to_file($calibration, "launch_time = 2\n");
calibrated('a calibration file with a bad line', $calibration,
	qr/LOG:  calibration file ".*" is not used\n.*DETAIL:  In it, a name is not known\.\n/, 'f');
append_to_file("$calibration.long", "# long\n" x 2000);
calibrated('a calibration file that is too long', "$calibration.long",
	qr/DETAIL:  In it, there are more than 8 kB\.\n/, 'f');
calibrated('a directory', $PostgreSQL::Test::Utils::tmp_check,
	qr/LOG:  could not read calibration file ".*": Is a directory\n/, 'f');
$node->append_conf('postgresql.conf', "gpuconc.calibration_file = ''");

#-------------------------------------------------------------------------
# compilers
#-------------------------------------------------------------------------
$offset = with_server('gpuconc.devices = host', $bin, 'no device');
answers('no compiler');
is(log_has($node, qr/LOG:  gpuconc has no device.*\n.*DETAIL:  .*compiler/, $offset), 1, 'no compiler: one line in the log');

write_program("$bin/cc", "#!/bin/sh\necho 'cc: broken' >&2\nexit 1\n");
$offset = with_server('', $bin, 'no device');
is(log_has($node, qr/DETAIL:  .*cc: broken/, $offset), 1, 'a compiler that always fails: the log has its words');
answers('a compiler that always fails');

# Its output loads, and yet is not what was asked for.
write_program("$bin/cc", "#!/bin/sh\nexit 0\n");
with_server('', $bin, 'no device');
answers('a compiler without output');

foreach my $bad (
	[ 'fails', 'echo oops >&2; exit 1' ],
	[ 'is killed', 'kill -9 $$' ],
	[ 'writes garbage', 'echo garbage >$output; exit 0' ],
	[ 'writes nothing', ': >$output; exit 0' ],
	[ 'writes another library', "echo 'int f(void) {return 1;}' | $real -x c -shared -fPIC -o \$output -; exit \$?" ])
{
	stand_in($bad->[1]);
	$offset = with_server('', "$bin:$path", 'ready');
	my $worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM gpuconc_devices');
	answers("a compiler that $bad->[0]");
	is(stat_of($node, 'fallbacks'), scalar @queries, "a compiler that $bad->[0]: PostgreSQL's plans answer");
	is($node->safe_psql('postgres', 'SELECT worker_pid, state, running FROM gpuconc_devices'),
		"$worker|ready|0", "a compiler that $bad->[0]: others are not disturbed");
}

# One that hangs: whoever waits can be cancelled, and the server be stopped.
stand_in("while [ ! -e $gate ]; do /bin/sleep 0.05; done");
with_server('', "$bin:$path", 'ready');
my ($status, $out, $error) = $node->psql('postgres', "SET statement_timeout = '200ms'; $queries[0]");
like($error, qr/canceling statement due to statement timeout/, 'a compiler that hangs: statement_timeout');
my @sessions = map { session($node, "hung$_") } (0 .. 3);
start_query($sessions[$_], $queries[$_]) for (0 .. 3);
wait_until_waiting($node, '^hung', 4);
is($node->safe_psql('postgres', q{
SELECT bool_and(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name ~ '^hung[01]'}), 't', 'cancelled');
$sessions[$_]->query_until(qr/over/, "\n") for (0, 1);
like($sessions[$_]->{stderr}, qr/canceling statement due to user request/, 'a compiler that hangs: cancel') for (0, 1);
# Its kernels are asked for already, by a session that waits for them.
is($node->safe_psql('postgres', "SET gpuconc.cold = fallback; $queries[2]"), answer_of($node, $queries[2], 'forbid'),
	'a compiler that hangs: a session that asks for the same need not wait');
append_to_file($gate, 'open');
like($sessions[2]->query_until(qr/over/, "\n"), qr/name0/, 'and goes on when the compiler does');
$sessions[3]->query_until(qr/over/, "\n");
$_->quit for @sessions;
is_offloaded($node, $_, "the compiler works again: $_") foreach (@queries);

unlink $gate;
my $session = session($node, 'stopped');
start_query($session, 'SELECT sum(k * 3 + id) FROM t WHERE k % 5 = 2');
wait_until_waiting($node, 'stopped');
$node->stop('fast');
ok(1, 'the server stops while a compiler hangs');
$session->{run}->kill_kill;

$node->stop if defined $node->{_pid};
done_testing();

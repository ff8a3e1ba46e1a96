# A GPU without what it needs: no NVRTC, one that is too old or another library, or a GPU that another cluster has for
# itself.  The server starts, says why in one line of its log and in gpuconc_devices, and PostgreSQL's plans answer.
# The GPU is a driver that pretends.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $directory = "$PostgreSQL::Test::Utils::tmp_check/libraries";
my @cc = split ' ', $ENV{CC} // 'cc';
plan skip_all => 'there is no C compiler' if system_log(@cc, '--version') != 0;
mkdir $directory;

sub make_library
{
	my ($name, @source) = @_;

	system_log(@cc, '-std=gnu11', '-fPIC', '-shared', @source, '-o', "$directory/$name") == 0 or die "$name is not compiled";
	return;
}

sub make_library_of_text
{
	my ($name, $text) = @_;

	unlink "$directory/$name.c";
	append_to_file("$directory/$name.c", $text);
	make_library($name, "$directory/$name.c");
	return;
}

make_library('libcuda.so.1', "$FindBin::RealBin/../tests/unit/fake_cuda.c");

# This machine's own NVRTC must not be found.
make_library_of_text('only_ours.so', q{
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

void *
dlopen(const char *file, int mode)
{
	void	   *(*open_library) (const char *, int);

	*(void **) &open_library = dlsym(RTLD_NEXT, "dlopen");
	if (file != NULL && file[0] == '/' && strstr(file, "libnvrtc") != NULL)
		return NULL;
	if (file != NULL && strncmp(file, "libnvrtc", 8) == 0)
	{
		char		path[4096] = DIRECTORY "/";

		return strlen(file) < 100 ? open_library(strcat(path, file), mode) : NULL;
	}
	return open_library(file, mode);
}
} =~ s/DIRECTORY/"$directory"/r);

my $node = new_server('device', "gpuconc.devices = cuda\n", start => 0);
my $created = 0;

# Restart, with what the driver gives for a call.  Whether the server has this device and state, and its view says why.
sub has
{
	my ($name, $conf, $expected, $why, $fail) = @_;

	$node->stop if $node->{_pid};
	$node->append_conf('postgresql.conf', $conf);
	my $offset = -e $node->logfile ? -s $node->logfile : 0;
	{
		local $ENV{LD_LIBRARY_PATH} = join ':', $directory, $ENV{LD_LIBRARY_PATH} // ();
		local $ENV{LD_PRELOAD} = "$directory/only_ours.so";
		local $ENV{FAKE_CUDA_FAIL} = $fail // '';
		start_server($node);
	}
	create_tables($node) unless $created++;
	is($node->safe_psql('postgres', 'SELECT device, state FROM gpuconc_devices'), $expected, "$name: $expected");
	like($node->safe_psql('postgres', 'SELECT detail FROM gpuconc_devices'), $why, "$name: the view says why");
	return $offset;
}

sub has_none
{
	my ($name, $why, $fail) = @_;

	my $offset = has($name, 'gpuconc.devices = cuda', '|no device', $why, $fail);

	is(log_has($node, qr/LOG:  gpuconc has no device; queries run without it\n[^\n]*DETAIL:  [^\n]*$why/, $offset), 1,
		"$name: one line of the log says why");
	is_answered($node, $_, "$name: $_") foreach (@queries);
	my (undef, undef, $error) = $node->psql('postgres', "SET gpuconc.debug_offload = require; $queries[0]");
	like($error, qr/no device/, "$name: require names the reason");
	return;
}

has_none('no NVRTC', qr/The CUDA run-time compiler \(libnvrtc\.so\) was not found\. Install .*nvidia-cuda-nvrtc/);
has('no NVRTC, and auto', 'gpuconc.devices = auto', 'host|ready', qr/The CUDA run-time compiler \(libnvrtc\.so\) was not found\. Install /);
is_offloaded($node, $_, "no NVRTC, and auto: $_") foreach (@queries);

make_library_of_text('libnvrtc.so.11.2', 'int nvrtcVersion(int *major, int *minor) { *major = 11; *minor = 8; return 0; }');
has_none('an NVRTC that is too old', qr/NVRTC 11\.8 is too old: .* CUDA 12 or later\. Install /);

make_library_of_text("libnvrtc.so.$_", 'int nothing;') for (12, 13);
has_none('another library of that name', qr/The CUDA run-time compiler has no function nvrtc\w+\./);

# One that compiles for this GPU, or for newer ones only.
sub make_nvrtc
{
	my ($arch) = @_;

	unlink "$directory/libnvrtc.so.$_" for (11.2, 12, 13);
	make_library_of_text('libnvrtc.so.12', join "\n",
		'int nvrtcVersion(int *major, int *minor) { *major = 12; *minor = 9; return 0; }',
		'int nvrtcGetNumSupportedArchs(int *count) { *count = 1; return 0; }',
		"int nvrtcGetSupportedArchs(int *archs) { *archs = $arch; return 0; }",
		'const char *nvrtcGetErrorString(int error) { return "nothing compiles"; }',
		map { "int nvrtc$_(void) { return 1; }" } qw(CreateProgram DestroyProgram CompileProgram GetCUBINSize GetCUBIN
		GetPTXSize GetPTX GetProgramLogSize GetProgramLog));
	return;
}

make_nvrtc(100);
has_none('an NVRTC that does not know this GPU', qr/NVRTC 12\.9 does not compile for this GPU \(compute capability 9\.0\)\./);
make_nvrtc(90);

# CUDA_ERROR_DEVICE_UNAVAILABLE: in exclusive mode, the GPU is the process's that came first.
has_none('a GPU that another cluster has for itself', qr/cuDevicePrimaryCtxRetain failed: /, 'cuDevicePrimaryCtxRetain=46');
has('such a GPU, and auto', 'gpuconc.devices = auto', 'host|ready', qr/cuDevicePrimaryCtxRetain failed: /, 'cuDevicePrimaryCtxRetain=46');
is_offloaded($node, $queries[1], 'such a GPU, and auto');

# It is free later: a worker that is started anew takes it.
$ENV{FAKE_CUDA_WHILE} = "$directory/taken";
append_to_file($ENV{FAKE_CUDA_WHILE}, '');
has_none('a GPU that another cluster has for a while', qr/cuDevicePrimaryCtxRetain failed: /, 'cuDevicePrimaryCtxRetain=46');
unlink $ENV{FAKE_CUDA_WHILE};
configure($node, 'gpuconc.device_memory_limit' => '16MB');
wait_until($node, q{SELECT device = 'cuda' AND state = 'ready' FROM gpuconc_devices}, 'a GPU that is free again: the worker takes it');
is_answered($node, $queries[1], 'a GPU that is free again');

$node->stop;
done_testing();

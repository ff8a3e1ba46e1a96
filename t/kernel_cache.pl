# The directory of compiled kernels: full, not ours, or with somebody else's files in
# it.  Queries answer, and only what the server itself has written is ever loaded.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('kernel_cache', "gpuconc.kernel_cache = 'gpuconc_kernels'\n");
my $directory = $node->data_dir . '/gpuconc_kernels';

create_tables($node);

sub kernel_files
{
	return sort glob "$directory/*.bin";
}

sub run_all
{
	my ($message) = @_;

	is_offloaded($node, $_, "$message: $_") foreach (@queries[0, 2]);
	return;
}

sub compiled
{
	return stat_of($node, 'kernels_compiled');
}

# Restart with that done to the directory while the server is down; offset of the log.
sub restart_with
{
	my ($what) = @_;

	$node->stop;
	$what->();
	my $offset = -s $node->logfile;
	start_server($node);
	return $offset;
}

# the normal case: compiled once, found on disk by the next worker
run_all('first');
cmp_ok(compiled(), '>', 0, 'kernels are compiled');
my @files = kernel_files();
cmp_ok(scalar @files, '>', 0, 'and written');
is(sprintf('%o', (stat $directory)[2] & 0777), '700', 'into a directory of the server\'s own');
is(scalar(grep { (stat $_)[2] & 0022 } @files), 0, 'that others may not write');
restart_with(sub { });
run_all('from disk');
is(compiled(), '0', 'nothing is compiled after a restart');

# other constants in a text want no other kernels, be they equal or not
sub run_constants
{
	my ($k, $other, $least, $factor) = @_;

	is_offloaded($node, "SELECT count(*), sum(($factor - n) * id) FROM t WHERE k = $k AND id > $least OR k = $other AND n > 1",
		"constants $k, $other, $least, $factor");
	return;
}
run_constants(7, 8, 9, 100);
my $before = compiled();
cmp_ok($before, '>', 0, 'kernels are compiled for a text');
run_constants(@$_) foreach ([7, 8, 7, 100], [7, 8, 8, 100], [5, 100, 100, 100], [1, 2, 3, 1]);
is(compiled(), $before, 'none is compiled for other constants');

# kept to a limit, which a reload brings: what is oldest goes
foreach my $digit (0 .. 3)
{
	my $old = "$directory/" . ($digit x 32) . '.bin';
	append_to_file($old, '');
	truncate $old, 10 << 20;
	chmod 0600, $old;
	utime 1_000_000 + $digit, 1_000_000 + $digit, $old;
}
configure($node, 'gpuconc.kernel_cache_size' => '30MB');
wait_until($node, q{SELECT repeat('0', 32) || '.bin' NOT IN (SELECT pg_ls_dir('gpuconc_kernels'))});
is(scalar(grep { -e $_ } @files), scalar @files, 'kernels that were used last are kept');
ok(-e "$directory/" . ('3' x 32) . '.bin', 'and others while there is room');
configure($node, 'gpuconc.kernel_cache_size' => '1GB');
unlink glob "$directory/" . ('[123]' x 32) . '.bin';
restart_with(sub { });
run_all('after trimming');
is(compiled(), '0', 'nothing is compiled after trimming');

# more kernels than may stay loaded: the worker forgets those that no request has
configure($node, 'gpuconc.debug_most_kernels' => 1);
run_all('few may stay');
unlink kernel_files();
my $compiled = compiled();
run_all('forgotten');
cmp_ok(compiled(), '>', $compiled, 'kernels that were forgotten, in memory and on disk, are compiled anew');

# where a request is always under way, too: others' kernels are forgotten once those that began beside them are over
$node->safe_psql('postgres', q{CREATE TABLE many AS SELECT 1 AS k, i AS v FROM generate_series(1, 400000) AS i; VACUUM ANALYZE many});
my $long_of = sub { "SELECT sum((a.v * $_[0] + b.v) % 7) FROM many AS a JOIN many AS b ON a.k = b.k" };
my @sessions = map { session($node, "long $_") } (0 .. 6);
start_query($sessions[0], $long_of->(1));
wait_until_waiting($node, '^long', 1);
run_all('beside a long request');
foreach my $n (1 .. $#sessions)
{
	start_query($sessions[$n], $long_of->($n + 1));
	wait_until_waiting($node, '^long', 2);
	is_offloaded($node, $queries[1], "beside two long requests, $n");
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'long " . ($n - 1) . "'");
	wait_until_waiting($node, '^long', 1);
	wait_until($node, 'SELECT running < 2 FROM gpuconc_devices');
}
unlink kernel_files();
$compiled = compiled();
run_all('forgotten beside long requests');
cmp_ok(compiled(), '>', $compiled, 'kernels are forgotten though a request is always under way');
wait_until_waiting($node, '^long', 1);
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'long %' AND state = 'active'});
$_->quit foreach (@sessions);
configure($node, 'gpuconc.debug_most_kernels' => 3000);

# damaged files: each is compiled anew, and replaced
foreach my $damage (
	[ 'empty', sub { truncate $_[0], 0 } ],
	[ 'cut short', sub { truncate $_[0], (-s $_[0]) / 2 } ],
	[ 'overwritten', sub { open my $f, '+<', $_[0]; seek $f, (-s $_[0]) / 2, 0; print $f 'x' x 64; close $f } ],
	[ 'longer', sub { append_to_file($_[0], 'x' x 1000) } ],
	[ 'exchanged', sub { my @f = kernel_files(); my $other = $f[0] eq $_[0] ? $f[1] : $f[0]; system('cp', $other, "$_[0].new"); rename "$_[0].new", $_[0] } ],
	[ 'a directory', sub { unlink $_[0]; mkdir $_[0] } ],
	[ 'a pipe', sub { unlink $_[0]; system('mkfifo', '-m', '600', $_[0]) } ])
{
	restart_with(sub { $damage->[1]->($_) foreach (kernel_files()) });
	run_all("files $damage->[0]");
	cmp_ok(compiled(), '>', 0, "files $damage->[0]: compiled anew");
	system('rm', '-rf', $directory) if $damage->[0] =~ /^a /;
	restart_with(sub { });
	is_offloaded($node, $queries[0], "after files $damage->[0]");
	is(compiled(), '0', "files $damage->[0]: replaced") unless $damage->[0] =~ /^a /;
}

# files and directories that others could have written: not used, one line says so
my $image = "$PostgreSQL::Test::Utils::tmp_check/elsewhere";
foreach my $case (
	[ 'a file others may write', sub { chmod 0666, kernel_files() } ],
	[ 'a symbolic link', sub { foreach (kernel_files()) { rename $_, "$image" and symlink $image, $_ } } ],
	[ 'a directory others may write', sub { chmod 0777, $directory } ],
	[ 'a directory its group may write', sub { chmod 0770, $directory } ],
	[ 'a symbolic link to a directory', sub { rename $directory, "$image.d" and symlink "$image.d", $directory } ],
	[ 'a plain file for a directory', sub { append_to_file($directory, 'x') } ],
	[ 'a directory that may not be read', sub { mkdir $directory; chmod 0, $directory } ])
{
	restart_with(sub { system('rm', '-rf', $directory) });
	run_all("before $case->[0]");
	my $offset = restart_with(sub {
		system('rm', '-rf', $directory) if $case->[0] =~ /plain file|may not be read/;
		$case->[1]->();
	});
	my $may_read = $case->[0] =~ /may not be read/ && -r $directory;
  SKIP:
	{
		skip 'this user may read everything', 4 if $may_read;
		run_all($case->[0]);
		cmp_ok(compiled(), '>', 0, "$case->[0]: compiled anew");
		is(log_has($node, qr/kernel cache .* is not used, compiled kernels are kept in memory only/, $offset),
			1, "$case->[0]: one line in the log");
	}
	chmod 0700, $directory unless -l $directory;
}

# a compiler that is killed: PostgreSQL's plan answers, and the next request has the
# kernel compiled
my $bin = "$PostgreSQL::Test::Utils::tmp_check/bin";
my ($compiler) = grep { -x $_ } map { my $name = $_; map { "$_/$name" } split /:/, $ENV{PATH} } ('cc', 'gcc', 'clang');
mkdir $bin;
foreach my $case (
	[ 'the compiler', 'kill -KILL $$' ],
	[ 'a part of it', 'echo "cc: fatal error: Killed signal terminated program cc1" >&2; exit 1' ])
{
	unlink "$bin/cc";
	append_to_file("$bin/cc", qq{#!/bin/sh
if [ -e $bin/kill ]; then case "\$*" in *kernel.so*) $case->[1];; esac; fi
exec $compiler "\$@"
});
	chmod 0755, "$bin/cc";
	local $ENV{PATH} = "$bin:$ENV{PATH}";
	restart_with(sub { system('rm', '-rf', $directory) });
	append_to_file("$bin/kill", '');
	falls_back($node, $queries[0], 'compilation interrupted', "$case->[0] is killed");
	unlink "$bin/kill";
	is_offloaded($node, $queries[0], "after $case->[0] was killed");
}

# no room: nothing is kept, nothing fails.  A limit on the size of files stands in for
# a full disk, which takes a file system of our own.
restart_with(sub { system('rm', '-rf', $directory, "$image.d"); });
my $mounts = "$PostgreSQL::Test::Utils::tmp_check/full";
mkdir $mounts;
SKIP:
{
	skip 'no file system can be mounted here', 8 unless may_mount();
	foreach my $room ('64k', '4k')
	{
		$node->stop;
		$node->append_conf('postgresql.conf', "gpuconc.kernel_cache = '$mounts/kernels'");
		start_mounted($node, $mounts, $room);
		run_all("disk full ($room)");
		cmp_ok(compiled(), '>', 0, "disk full ($room): compiled");
		is($node->safe_psql('postgres', q{SELECT state FROM gpuconc_devices}), 'ready', "disk full ($room): ready");
	}
}

$node->stop;
done_testing();

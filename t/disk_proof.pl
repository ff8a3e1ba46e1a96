# Files of columns that outlive a restart (src/columns/load/disk.h), when what writes them is killed at each step, the disk
# is full, clocks go wrong, or the files are another server's: rows are PostgreSQL's.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Faults of calls in the server's processes.  The file FAULT names the call, a pattern of paths, and what happens: the process
# is killed, or the disk is full.  Clocks are CLOCK_BACK seconds behind.
my $library = "$PostgreSQL::Test::Utils::tmp_check/faults";
my @cc = split ' ', $ENV{CC} // 'cc';
append_to_file("$library.c", <<'C');
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(name) *) dlsym(RTLD_NEXT, #name))

/* Is this a call that fails?  The process may be killed in it. */
static int
fails(const char *call, const char *path)
{
	char		wanted[32], pattern[1024], how[32];
	const char *fault = getenv("FAULT");
	FILE	   *f = fault ? fopen(fault, "r") : NULL;
	int			found = f && fscanf(f, "%31s %1023s %31s", wanted, pattern, how) == 3 &&
		strcmp(wanted, call) == 0 && fnmatch(pattern, path, 0) == 0;

	if (f)
		fclose(f);
	if (found && strcmp(how, "kill") == 0)
	{
		unlink(fault);
		kill(getpid(), SIGKILL);
	}
	return found;
}

int
open(const char *path, int flags, ...)
{
	va_list		args;
	mode_t		mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (flags & O_CREAT && strstr(path, "_gpuconc/") && fails("open", path))
		return errno = ENOSPC, -1;
	return NEXT(open)(path, flags, mode);
}

/* Half of the bytes are written, and then no more. */
ssize_t
write(int fd, const void *from, size_t n)
{
	char		link[64], path[1024];
	ssize_t		length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	path[length < 0 ? 0 : length] = '\0';
	if (!strstr(path, "_gpuconc/") || !getenv("FAULT") || access(getenv("FAULT"), F_OK) != 0)
		return NEXT(write)(fd, from, n);
	if (NEXT(write)(fd, from, n / 2) != (ssize_t) (n / 2) || fails("write", path))
		return errno = ENOSPC, -1;
	return n / 2 + NEXT(write)(fd, (const char *) from + n / 2, n - n / 2);
}

int
rename(const char *from, const char *to)
{
	int			done;

	if (strstr(to, "_gpuconc/") && fails("rename", from))
		return errno = ENOSPC, -1;
	done = NEXT(rename)(from, to);
	if (strstr(to, "_gpuconc/"))
		fails("renamed", from);
	return done;
}

static time_t
clock_back(void)
{
	return getenv("CLOCK_BACK") ? atol(getenv("CLOCK_BACK")) : 0;
}

int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	now->tv_sec = t.tv_sec;
	now->tv_usec = t.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *to)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (to)
		*to = t.tv_sec;
	return t.tv_sec;
}

int
clock_gettime(clockid_t id, struct timespec *now)
{
	int			done = NEXT(clock_gettime)(id, now);

	if (id == CLOCK_REALTIME)
		now->tv_sec -= clock_back();
	return done;
}
C
plan skip_all => 'there is no C compiler' if system_log(@cc, '-fPIC', '-shared', "$library.c", '-o', "$library.so", '-ldl') != 0;

my $fault = "$PostgreSQL::Test::Utils::tmp_check/fault";
my $node = new_server('disk_proof', q{
gpuconc.disk_cache_size = 128MB
gpuconc.debug_hot_pages = 100000
gpuconc.debug_offload = prefer
max_worker_processes = 24
log_min_messages = debug1
restart_after_crash = on
}, start => 0);
my ($data, $copy) = ($node->data_dir, $node->backup_dir . '/copy');
my $files = "$data/pgsql_tmp_gpuconc";
my $query = 'SELECT s, count(*), sum(id), min(d), max(n), avg(n), count(n) FROM t GROUP BY s ORDER BY s';
my $start = 0;

sub files { return grep { !/clean_end/ } glob("$files/*") }

sub pages_loaded { return $node->safe_psql('postgres', 'SELECT pages_loaded FROM gpuconc_stat') }

sub pages { return $node->safe_psql('postgres', "SELECT pg_relation_size('t') / 8192") }

# Columns that files have are loaded as the server starts.
sub start
{
	local %ENV = (%ENV, LD_PRELOAD => "$library.so", FAULT => $fault, @_);

	$start = -s $node->logfile // 0;
	start_server($node);
	wait_for_kept($node, $start);
	wait_for_all_loaders($node, $start);
	return;
}

# The device's answer after a start is PostgreSQL's; $pages pages were read since.
sub reads
{
	my ($pages, $message) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is_offloaded($node, $query, $message);
	is(pages_loaded(), $pages, "$message: pages read");
	return;
}

# Other rows, none of which files have.
sub change
{
	my ($by) = @_;

	$node->safe_psql('postgres', "UPDATE t SET n = n + $by, s = s || '$by' WHERE id % 50 = 7");
	$node->safe_psql('postgres', 'VACUUM (FREEZE) t');
	return;
}

# Files of the table as it is now.
sub write_files
{
	is_offloaded($node, $query, shift);
	wait_for_all_loaders($node, $start);
	cmp_ok(scalar files(), '>=', 5, 'there are files');
	return;
}

sub contents { return map { [ $_, slurp_file($_), (stat $_)[9] ] } files() }

# Files as contents() returned them, and no others, with their times.
sub put
{
	unlink files();
	for (@_)
	{
		append_to_file($_->[0], $_->[1]);
		chown((stat $files)[4, 5], $_->[0]);
		utime($_->[2], $_->[2], $_->[0]);
	}
	return;
}

start();
create_tables($node, 20000);
$node->safe_psql('postgres', 'VACUUM (FREEZE) t');
write_files('at first');

# A loader is killed at each step of writing a column's file, and a dictionary's.
my $step = 0;
for my $call ((map { "$_ */[0-9]*.[1-4].*" } qw(open write rename renamed)), map { "$_ */[0-9]*.-5.*" } qw(write renamed))
{
	my $offset = -s $node->logfile;

	change(++$step);
	append_to_file($fault, "$call kill\n");
	# A loader in the background may be there before, and be killed before a session is let in.
	eval { $node->psql('postgres', $query) };
	wait_for_restart($node, $offset);
	ok(!-e $fault, "killed: $call");
	is(log_has($node, qr/"gpuconc loader" \(PID \d+\) was terminated by signal 9/, $offset), 1, 'it was a loader');
	is(scalar files(), 0, 'no file is left');
	is_offloaded($node, $query, "rows after it was killed: $call");
	wait_for_all_loaders($node, $start);
}
$node->stop;
start();
reads(0, 'files after all that');

# The server is killed as it ends, or as it starts: it left half of its note, or none.
for my $left (100, 0)
{
	$node->stop;
	$left ? truncate("$files/clean_end", $left) : unlink("$files/clean_end");
	start();
	is(scalar files(), 0, "$left bytes of the note are left: no file is");
	reads(pages(), "$left bytes of the note");
	wait_for_all_loaders($node, $start);
}

# The disk is full: at a new file, within one, and as it is renamed; for the note, too.
for my $call (qw(open write rename))
{
	my $offset = -s $node->logfile;

	change(++$step);
	append_to_file($fault, "$call */[0-9]*.* full\n");
	is_offloaded($node, $query, "disk full: $call");
	wait_for_all_loaders($node, $start);
	cmp_ok(log_has($node, qr/gpuconc could not write file .*: No space left on device/, $offset), '>', 0, "the log says so: $call");
	is(scalar(grep { m{/(?:\d+\.){4}-?\d+\.\d+$} } files()), 0, 'no unfinished file is left');
	$node->safe_psql('postgres', "SELECT gpuconc_evict('t')");
	is_offloaded($node, $query, "disk full: $call: from files of before, and the heap");
	unlink $fault;
	$node->stop;
	start();
	is_offloaded($node, $query, "disk full: $call: after a restart");
	wait_for_all_loaders($node, $start);
}
append_to_file($fault, "write */clean_end full\n");
$node->stop;
ok(!-e "$files/clean_end", 'half of a note is not left');
unlink $fault;
start();
reads(pages(), 'no room for the note');
write_files('with room again');

# Clocks set back, and files from the future and from long ago: no clock is asked.
$node->stop;
start(CLOCK_BACK => 400 * 86400);
is($node->safe_psql('postgres', "SELECT now() < to_timestamp(@{[ time - 300 * 86400 ]})"), 't', 'the clock is set back');
reads(0, 'clock set back');
change(++$step);
write_files('changed while it is set back');
$node->stop;
my $way = 0;
utime((time + 86400 * 400 * ($way++ % 2 ? 1 : -40)) x 2, $_) foreach files();
start();
reads(0, 'clock set right');
change(++$step);
$node->stop;
start();
is_offloaded($node, $query, 'changed since');
wait_for_all_loaders($node, $start);

# Files of another server: of one that began with other files of columns, and of a copy of this one that went
# another way, for less long.
my @other = contents();
$node->stop('immediate');
start();
write_files('after a crash');
$node->stop;
put(@other);
start();
reads(pages(), 'files of another server');
wait_for_all_loaders($node, $start);
$node->stop;
unlink files();
system_or_bail('cp', '-a', $data, $copy);
start();
change(1);
write_files('one way');
$node->stop;
@other = contents();
system_or_bail('rm', '-rf', $data);
system_or_bail('cp', '-a', $copy, $data);
start();
change(2);
write_files('another way');
$node->safe_psql('postgres', 'CREATE TABLE more AS SELECT * FROM t');
$node->stop;
put(@other);
start();
is(scalar files(), 0, 'no file of the other way is left');
reads(pages(), 'files of a copy that went another way');
wait_for_all_loaders($node, $start);

# Clean ends, and one that is none, beside a writer: what it was told to be committed is there.  It changes rows of the first chunk,
# and its new ones are too few for another chunk.
$node->safe_psql('postgres', 'CREATE TABLE told AS SELECT i, 0 AS n FROM generate_series(1, 23000) AS i');
$node->safe_psql('postgres', 'VACUUM (FREEZE) told');
my $told = 'SELECT count(*), sum(n), max(n), sum(i * n::bigint) FROM told';
my ($script, $output) = map { "$PostgreSQL::Test::Utils::tmp_check/$_" } qw(writer.sql writer.out);
my $n = 0;
is_offloaded($node, $told, 'before a writer');
wait_for_all_loaders($node, $start);
for my $mode (qw(fast fast immediate))
{
	unlink $script, $output;
	append_to_file($script, join('', map { $n++; "UPDATE told SET n = $n WHERE i = $n % 5000;\n\\echo told $n\n" } 1 .. 1500));
	my $writer = IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', $script ], '>', $output, '2>', '/dev/null');

	again_until(sub { slurp_file($output) =~ /told/ }) or die 'nothing is committed';
	$node->safe_psql('postgres', 'VACUUM told');
	my ($device, $own) = split /\n/, $node->safe_psql('postgres',
		"BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL gpuconc.debug_offload = require; $told; SET LOCAL gpuconc.debug_offload = forbid; $told; COMMIT");
	is($device, $own, "beside a writer: $mode");
	$node->stop($mode);
	$writer->finish;
	my ($last) = slurp_file($output) =~ /.*told (\d+)\n/s;
	start();
	if ($mode eq 'fast')
	{
		is($node->safe_psql('postgres', q{SELECT count(*) FROM gpuconc_cache WHERE relation = 'told'::regclass}), '2', 'its columns are loaded at start');
		cmp_ok(pages_loaded(), '<=', 64, 'half of their pages are read from files');
	}
	is_offloaded($node, $told, "a writer before the server's end: $mode");
	cmp_ok($node->safe_psql('postgres', 'SELECT max(n) FROM told'), '>=', $last, "what was committed is there: $mode");
	wait_for_all_loaders($node, $start);
}
$node->stop;
done_testing();

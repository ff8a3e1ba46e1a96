# Cached columns outlive a restart (src/columns/load/disk.h): they are read from files, not from the heap, and
# only while nothing says that a page may have changed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Fcntl;
use POSIX qw(mkfifo);

my $node = new_server('disk_cache', q{
gpuconc.disk_cache_size = 128MB
gpuconc.debug_offload = prefer
gpuconc.debug_hot_pages = 100000
max_prepared_transactions = 5
max_worker_processes = 24
log_min_messages = debug1
max_locks_per_transaction = 10
restart_after_crash = on
}, allows_streaming => 1);
my $files = $node->data_dir . '/pgsql_tmp_gpuconc';
my $since;
my $start = 0;
my $query = 'SELECT s, count(*), sum(id), min(d), max(n), avg(n), count(n) FROM t GROUP BY s ORDER BY s';

sub files
{
	return grep { !/clean_end/ } glob("$files/*");
}

# Pages of the heap that loads have read since the server's start.
sub loaded
{
	return $node->safe_psql('postgres', 'SELECT pages_loaded FROM gpuconc_stat');
}

sub size_of_t
{
	return $node->safe_psql('postgres', "SELECT pg_relation_size('t') / 8192");
}

# The device's answer is PostgreSQL's; how many pages were read for it.
sub pages_for
{
	my ($message, $text) = @_;
	my $before = $since // loaded();

	is_offloaded($node, $text // $query, $message);
	undef $since;
	return loaded() - $before;
}

sub wait_for_files
{
	my ($least) = @_;

	wait_until($node, "SELECT count(*) >= $least FROM pg_ls_dir('pgsql_tmp_gpuconc') f WHERE f ~ '^[0-9.]+\$'");
	return wait_for_all_loaders($node, $start);
}

# Milliseconds that loads for a query are expected to take.
sub expected_load
{
	my ($status, $out, $error) = $node->psql('postgres', "SET gpuconc.cold = auto; SET gpuconc.debug_offload = allow; SET client_min_messages = debug3; $query");

	return $error =~ /expects to load columns in ([0-9.]+) ms/ ? $1 : undef;
}

sub flip_bit
{
	my ($file, $at, $bit) = @_;
	my $byte;

	open(my $fh, '+<:raw', $file) or die "$file: $!";
	seek($fh, $at, 0);
	read($fh, $byte, 1);
	seek($fh, $at, 0);
	print $fh chr(ord($byte) ^ 1 << $bit);
	close($fh);
	return;
}

# Load all into files that are those of the table as it is now.
sub write_files
{
	$node->safe_psql('postgres', "SELECT gpuconc_evict('t')");
	unlink files();
	pages_for('loaded');
	return wait_for_files(5);
}

# Columns that files have are loaded as the server starts: pages count from the start on.
sub start
{
	$start = -s $node->logfile;
	start_server($node);
	wait_for_kept($node, $start);
	wait_for_all_loaders($node, $start);
	$since = 0;
	return;
}

sub restart
{
	my ($mode) = @_;

	$node->stop($mode // 'fast');
	start();
	return;
}

create_tables($node, 60000);
$node->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) t');
my $pages = size_of_t();

cmp_ok(pages_for('first load'), '==', $pages, 'all pages are read');
wait_for_files(4);
my $columns = scalar files();
my $held = 'SELECT relation, column_name, chunks, rows FROM gpuconc_cache ORDER BY 1, 2';
my $held_before = $node->safe_psql('postgres', $held);
restart();
is(scalar files(), $columns, 'files outlive a restart');
is($node->safe_psql('postgres', $held), $held_before, 'columns are there before a query asks for them');
is(pages_for('after a restart'), 0, 'no page is read');

# With more cores than four times what gpuconc.loader_workers may say.
SKIP:
{
	my $cores = "$PostgreSQL::Test::Utils::tmp_check/cores";
	my @cc = split ' ', $ENV{CC} // 'cc';

	append_to_file("$cores.c", q{
#define _GNU_SOURCE
#include <sched.h>

int
sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	CPU_ZERO(set);
	for (int i = 0; i < 400; i++)
		CPU_SET(i, set);
	return 0;
}
});
	skip 'there is no C compiler', 1 if system_log(@cc, '-fPIC', '-shared', "$cores.c", '-o', "$cores.so") != 0;
	$node->append_conf('many_cores.conf', "max_worker_processes = 210\ngpuconc.host_threads = 2\n");
	$node->append_conf('postgresql.conf', "include_if_exists = 'many_cores.conf'\n");
	{
		local $ENV{LD_PRELOAD} = "$cores.so";
		restart();
	}
	is($node->safe_psql('postgres', $held), $held_before, 'columns are there on a machine of many cores');
	unlink $node->data_dir . '/many_cores.conf';
	restart();
}
is(pages_for('another column', 'SELECT sum(k) FROM t'), $pages, 'one without files is read from the heap');
wait_for_files($columns + 1);
restart();
is(pages_for('one column of several', 'SELECT sum(k) FROM t'), 0, 'it has files now');
is(pages_for('columns added'), 0, 'the others are added from files');

# Columns come back as they were: NULLs, scales of numerics, 128 bits, floats, extremes, and a last chunk of few values.
$node->safe_psql('postgres', q{
CREATE TABLE kinds AS SELECT i AS id, CASE WHEN i % 7 <> 2 THEN i * 3 END AS gaps, NULL::int AS nothing, (i % 997 / 8.0)::numeric(10, 2) AS fixed,
	CASE i % 4 WHEN 0 THEN 1.5 WHEN 1 THEN 1.50 WHEN 2 THEN i END AS scales, i * 1e25 - 7 AS wide,
	(ARRAY['NaN', '-Infinity', '-0', '2.5e-300', NULL])[i % 5 + 1]::float8 AS f, i % 3 = 0 AS b,
	CASE i % 3 WHEN 0 THEN 'infinity'::date WHEN 1 THEN '2020-02-29'::date + i END AS d,
	(ARRAY[-9223372036854775808, 9223372036854775807, i])[i % 3 + 1] AS big, md5(i::text) AS t
FROM generate_series(1, 30011) i});
$node->safe_psql('postgres', 'VACUUM (FREEZE, ANALYZE) kinds');
my $kinds = 'SELECT * FROM kinds WHERE id % 97 = 5 ORDER BY id';
my $ungrouped = 'SELECT count(gaps), sum(gaps), count(nothing), sum(fixed), max(scales), sum(wide), min(d), max(d), count(f), min(big), max(big), max(t) FROM kinds';
my $cached = q{SELECT column_name, encoding, chunks, rows, CASE WHEN column_name <> 't' THEN host_bytes END, problem FROM gpuconc_cache WHERE relation = 'kinds'::regclass ORDER BY 1};
is_offloaded($node, $_, "all kinds of columns: $_") foreach ($kinds, $ungrouped);
my $as_loaded = $node->safe_psql('postgres', $cached);
like($as_loaded, qr/^gaps\|.*\|(?:[2-9]|\d\d)\|30011\|/m, 'several chunks');
wait_for_files($columns + 1);
restart();
is(pages_for("from files: $kinds", $kinds), 0, 'no page of it is read');
is(pages_for("from files: $ungrouped", $ungrouped), 0, 'nor of its sums');
is($node->safe_psql('postgres', $cached), $as_loaded, 'columns are encoded as they were');
$node->safe_psql('postgres', 'DROP TABLE kinds');

# Dictionaries are in files of their own, by ranges of codes, and are read as they were written.
sub parts { return grep { /-\d+$/ } files() }

# The device's answers about texts are PostgreSQL's; how many pages were read for them.
sub texts_pages
{
	my ($message) = @_;
	my $before = $since // loaded();

	is_offloaded($node, $_, "$message: $_") foreach (
		q{SELECT count(*), count(t), count(DISTINCT t), min(t), max(t) FROM texts},
		q{SELECT t, count(*), sum(i) FROM texts WHERE t LIKE '%77%' OR t = '' OR t IS NULL GROUP BY t ORDER BY t},
		q{SELECT i, t FROM texts WHERE t IN ('1', '65535', '65536', '65537', '131072', '149999', 'new 3', 'other 3', 'more 3') ORDER BY i, t},
		q{SELECT count(*), max(i) FROM texts WHERE p = 'b '});
	undef $since;
	return loaded() - $before;
}

# New values, whose rows are on other pages than those of before.
sub add_texts
{
	my ($what) = @_;

	$node->safe_psql('postgres', "INSERT INTO texts SELECT 1000000 + i, '$what ' || i, 'z' FROM generate_series(1, 3000) i");
	return $node->safe_psql('postgres', 'VACUUM (FREEZE) texts');
}

$node->safe_psql('postgres', q{
CREATE TABLE texts AS SELECT i, CASE WHEN i % 11 <> 3 THEN (i % 150000)::text END AS t, (ARRAY['a', 'b', 'b  ', NULL])[i % 4 + 1]::char(4) AS p
	FROM generate_series(1, 170000) i;
INSERT INTO texts VALUES (-1, '', ''), (-2, repeat('77', 20000), 'q');
VACUUM (FREEZE, ANALYZE) texts});
cmp_ok(texts_pages('texts'), '>', 0, 'they are read from the heap');
wait_for_files($columns + 3);
is(scalar(grep { /\.[012]\.-2$/ } parts()), 3, 'three files of a dictionary');
restart();
is(texts_pages('texts from files'), 0, 'no page is read');

# A dictionary that grows after it was read, is thrown away, and grows otherwise.
for my $what ('new', 'other')
{
	add_texts($what);
	cmp_ok(texts_pages("$what values"), '>', 0, 'their pages are read');
	wait_for_all_loaders($node, $start);
	$node->safe_psql('postgres', "SELECT gpuconc_evict('texts')");
	is(texts_pages("$what values from files"), 0, 'no page is read');
}
restart();
is(texts_pages('grown dictionaries from files'), 0, 'no page is read');
$node->safe_psql('postgres', "SELECT gpuconc_evict('texts')");
my @kept = map { [ $_, slurp_file($_) ] } files();
add_texts('more');
texts_pages('more values');
wait_for_all_loaders($node, $start);
$node->safe_psql('postgres', "SELECT gpuconc_evict('texts')");
for my $file (grep { $_->[0] =~ /\.0\.-2$|\.[1-9]\d*\.2$/ } @kept)
{
	unlink $file->[0];
	append_to_file(@$file);
}
texts_pages('files of two dictionaries that begin alike');
wait_for_all_loaders($node, $start);

# Columns' files of another dictionary, which has its values in another order.
@kept = map { [ $_, slurp_file($_) ] } grep { /\.[1-9]\d*\.[123]$/ } files();
$node->safe_psql('postgres', "SELECT gpuconc_evict('texts'); UPDATE texts SET t = 'moved' WHERE i = 5");
$node->safe_psql('postgres', 'VACUUM (FREEZE) texts');
my $relid = $node->safe_psql('postgres', "SELECT 'texts'::regclass::oid");
unlink grep { m{/\d+\.$relid\.} } files();
texts_pages('another dictionary');
wait_for_all_loaders($node, $start);
$node->safe_psql('postgres', "SELECT gpuconc_evict('texts')");
for my $file (@kept)
{
	unlink $file->[0];
	append_to_file(@$file);
}
cmp_ok(texts_pages('with files of the one before'), '>', 0, 'these are not believed');
wait_for_all_loaders($node, $start);

# Of a dictionary without its end, or with a damaged part, what is left of it does no harm.  A head that tells of 16 MB
# more is no reason to have room for them.
my $held_by_t = q{SELECT host_bytes FROM gpuconc_cache WHERE relation = 'texts'::regclass AND column_name = 't'};
for my $damage ('end', 'part', 'head')
{
	my $bytes = $node->safe_psql('postgres', $held_by_t);

	$node->stop;
	my ($last) = sort { length($b) <=> length($a) || $b cmp $a } grep { /-2$/ } parts();
	my ($middle) = grep { /\.1\.-2$/ } parts();

	unlink $last if $damage eq 'end';
	truncate($middle, (-s $middle) - 8) if $damage eq 'part';
	# GcDiskHead's value_bytes
	flip_bit($middle, 216 + 3, 0) if $damage eq 'head';
	start();
	cmp_ok(texts_pages("without a dictionary's $damage"), '>', 0, 'pages are read');
	cmp_ok($node->safe_psql('postgres', $held_by_t), '<', 2 * $bytes, 'and the dictionary is no larger than before');
	wait_for_all_loaders($node, $start);
	ok(-e $middle && -e $last, 'it is written anew');
	restart();
	is(texts_pages("with its $damage again"), 0, 'no page is read');
}

# A dictionary most of whose values no row has any more is not kept.
for (1 .. 3)
{
	$node->safe_psql('postgres', "UPDATE texts SET t = t || '+'");
	$node->safe_psql('postgres', 'VACUUM (FREEZE) texts');
	texts_pages("updated $_ times");
}
wait_for_all_loaders($node, $start);
restart();
cmp_ok(texts_pages('after many values'), '>', 0, 'pages are read');
$node->safe_psql('postgres', 'DROP TABLE texts');

# What is expected of loads, whoever does them then.
restart();
$node->safe_psql('postgres', "SELECT gpuconc_evict('t')");
my $from_files = expected_load();
wait_until($node, q{SELECT count(*) = 4 FROM gpuconc_cache WHERE relation = 't'::regclass});
$node->safe_psql('postgres', "SELECT gpuconc_evict('t')");
unlink files();
cmp_ok($from_files, '<', expected_load() / 2, 'loads from files are expected to take less time');
wait_for_files(4);

# Changes between the load and the restart.
$node->safe_psql('postgres', 'UPDATE t SET n = n + 1 WHERE id = 7; DELETE FROM t WHERE id = 40000');
restart();
is_offloaded($node, $query, 'changed before the restart');
restart();
$node->safe_psql('postgres', 'UPDATE t SET n = n + 1 WHERE id = 60');
is_offloaded($node, $query, 'changed after the restart and before the load');
$node->safe_psql('postgres', 'VACUUM (FREEZE) t');
restart();
is_offloaded($node, $query, 'vacuumed since');
write_files();
$node->safe_psql('postgres', "BEGIN; UPDATE t SET n = -n WHERE id BETWEEN 100 AND 120; PREPARE TRANSACTION 'p'");
restart();
is_offloaded($node, $query, 'beside a prepared transaction');
$node->safe_psql('postgres', "COMMIT PREPARED 'p'");
is_offloaded($node, $query, 'which commits');

# Damage: bytes of the head and of the rest, and files that are cut off.
$node->safe_psql('postgres', 'VACUUM (FREEZE) t');
write_files();
$node->stop;
my @files = files();
my $damaged = 0;
for my $file (@files)
{
	my $size = -s $file;

	flip_bit($file, $damaged % 4 < 3 ? $damaged * 3 % 240 : $damaged * 7919 % $size, $damaged % 8);
	$damaged++;
	truncate($file, int($size / 2)) if $damaged % 10 == 0;
}
start();
$pages = size_of_t();
cmp_ok(pages_for('files are damaged'), '>=', $pages, 'damaged files are not believed');

# Ends that were not clean, and a directory that was copied while the server ran.
write_files();
restart('immediate');
is(scalar files(), 0, 'a crash removes all files');
is(pages_for('after a crash'), $pages, 'the heap is read');
wait_for_files(5);
$node->safe_psql('postgres', 'UPDATE t SET n = n + 3 WHERE id < 50; VACUUM (FREEZE) t');
my $session = session($node, 'killed');
kill_process($node, $session->query_safe('SELECT pg_backend_pid()'));
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_ls_dir('pgsql_tmp_gpuconc')"), '0', 'so does a session that was killed');
is_offloaded($node, $query, 'after it was killed');
wait_for_files(5);
my $name = $node->backup_dir . '/running';
$node->backup('running');
ok(!-e "$name/pgsql_tmp_gpuconc", 'a base backup leaves them out');

# An older note of a clean end, of a data directory that has changed since.
$node->stop;
my $note = slurp_file("$files/clean_end");
start();
$node->safe_psql('postgres', 'UPDATE t SET n = n + 2 WHERE id < 100');
$node->stop;
unlink "$files/clean_end";
append_to_file("$files/clean_end", $note);
start();
is(scalar files(), 0, 'a note of another end is not believed');
is_offloaded($node, $query, 'nor are the files');

# A data directory put back over a later one, whose files stay.
my ($data, $saved) = ($node->data_dir, $node->backup_dir . '/saved');
$node->stop;
unlink files();
system_or_bail('cp', '-a', $data, $saved);
start();
$node->safe_psql('postgres', 'UPDATE t SET n = n + 5 WHERE id < 1000');
$node->safe_psql('postgres', 'VACUUM (FREEZE) t');
pages_for('later');
wait_for_files(5);
$node->stop;
system_or_bail('cp', '-a', "$saved/.", $data);
cmp_ok(scalar files(), '>', 0, 'files of a later time are there');
start();
is(scalar files(), 0, 'and are removed: at the next start they would not be told from others');
$node->safe_psql('postgres', 'UPDATE t SET n = n + 6 WHERE id < 1000');
$node->safe_psql('postgres', 'VACUUM (FREEZE) t');
is(pages_for('a directory was put back'), size_of_t(), 'they are not believed');

# Other files of the table, and other types.
$node->safe_psql('postgres', 'VACUUM (FREEZE) t');
for my $change ('ALTER TABLE t ALTER n TYPE numeric(20,4)', 'VACUUM FULL t', 'ALTER TABLE t ALTER s TYPE varchar(300)',
	'CREATE TABLE u AS SELECT * FROM t; TRUNCATE t; INSERT INTO t SELECT * FROM u WHERE id % 2 = 0; DROP TABLE u')
{
	write_files();
	my ($before) = files();

	$node->safe_psql('postgres', $_) for split /; /, $change;
	$node->safe_psql('postgres', 'VACUUM (FREEZE) t');
	restart();
	is_offloaded($node, $query, "after $change");
	wait_for_all_loaders($node, $start);
	ok(!-e $before, 'the files of before it are removed') if $change !~ /varchar/;
}

# A file that was being written when its loader ended.
my $unfinished = (files())[0] . '.123';
$node->stop;
append_to_file($unfinished, 'x');
start();
ok(!-e $unfinished, 'what was never written to its end is removed');

# Files of thousands of tables that were dropped: the load at start holds no lock of theirs.
my ($dropped) = files();
my ($database) = $dropped =~ m{/(\d+)\.};
my @links = map { "$files/$database.$_.$_.0.1" } 1000001 .. 1005000;
$node->stop;
link($dropped, $_) or die "$_: $!" foreach @links;
$start = -s $node->logfile;
start_server($node);
$node->wait_for_log(qr/has looked for files of \d+ tables' columns|out of shared memory/, $start);
unlike(slurp_file($node->logfile, $start), qr/out of shared memory/, 'files of dropped tables');
unlink @links;

# More databases than workers.
$node->safe_psql('postgres', "CREATE DATABASE few1");
$node->safe_psql('few1', "CREATE EXTENSION gpuconc; CREATE TABLE few AS SELECT i FROM generate_series(1, 1000) i");
$node->safe_psql('few1', 'VACUUM (FREEZE) few');
$node->safe_psql('postgres', "CREATE DATABASE few$_ TEMPLATE few1") foreach 2 .. 8;
unlink files();
$node->safe_psql("few$_", "SELECT gpuconc_prewarm('few')") foreach 1 .. 8;
wait_for_files(8);
$node->append_conf('postgresql.conf', 'max_worker_processes = 8');
restart();
is($node->safe_psql('postgres', q{SELECT count(*) FROM gpuconc_cache WHERE datname LIKE 'few%'}), '8', 'few workers');
$node->append_conf('postgresql.conf', 'max_worker_processes = 24');
$node->safe_psql('postgres', "DROP DATABASE few$_") foreach 1 .. 8;

# A load in the background leaves between two chunks when a session drops the database.  It is held up in a chunk by
# a file that is a pipe, and would be in a later one.  The planner asks for neither.
$node->safe_psql('postgres', 'CREATE DATABASE dropped');
$node->safe_psql('dropped', 'CREATE EXTENSION gpuconc; CREATE TABLE pipes AS SELECT i, -i AS j FROM generate_series(1, 200000) i');
$node->safe_psql('dropped', 'VACUUM (FREEZE, ANALYZE) pipes');
unlink files();
$node->safe_psql('dropped', "SELECT gpuconc_prewarm('pipes')");
wait_for_files(2 * 28);
$node->append_conf('postgresql.conf', 'gpuconc.loader_workers = 0');
$node->reload;
my $pipe;

# A loader that takes part in the load of a session, and wants more, leaves for good when another one wants the table.
my ($first_part) = grep { /\.1\.1$/ } files();
unlink $first_part;
mkfifo($first_part, 0700) or die "$first_part: $!";
chown((stat $files)[4, 5], $first_part);
my ($loading, $locking) = map { $node->background_psql('dropped') } 1 .. 2;
$node->safe_psql('dropped', q{SELECT gpuconc_evict('pipes')});
$loading->query_until(qr/loading/, "\\echo loading\nSELECT sum(i) FROM pipes;\n");
again_until(sub { sysopen($pipe, $first_part, O_WRONLY | O_NONBLOCK) });
$node->safe_psql('dropped', 'SET gpuconc.cold = fallback; SELECT sum(j) FROM pipes');
my $helps = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'gpuconc loader' AND datname = 'dropped'};
wait_until($node, "SELECT ($helps AND wait_event_type = 'Extension') = 1");
$locking->query_until(qr/locking/, "\\echo locking\nBEGIN; LOCK TABLE pipes;\n");
wait_until($node, "SELECT ($helps) = 0");
pass('a loader that helps a session leaves it when another one wants the table');
# The loader that writes files would wait for ever for a pipe that no one writes to.
unlink $first_part;
append_to_file($first_part, '');
close($pipe);
$_->quit foreach $loading, $locking;
$node->safe_psql('dropped', "SELECT gpuconc_prewarm('pipes')");
wait_for_files(2 * 28);
wait_until($node, "SELECT ($helps) = 0");

my @pipes = grep { /\.[12]\.1$/ } files();
foreach (@pipes)
{
	unlink $_;
	mkfifo($_, 0700) or die "$_: $!";
	chown((stat $files)[4, 5], $_);
}
$node->safe_psql('dropped', "SET gpuconc.cold = fallback; SELECT gpuconc_evict('pipes'); SELECT sum(i) FROM pipes");
again_until(sub { sysopen($pipe, $pipes[0], O_WRONLY | O_NONBLOCK) });
my $dropping = $node->background_psql('postgres', on_error_stop => 0);
$dropping->query_until(qr/dropping/, "\\echo dropping\nDROP DATABASE dropped;\n");
wait_until($node, q{SELECT count(*) > 0 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted
	AND classid = 'pg_database'::regclass AND objid = (SELECT oid FROM pg_database WHERE datname = 'dropped')});
close($pipe);
$dropping->quit;
# On a machine that is busy, the loader may have taken longer than DROP DATABASE waits.
my $dropped_it = sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_database WHERE datname = 'dropped'") eq '0' };
for (1 .. 3)
{
	$node->psql('postgres', 'DROP DATABASE dropped') unless $dropped_it->();
}
ok($dropped_it->(), 'a database is dropped while its columns are loaded');
# A loader that did not leave is at the other pipe.
sysopen($pipe, $pipes[1], O_WRONLY | O_NONBLOCK);
unlink @pipes;
close($pipe) if fileno($pipe);
$node->append_conf('postgresql.conf', 'gpuconc.loader_workers = 2');
$node->reload;

# The bound, and off.
write_files();
$node->append_conf('postgresql.conf', 'gpuconc.disk_cache_size = 2MB');
restart();
$node->safe_psql('postgres', 'CREATE TABLE wide AS SELECT i AS a, i * 1e9::bigint AS b, i * i::bigint AS c FROM generate_series(1, 200000) i');
$node->safe_psql('postgres', 'VACUUM (FREEZE) wide');
pages_for('a table that is too large', 'SELECT sum(a), sum(b), sum(c) FROM wide');
wait_for_all_loaders($node, $start);
my $bytes = 0;
$bytes += -s $_ for files();
cmp_ok($bytes, '<=', 1024 * 1024, 'files take no more than half of the bound');
cmp_ok($bytes, '>', 512 * 1024, 'and not much less');

$node->safe_psql('postgres', 'CREATE TABLE two AS SELECT i AS a, i * 1e9::bigint AS b FROM generate_series(1, 100000) i');
$node->safe_psql('postgres', 'VACUUM (FREEZE) two');
unlink files();
pages_for('columns that do not fit together', 'SELECT sum(a), sum(b) FROM two');
wait_for_files(5);
my $last = $node->safe_psql('postgres', q{SELECT max(chunks) - 1 FROM gpuconc_cache WHERE relid = 'two'::regclass});
ok((grep { /\.0\.1$/ } files()), 'the first chunk is kept');
ok(!(grep { /\.$last\.2$/ } files()), 'and makes no room for the last one');
$node->append_conf('postgresql.conf', 'gpuconc.disk_cache_size = 0');
restart();
ok(!-e $files, 'off removes the files');
is_offloaded($node, $query, 'off');
$node->stop;

done_testing();

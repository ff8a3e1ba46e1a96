# Common code of the TAP tests: a server with gpuconc, tables, and two questions of each test.
# Is the answer PostgreSQL's, and who gave it?
#
# Settings of the environment: GPUCONC_TEST_KERNELS, a directory for compiled kernels
# that test files share.
package GpuconcTest;

use strict;
use warnings;

# A loaded machine needs longer than PostgreSQL's tests allow; what hangs fails all the same.
BEGIN { $ENV{PG_TEST_TIMEOUT_DEFAULT} //= 1800 }

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(answered_together new_server start_server wait_for_worker wait_for_kept wait_for_all_loaders create_tables @queries
  answer_of is_offloaded is_answered falls_back pages_of stat_of session start_query wait_until_waiting
  wait_until again_until end_worker kill_process wait_for_restart suspend_workers log_has nothing_held note_memory kernels_directory write_program
  may_mount start_mounted configure ask rows_of together own_answer last_batch
  scans_after keep_session query_server stop_server create_transfer);

# Queries over the tables of create_tables(), each with its rows in a fixed order.
our @queries = (
	'SELECT count(*), sum(id), min(d), max(n), avg(n) FROM t',
	'SELECT s, count(*), sum(n) FROM t WHERE k < 50 GROUP BY s ORDER BY s',
	'SELECT name, sum(id), count(n) FROM t JOIN dim ON t.k = dim.k WHERE id % 3 = 0 GROUP BY name ORDER BY name',
	"SELECT id, n FROM t WHERE s LIKE '%7' AND k = 7 ORDER BY id, n",
	"SELECT extract(year FROM d) AS y, min(name), sum(n * k) FROM t JOIN dim USING (k) WHERE d > '1995-06-01' GROUP BY y ORDER BY y");

# Bytes of the column cache's memory in use when nothing was cached, by server.
my %used_before;

# Sessions that tests ask of themselves, by server.
my %kept;

sub kernels_directory
{
	my $directory = $ENV{GPUCONC_TEST_KERNELS} // "$PostgreSQL::Test::Utils::tmp_check/kernels";

	mkdir $directory, 0700;
	return $directory;
}

# A server with gpuconc and these lines of configuration more.  Options: start => 0,
# install_path => that of another PostgreSQL, and those of init().
sub new_server
{
	my ($name, $conf, %options) = @_;
	my $start = delete $options{start} // 1;
	my $install = delete $options{install_path};
	my $node = PostgreSQL::Test::Cluster->new($name, $install ? (install_path => $install) : ());

	$node->init(%options);
	$node->append_conf(
		'postgresql.conf', qq{
shared_preload_libraries = 'gpuconc'
gpuconc.devices = host
gpuconc.debug_chunk_pages = 32
gpuconc.host_cache_size = 64MB
gpuconc.kernel_cache = '@{[kernels_directory()]}'
gpuconc.debug_gpu_kernels = on
gpuconc.offload_cost = 0
gpuconc.enabled = on
gpuconc.cold = wait
autovacuum = off
max_connections = 40
});
	$node->append_conf('postgresql.conf', $conf // '');
	start_server($node) if $start;
	return $node;
}

sub start_server
{
	my ($node) = @_;

	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS gpuconc');
	wait_for_worker($node);
	note_memory($node);
	return;
}

# Wait until each worker has a device, or knows that there is none.
sub wait_for_worker
{
	my ($node) = @_;

	wait_until($node, q{SELECT bool_and(state IN ('ready', 'no device')) FROM gpuconc_devices});
	keep_session($node) if $kept{ $node->name };
	return;
}

# Columns that files have are loaded as the server starts: wait until those of the only database with such files are.
sub wait_for_kept
{
	my ($node, $offset) = @_;

	$node->wait_for_log(qr/has looked for files of \d+ tables' columns/, $offset)
	  if grep { !/clean_end/ } glob $node->data_dir . '/pgsql_tmp_gpuconc/*';
	return;
}

# Wait until no loader is there, and none that was asked for will come, as only the log of this start, from an offset on, tells.
# The postmaster has seen what was asked for before it lets a session in.
sub wait_for_all_loaders
{
	my ($node, $offset) = @_;

	again_until(sub {
		$node->safe_psql('postgres', 'SELECT');
		return log_has($node, qr/ registering background worker "gpuconc (loader|warming)/, $offset) ==
		  log_has($node, qr/ unregistering background worker "gpuconc (loader|warming)/, $offset) }) or die 'loaders do not end';
	return;
}

# From now on, query_server() and what uses it have a session that stays, and not a new one each time.
# wait_for_worker() renews it after a restart.
sub keep_session
{
	my ($node) = @_;

	eval { $kept{ $node->name }->quit } if $kept{ $node->name };
	$kept{ $node->name } = $node->background_psql('postgres', on_error_stop => 0);
	$kept{ $node->name }->set_query_timer_restart;
	return;
}

# A query of the test itself.
sub query_server
{
	my ($node, $query) = @_;

	return $kept{ $node->name } ? $kept{ $node->name }->query_safe($query) : $node->safe_psql('postgres', $query);
}

sub stop_server
{
	my ($node) = @_;

	(delete $kept{ $node->name })->quit if $kept{ $node->name };
	$node->stop;
	return;
}

# A test that hangs fails after half an hour.  A file in which that has happened waits a minute for anything else, so that its other
# tests do not take half an hour each.
my $patience = $PostgreSQL::Test::Utils::timeout_default;

sub lost_patience
{
	$patience = 60;
	return;
}

# Wait until a query says "t".  With a message it is a test; else nothing that follows
# makes sense without it.  A query that fails says so at once; a server that cannot be reached
# may be there soon.
sub wait_until
{
	my ($node, $query, $message) = @_;
	my $end = time + $patience;
	my $done = 0;

	while (!$done && time < $end)
	{
		my ($status, $out, $error) = $node->psql('postgres', $query, timeout => $patience, timed_out => \my $hangs);

		die "$error in: $query" if !$hangs && $status == 3;
		$done = !$hangs && $out eq 't';
		select undef, undef, undef, 0.1 unless $done;
	}

	lost_patience() unless $done;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($done, $message) if defined $message;
	die "does not become true: $query" unless $done || defined $message;
	return;
}

# Do something again and again until it gives true, as long as tests wait for anything.  How often that is, the
# machine decides: a loader, or a compiler, may take its time meanwhile.  Returns what it gave last.
sub again_until
{
	my ($do) = @_;
	my $end = time + $patience;
	my $got;

	do { $got = $do->() } while (!$got && time < $end);
	lost_patience() unless $got;
	return $got;
}

# Terminate the worker, do something meanwhile, and wait until there is another one: the old one looks as well as
# ever until it sees that.
sub end_worker
{
	my ($node, $meanwhile) = @_;
	my $pid = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'gpuconc worker'};
	my $worker = query_server($node, $pid);

	query_server($node, "SELECT pg_terminate_backend($worker)");
	$meanwhile->() if $meanwhile;
	wait_until($node, "SELECT state IN ('ready', 'no device') AND ($pid) <> $worker FROM gpuconc_devices");
	return;
}

# Kill a process of the server, do something meanwhile, and wait until the server has started all over.  It takes a while
# until the postmaster sees the end of the process; until then, all looks as well as ever.
sub kill_process
{
	my ($node, $pid, $meanwhile) = @_;
	my $offset = -s $node->logfile;

	kill('KILL', $pid) == 1 or die 'the process has ended';
	$meanwhile->() if $meanwhile;
	wait_for_restart($node, $offset);
	return;
}

# Wait until the server has started all over, after a process of it was killed.  A psql that is not let in may end before it is
# told what to ask, which ends the test.
sub wait_for_restart
{
	my ($node, $offset) = @_;

	$node->wait_for_log(qr/all server processes terminated; reinitializing.*ready to accept/s, $offset);
	wait_for_worker($node);
	return;
}

# Stop workers while they sleep: one that is stopped with a lock in its hands keeps sessions from more than its device.  One
# that something has woken in between goes on, and is stopped once more.
sub suspend_workers
{
	my ($node, @pids) = @_;
	my $asleep = 'SELECT count(*) = ' . @pids . " FROM pg_stat_activity WHERE wait_event_type = 'Extension' AND pid IN (" . join(', ', @pids) . ')';

	again_until(sub {
		wait_until($node, $asleep);
		kill('STOP', @pids) == @pids or die 'a worker has ended';
		again_until(sub { !grep { !is_stopped($_) } @pids });
		# A query that one keeps from its lock has no end.
		my (undef, $still) = $node->psql('postgres', $asleep, timeout => 60, timed_out => \my $hangs);
		return 1 if !$hangs && $still eq 't';
		kill 'CONT', @pids;
		return 0; }) or die 'workers do not sleep';
	return;
}

# A signal has come before all of a process's threads have stopped.
sub is_stopped
{
	my ($pid) = @_;

	return slurp_file("/proc/$pid/stat") =~ /\) T /;
}

# The column cache's test module knows what is in use; without it, less is tested.
sub note_memory
{
	my ($node) = @_;

	return
	  if $node->safe_psql('postgres',
		q{SELECT count(*) FROM pg_available_extensions WHERE name = 'gpuconc_columns_test'}) eq '0';
	# A standby has it from its primary.
	$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS gpuconc_columns_test')
	  if $node->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f';
	$used_before{ $node->name } =
	  $node->safe_psql('postgres', 'SELECT used FROM gpuconc_columns_test_arena()');
	return;
}

# Tables "t", of several chunks, and "dim", vacuumed.
sub create_tables
{
	my ($node, $rows, $database) = @_;
	$rows //= 30000;

	$node->safe_psql(
		$database // 'postgres', qq{
CREATE TABLE dim (k int PRIMARY KEY, name text);
INSERT INTO dim SELECT i, 'name' || i % 10 FROM generate_series(0, 99) AS i;
CREATE TABLE t (id int, k int, n numeric(12,2), d date, s text);
INSERT INTO t SELECT i, i % 100, CASE WHEN i % 11 <> 0 THEN i / 7.0 END,
	date '1992-01-01' + i % 2000, 's' || i % 37 FROM generate_series(1, $rows) AS i;
VACUUM ANALYZE t, dim;
});
	return;
}

# Standard output of a query under a setting of gpuconc.debug_offload.
sub answer_of
{
	my ($node, $query, $mode, $database) = @_;

	return $node->safe_psql($database // 'postgres', "SET gpuconc.debug_offload = $mode; $query");
}

# Is it answered by the device (else "require" is an error), with PostgreSQL's answer?
sub is_offloaded
{
	my ($node, $query, $message, $database) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($status, $got, $error) = $node->psql($database // 'postgres',
		"SET gpuconc.debug_offload = require; $query");
	my $expected = answer_of($node, $query, 'forbid', $database);
	is("$error$got", $expected, $message);
	return;
}

# Is PostgreSQL's answer given, whoever gives it?
sub is_answered
{
	my ($node, $query, $message, $database) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($status, $got, $error) = $node->psql($database // 'postgres', $query);
	is("$error$got", answer_of($node, $query, 'forbid', $database), $message);
	return;
}

# A column of the cumulative statistics, or what is computed of some.
sub stat_of
{
	my ($node, $column) = @_;

	return query_server($node, "SELECT coalesce(($column)::text, '0') FROM gpuconc_stat, gpuconc_stat_memory, gpuconc_stat_sharing");
}

# How many pages does this query get by version, and how many does it read itself?
sub pages_of
{
	my ($node, $query) = @_;
	my $plan = $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; $query; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT YAML) $query");

	return map { $plan =~ /$_ Pages: (\d+)/ ? $1 : 0 } ('Versioned', 'Delta');
}

# Is it answered by PostgreSQL's own plan at last, for this reason?
sub falls_back
{
	my ($node, $query, $reason, $message) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $before = stat_of($node, "(fallback_reasons ->> '$reason')::int");
	is_answered($node, $query, $message);
	cmp_ok(stat_of($node, "(fallback_reasons ->> '$reason')::int"), '>', $before, "$message: $reason");
	return;
}

# A session whose application name says which it is.
sub session
{
	my ($node, $name, $sql, %options) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0, %options);

	# The time allowed is for a query, not for all of them.
	$session->set_query_timer_restart;
	$session->query_safe("SET application_name = '$name'; SET gpuconc.debug_offload = require;" . ($sql // ''));
	return $session;
}

# Send a query without waiting for its rows, which end in a line "over".
sub start_query
{
	my ($session, $query) = @_;

	$session->query_until(qr/begun/, "\\echo begun\n$query;\n\\echo over\n");
	return;
}

# Wait until $count sessions of these names wait for the device.
sub wait_until_waiting
{
	my ($node, $pattern, $count) = @_;
	$count //= 1;

	wait_until($node, qq{
SELECT count(*) = $count FROM pg_stat_activity
WHERE application_name ~ '$pattern' AND state = 'active' AND wait_event_type = 'Extension'});
	return;
}

# Change settings that a reload brings in.  Whoever connects has them from the
# postmaster, which has told the worker by then.
sub configure
{
	my ($node, %settings) = @_;
	my $known = join ' AND ', map { "current_setting('$_') = '$settings{$_}'" } (sort keys %settings);

	query_server($node,
		join('', map { "ALTER SYSTEM SET $_ = '$settings{$_}';\n" } (sort keys %settings)) . 'SELECT pg_reload_conf()');
	wait_until($node, "SELECT $known");
	return;
}

# Send a query and do not wait for anything.  rows_of() has its rows.
sub ask
{
	my ($session, $query) = @_;

	$session->{timeout}->start;
	$session->{stdin} .= "$query;\n\\echo over\n\\warn over\n";
	$session->{run}->pump_nb while $session->{stdin} ne '';
	return;
}

# The rows of what was asked last, or the error.
sub rows_of
{
	my ($session) = @_;

	$session->{timeout}->start;
	foreach my $stream (\$session->{stdout}, \$session->{stderr})
	{
		pump_until($session->{run}, $session->{timeout}, $stream, qr/^over\n/m) or die "psql ends or hangs: $session->{stderr}";
	}
	my $rows = $session->{stdout} . $session->{stderr};
	$session->{stdout} = $session->{stderr} = '';
	$rows =~ s/^over\n//mg;
	$rows =~ s/^psql:[^ ]* //mg;
	chomp $rows;
	return $rows;
}

# Queries of as many sessions, one each, held back until all of them are ready, so that
# one decision is about all of them.  Requests that are sent again do not count among
# those that are held back, so none may need that.
sub together
{
	my ($node, $sessions, @together) = @_;

	configure($node, 'gpuconc.debug_hold_requests' => scalar @together);
	ask($sessions->[$_], $together[$_]) for (0 .. $#together);
	my @rows = map { rows_of($sessions->[$_]) } (0 .. $#together);
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	return @rows;
}

# PostgreSQL's answer in a session, which sees what no other does.
sub own_answer
{
	my ($session, $query) = @_;

	return $session->query_safe("SET gpuconc.debug_offload = forbid; $query; SET gpuconc.debug_offload = require");
}

sub last_batch
{
	my ($node) = @_;

	return query_server($node, 'SELECT coalesce(max(id), 0) FROM gpuconc_stat_batches');
}

# Members of each shared scan after a batch, the largest first.  Category: "shared scan"
# (fused) or "selection scan".
sub scans_after
{
	my ($node, $category, $last) = @_;

	return query_server($node, qq{
SELECT coalesce(string_agg(members, ' ' ORDER BY members::int DESC), 'none')
FROM (SELECT e -> 'args' ->> 'members' AS members FROM jsonb_array_elements(gpuconc_timeline(4096)::jsonb -> 'traceEvents') AS e
	WHERE e ->> 'cat' = '$category' AND (e -> 'args' ->> 'batch')::bigint > $last
	GROUP BY members, e -> 'args' -> 'batch', e -> 'args' -> 'scan') AS m});
}

# Queries of the first sessions, together: has each its own right answer?  And did shared scans
# of this kind answer them, which serve so many each (text or pattern, as scans_after says)?
# undef: by whichever.
sub answered_together
{
	my ($node, $sessions, $message, $kind, $scans, @asked) = @_;
	my @expected = map { own_answer($sessions->[$_], $asked[$_]) } (0 .. $#asked);
	my $last = last_batch($node);
	my @got = together($node, $sessions, @asked);
	my @wrong = grep { $got[$_] ne $expected[$_] } (0 .. $#asked);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(scalar @wrong, 0, "$message: right answers")
	  or diag map { "session $_: $asked[$_]\n" . substr($got[$_], 0, 1000) . "\nnot\n" . substr($expected[$_], 0, 1000) . "\n" } @wrong;
	return if !defined $scans;
	my $found = scans_after($node, $kind, $last);
	ref $scans ? like($found, $scans, "$message: the shared scans") : is($found, $scans, "$message: the shared scans");
	return;
}

# How often does the server's log have this, from an offset on?
sub log_has
{
	my ($node, $pattern, $offset) = @_;
	my @found = slurp_file($node->logfile, $offset // 0) =~ /$pattern/g;

	return scalar @found;
}

# Run a command in name spaces of its own, where it may mount, after mounting a file
# system of this size.
sub with_mounted
{
	my ($directory, $size, @command) = @_;
	my $script = "$PostgreSQL::Test::Utils::tmp_check/with_mounted.pl";

	unlink $script;
	append_to_file($script, <<'PERL');
require 'syscall.ph';
my ($type, $directory, $options) = ('tmpfs', shift @ARGV, 'size=' . shift @ARGV);
syscall(&SYS_mount, $type, $directory, $type, 0, $options) == 0 or die "mount: $!";
exec @ARGV;
PERL
	return system_log('unshare', '--user', '--map-current-user', '--keep-caps', '--mount',
		$^X, $script, $directory, $size, @command);
}

# Where this is not allowed to users, tests that need it are skipped.
sub may_mount
{
	my $directory = "$PostgreSQL::Test::Utils::tmp_check/may_mount";

	mkdir $directory;
	return with_mounted($directory, '64k', 'true') == 0;
}

# Start a server that has a small file system in this place.
sub start_mounted
{
	my ($node, $directory, $size) = @_;

	local %ENV = $node->_get_env();
	with_mounted($directory, $size, 'pg_ctl', '-w', '-D', $node->data_dir, '-l', $node->logfile,
		'-o', '--cluster-name=' . $node->name, 'start') == 0
	  or die 'the server does not start';
	$node->_update_pid(1);
	wait_for_worker($node);
	return;
}

# An executable script.
sub write_program
{
	my ($path, $text) = @_;

	unlink $path;
	append_to_file($path, $text);
	chmod 0755, $path or die "chmod $path: $!";
	return;
}

# A procedure on table accounts: one transfer, of which a part is undone, and done again.
sub create_transfer
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
CREATE PROCEDURE transfer(a int, b int) LANGUAGE plpgsql AS $$
BEGIN
	UPDATE accounts SET balance = balance - 1 WHERE id = least(a, b);
	BEGIN
		UPDATE accounts SET balance = balance + 1000 WHERE id = greatest(a, b);
		RAISE EXCEPTION 'undone';
	EXCEPTION WHEN raise_exception THEN
		UPDATE accounts SET balance = balance + 1 WHERE id = greatest(a, b);
	END;
END $$});
	return;
}

# Once no request runs and all tables are evicted, no memory may be missing.
sub nothing_held
{
	my ($node, $message) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	wait_until($node, q{
SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'gpuconc loader'});
	wait_until($node, q{SELECT sum(running + memory_groups + memory_other) = 0 FROM gpuconc_devices},
		"$message: no request runs, nor has memory of the device");
	# A loader that was asked for may not have come yet, and loads then.
	my $evict = q{SELECT count(gpuconc_evict(oid)) FROM pg_class WHERE relkind IN ('r', 'm')};
	wait_until($node, "SELECT ($evict) >= 0 AND count(*) = 0 FROM gpuconc_load_progress", "$message: no load is left");
  SKIP:
	{
		skip 'gpuconc_columns_test is not installed', 1 unless defined $used_before{ $node->name };
		# Memory of a request that was given up is freed when the worker sees it.
		my $free = $node->poll_query_until('postgres',
			"SELECT ($evict) >= 0 AND used = $used_before{$node->name} AND retired = 0 FROM gpuconc_columns_test_arena()");
		ok($free, "$message: all memory is free")
		  or diag $node->safe_psql('postgres', 'SELECT * FROM gpuconc_columns_test_arena()'),
		  " of $used_before{$node->name}";
	}
	return;
}

1;

# Too little of everything: device memory, column cache, /dev/shm.  Queries answer.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('memory');
create_tables($node);
$node->safe_psql('postgres', q{
CREATE TABLE wide AS SELECT i AS id, i * 7919::bigint AS a, md5(i::text) AS b, i % 3 AS c FROM generate_series(1, 200000) AS i;
VACUUM ANALYZE wide});
my @all = (
	@queries,
	'SELECT c, count(*), sum(a), max(id) FROM wide GROUP BY c ORDER BY c',
	'SELECT count(*) FROM wide AS x JOIN wide AS y ON x.id = y.a',
	'SELECT sum(n) FROM (SELECT id, count(*) AS n FROM wide GROUP BY id) AS groups',
	'SELECT sum(a), count(*) FROM (SELECT id, a, c FROM wide WHERE c < 2) AS rows WHERE id > 5',
	q{SELECT count(*) FROM wide WHERE b LIKE '%00%'});

sub all_answer
{
	my ($message) = @_;

	foreach my $query (@all)
	{
		is_answered($node, $query, "$message: $query");
	}
	is($node->safe_psql('postgres', q{SELECT state FROM gpuconc_devices}), 'ready', "$message: the worker is well");
	nothing_held($node, $message);
	return;
}

foreach my $conf (
	'gpuconc.device_memory_limit = 1MB', 'gpuconc.device_memory_limit = 4MB',
	'gpuconc.host_cache_size = 1MB', 'gpuconc.host_cache_size = 4MB',
	"gpuconc.host_cache_size = 1MB\ngpuconc.device_memory_limit = 1MB",
	'dynamic_shared_memory_type = mmap', 'dynamic_shared_memory_type = sysv',
	'max_worker_processes = 2', "shared_memory_type = sysv")
{
	my $before = slurp_file($node->data_dir . '/postgresql.conf');

	$node->append_conf('postgresql.conf', $conf);
	$node->stop;
	start_server($node);
	my $some = $conf =~ /dynamic|worker|shared_memory/;
	my $offset = -s $node->logfile;
	all_answer($conf);
	is_offloaded($node, $queries[1], "$conf: offloaded") if $some;
	cmp_ok(stat_of($node, 'fallbacks') + stat_of($node, 'in_passes'), '>', 0, "$conf: some fell back, or ran in passes") if !$some && $conf =~ /1MB/;
	# Many sessions want the little there is.
	my $script = "$PostgreSQL::Test::Utils::tmp_check/mixed.sql";
	unlink $script;
	append_to_file($script, join ";\n", @all[0 .. 5], '');
	$node->command_checks_all([ 'pgbench', '-n', '-c', '8', '-j', '2', '-t', '3', '-f', $script, $node->connstr('postgres') ],
		0, [qr/number of failed transactions: 0 /], [qr/^/], "$conf: many sessions");
	nothing_held($node, "$conf: many sessions");
	is(log_has($node, qr/PANIC|TRAP|was terminated by signal|ERROR:/, $offset), 0, "$conf: nothing bad in the log");
	unlink $node->data_dir . '/postgresql.conf';
	append_to_file($node->data_dir . '/postgresql.conf', $before);
}

# no room for the worker at all
$node->append_conf('postgresql.conf', 'max_worker_processes = 1');
$node->restart;
foreach my $query (@all)
{
	is_answered($node, $query, "no worker: $query");
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM gpuconc_devices, gpuconc_stat'), '1', 'no worker: the views answer');
ok($node->poll_query_until('postgres', q{SELECT state = 'stopped' AND detail ~ 'max_worker_processes' FROM gpuconc_devices}),
	'no worker: the view says why');
my ($status, $said, $refusal) = $node->psql('postgres', 'SET gpuconc.debug_offload = require; SELECT count(*) FROM t');
like($refusal, qr/the gpuconc worker is not running/, 'no worker: nothing is planned for it');
$node->append_conf('postgresql.conf', 'max_worker_processes = 8');
$node->stop;

# a tiny /dev/shm
SKIP:
{
	skip 'no file system can be mounted here', 1 unless may_mount();
	# PostgreSQL's own statistics take two; its parallel queries would fail for want of it
	$node->append_conf('postgresql.conf', 'max_parallel_workers_per_gather = 0');
	start_mounted($node, '/dev/shm', '3m');
	note_memory($node);
	all_answer('/dev/shm of 3 MB');
	is_offloaded($node, $queries[1], '/dev/shm of 3 MB: offloaded');
	$node->stop;
}

done_testing();

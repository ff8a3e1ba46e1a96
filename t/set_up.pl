# Loading gpuconc in the right way and in others, its settings, dump and restore.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('set_up');
$node->init;
$node->start;

# not preloaded
foreach my $command ('CREATE EXTENSION gpuconc', q{LOAD 'gpuconc'})
{
	my ($status, $out, $error) = $node->psql('postgres', $command);
	isnt($status, 0, "$command fails where gpuconc is not preloaded");
	like($error, qr/ERROR:  gpuconc must be loaded via "shared_preload_libraries"\nHINT:  \S/, "$command: error and hint");
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_extension WHERE extname = 'gpuconc'}),
	'0', 'no extension is left behind');
create_tables($node);
is($node->safe_psql('postgres', 'SET gpuconc.enabled = on; SELECT count(*) FROM t'),
	'30000', 'a setting of the name does no harm there');

# preloaded, not created
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'gpuconc'
gpuconc.devices = host
gpuconc.offload_cost = 0
gpuconc.kernel_cache = '@{[kernels_directory()]}'
});
$node->restart;
foreach my $query (@queries)
{
	is_answered($node, $query, "preloaded, not switched on: $query");
}
my $plan = $node->safe_psql('postgres', "EXPLAIN $queries[1]");
unlike($plan, qr/Gpuconc/, 'off by default');
$node->append_conf('postgresql.conf', 'gpuconc.enabled = on');
$node->reload;
$node->poll_query_until('postgres', 'SHOW gpuconc.enabled', 'on') or die 'no reload';
$node->wait_for_log(qr/gpuconc uses device host/);
foreach my $query (@queries)
{
	is_offloaded($node, $query, "switched on by a reload, without the extension: $query");
}
is($node->safe_psql('postgres', "LOAD 'gpuconc'; SELECT 1"), '1', 'LOAD does nothing where it is preloaded');

# what only a restart, or nobody, may change
foreach my $command (
	'ALTER SYSTEM SET gpuconc.devices = nonsense', 'SET gpuconc.devices = cuda',
	'SET gpuconc.host_cache_size = 1', 'SET gpuconc.debug_offload = perhaps',
	'ALTER SYSTEM SET gpuconc.debug_chunk_pages = 10', 'SET gpuconc.no_such_setting = 1')
{
	my ($status) = $node->psql('postgres', $command);
	isnt($status, 0, "refused: $command");
}

# how much shared memory it takes where nobody says that: the log has it, and it can be had
my ($megabytes, $boot) = split /\|/, $node->safe_psql('postgres', q{SELECT setting, boot_val FROM pg_settings WHERE name = 'gpuconc.host_cache_size'});
cmp_ok($megabytes, '>=', 64, 'memory by default');
is($boot, -1, '... which is chosen');
is(log_has($node, qr/LOG:  gpuconc asks for $megabytes MB of shared memory/), 1, '... and logged');
$node->append_conf('postgresql.conf', "gpuconc.host_cache_size = -1\ngpuconc.loader_workers = 3");
$node->reload;
$node->poll_query_until('postgres', 'SHOW gpuconc.loader_workers', '3') or die 'no reload';
is($node->safe_psql('postgres', q{SELECT setting, pending_restart FROM pg_settings WHERE name = 'gpuconc.host_cache_size'}), "$megabytes|f",
	'... and set by name, it does not change');
$node->stop;
my @postgres = ($node->config_data('--bindir') . '/postgres', '-D', $node->data_dir);
my ($total, $errors) = run_command([ 'bash', '-c', 'ulimit -v 1500000 && exec "$@"', '-', @postgres, '-C', 'shared_memory_size' ]);
cmp_ok($total, '<', 1465, "less where the server cannot have so much: $total");
cmp_ok($total, '>', 64, '... but some');
(undef, $errors) = run_command([ 'bash', '-c', 'ulimit -v 1500000 && exec "$@"', '-', @postgres, '-c', 'gpuconc.host_cache_size=3GB' ]);
like($errors, qr/LOG:  gpuconc asks for 3072 MB of shared memory.*FATAL:  could not map/s, 'the log says what was asked for where the server cannot have it');
$node->start;

# created
$node->safe_psql('postgres', 'CREATE EXTENSION gpuconc');
wait_for_worker($node);
is($node->safe_psql('postgres', 'SELECT device, state FROM gpuconc_devices'), 'host|ready', 'the device is there');
like($node->safe_psql('postgres', "SET gpuconc.debug_offload = require; EXPLAIN $queries[1]"),
	qr/Custom Scan \(Gpuconc/, 'the node\'s name begins with Gpuconc');
$node->safe_psql('postgres', q{SELECT gpuconc_prewarm('t'); SELECT gpuconc_stat_reset()});
is(stat_of($node, 'requests'), '0', 'statistics are reset');
is_offloaded($node, $queries[2], 'after a reset');
is(stat_of($node, q{format('%s %s %s', requests, offloaded, fallbacks)}), '1 1 0', 'statistics count');

# docs/settings.md and docs/debugging.md have each setting with its default and its context, and README.md some of them
# with their defaults
my %settings;
foreach my $row (split /\n/, $node->safe_psql('postgres', q{
SELECT substr(name, 9), CASE WHEN unit IN ('kB', 'MB') AND boot_val NOT IN ('0', '-1') THEN boot_val::int / 1024 || CASE unit WHEN 'kB' THEN 'MB' ELSE 'GB' END ELSE boot_val END, context
FROM pg_settings WHERE name LIKE 'gpuconc.%' AND context <> 'internal'}))
{
	my ($name, $default, $context) = split /\|/, $row;
	$settings{$name} = { default => $default, context => $context };
}
my %said = join('', map { slurp_file("$FindBin::RealBin/../docs/$_.md") } ('settings', 'debugging')) =~ /^\| `(\w+)` \|( [^|]*\| (?:user|sighup|postmaster)) \|/mg;
my @expected = map { "$_: $settings{$_}->{default}|$settings{$_}->{context}" } sort keys %settings;
is(join("\n", map { "$_: " . $said{$_} =~ s/[ `]//gr } sort keys %said), join("\n", @expected), 'documents have the settings');
%said = slurp_file("$FindBin::RealBin/../README.md") =~ /^\| `gpuconc\.(\w+)` \| `?([^|]*?)`? \|/mg;
is(join("\n", map { "$_: $said{$_}" } sort keys %said), join("\n", map { "$_: " . ($settings{$_}->{default} // 'none') } sort keys %said),
	'README.md has defaults of settings');

# a plain user sees the views, and of tables only what is theirs
$node->safe_psql('postgres', 'CREATE ROLE plain LOGIN');
is($node->safe_psql('postgres', q{
SET ROLE plain;
SELECT (SELECT count(*) FROM gpuconc_devices), (SELECT count(*) FROM gpuconc_stat),
	(SELECT count(*) FROM gpuconc_cache), (SELECT count(*) FROM gpuconc_load_progress)}),
	'1|1|0|0', 'a plain user may read the views');
foreach my $command ('SELECT gpuconc_stat_reset()', q{SELECT gpuconc_prewarm('t')}, q{SELECT gpuconc_evict('t')}, 'SELECT count(*) FROM t')
{
	my ($status, $out, $error) = $node->psql('postgres', "SET ROLE plain; $command");
	like($error, qr/permission denied|must be owner/, "a plain user may not: $command");
}

# dump and restore
my $dump = "$PostgreSQL::Test::Utils::tmp_check/dump.sql";
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ], 'restored');
is($node->safe_psql('restored', 'SELECT count(*) > 0 FROM gpuconc_stat'), 't', 'views of the restored database');
$node->safe_psql('restored', 'VACUUM t, dim');
foreach my $query (@queries)
{
	is_offloaded($node, $query, "restored: $query", 'restored');
}
$node->safe_psql('restored', 'DROP EXTENSION gpuconc');
is($node->safe_psql('restored', q{
SELECT count(*) FROM pg_proc WHERE proname ~ '^gpuconc'}), '0', 'DROP EXTENSION leaves nothing');
is_offloaded($node, $queries[1], 'offloaded after DROP EXTENSION, too', 'restored');

# names that settings had before: PostgreSQL warns, and the server starts without them
my $before = -s $node->logfile;
$node->append_conf('postgresql.conf', q{
gpuconc.enable_marked_scan = off
gpuconc.tuple_cost = 1
gpuconc.debug_force_shared_scan = marked
});
$node->restart;
wait_for_worker($node);
is(log_has($node, qr/invalid configuration parameter name "gpuconc.enable_marked_scan"/, $before), 1,
	'a setting that has another name now: a warning');
is(log_has($node, qr/invalid configuration parameter name "gpuconc.tuple_cost"/, $before), 1, '... and one that is for tests now');
is(log_has($node, qr/invalid value for parameter "gpuconc.debug_force_shared_scan": "marked"/, $before), 1,
	'a value that has another name now: a warning');
is($node->safe_psql('postgres', 'SHOW gpuconc.debug_force_shared_scan'), 'off', 'and the default');
is_offloaded($node, $queries[1], 'offloaded all the same');

# the library removed from the configuration again
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '30000', 'works without the library');
my ($status, $out, $error) = $node->psql('postgres', 'SELECT * FROM gpuconc_stat');
like($error, qr/gpuconc must be loaded via/, 'the views say what is missing');

$node->stop;
done_testing();

# From an older major of PostgreSQL to this one, with the extension and with data: pg_upgrade, and the newer pg_dump.
# Libraries of the other major.
#
# Setting of the environment: GPUCONC_OLD_INSTALL, where an older major with gpuconc is installed (its bin/ lies
# in it).  Part majors of scripts/check sets it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $install = $ENV{GPUCONC_OLD_INSTALL};

# A test that says why it was not done: a file without any test would count as one that failed.
sub leave
{
	my ($why) = @_;

SKIP: { skip $why, 1 }
	done_testing();
	exit 0;
}

leave('there is no older PostgreSQL (GPUCONC_OLD_INSTALL)') if !defined $install;

my $old = new_server('old', q{gpuconc.kernel_cache = 'gpuconc_kernels'}, install_path => $install);
my $new = new_server('new', q{gpuconc.kernel_cache = 'gpuconc_kernels'}, start => 0, no_data_checksums => 1);
my @majors = map { $_->pg_version->major } ($old, $new);

leave("GPUCONC_OLD_INSTALL is of major $majors[0], too") if $majors[0] == $majors[1];
note "from $majors[0] to $majors[1]";

# Where each major keeps its libraries.
my @libraries = map { $_->config_data('--pkglibdir') . '/gpuconc.so' } ($old, $new);

sub version_of
{
	my ($node, $database) = @_;

	return $node->safe_psql($database, q{SELECT extversion FROM pg_extension WHERE extname = 'gpuconc'});
}

#-------------------------------------------------------------------------
# The older server: some pages are not all-visible
#-------------------------------------------------------------------------
create_tables($old);
$old->safe_psql('postgres', q{
CREATE ROLE watcher;
GRANT EXECUTE ON FUNCTION gpuconc_stat_reset() TO watcher;
CREATE VIEW devices AS SELECT device, state FROM gpuconc_devices;
UPDATE t SET n = n + 1 WHERE id % 1000 = 0});
is_offloaded($old, $_, "old: $_") foreach (@queries);
my %expected = map { $_ => answer_of($old, $_, 'forbid') } (@queries);
my $version = version_of($old, 'postgres');

#-------------------------------------------------------------------------
# The library of the other major.  If symbols are missing, the linker sees that before PostgreSQL looks at the version.
#-------------------------------------------------------------------------
sub refuses
{
	my ($node, $library) = @_;
	my ($status, $out, $error) = $node->psql('postgres', "LOAD '$library'");

	like($error, qr/ERROR:  (incompatible library "\Q$library\E": version mismatch|could not load library "\Q$library\E":.* undefined symbol)/,
		$node->name . ': the library of the other major is refused');
	return;
}

refuses($old, $libraries[1]);
$new->start;
refuses($new, $libraries[0]);

# A minor of before November 2026 does not know what later ones keep in the options of each column.
$new->safe_psql('postgres', 'CREATE TABLE probe (a int)');
my (undef, undef, $error) = $new->psql('postgres', 'ALTER TABLE probe ALTER a SET (pg_attver = 1)');
my $outdated = $error =~ /unrecognized parameter/
  && $old->safe_psql('postgres', q{SELECT count(*) FROM pg_attribute WHERE attoptions::text ~ 'pg_attver'}) ne '0';
$new->safe_psql('postgres', 'DROP TABLE probe');
$new->stop;
$new->append_conf('postgresql.conf', "shared_preload_libraries = '$libraries[0]'");
is($new->start(fail_ok => 1), 0, 'new: does not start with the library of the other major');
cmp_ok(log_has($new, qr/FATAL:  (incompatible|could not load) library "\Q$libraries[0]\E"/), '>', 0, 'and says why');
$new->append_conf('postgresql.conf', "shared_preload_libraries = 'gpuconc'");
$old->stop;

#-------------------------------------------------------------------------
# pg_upgrade
#-------------------------------------------------------------------------
sub upgrade
{
	my @upgrade = ('pg_upgrade', '--no-sync', '-d', $old->data_dir, '-D', $new->data_dir, '-b', "$install/bin",
		'-B', $new->config_data('--bindir'), '-s', $new->host, '-p', $old->port, '-P', $new->port);

	chdir $PostgreSQL::Test::Utils::tmp_check;
	$new->append_conf('postgresql.conf', "shared_preload_libraries = ''");
	command_checks_all([ @upgrade, '--check' ], 1, [ qr/references loadable libraries that are missing/ ], [], 'pg_upgrade --check, not preloaded');
	ok((grep { slurp_file($_) =~ /gpuconc must be loaded via "shared_preload_libraries"/ }
			glob($new->data_dir . '/pg_upgrade_output.d/*/loadable_libraries.txt')), 'and it is said why');
	$new->append_conf('postgresql.conf', "shared_preload_libraries = 'gpuconc'");
	command_ok([ @upgrade, '--check' ], 'pg_upgrade --check');
	command_ok(\@upgrade, 'pg_upgrade');
	$new->start;
	wait_for_worker($new);

	is(version_of($new, 'postgres'), $version, 'upgraded: the version of the extension stays');
	is($new->safe_psql('postgres', 'SELECT * FROM devices'), 'host|ready', 'upgraded: a view over the views of the extension');
	is($new->safe_psql('postgres', q{SELECT has_function_privilege('watcher', 'gpuconc_stat_reset()', 'execute')}), 't',
		'upgraded: what was granted');
	is_offloaded($new, $_, "upgraded: $_") foreach (@queries);
	is(answer_of($new, $_, 'require'), $expected{$_}, "upgraded: the older server's answer: $_") foreach (@queries);
	$new->safe_psql('postgres', 'UPDATE t SET n = n - 1 WHERE id % 500 = 0');
	is_offloaded($new, $_, "upgraded, and written to: $_") foreach (@queries);
	$new->safe_psql('postgres', 'VACUUM t');
	is_offloaded($new, $_, "upgraded, and vacuumed: $_") foreach (@queries);
	$new->stop;
	return;
}

SKIP:
{
	skip 'the minor of the newer server is too old (unrecognized parameter "pg_attver")', 1 if $outdated;
	upgrade();
}

#-------------------------------------------------------------------------
# pg_dump of the newer server, or where that cannot be, of the older.  Servers may be built without compression.
#-------------------------------------------------------------------------
foreach my $node ($old, $new)
{
	$node->start;
	# Without pg_upgrade, the newer one has no extension yet.
	wait_for_worker($node) if $node == $old;
}
$new->safe_psql('postgres', 'CREATE ROLE watcher') if $outdated;
$new->safe_psql('postgres', 'CREATE DATABASE restored');
($outdated ? $old : $new)->command_ok([ 'pg_dump', '-Fc', '-Z', '0', '-f', "$PostgreSQL::Test::Utils::tmp_check/dump", $old->connstr('postgres') ], 'pg_dump');
$new->command_ok([ 'pg_restore', '-e', '-d', $new->connstr('restored'), "$PostgreSQL::Test::Utils::tmp_check/dump" ], 'pg_restore');
is(version_of($new, 'restored'), $version, 'restored: the extension');
wait_until($new, q{SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'gpuconc worker'});
$new->safe_psql('restored', 'VACUUM ANALYZE t, dim');
is_offloaded($new, $_, "restored: $_", 'restored') foreach (@queries);
is(answer_of($new, $queries[1], 'require', 'restored'), $expected{ $queries[1] }, "restored: the older server's answer");

is(log_has($_, qr/PANIC|TRAP|was terminated by signal/), 0, 'nothing bad in the log of ' . $_->name) foreach ($old, $new);
$_->stop foreach ($old, $new);
done_testing();

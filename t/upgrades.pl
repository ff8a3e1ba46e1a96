# The version of the extension and of its library, dumps, base backups, and pg_upgrade within one major.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('upgrades', '', allows_streaming => 1);
create_tables($node);
my $directory = $PostgreSQL::Test::Utils::tmp_check;

# Objects of the extension in a database: definitions, privileges, comments.
sub objects_of
{
	my ($database, $where) = @_;

	return ($where // $node)->safe_psql($database, q{
SELECT pg_describe_object(d.classid, d.objid, d.objsubid),
	CASE d.classid WHEN 'pg_proc'::regclass THEN pg_get_functiondef(d.objid)
		WHEN 'pg_class'::regclass THEN pg_get_viewdef(d.objid) END,
	obj_description(d.objid, d.classid::regclass::name),
	(SELECT array(SELECT unnest(coalesce(proacl, acldefault('f', proowner)))::text ORDER BY 1) FROM pg_proc WHERE oid = d.objid AND d.classid = 'pg_proc'::regclass),
	(SELECT array(SELECT unnest(coalesce(relacl, acldefault('r', relowner)))::text ORDER BY 1) FROM pg_class WHERE oid = d.objid AND d.classid = 'pg_class'::regclass)
FROM pg_depend AS d JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE extname = 'gpuconc' AND d.deptype = 'e' ORDER BY 1});
}

sub fails
{
	my ($database, $command, $pattern, $message) = @_;
	my ($status, $out, $error) = $node->psql($database, $command);

	like($error, $pattern, $message);
	return;
}

#-------------------------------------------------------------------------
# Versions that go together, and others
#-------------------------------------------------------------------------
my $version = $node->safe_psql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'gpuconc'});
is($node->safe_psql('postgres', 'SHOW gpuconc.version'), $version, 'the library is of the version that the control file names');
fails('postgres', q{SET gpuconc.version = '9.9'}, qr/cannot be changed/, 'nobody may say otherwise');
is($node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'gpuconc'}), $version, 'so is the extension');
is(($node->psql('postgres', 'ALTER EXTENSION gpuconc UPDATE'))[0], 0, 'there is nothing to be updated');

# Functions as another version may declare them.
foreach my $function (
	[ 'gpuconc_stat_get', 'OUT requests bigint, OUT offloaded bigint', 'record' ],
	[ 'gpuconc_stat_get_fallbacks', 'OUT a text, OUT b bigint, OUT c bigint', 'SETOF record' ],
	[ 'gpuconc_get_devices', 'OUT a text, OUT b bigint', 'SETOF record' ],
	[ 'gpuconc_cache_columns', 'OUT a text, OUT b bigint', 'SETOF record' ],
	[ 'gpuconc_load_jobs', 'OUT a text, OUT b bigint', 'SETOF record' ],
	[ 'gpuconc_stat_get_batches', 'OUT a text, OUT b bigint', 'SETOF record' ],
	[ 'gpuconc_stat_get_kernels', 'OUT a text, OUT b bigint', 'SETOF record' ])
{
	my ($name, $columns, $returns) = @$function;

	$node->safe_psql('postgres', qq{
CREATE FUNCTION other($columns) RETURNS $returns AS '\$libdir/gpuconc', '$name' LANGUAGE C STRICT});
	fails('postgres', 'SELECT * FROM other()',
		qr/ERROR:  extension gpuconc of this database is not of the library's version, which is \Q$version\E\n.*DETAIL:  .* declared with \d+ columns.*\n.*HINT:  Run ALTER EXTENSION gpuconc UPDATE/,
		"$name of another version");
	$node->safe_psql('postgres', 'DROP FUNCTION other');
}

# The library of another major, as far as PostgreSQL looks: what PG_MODULE_MAGIC wrote into it.
my $major = $node->pg_version->major;
my $library = slurp_file($node->config_data('--pkglibdir') . '/gpuconc.so');
my ($ours, $others) = map { pack('i5', $_ * 100, 100, 32, 64, 1) } ($major, $major + 1);
is(scalar($library =~ s/\Q$ours\E/$others/g), 1, 'the library says of which major it is');
append_to_file("$directory/other_major.so", $library);
fails('postgres', "LOAD '$directory/other_major.so'", qr/ERROR:  incompatible library ".*other_major\.so": version mismatch\nDETAIL:  Server is version $major, library is version @{[$major + 1]}\./,
	'the library of another major is refused');
$node->stop;
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$directory/other_major.so'");
my $logged = -s $node->logfile;
is($node->start(fail_ok => 1), 0, 'no server starts with it');
is(log_has($node, qr/FATAL:  incompatible library ".*other_major\.so": version mismatch/, $logged), 1, 'and the log says why');
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'gpuconc'});
start_server($node);
is_offloaded($node, $queries[1], 'with the right one, it starts and offloads');

#-------------------------------------------------------------------------
# pg_dump, pg_restore
#-------------------------------------------------------------------------
$node->safe_psql('postgres', q{
CREATE ROLE watcher;
GRANT EXECUTE ON FUNCTION gpuconc_stat_reset() TO watcher;
CREATE VIEW devices AS SELECT device, state FROM gpuconc_devices});
$node->command_ok([ 'pg_dump', '-Fd', '-j', '2', '-f', "$directory/dump", $node->connstr('postgres') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '-j', '2', '-e', '-d', $node->connstr('restored'), "$directory/dump" ], 'pg_restore');
is(objects_of('restored'), objects_of('postgres'), 'restored as it was dumped, with what was granted');
is($node->safe_psql('restored', 'SELECT * FROM devices'), 'host|ready', 'a view over the views of the extension');
$node->safe_psql('restored', 'VACUUM t, dim');
is_offloaded($node, $_, "restored: $_", 'restored') foreach (@queries);

#-------------------------------------------------------------------------
# pg_basebackup, while queries run; the kernels lie in the data directory
#-------------------------------------------------------------------------
$node->append_conf('postgresql.conf', q{gpuconc.kernel_cache = 'gpuconc_kernels'});
$node->restart;
wait_for_worker($node);
is_offloaded($node, $queries[0], 'before the backup');
$node->backup('backup', backup_options => ['--checkpoint=fast']);
$node->command_ok([ 'pg_verifybackup', $node->backup_dir . '/backup' ], 'pg_verifybackup');
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'backup');
$copy->start;
wait_for_worker($copy);
is($copy->safe_psql('postgres', 'SELECT device, state FROM gpuconc_devices'), 'host|ready', 'the copy has a device');
is_offloaded($copy, $_, "the copy: $_") foreach (@queries);
is($copy->safe_psql('postgres', 'SELECT requests = offloaded FROM gpuconc_stat'), 't', 'the copy: nothing falls back');

$copy->stop;

#-------------------------------------------------------------------------
# pg_upgrade, of a server whose tables are cached, and that has settings of databases and roles.  From this major to
# itself: t/major_upgrade.pl needs another one.
#-------------------------------------------------------------------------
my $settings = q{
SELECT coalesce(datname, '-'), coalesce(rolname, '-'), setting
FROM pg_db_role_setting AS s LEFT JOIN pg_database AS d ON d.oid = setdatabase LEFT JOIN pg_roles AS r ON r.oid = setrole,
	unnest(setconfig) AS setting
WHERE setting ~ '^gpuconc' ORDER BY 1, 2, 3};
my $new = new_server('new', q{gpuconc.kernel_cache = 'gpuconc_kernels'}, start => 0);

$node->safe_psql('postgres', q{
ALTER ROLE watcher LOGIN;
ALTER DATABASE restored SET gpuconc.enabled = off;
ALTER DATABASE restored SET gpuconc.debug_offload = prefer;
ALTER ROLE watcher SET gpuconc.offload_cost = 17;
ALTER ROLE watcher IN DATABASE restored SET gpuconc.enabled = on;
UPDATE t SET n = n + 1 WHERE id % 1000 = 0});
is_offloaded($node, $_, "to be upgraded: $_") foreach (@queries);
is($node->safe_psql('postgres', q{SELECT count(*) > 0 FROM gpuconc_cache WHERE relation = 't'::regclass}), 't', 'to be upgraded: its tables are cached');
my %answer = map { $_ => answer_of($node, $_, 'forbid') } (@queries);
my ($objects, $set) = (objects_of('postgres'), $node->safe_psql('postgres', $settings));
is(scalar(split /\n/, $set), 4, 'to be upgraded: settings');
$node->stop;

my @upgrade = ('pg_upgrade', '--no-sync', '-d', $node->data_dir, '-D', $new->data_dir, '-b', $node->config_data('--bindir'),
	'-B', $new->config_data('--bindir'), '-s', $new->host, '-p', $node->port, '-P', $new->port);
chdir $directory;
$new->append_conf('postgresql.conf', "shared_preload_libraries = ''");
command_checks_all([ @upgrade, '--check' ], 1, [ qr/references loadable libraries that are missing/ ], [], 'pg_upgrade --check, not preloaded');
$new->append_conf('postgresql.conf', "shared_preload_libraries = 'gpuconc'");
command_ok(\@upgrade, 'pg_upgrade');
$new->start;
wait_for_worker($new);
is($new->safe_psql('postgres', 'SELECT count(*) FROM gpuconc_cache'), '0', 'upgraded: nothing is cached');
is($new->safe_psql('postgres', $settings), $set, 'upgraded: settings of databases and roles');
is($new->safe_psql('restored', 'SHOW gpuconc.enabled; SHOW gpuconc.debug_offload; SHOW gpuconc.offload_cost', extra_params => [ '-U', 'watcher' ]),
	"on\nprefer\n17", 'upgraded: a session has them');
is(objects_of('postgres', $new), $objects, 'upgraded: the extension, with what was granted');
is_offloaded($new, $_, "upgraded: $_") foreach (@queries);
is(answer_of($new, $_, 'require'), $answer{$_}, "upgraded: the answer of before: $_") foreach (@queries);
$new->safe_psql('postgres', 'UPDATE t SET n = n - 1 WHERE id % 500 = 0');
is_offloaded($new, $_, "upgraded, and written to: $_") foreach (@queries);
$new->safe_psql('postgres', 'VACUUM t');
is_offloaded($new, $_, "upgraded, and vacuumed: $_") foreach (@queries);
nothing_held($new, 'upgraded');

is(log_has($_, qr/PANIC|TRAP|was terminated by signal/), 0, 'nothing bad in the log of ' . $_->name) foreach ($node, $new);
$new->stop;
done_testing();

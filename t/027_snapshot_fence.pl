# Snapshot fences beside writers: one look at a table's pages, and then none; and what others wait for while a keeper
# holds snapshots.  The LSNs of the visibility map are not trusted in, as if each write moved them, which it does from
# PostgreSQL 17.11 and 18.6 on.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('fence', q{
gpuconc.enable_snapshot_fence = on
gpuconc.debug_map_lsns = off
gpuconc.debug_hot_pages = 1
gpuconc.loader_workers = 0
max_prepared_transactions = 20
log_statement = none
}, allows_streaming => 1);
my $sum = 'SELECT count(*), sum(id), min(d), max(n) FROM t';
my $keeper = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'gpuconc fence keeper' AND datname = current_database()};
my $client = $node->background_psql('postgres');

create_tables($node, 30000);
is_offloaded($node, $sum, 'a table of several chunks');

# A write and a question; chunks that a fence proved, and pages that were looked at.
sub written
{
	my ($id, $settings) = @_;
	my $read = 'SELECT chunks_fenced, pages_looked_at FROM gpuconc_stat';
	my @before = split /\|/, $node->safe_psql('postgres', $read);

	$node->safe_psql('postgres', ($settings // '') . "UPDATE t SET n = n + 1 WHERE id = $id; SET gpuconc.debug_offload = require; $sum");
	my @after = split /\|/, $node->safe_psql('postgres', $read);
	return ($after[0] - $before[0], $after[1] - $before[1]);
}

my $pages = $node->safe_psql('postgres', q{SELECT pg_relation_size('t') / current_setting('block_size')::int});
# Off here: if what was asked so far took long, there may be a keeper already.
my @written = written(1, 'SET gpuconc.enable_snapshot_fence = off;');
cmp_ok($written[1], '>=', $pages - 1, 'without a fence, all pages are looked at');
is($written[0], 0, 'and no chunk is known');
# Looks in vain count that are not long apart.
my $asked = 0;
ok(again_until(sub { written(5000 + ++$asked % 1000); $node->safe_psql('postgres', "SELECT EXISTS ($keeper)") eq 't' }), 'then there is a keeper');
# A proof must have been made by a fence that is still held.
again_until(sub { @written = written(10000 + ++$asked % 10000); $written[1] < 20 });
cmp_ok($written[0], '>', 3, 'all chunks are known by a fence');
cmp_ok($written[1], '<', 20, 'and only pages that were written to are looked at');
is_offloaded($node, $sum, 'with a fence');

# The keeper's snapshots move on, and so does VACUUM.
$node->safe_psql('postgres', 'DELETE FROM t WHERE id BETWEEN 2000 AND 2100');
wait_until($node, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint = (SELECT backend_xmin::text::bigint FROM pg_stat_activity WHERE pid = ($keeper))",
	'the keeper holds no old snapshot');
$node->safe_psql('postgres', 'VACUUM t');
is_offloaded($node, $sum, 'after VACUUM');
like($node->safe_psql('postgres', "SELECT xact_start > now() - interval '1 minute' FROM pg_stat_activity WHERE pid = ($keeper)"), qr/^t$/, 'nor is its transaction old');

# Others wait for transactions that may have an old snapshot, or a lock.
$node->safe_psql('postgres', $_) foreach ('CREATE INDEX CONCURRENTLY i ON t (id)', 'REINDEX INDEX CONCURRENTLY i', 'DROP INDEX CONCURRENTLY i',
	'ALTER TABLE t ADD z int', 'TRUNCATE dim');
ok(1, 'nobody waits for ever');
isnt($node->safe_psql('postgres', $keeper), '', 'the keeper is still there');
is_offloaded($node, $sum, 'after other work on the table');

# A prepared transaction is in progress, however long.
$node->safe_psql('postgres', q{BEGIN; DELETE FROM t WHERE id BETWEEN 8000 AND 8100; PREPARE TRANSACTION 'p'});
written(12000 + $_) foreach (1 .. 2);
$node->safe_psql('postgres', 'VACUUM t');
is_offloaded($node, $sum, 'beside a prepared transaction');
$node->safe_psql('postgres', q{COMMIT PREPARED 'p'});
is_offloaded($node, $sum, 'which is committed');

# Without its keeper nothing is proven, and PostgreSQL starts another one.
my $pid = $node->safe_psql('postgres', $keeper);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid, 10000)");
$node->safe_psql('postgres', 'DELETE FROM t WHERE id BETWEEN 9000 AND 9100');
$node->safe_psql('postgres', 'VACUUM t');
is_offloaded($node, $sum, 'after the end of the keeper');

# A standby has no keeper.
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('fence_standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby, 'replay');
wait_for_worker($standby);
foreach (1 .. 3)
{
	$node->safe_psql('postgres', "UPDATE t SET n = n + 1 WHERE id = $_; VACUUM t");
	$node->wait_for_catchup($standby, 'replay');
	is_offloaded($standby, $sum, 'on a standby');
}
is($standby->safe_psql('postgres', 'SELECT chunks_fenced FROM gpuconc_stat'), 0, 'no fence is held there');
is($standby->safe_psql('postgres', $keeper), '', 'and there is no keeper');
$standby->stop;

# A database with a keeper can be copied, renamed and dropped.
$node->safe_psql('postgres', 'CREATE DATABASE one');
create_tables($node, 5000, 'one');
my $other = $node->background_psql('one');
$other->query_safe('SET gpuconc.debug_offload = require');
again_until(sub {
	$other->query_safe('UPDATE t SET n = n + 1 WHERE id = 1');
	$other->query_safe($sum);
	$other->query_safe($keeper) ne '' });
isnt($other->query_safe($keeper), '', 'another database has a keeper of its own');
$other->quit;
$node->safe_psql('postgres', $_) foreach ('CREATE DATABASE two TEMPLATE one', 'ALTER DATABASE one RENAME TO three', 'DROP DATABASE three');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE datname IN ('one', 'two', 'three')}), '0', 'a keeper without clients ends');

# Beside a keeper with a client, too, DROP DATABASE (FORCE) goes through.
$other = $node->background_psql('two', on_error_stop => 0);
$other->query('SET gpuconc.debug_offload = require');
again_until(sub {
	$other->query('UPDATE t SET n = n + 1 WHERE id = 1');
	$other->query($sum);
	$other->query($keeper) ne '' });
$node->safe_psql('postgres', 'DROP DATABASE two WITH (FORCE)');
ok(1, 'DROP DATABASE (FORCE)');
eval { $other->quit };

# Writers of all kinds, again until there was a fence in time: at first, a slow machine compiles kernels.
my $fenced = 0;
again_until(sub {
	my ($out, $error) = ('', '');
	local %ENV = $node->_get_env(PGDATABASE => 'postgres');

	IPC::Run::run([ 'python3', "$FindBin::RealBin/../bench/fresh/soak", '--for', 12, '--rows', 6000 ], '>', \$out, '2>', \$error);
	is($?, 0, 'no client has failed') or diag substr($error, 0, 3000);
	note $out;
	like($out, qr/^\| wrong answers \| 0 \|$/m, 'no answer is wrong') or diag substr($error, 0, 3000);
	$fenced = $out =~ /^\| chunks fenced \| [1-9]/m;
	return $fenced;
});
ok($fenced, 'and chunks were proven by fences');
nothing_held($node, 'at last');
is(log_has($_, qr/PANIC|TRAP|was terminated by signal|could not access status/), 0, 'nothing bad in the log of ' . $_->name) foreach ($node, $standby);
$client->quit;
$node->stop;
done_testing();

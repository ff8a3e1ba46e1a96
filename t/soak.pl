# bench/fresh/soak for a minute, with small tables: no answer may be wrong, and some rows must come from hot
# chunks.  Then again for a while, with all that can be killed killed in it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'there is no python3' if system('python3 -c "" 2>/dev/null') != 0;

my $node = new_server('soak', q{
max_prepared_transactions = 20
gpuconc.debug_hot_pages = 1
gpuconc.disk_cache_size = 64MB
log_statement = none
restart_after_crash = on
}, allows_streaming => 'logical');
my %count;

# Adds to what is counted, and returns the figures.
sub soak
{
	my ($what, @options) = @_;
	my ($out, $error) = ('', '');
	local %ENV = $node->_get_env(PGDATABASE => 'postgres');

	IPC::Run::run([ 'python3', "$FindBin::RealBin/../bench/fresh/soak", '--rows', 6000, '--writers', 8, '--readers', 8, @options ],
		'>', \$out, '2>', \$error);
	is($?, 0, "$what: no client has failed") or diag substr($error, 0, 3000);
	note $out;
	my %more = $out =~ /^\| ([^|]+?) \| ([\d,]+) \|$/mg;
	s/,//g foreach (values %more);
	is($more{'wrong answers'}, 0, "$what: no answer is wrong") or diag substr($error, 0, 3000);
	$count{$_} += $more{$_} foreach (keys %more);
	return %more;
}

# Again until each of the scripts, which are chosen at random, has been run: on a slow machine they are few.
again_until(sub {
	my %more = soak('left alone', '--for', 60);

	return !%more || !grep { $_ == 0 } @count{grep { /, transactions$/ } keys %count};
});
cmp_ok($count{$_} // 0, '>', 0, $_) foreach ('rows versioned', 'pages loaded', 'most hot pages kept', grep { /, transactions$/ } keys %count);
cmp_ok(scalar(grep { /, transactions$/ } keys %count), '==', 21, 'writers and readers of all kinds');
cmp_ok($count{offloaded}, '>', 10 * $count{fallbacks}, 'nearly all is offloaded');
cmp_ok(scalar(() = glob($node->data_dir . '/pgsql_tmp_gpuconc/[0-9]*')), '>', 0, 'columns have files');
nothing_held($node, 'at last');
is(log_has($node, qr/PANIC|TRAP|was terminated by signal|could not access status/), 0, 'nothing bad in the log');

# Again until each was there when it was to be killed.  Loaders, of which the same holds, mostly are not.
my @kills = (map({ ("$_, killed", "$_, terminated") } 'worker', 'session'), 'server, shut down at once');
my $restart = sprintf "pg_ctl -w -D '%s' -l '%s' -m immediate restart", $node->data_dir, $node->logfile;
again_until(sub {
	my %more = soak('with kills', '--for', 0, '--kill', 6, '--restart', $restart);

	return !%more || !grep { !$count{$_} } @kills;
});
cmp_ok($count{$_} // 0, '>', 0, $_) foreach (@kills);
$node->_update_pid(1);
wait_for_worker($node);
nothing_held($node, 'after kills');
is(log_has($node, qr/PANIC|TRAP|could not access status/), 0, 'nothing bad in the log');
my $temporary = $node->data_dir . '/base/pgsql_tmp';
is(join(' ', grep { !m{/pgsql_tmp_gpuconc$} } glob("$temporary/*")), '', 'no files are left');
cmp_ok(scalar(() = glob("$temporary/pgsql_tmp_gpuconc/*")), '<=', 1, 'nor are those of former workers');
$node->stop;
done_testing();

# bench/fresh/soak for a minute, with small tables: no answer may be wrong, and some rows must come from hot
# chunks.

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
log_statement = none
}, allows_streaming => 'logical');
my %count;

# Again until each of the scripts, which are chosen at random, has been run: on a slow machine they are few.
again_until(sub {
	my ($out, $error) = ('', '');
	local %ENV = $node->_get_env(PGDATABASE => 'postgres');

	IPC::Run::run([ 'python3', "$FindBin::RealBin/../bench/fresh/soak", '--for', 60, '--rows', 6000, '--writers', 8, '--readers', 8 ],
		'>', \$out, '2>', \$error);
	is($?, 0, 'no client has failed') or diag substr($error, 0, 3000);
	note $out;
	my %more = $out =~ /^\| ([^|]+?) \| ([\d,]+) \|$/mg;
	s/,//g foreach (values %more);
	is($more{'wrong answers'}, 0, 'no answer is wrong') or diag substr($error, 0, 3000);
	$count{$_} += $more{$_} foreach (keys %more);
	return !%more || !grep { $_ == 0 } @count{grep { /, transactions$/ } keys %count};
});
cmp_ok($count{$_} // 0, '>', 0, $_) foreach ('rows versioned', 'pages loaded', 'most hot pages kept', grep { /, transactions$/ } keys %count);
cmp_ok(scalar(grep { /, transactions$/ } keys %count), '==', 21, 'writers and readers of all kinds');
cmp_ok($count{offloaded}, '>', 10 * $count{fallbacks}, 'nearly all is offloaded');
nothing_held($node, 'at last');
is(log_has($node, qr/PANIC|TRAP|was terminated by signal|could not access status/), 0, 'nothing bad in the log');
$node->stop;
done_testing();

# bench/monitoring: each query for postgres_exporter runs, for a role that may read statistics, and has the columns
# that its metrics name; Grafana's dashboard uses no others.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $directory = "$FindBin::RealBin/../bench/monitoring";
my $node = new_server('monitoring', '');

# The part of YAML that the file is written in: blocks by name, with a query of several lines, and metrics.
sub read_queries
{
	my ($block, $metric, %blocks);

	foreach my $line (split /\n/, slurp_file("$directory/queries.yaml"))
	{
		next if $line =~ /^#|^\s*$/;
		if ($line =~ /^(\w+):$/) { $block = $blocks{$1} = { query => '', metrics => [] } }
		elsif ($line =~ /^  (master: true|cache_seconds: \d+|query: \||metrics:)$/) { $metric = undef }
		elsif ($line =~ /^    - (\w+):$/) { push @{ $block->{metrics} }, $metric = { name => $1 } }
		elsif ($line =~ /^        (usage|description): "([^"]+)"$/ && $metric) { $metric->{$1} = $2 }
		elsif ($line =~ /^    (.*)$/ && !$metric) { $block->{query} .= "$1\n" }
		else { die "not understood: $line" }
	}
	return %blocks;
}

my %blocks = read_queries();
cmp_ok(scalar keys %blocks, '>', 5, 'there are queries');

# Something to be told: cached columns, a fallback, a refusal, and a column that cannot be cached.
create_tables($node);
$node->safe_psql('postgres', q{
CREATE ROLE exporter LOGIN IN ROLE pg_monitor;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO exporter;
CREATE TABLE odd (n numeric);
INSERT INTO odd VALUES ('NaN');
VACUUM ANALYZE odd});
is_offloaded($node, $_, $_) foreach (@queries);
is_answered($node, 'SELECT sum(n) FROM odd', 'a fallback');
is_answered($node, 'SELECT string_agg(s, s ORDER BY s) FROM t WHERE id < 9', 'a refusal');

my %known;
foreach my $name (sort keys %blocks)
{
	my @metrics = @{ $blocks{$name}->{metrics} };
	my $query = $blocks{$name}->{query};
	my ($status, $out, $error) = $node->psql('postgres', "$query \\gdesc", extra_params => [ '-U', 'exporter' ]);
	my %types = map { split /\|/ } split /\n/, $out;
	is("$error" . join(' ', sort keys %types), join(' ', sort map { $_->{name} } @metrics), "$name: its columns are its metrics");
	foreach my $metric (@metrics)
	{
		my ($is, $usage) = ($types{ $metric->{name} } // '', $metric->{usage} // '');
		my $numeric = $is =~ /^(integer|bigint|numeric|double precision)$/;

		ok($usage eq 'LABEL' ? !$numeric : $usage =~ /^(COUNTER|GAUGE)$/ && $numeric, "$name: $metric->{name}, $is, is a $usage");
		ok(defined $metric->{description}, "$name: $metric->{name} is described");
		$known{"${name}_$metric->{name}"} = 1 unless $usage eq 'LABEL';
	}
	my $rows = $node->safe_psql('postgres', "SELECT count(*) > 0 FROM ($query) AS q", extra_params => [ '-U', 'exporter' ]);
	is($rows, 't', "$name: has rows") unless $name eq 'gpuconc_loads' || $name eq 'gpuconc_batches';
	# No value may be missing, as the exporter would make it NaN.
	my $numbers = join ' AND ', map { "q.$_->{name} IS NOT NULL" } @metrics;
	is($node->safe_psql('postgres', "SELECT count(*) FROM ($query) AS q WHERE NOT ($numbers)", extra_params => [ '-U', 'exporter' ]),
		'0', "$name: no value is missing");
}
is($node->safe_psql('postgres', "SELECT requests > 0 FROM ($blocks{gpuconc_fallback}->{query}) AS q WHERE reason = 'column not cacheable'"), 't',
	'a fallback is counted by reason');
is($node->safe_psql('postgres', "SELECT problems FROM ($blocks{gpuconc_cache}->{query}) AS q WHERE relation = 'odd'"), '1',
	'a column that cannot be cached');
is($node->safe_psql('postgres', "SELECT refusals > 0 FROM ($blocks{gpuconc_table}->{query}) AS q WHERE relation = 't'"), 't',
	'a refusal is counted');

my $dashboard = decode_json(slurp_file("$directory/dashboard.json"));
my @used = map { ($_->{expr} // '') =~ /(gpuconc_\w+)/g } map { @{ $_->{targets} } } @{ $dashboard->{panels} };
cmp_ok(scalar @used, '>', 20, 'the dashboard shows metrics');
is(join(' ', grep { !$known{$_} } @used), '', 'all of which there are');

$node->stop;
done_testing();

# EXPLAIN (ANALYZE, VERBOSE) in each format: other programs read JSON, XML and YAML, which have the same keys, none of them
# twice in one object; and text is short, and silent about what did not happen.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'there is no python3' if system_log('python3', '-c', 'import json, xml.etree.ElementTree') != 0;

# Reads a plan, and prints the paths of all that it has, each once: "Plan/Pipelines/Rows In".  YAML needs a module.
my $reader = "$PostgreSQL::Test::Utils::tmp_check/read_plan.py";
append_to_file($reader, <<'EOP');
import json
import sys
import xml.etree.ElementTree

LISTS = ('explain', 'Plans', 'Pipelines', 'Steps')
form, path = sys.argv[1:]
text = open(path, encoding='utf-8').read()


def unique(pairs):
    keys = [k for k, _ in pairs]
    if len(set(keys)) < len(keys):
        sys.exit(f'a key is there twice: {keys}')
    return dict(pairs)


# As EXPLAIN makes an XML tag of it.
def tag(key):
    return ''.join(c if c.isalnum() or c in '-_.' else '-' for c in key)


def paths(value, path=''):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, f'{path}/{tag(key)}')
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, path)
    elif value is not None:    # YAML's list of nothing
        yield path.strip('/')


def element(e):
    children = list(e)
    if not children:
        return e.text if e.text and e.text.strip() else []
    if e.tag in LISTS or children[0].tag == 'Item':
        if len({c.tag for c in children}) > 1:
            sys.exit(f'a list has several tags: {e.tag}')
        return [element(c) for c in children]
    return unique([(c.tag, element(c)) for c in children])


if form == 'JSON':
    tree = json.loads(text, object_pairs_hook=unique)
elif form == 'XML':
    root = xml.etree.ElementTree.fromstring(text)
    for e in root.iter():
        e.tag = e.tag.rpartition('}')[2]
    tree = element(root)
else:
    try:
        import yaml
    except ImportError:
        print('there is no yaml')
        sys.exit()

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG,
                           lambda loader, node: unique(loader.construct_pairs(node, deep=True)))
    tree = yaml.load(text, Loader)
print('\n'.join(sorted(set(paths(tree)))))
EOP

my $node = new_server('explain', "max_parallel_workers_per_gather = 0\n");
create_tables($node);
$node->safe_psql('postgres', 'CREATE TABLE sparse AS SELECT i * 1000003::bigint AS key, i % 5 AS v FROM generate_series(0, 999) AS i; VACUUM ANALYZE sparse');
my @asked = (@queries,
	'SELECT v, count(*) FROM t JOIN sparse ON id * 1000003::bigint = key GROUP BY v ORDER BY v',
	'SELECT name, g.n FROM dim JOIN (SELECT k, count(DISTINCT s) AS n FROM t GROUP BY k) AS g USING (k) ORDER BY name, n LIMIT 7',
	"SELECT count(*) FROM t, generate_series(1, 9) AS x WHERE t.k = x AND upper(s) <> 'S1'");

sub explained
{
	my ($query, $format, $set) = @_;

	return $node->safe_psql('postgres', "SET gpuconc.debug_offload = require; @{[$set // '']} EXPLAIN (ANALYZE, VERBOSE, FORMAT $format) $query");
}

foreach my $query (@asked)
{
	my %has;

	is_offloaded($node, $query, "offloaded: $query");
	foreach my $format ('JSON', 'XML', 'YAML')
	{
		my $file = "$PostgreSQL::Test::Utils::tmp_check/plan";

		unlink $file;
		append_to_file($file, explained($query, $format));
		my ($out, $error) = run_command([ 'python3', $reader, $format, $file ]);
		is($error, '', "$format can be read: $query");
		$has{$format} = $out;
	}
	like($has{JSON}, qr{^Plan/(?:Plans/)*Pipelines/Rows-In$}m, "has rows of pipelines: $query");
	is($has{XML}, $has{JSON}, "XML has what JSON has: $query");
	is($has{YAML}, $has{JSON}, "YAML has what JSON has: $query") unless $has{YAML} eq 'there is no yaml';

	my $text = explained($query, 'TEXT');
	my @node = $text =~ /Custom Scan.*?\n(.*?)(?=^ *->|^Planning Time|\z)/sm;
	my @ran = grep { /^ *(Fallback|Device|Pages|Rows|Device Memory|Requests|Device Timings|Chunks|Lookup Tables|Kernels|Edges|Edges Below): / } split /\n/, $node[0];
	my @other = grep { !/^ *(Output|(Stream|Build|Group|Choose|Union|Rest)( Filter| Key)?|Fetched Late|Grouping Sets): / } split /\n/, $node[0];
	is(join("\n", @ran), join("\n", @other), "text: known lines: $query");
	cmp_ok(scalar @ran, '<=', 12, 'not many');
	cmp_ok(scalar @ran, '>=', 4, 'but some');
	is(scalar(grep { /[=:] ?0(\.0+)?(kB)?( |$)/ } @ran), 0, 'and none of what did not happen');
}

$node->stop;
done_testing();

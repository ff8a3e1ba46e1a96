# Codes of a column are as wide in chunks of few values as in the others, since kernels are made for one width.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# One process loads, the last chunks last.
my $node = new_server('widths', "gpuconc.loader_workers = 0\nautovacuum = off\n");
my $pages = $node->safe_psql('postgres', 'SHOW gpuconc.debug_chunk_pages');
my $query = 'SELECT count(*), sum(a), max(b), sum(length(t)), bit_xor(a + b) FROM t';

# Five chunks of two columns of four bytes, and the first page of a sixth: 226 rows fit a page.
$node->safe_psql('postgres', qq{
CREATE TABLE t AS SELECT i * 1000 AS a, i % 7 * 100000 AS b, NULL::text AS t FROM generate_series(1, 5 * $pages * 226 + 1) i;
VACUUM t});

sub widths_are
{
	my ($message, $hot) = @_;

	$node->safe_psql('postgres', q{SELECT gpuconc_evict('t')});
	$node->safe_psql('postgres', q{SELECT gpuconc_prewarm('t')});
	is($node->safe_psql('postgres', q{SELECT string_agg(column_name || ': ' || encoding, ', ' ORDER BY column_name), max(hot_pages) FROM gpuconc_cache
		WHERE relation = 't'::regclass AND column_name IN ('a', 'b')}), "a: integer 4 bytes, b: integer 4 bytes|$hot", $message);
	is_offloaded($node, $query, $message);
	return;
}

cmp_ok($node->safe_psql('postgres', q{SELECT pg_relation_size('t') / 8192}), '>', 5 * $pages, 'the table has a short last chunk');
widths_are('a short last chunk', 0);
# A hot page of few rows, and its rows' next versions.
$node->safe_psql('postgres', 'UPDATE t SET b = 0 WHERE a = 1000');
widths_are('hot pages', 2);
$node->safe_psql('postgres', 'VACUUM t');
widths_are('after VACUUM', 0);

# A row less than a chunk has, as many, a row more.
foreach my $rows (map { $pages * 226 + $_ } -1 .. 1)
{
	$node->safe_psql('postgres', "CREATE TABLE c AS SELECT i AS a, i % 1000 AS b, NULL::text AS t FROM generate_series(1, $rows) i; VACUUM c");
	is_offloaded($node, $query =~ s/FROM t/FROM c/r, "$rows rows");
	$node->safe_psql('postgres', 'DROP TABLE c');
}

# Pages that were never written, as a server leaves them that ended while it made a table longer.
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('t')});
$node->stop;
open my $handle, '>>:raw', $file or die "$file: $!";
print {$handle} "\0" x (3 * 8192);
close $handle or die "$file: $!";
start_server($node);
widths_are('pages without rows', 3);

stop_server($node);
done_testing();

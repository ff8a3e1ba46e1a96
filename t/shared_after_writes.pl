# Shared scans behind writes, nothing of which was loaded beforehand: sessions that ask together share a scan of the
# heap's chunks, whatever each of them finds written to.  On servers where a write moves the LSN of a page of the
# visibility map, too.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use GpuconcTest;
use SharedScan;
use Test::More;

# A query without a condition is no member of a selection scan.
my @asked = ('SELECT count(*), sum(id), min(n), max(d), avg(n) FROM t WHERE k < 90', 'SELECT k, count(*), sum(n), min(id) FROM t WHERE id > 11 GROUP BY k ORDER BY k',
	'SELECT n, s, count(*), sum(k) FROM t WHERE id < 1400 GROUP BY n, s ORDER BY n, s', 'SELECT id, n, s FROM t WHERE k = 5 AND id % 3 = 0 ORDER BY id, n, s',
	'SELECT name, count(*), sum(id) FROM t JOIN dim ON dim.k = t.k WHERE id % 7 <> 1 GROUP BY name ORDER BY name',
	q{SELECT s, min(d), max(s), count(n) FROM t WHERE d > date '1993-01-01' + 2 GROUP BY s ORDER BY s},
	q{SELECT id, name FROM t JOIN dim ON dim.k = t.k AND dim.k > 1 WHERE s = 's3' ORDER BY id, name}, 'SELECT count(*), sum(id) FROM t');

# Each kind has a server of its own, since a server that has learnt of one decides about the other by that.
foreach my $kind ('fused', 'selection')
{
	my $members = $kind eq 'fused' ? @asked : @asked - 1;
	my $scan = SharedScan->new(name => "${kind}_writes", sessions => scalar @asked, conf => 'gpuconc.debug_chunk_pages = 8',
		prefix => "$kind, ", kind => $kind eq 'fused' ? 'shared scan' : 'selection scan');

	create_tables($scan->node, 20000);
	$scan->alone(map { $_ => $asked[$_] } (0 .. $#asked));
	$scan->new_sessions;
	configure($scan->node, 'gpuconc.debug_versioned_pages' => 'on');
	$scan->force($kind);
	$scan->share('before', $members, @asked);
	foreach my $round (1 .. 3)
	{
		$scan->sql("UPDATE t SET n = n + 1 WHERE id = 100 * $round");
		$scan->share("committed, $round", $members, @asked);
		$scan->in_session(2, "BEGIN; DELETE FROM t WHERE id BETWEEN 100 + $round * 300 AND 400 + $round * 300");
		$scan->share("uncommitted, $round", $members, @asked);
		$scan->in_session(2, 'ROLLBACK');
	}
	$scan->finish;
}
done_testing();

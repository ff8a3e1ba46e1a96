# Readers compare while others write, vacuum, evict and load: every comparison is
# made under one snapshot, and none may find a difference.  The cache is too small
# for both tables.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use ColumnsTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('stress', q{
gpuconc.loader_workers = 1
gpuconc.host_cache_size = 2MB
max_worker_processes = 16
});

$node->safe_psql(
	'postgres', q{
CREATE TABLE s (id int PRIMARY KEY, n int, v numeric(10, 2), t text, pad text);
ALTER TABLE s ALTER pad SET STORAGE PLAIN;
INSERT INTO s SELECT i, i % 10, i / 4.0, 't' || i % 20, repeat('p', 300) FROM generate_series(1, 4000) AS i;
CREATE TABLE other AS SELECT i AS id, 'o' || i % 1000 AS t FROM generate_series(1, 40000) AS i;
CREATE FUNCTION check_diff(rel regclass, columns name[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	d record;
BEGIN
	SELECT * INTO d FROM gpuconc_columns_test_diff(rel, columns);
	IF d.missing <> 0 OR d.extra <> 0 THEN
		RAISE EXCEPTION 'difference in %: % missing, % extra', rel, d.missing, d.extra;
	END IF;
END
$$;
});
$node->safe_psql('postgres', 'VACUUM s, other');

my $runs = $ENV{GPUCONC_STRESS_RUNS} // 150;
my %scripts = (
	compare => q{SELECT check_diff('s', '{id,n,v,t}');},
	columns => q{
\set c random(1, 4)
SELECT check_diff('s', ARRAY[(ARRAY['id', 'n', 'v', 't'])[:c]]::name[]);},
	repeatable => q{
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT check_diff('s', '{id,t}');
SELECT check_diff('s', '{v}');
SELECT check_diff('s', '{id,n,v,t}');
COMMIT;},
	own => q{
\set id random(1, 4000)
BEGIN;
UPDATE s SET n = n + 1, t = 'u' || :id WHERE id = :id;
SELECT check_diff('s', '{id,n,t}');
SAVEPOINT p;
DELETE FROM s WHERE id = :id;
SELECT check_diff('s', '{id,n,t}');
ROLLBACK TO p;
SELECT check_diff('s', '{id,n,t}');
COMMIT;},
	write => q{
\set id random(1, 4000)
\set id2 random(5000, 100000)
BEGIN;
UPDATE s SET v = v + 1 WHERE id = :id;
INSERT INTO s SELECT :id2, 1, 2, 't' || :id2, repeat('q', 300) ON CONFLICT (id) DO NOTHING;
END;
BEGIN;
DELETE FROM s WHERE id = :id2 AND :id % 2 = 0;
UPDATE s SET n = -n WHERE id = :id;
ROLLBACK;},
	vacuum => q{VACUUM s;},
	evict => q{
SELECT gpuconc_evict('s');
SELECT check_diff('other', NULL);},
	ddl => q{
BEGIN;
TRUNCATE other;
INSERT INTO other SELECT i, 'd' || i % 1000 FROM generate_series(1, 20000) AS i;
COMMIT;
VACUUM other;});

my @files;
foreach my $name (sort keys %scripts)
{
	my $file = PostgreSQL::Test::Utils::tempdir . "/$name.sql";

	append_to_file($file, $scripts{$name});
	push @files, '-f', $file . ($name =~ /^(write|vacuum)$/ ? '@3' : '@1');
}

# One connection per script would be easier to read, but any mix must do.
$node->command_checks_all(
	[ 'pgbench', '-n', '-c', '6', '-j', '2', '-t', $runs, @files, '--random-seed=1',
		'--max-tries=1', '-p', $node->port, '-h', $node->host, 'postgres' ],
	0, [qr/processed/], [qr/^(?!.*difference)/s], 'no difference under concurrent changes');
ok(slurp_file($node->logfile) !~ /ERROR:  difference in|TRAP:|PANIC:|guard on cached/, 'nor in the log');

nothing_in_use($node, 'after all of it');
$node->stop;
done_testing();

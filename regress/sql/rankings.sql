-- min, max and ORDER BY of texts go by a ranking of the dictionary.  It is sorted by keys and corrected by
-- the collation's own comparison.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
SET search_path = public;

CREATE TABLE ranked (id int, g int, h int, c text COLLATE "C", t text, i text COLLATE "und-x-icu", s text COLLATE "sv-x-icu", x text COLLATE "POSIX", v varchar(30) COLLATE "de-x-icu", p char(12) COLLATE "en-x-icu") WITH (autovacuum_enabled = off);
CREATE FUNCTION add_values(first int, words text[]) RETURNS void LANGUAGE sql AS $$
	INSERT INTO ranked (id, g, h, c, t, i, s, x, v, p) SELECT first + n, n % 211, n % 13, w, w, w, w, w, left(w, 30), left(w, 12) FROM unnest(words) WITH ORDINALITY AS u(w, n)
$$;
-- differences at every byte, the ends of keys among them; case, accents and signs
SELECT add_values(0, array_agg(w ORDER BY reverse(w) COLLATE "C")) FROM (SELECT DISTINCT left(a, n) || b || c AS w FROM unnest('{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,Strasse und Haus,straße-und Haus,日本日本日本日本}'::text[]) AS a, generate_series(0, 18) AS n, unnest('{"",a,A,b,é,É,-," ",z,Z,ö,0}'::text[]) AS b, unnest('{"",a,Z,"  x",ff,ﬀ,é,10,9}'::text[]) AS c) AS q;
SELECT add_values(100000, array_agg(repeat(chr(97 + i % 3), i % 70 * 8) || i % 7)) FROM generate_series(1, 2000) AS i;
INSERT INTO ranked VALUES (-1, 0, 0), (-2, 300, 20);
VACUUM (FREEZE, ANALYZE) ranked;
CREATE FUNCTION ordered(query text, mode text) RETURNS text LANGUAGE plpgsql SET gpuconc.debug_offload = allow AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('gpuconc.debug_offload', mode, true);
	EXECUTE 'SELECT md5(string_agg(q::text, ''|'')) FROM (' || query || ' LIMIT 100000) AS q' INTO result;
	RETURN result;
END $$;
CREATE FUNCTION check_ranks() RETURNS TABLE (col text, grouped text, few text, sorted text) LANGUAGE sql AS $$
	SELECT c, check_same(format('SELECT g, min(%1$s), max(%1$s) FROM ranked GROUP BY g', c), '{public}'),
		check_same(format('SELECT h, min(%1$s), max(%1$s) FILTER (WHERE id %% 5 = 0) FROM ranked GROUP BY h', c), '{public}'),
		CASE WHEN ordered(format('SELECT %1$s, count(*) FROM ranked GROUP BY 1 ORDER BY 1 DESC', c), 'require') = ordered(format('SELECT %1$s, count(*) FROM ranked GROUP BY 1 ORDER BY 1 DESC', c), 'forbid') THEN 'same' ELSE 'DIFFERENT' END
	FROM unnest('{c,t,i,s,x,v,p}'::text[]) AS c
$$;
SELECT * FROM check_ranks();
-- values that only this session has, and then all: put in between, before and behind
SELECT add_values(200000, '{"",aa,AAA,zzz,"zz top",ääh,Äh,aaaaaaaaa,aaaaaaaab,aaaaaaaaB,"straße und haus","日本日本日",～～,!,0}');
SELECT * FROM check_ranks();
VACUUM ranked;
SELECT settle();
SELECT * FROM check_ranks();
SELECT add_values(300000, array_agg(md5(i::text))) FROM generate_series(1, 3000) AS i;
SELECT * FROM check_ranks();
VACUUM ranked;
SELECT settle();
SELECT * FROM check_ranks();
DROP TABLE ranked;
DROP FUNCTION add_values, check_ranks, ordered;

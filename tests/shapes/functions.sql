-- Functions that make data: they give the same value for the same arguments on every machine.
drop schema if exists shapes cascade;
create schema shapes;

-- A number from 0 to n - 1 that looks random.
create function shapes.h(k bigint, seed int, n int) returns int language sql immutable parallel safe as
	$$ select ((hashint8extended(k, seed) & 1073741823) % n)::int $$;

-- A number in which small ones are more frequent.
create function shapes.skew(k bigint, seed int, n int) returns int language sql immutable parallel safe as
	$$ select (shapes.h(k, seed, n)::bigint * shapes.h(k, seed + 1000, n) / n)::int $$;

-- A foreign key from 1 to n; one of 30 is NULL.
create function shapes.fk(k bigint, seed int, n int) returns int language sql immutable parallel safe as
	$$ select case when shapes.h(k, seed + 2000, 30) > 0 then shapes.h(k, seed, n) + 1 end $$;

-- One of some words.
create function shapes.word(k bigint, seed int, words text[]) returns text language sql immutable parallel safe as
	$$ select words[shapes.h(k, seed, cardinality(words)) + 1] $$;

-- Leave VACUUM to the runner, which needs pages that are not all-visible for a while.
create procedure shapes.no_autovacuum(in_schema text) language plpgsql as $$
declare
	t regclass;
begin
	for t in select c.oid from pg_class c where c.relnamespace = in_schema::regnamespace and c.relkind = 'r' loop
		execute format('alter table %s set (autovacuum_enabled = off)', t);
	end loop;
end $$;

-- Whether a row lies on one of some pages: those whose number, by a modulus, leaves this rest.
create function shapes.on_page(place tid, modulus int, rest int) returns boolean language sql immutable parallel safe as
	$$ select (place::text::point)[0]::int % modulus = rest and (place::text::point)[1]::int <= 3 $$;

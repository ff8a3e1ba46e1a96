-- Rows :first to :last of :rows.  Each is made of its number alone, so they are the same however they are divided among sessions.
create function pg_temp.r(i bigint, k int) returns double precision language sql immutable
	return ((hashint8extended(i, k) >> 12) & 1099511627775) / 1099511627776.0::double precision;
create function pg_temp.host(site int) returns text language sql immutable
	return 'http://' || case when site % 400 = 17 then 'maps.google.' else (array['', '', '', 'www.', 'm.', 'forum.'])[1 + site % 6] end
		|| (array['новости', 'auto', 'irr', 'video', 'погода', 'shop', 'kino', 'mail', 'работа', 'foto'])[1 + site / 6 % 10] || site::text || '.example';
create function pg_temp.page(site int, page int) returns text language sql immutable
	return pg_temp.host(site) || (array['/', '/list?', '/search?text=', '/item/', '/catalog/parts/', '/index.php?id='])[1 + (site + page) % 6]
		|| case when page = 0 then '' else page::text end
		|| case (site * 31 + page) % 1009 when 3 then '&from=google' else repeat('&ref=' || (site % 10)::text, page % 5) end;
create function pg_temp.word(n int) returns text language sql immutable
	return (array['купить', 'диван', 'онлайн', 'смотреть', 'фильм', 'москва', 'погода', 'работа', 'авто', 'цена',
		'отзывы', 'скачать', 'песни', 'карта', 'рецепт', 'google', 'в', 'для', 'игры', 'новый'])[1 + n % 20];
create function pg_temp.phrase(n int) returns text language sql immutable
	return pg_temp.word(n) || ' ' || pg_temp.word(n / 20 + 7) || case when n >= 400 then ' ' || (n / 400)::text else '' end;

insert into hits
select hashint8extended(i, 1),
	hashint8extended(usr, 2),
	timestamp '2013-07-01' + second * interval '1 second',
	(timestamp '2013-07-01' + second * interval '1 second')::date,
	site,
	(9000 * pg_temp.r(usr, 3) ^ 3)::int,
	(hashint8extended(usr, 4) % 2147483647)::int,
	hashtextextended(url, 0),
	hashtextextended(referer, 0),
	engine,
	case when pg_temp.r(i, 5) < 0.006 then 2 + (60 * pg_temp.r(i, 6) ^ 4)::int else 0 end,
	(11 * pg_temp.r(i, 7) ^ 2)::int - 1,
	width,
	width * 9 / 16,
	case when pg_temp.r(i, 8) < 0.1 then 0 else width - (80 * pg_temp.r(usr, 9))::int end,
	case when pg_temp.r(i, 8) < 0.1 then 0 else width / 2 + (200 * pg_temp.r(i, 10) ^ 2)::int end,
	case when phone > 0 then 1 + phone % 80 else 0 end,
	(pg_temp.r(i, 11) < 0.13)::int,
	(pg_temp.r(i, 12) < 0.08)::int,
	(pg_temp.r(i, 13) < 0.003)::int,
	(pg_temp.r(i, 14) < 0.2)::int,
	(60 * pg_temp.r(usr, 15))::int,
	(100 * pg_temp.r(usr, 16) ^ 2)::int,
	case when phone > 0 then (array['iPad', 'iPhone', 'A500', 'N8-00', 'GT-I9', 'ONE TOUCH '])[1 + phone % 6] || case when phone > 5 then phone::text else '' end else '' end,
	case when engine > 0 then pg_temp.phrase(phrase) else '' end,
	case when page % 2000 = 7 then 'Google - ' else '' end || pg_temp.phrase(title) || ' - ' || site::text,
	url,
	referer
from (select i, usr, site, page, url, second, engine,
		phrase, site * 13 + page / 2 as title,
		case when pg_temp.r(i, 18) < 0.19 then '' else pg_temp.page(from_site, from_page) end as referer,
		case when pg_temp.r(usr, 21) < 0.05 then 1 + (160 * pg_temp.r(usr, 22) ^ 2)::int else 0 end as phone,
		(array[1366, 1280, 1920, 1024, 1600, 1440, 1680, 1368, 320, 768])[1 + (10 * pg_temp.r(usr, 23) ^ 2)::int % 10] as width
	from (select i, site, page, pg_temp.page(site, page) as url,
			(:rows * 0.18 * pg_temp.r(i, 24) ^ 2)::bigint as usr,
			(31 * 86400 * pg_temp.r(i, 25))::int as second,
			(:rows * 0.08 * pg_temp.r(i, 17) ^ 2)::int as phrase,
			(6500 * pg_temp.r(i, 19) ^ 4)::int as from_site, (:rows * 0.02 * pg_temp.r(i, 20) ^ 3)::int as from_page,
			case when pg_temp.r(i, 26) < 0.13 then 2 + (90 * pg_temp.r(i, 27) ^ 8)::int else 0 end as engine
		from (select i, (6500 * pg_temp.r(i, 28) ^ 4)::int as site, (:rows * 0.02 * pg_temp.r(i, 29) ^ 3)::int as page
			from generate_series(:first, :last) as i offset 0) as a offset 0) as b offset 0) as c;

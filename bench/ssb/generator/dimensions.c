/*-------------------------------------------------------------------------
 *
 * dimensions.c
 *	  The tables customer, supplier, part and date, and all tables' sizes.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdio.h>

#include "calendar.h"
#include "random.h"
#include "tables.h"
#include "words.h"

static int64_t
at_scale(double per_unit, double scale)
{
	double		n = floor(per_unit * scale + 0.5);

	return n < 1 ? 1 : (int64_t) n;
}

Sizes
sizes_at(double scale)
{
	Sizes		sizes;

	sizes.n[LINEORDER] = at_scale(1500000, scale);
	sizes.n[CUSTOMER] = at_scale(30000, scale);
	sizes.n[SUPPLIER] = at_scale(2000, scale);
	sizes.n[DATE] = NDAYS;

	/* The logarithm is of no use below 1: go in proportion there. */
	if (scale < 1)
		sizes.n[PART] = at_scale(200000, scale);
	else
		sizes.n[PART] = 200000 * (int64_t) floor(1 + log2(scale));
	return sizes;
}

/* 10 to 25 characters of no meaning */
static void
put_address(Output *out, Random *r)
{
	static const char chars[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ,";
	char		address[26];
	int			len = uniform(r, 10, 25);

	for (int i = 0; i < len; i++)
		address[i] = chars[uniform(r, 0, (int) sizeof(chars) - 2)];
	address[len] = '\0';
	put_text(out, address);
}

/*
 * The columns that customer and supplier share: address, city, nation,
 * region and phone.
 */
static void
put_location(Output *out, Random *r)
{
	const Nation *nation = &nations[uniform(r, 0, lengthof(nations) - 1)];
	int			city_digit = uniform(r, 0, 9);
	int			area = uniform(r, 100, 999);
	int			exchange = uniform(r, 100, 999);
	int			line = uniform(r, 1000, 9999);
	char		text[64];

	put_address(out, r);
	snprintf(text, sizeof(text), "%-9.9s%d", nation->name, city_digit);
	put_text(out, text);
	put_text(out, nation->name);
	put_text(out, nation->region);
	snprintf(text, sizeof(text), "%02d-%03d-%03d-%04d",
			 nation->phone_code, area, exchange, line);
	put_text(out, text);
}

void
make_customer(Output *out, const Sizes *sizes, int64_t row)
{
	Random		r = random_start(CUSTOMER, row);
	char		name[64];

	(void) sizes;
	row_begin(out, 8);
	put_int4(out, (int) row + 1);
	snprintf(name, sizeof(name), "Customer#%09d", (int) row + 1);
	put_text(out, name);
	put_location(out, &r);
	put_text(out, pick(&r, segments, lengthof(segments)));
	row_end(out);
}

void
make_supplier(Output *out, const Sizes *sizes, int64_t row)
{
	Random		r = random_start(SUPPLIER, row);
	char		name[64];

	(void) sizes;
	row_begin(out, 7);
	put_int4(out, (int) row + 1);
	snprintf(name, sizeof(name), "Supplier#%09d", (int) row + 1);
	put_text(out, name);
	put_location(out, &r);
	row_end(out);
}

void
make_part(Output *out, const Sizes *sizes, int64_t row)
{
	Random		r = random_start(PART, row);
	const char *color = pick(&r, colors, lengthof(colors));
	const char *color2 = pick(&r, colors, lengthof(colors));
	int			mfgr = uniform(&r, 1, 5);
	int			category = uniform(&r, 1, 5);
	int			brand = uniform(&r, 1, 40);
	const char *size = pick(&r, type_sizes, lengthof(type_sizes));
	const char *finish = pick(&r, type_finishes, lengthof(type_finishes));
	const char *metal = pick(&r, type_metals, lengthof(type_metals));
	const char *box = pick(&r, container_sizes, lengthof(container_sizes));
	const char *kind = pick(&r, container_kinds, lengthof(container_kinds));
	char		text[64];

	(void) sizes;
	row_begin(out, 9);
	put_int4(out, (int) row + 1);
	snprintf(text, sizeof(text), "%s %s", color, color2);
	put_text(out, text);
	snprintf(text, sizeof(text), "MFGR#%d", mfgr);
	put_text(out, text);
	snprintf(text, sizeof(text), "MFGR#%d%d", mfgr, category);
	put_text(out, text);
	snprintf(text, sizeof(text), "MFGR#%d%d%d", mfgr, category, brand);
	put_text(out, text);
	put_text(out, color);
	snprintf(text, sizeof(text), "%s %s %s", size, finish, metal);
	put_text(out, text);
	put_int4(out, uniform(&r, 1, 50));
	snprintf(text, sizeof(text), "%s %s", box, kind);
	put_text(out, text);
	row_end(out);
}

void
make_date(Output *out, const Sizes *sizes, int64_t row)
{
	const Day  *d = &days[row];
	const char *month = month_names[d->month - 1];
	char		text[64];

	(void) sizes;
	row_begin(out, 17);
	put_int4(out, d->key);
	snprintf(text, sizeof(text), "%s %d, %d", month, d->mday, d->year);
	put_text(out, text);
	put_text(out, weekday_names[d->wday]);
	put_text(out, month);
	put_int4(out, d->year);
	put_int4(out, d->year * 100 + d->month);
	snprintf(text, sizeof(text), "%.3s%d", month, d->year);
	put_text(out, text);
	put_int4(out, d->wday + 1);
	put_int4(out, d->mday);
	put_int4(out, d->yday);
	put_int4(out, d->month);
	put_int4(out, (d->yday - 1) / 7 + 1);	/* week 1 is January 1 to 7 */
	put_text(out, seasons[d->month - 1]);
	put_int4(out, d->wday == 6);
	put_int4(out, d->last_in_month);
	put_int4(out, is_holiday(d));
	put_int4(out, d->wday >= 1 && d->wday <= 5);
	row_end(out);
}

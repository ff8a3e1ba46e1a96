"""TPC-H's substitution parameters (clause 2.4.x.3 of the specification) and streams' orders (its appendix A)."""
import random
import re

import tpch

NATIONS = (('ALGERIA', 0), ('ARGENTINA', 1), ('BRAZIL', 1), ('CANADA', 1), ('EGYPT', 4), ('ETHIOPIA', 0),
           ('FRANCE', 3), ('GERMANY', 3), ('INDIA', 2), ('INDONESIA', 2), ('IRAN', 4), ('IRAQ', 4), ('JAPAN', 2),
           ('JORDAN', 4), ('KENYA', 0), ('MOROCCO', 0), ('MOZAMBIQUE', 0), ('PERU', 1), ('CHINA', 2),
           ('ROMANIA', 3), ('SAUDI ARABIA', 4), ('VIETNAM', 2), ('RUSSIA', 3), ('UNITED KINGDOM', 3),
           ('UNITED STATES', 1))
REGIONS = ('AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST')
SEGMENTS = ('AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY')
MODES = ('REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB')
TYPES = (('STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'),
         ('ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED'), ('TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'))
CONTAINERS = (('SM', 'LG', 'MED', 'JUMBO', 'WRAP'), ('CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM'))
WORDS = (('special', 'pending', 'unusual', 'express'), ('packages', 'requests', 'accounts', 'deposits'))
COLORS = '''almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished
chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest
frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime
linen magenta maroon medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach
peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow
spring steel tan thistle tomato turquoise violet wheat white yellow'''.split()

# Appendix A: the order of the queries in stream 0 (the power test) and in streams 1 to 40; later ones begin anew.
ORDERS = [[int(n) for n in line.split()] for line in '''
14 2 9 20 6 17 18 8 21 13 3 22 16 4 11 15 1 10 19 5 7 12
21 3 18 5 11 7 6 20 17 12 16 15 13 10 2 8 14 19 9 22 1 4
6 17 14 16 19 10 9 2 15 8 5 22 12 7 13 18 1 4 20 3 11 21
8 5 4 6 17 7 1 18 22 14 9 10 15 11 20 2 21 19 13 16 12 3
5 21 14 19 15 17 12 6 4 9 8 16 11 2 10 18 1 13 7 22 3 20
21 15 4 6 7 16 19 18 14 22 11 13 3 1 2 5 8 20 12 17 10 9
10 3 15 13 6 8 9 7 4 11 22 18 12 1 5 16 2 14 19 20 17 21
18 8 20 21 2 4 22 17 1 11 9 19 3 13 5 7 10 16 6 14 15 12
19 1 15 17 5 8 9 12 14 7 4 3 20 16 6 22 10 13 2 21 18 11
8 13 2 20 17 3 6 21 18 11 19 10 15 4 22 1 7 12 9 14 5 16
6 15 18 17 12 1 7 2 22 13 21 10 14 9 3 16 20 19 11 4 8 5
15 14 18 17 10 20 16 11 1 8 4 22 5 12 3 9 21 2 13 6 19 7
1 7 16 17 18 22 12 6 8 9 11 4 2 5 20 21 13 10 19 3 14 15
21 17 7 3 1 10 12 22 9 16 6 11 2 4 5 14 8 20 13 18 15 19
2 9 5 4 18 1 20 15 16 17 7 21 13 14 19 8 22 11 10 3 12 6
16 9 17 8 14 11 10 12 6 21 7 3 15 5 22 20 1 13 19 2 4 18
1 3 6 5 2 16 14 22 17 20 4 9 10 11 15 8 12 19 18 13 7 21
3 16 5 11 21 9 2 15 10 18 17 7 8 19 14 13 1 4 22 20 6 12
14 4 13 5 21 11 8 6 3 17 2 20 1 19 10 9 12 18 15 7 22 16
4 12 22 14 5 15 16 2 8 10 17 9 21 7 3 6 13 18 11 20 19 1
16 15 14 13 4 22 18 19 7 1 12 17 5 10 20 3 9 21 11 2 6 8
20 14 21 12 15 17 4 19 13 10 11 1 16 5 18 7 8 22 9 6 3 2
16 14 13 2 21 10 11 4 1 22 18 12 19 5 7 8 6 3 15 20 9 17
18 15 9 14 12 2 8 11 22 21 16 1 6 17 5 10 19 4 20 13 3 7
7 3 10 14 13 21 18 6 20 4 9 8 22 15 2 1 5 12 19 17 11 16
18 1 13 7 16 10 14 2 19 5 21 11 22 15 8 17 20 3 4 12 6 9
13 2 22 5 11 21 20 14 7 10 4 9 19 18 6 3 1 8 15 12 17 16
14 17 21 8 2 9 6 4 5 13 22 7 15 3 1 18 16 11 10 12 20 19
10 22 1 12 13 18 21 20 2 14 16 7 15 3 4 17 5 19 6 8 9 11
10 8 9 18 12 6 1 5 20 11 17 22 16 3 13 2 15 21 14 19 7 4
7 17 22 5 3 10 13 18 9 1 14 15 21 19 16 12 8 6 11 20 4 2
2 9 21 3 4 7 1 11 16 5 20 19 18 8 17 13 10 12 15 6 14 22
15 12 8 4 22 13 16 17 18 3 7 5 6 1 9 11 21 10 14 20 19 2
15 16 2 11 17 7 5 14 20 4 21 3 10 9 12 8 13 6 18 19 22 1
1 13 11 3 4 21 6 14 15 22 18 9 7 5 10 20 12 16 17 8 19 2
14 17 22 20 8 16 5 10 1 13 2 21 12 9 4 18 3 7 6 19 15 11
9 17 7 4 5 13 21 18 11 3 22 1 6 16 20 14 15 10 8 2 12 19
13 14 5 22 19 11 9 6 18 15 8 10 7 4 17 16 3 1 12 2 21 20
20 5 4 14 11 1 6 16 8 22 7 3 2 12 21 19 17 13 10 15 18 9
3 7 14 15 6 5 21 20 18 10 4 16 19 1 13 9 8 17 11 12 22 2
13 15 17 1 22 11 3 4 7 20 14 21 9 8 2 18 16 6 10 12 5 19
'''.strip().splitlines()]


def order(stream):
    """Names of the queries in this stream's order."""
    return [f'q{n:02}' for n in ORDERS[stream if stream == 0 else (stream - 1) % 40 + 1]]


def brand(rng):
    return f'Brand#{rng.randint(1, 5)}{rng.randint(1, 5)}'


def month(rng, first, last):
    """The first day of a month; months as (year, month)."""
    n = rng.randint(first[0] * 12 + first[1] - 1, last[0] * 12 + last[1] - 1)
    return f'{n // 12}-{n % 12 + 1:02}-01'


def year(rng):
    return f'{rng.randint(1993, 1997)}-01-01'


def nation(rng):
    return rng.choice(NATIONS)[0]


def draw(name, rng):
    """Parameters of a query, by the specification's names."""
    if name == 'q01':
        return {'DELTA': rng.randint(60, 120)}
    if name == 'q02':
        return {'SIZE': rng.randint(1, 50), 'TYPE': rng.choice(TYPES[2]), 'REGION': rng.choice(REGIONS)}
    if name == 'q03':
        return {'SEGMENT': rng.choice(SEGMENTS), 'DATE': f'1995-03-{rng.randint(1, 31):02}'}
    if name in ('q04', 'q15'):
        return {'DATE': month(rng, (1993, 1), (1997, 10))}
    if name == 'q05':
        return {'REGION': rng.choice(REGIONS), 'DATE': year(rng)}
    if name == 'q06':
        return {'DATE': year(rng), 'DISCOUNT': f'0.0{rng.randint(2, 9)}', 'QUANTITY': rng.randint(24, 25)}
    if name == 'q07':
        one, two = rng.sample(NATIONS, 2)
        return {'NATION1': one[0], 'NATION2': two[0]}
    if name == 'q08':
        one = rng.choice(NATIONS)
        return {'NATION': one[0], 'REGION': REGIONS[one[1]], 'TYPE': ' '.join(rng.choice(t) for t in TYPES)}
    if name == 'q09':
        return {'COLOR': rng.choice(COLORS)}
    if name == 'q10':
        return {'DATE': month(rng, (1993, 2), (1995, 1))}
    if name in ('q11', 'q21'):
        return {'NATION': nation(rng)}
    if name == 'q12':
        one, two = rng.sample(MODES, 2)
        return {'SHIPMODE1': one, 'SHIPMODE2': two, 'DATE': year(rng)}
    if name == 'q13':
        return {'WORD1': rng.choice(WORDS[0]), 'WORD2': rng.choice(WORDS[1])}
    if name == 'q14':
        return {'DATE': month(rng, (1993, 1), (1997, 12))}
    if name == 'q16':
        return dict({'BRAND': brand(rng), 'TYPE': ' '.join(rng.choice(t) for t in TYPES[:2])},
                    **{f'SIZE{i + 1}': n for i, n in enumerate(rng.sample(range(1, 51), 8))})
    if name == 'q17':
        return {'BRAND': brand(rng), 'CONTAINER': ' '.join(rng.choice(c) for c in CONTAINERS)}
    if name == 'q18':
        return {'QUANTITY': rng.randint(312, 315)}
    if name == 'q19':
        return {'BRAND1': brand(rng), 'BRAND2': brand(rng), 'BRAND3': brand(rng), 'QUANTITY1': rng.randint(1, 10),
                'QUANTITY2': rng.randint(10, 20), 'QUANTITY3': rng.randint(20, 30)}
    if name == 'q20':
        return {'COLOR': rng.choice(COLORS), 'DATE': year(rng), 'NATION': nation(rng)}
    return {f'I{i + 1}': code for i, code in enumerate(rng.sample(range(10, 35), 7))}  # q22


# The validation parameters as the query files have them, and how often: what draw()'s take the place of.
FILES = {
    'q01': (("'90' day", 1, "'{DELTA}' day"),),
    'q02': (('p_size = 15', 1, 'p_size = {SIZE}'), ('%BRASS', 1, '%{TYPE}'), ('EUROPE', 2, '{REGION}')),
    'q03': (('BUILDING', 1, '{SEGMENT}'), ('1995-03-15', 2, '{DATE}')),
    'q04': (('1993-07-01', 2, '{DATE}'),),
    'q05': (('ASIA', 1, '{REGION}'), ('1994-01-01', 2, '{DATE}')),
    'q06': (('1994-01-01', 2, '{DATE}'), ('0.06', 2, '{DISCOUNT}'), ('< 24', 1, '< {QUANTITY}')),
    'q07': (('FRANCE', 2, '{NATION1}'), ('GERMANY', 2, '{NATION2}')),
    'q08': (('BRAZIL', 1, '{NATION}'), ('AMERICA', 1, '{REGION}'), ('ECONOMY ANODIZED STEEL', 1, '{TYPE}')),
    'q09': (('%green%', 1, '%{COLOR}%'),),
    'q10': (('1993-10-01', 2, '{DATE}'),),
    'q11': (('GERMANY', 2, '{NATION}'),),
    'q12': (("'MAIL', 'SHIP'", 1, "'{SHIPMODE1}', '{SHIPMODE2}'"), ('1994-01-01', 2, '{DATE}')),
    'q13': (('special', 1, '{WORD1}'), ('requests', 1, '{WORD2}')),
    'q14': (('1995-09-01', 2, '{DATE}'),),
    'q15': (('1996-01-01', 2, '{DATE}'),),
    'q16': (('Brand#45', 1, '{BRAND}'), ('MEDIUM POLISHED', 1, '{TYPE}'),
            ('49, 14, 23, 45, 19, 3, 36, 9', 1, ', '.join(f'{{SIZE{i}}}' for i in range(1, 9)))),
    'q17': (('Brand#23', 1, '{BRAND}'), ('MED BOX', 1, '{CONTAINER}')),
    'q18': (('> 300', 1, '> {QUANTITY}'),),
    'q19': (('Brand#12', 1, '{BRAND1}'), ('Brand#23', 1, '{BRAND2}'), ('Brand#34', 1, '{BRAND3}'),
            ('l_quantity >= 1 and l_quantity <= 1 + 10', 1, 'l_quantity >= {QUANTITY1} and l_quantity <= {QUANTITY1} + 10'),
            ('l_quantity >= 10 and l_quantity <= 10 + 10', 1, 'l_quantity >= {QUANTITY2} and l_quantity <= {QUANTITY2} + 10'),
            ('l_quantity >= 20 and l_quantity <= 20 + 10', 1, 'l_quantity >= {QUANTITY3} and l_quantity <= {QUANTITY3} + 10')),
    'q20': (('forest%', 1, '{COLOR}%'), ('1994-01-01', 2, '{DATE}'), ('CANADA', 1, '{NATION}')),
    'q21': (('SAUDI ARABIA', 1, '{NATION}'),),
    'q22': (("'13', '31', '23', '29', '30', '18', '17'", 2, ', '.join(f"'{{I{i}}}'" for i in range(1, 8))),),
}


def substituted(name, values, folder='queries'):
    """The query's text with these parameters.  A reference may name one more often."""
    new = {old: (times, form.format(**values)) for old, times, form in FILES[name]}
    counts = dict.fromkeys(new, 0)

    def put(match):
        counts[match.group(0)] += 1
        return new[match.group(0)][1]
    # All at once, so that no parameter is taken for the old text of another.
    sql = re.sub('|'.join(re.escape(old) for old in new), put, tpch.text(name, folder))
    wrong = [old for old in new if counts[old] < new[old][0] or (folder == 'queries' and counts[old] > new[old][0])]
    assert not wrong, f'{name}: "{wrong[0]}" is there {counts[wrong[0]]} times'
    return sql


def stream(seed, number):
    """Names, parameters and texts of a stream's queries, in its order; the same for the same seed."""
    rng = random.Random(f'{seed}/{number}')
    drawn = {name: draw(name, rng) for name in tpch.QUERIES}
    return [(name, drawn[name], substituted(name, drawn[name])) for name in order(number)]


def text_drawn(name, seed):
    """A text of one query, the same for the same seed."""
    return substituted(name, draw(name, random.Random(f'{seed}/{name}')))

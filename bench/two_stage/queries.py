"""Queries with constants that are drawn anew for each execution; PREPAREd once a session.

The pool: the 13 queries of the Star Schema Benchmark, whose main kernels are the kernel pool of Li, Tu, Zeng
(conference).  The mix: Q1 and Q2 of Li, Tu, Zeng 2019, and three queries in the place of its Q3 to Q5.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

from measure import QUERIES, query  # noqa: E402


class Values:
    """Values of the columns, to draw constants from."""

    def __init__(self, session, rng):
        self.rng = rng
        self.of = {}
        for table, columns in (('customer', ('c_region', 'c_nation', 'c_city')),
                               ('supplier', ('s_region', 's_nation', 's_city')),
                               ('part', ('p_category', 'p_mfgr', 'p_brand1')),
                               ('date', ('d_yearmonth', 'd_yearmonthnum'))):
            for c in columns:
                found = session.query(f'select distinct {c} from {table} order by 1')
                self.of[c] = [r[0].rstrip() for r in found]

    def draw(self, column):
        return "'" + self.rng.choice(self.of[column]) + "'"


def numbers(low, high):
    return lambda v: str(v.rng.randint(low, high))


def column(name):
    return lambda v: v.draw(name)


def first_brand(v):
    v.brand = v.rng.randrange(max(1, len(v.of['p_brand1']) - 7))
    return f"'{v.of['p_brand1'][v.brand]}'"


def last_brand(v):
    """The eighth, from first_brand()'s on."""
    return f"'{v.of['p_brand1'][min(v.brand + 7, len(v.of['p_brand1']) - 1)]}'"


# Pattern in the query's text, what it becomes, and how each of its parameters is drawn.
RULES = (
    (r"d_yearmonthnum = \d+", 'd_yearmonthnum = {0}', [column('d_yearmonthnum')]),
    (r"d_yearmonth = '\w+'", 'd_yearmonth = {0}', [column('d_yearmonth')]),
    (r'd_weeknuminyear = \d+', 'd_weeknuminyear = {0}', [numbers(1, 52)]),
    (r'd_year = (199[34])', 'd_year = {0}', [numbers(1992, 1998)]),
    (r'd_year >= 1992', 'd_year >= {0}', [numbers(1992, 1994)]),
    (r'lo_discount between \d+ and \d+', 'lo_discount between {0} and {0} + 2', [numbers(1, 8)]),
    (r'lo_quantity < \d+', 'lo_quantity < {0}', [numbers(15, 35)]),
    (r'lo_quantity between 26 and 35', 'lo_quantity between {0} and {0} + 9', [numbers(1, 41)]),
    (r'lo_quantity between 36 and 40', 'lo_quantity between {0} and {0} + 4', [numbers(1, 46)]),
    (r"p_category = 'MFGR#\d+'", 'p_category = {0}', [column('p_category')]),
    (r"p_brand1 = 'MFGR#\d+'", 'p_brand1 = {0}', [column('p_brand1')]),
    (r"p_brand1 between 'MFGR#2221' and 'MFGR#2228'", 'p_brand1 between {0} and {1}', [first_brand, last_brand]),
    (r"([cs]_region) = '[A-Z ]+'", r'\1 = {0}', ['same']),
    (r"([cs]_nation) = '[A-Z ]+'", r'\1 = {0}', ['same']),
    (r"([cs]_city) = '[A-Z 0-9]+'", r'\1 = {0}', ['same']),
    (r"p_mfgr = '[A-Z#0-9]+'", 'p_mfgr = {0}', [column('p_mfgr')]),
)


class Template:
    """One query: its PREPARE, and EXECUTEs of it."""

    def __init__(self, name, sql, rules=RULES):
        self.name = name
        self.draws = []
        for pattern, text, draws in rules:
            sql = re.sub(pattern, lambda m: self.replace(m, text, draws), sql)
        self.sql = sql
        self.prepare = f'prepare {self.statement()} as {sql}'

    def statement(self):
        return 'two_stage_' + self.name.replace('.', '_').lower()

    def replace(self, match, text, draws):
        first = len(self.draws) + 1
        # "same": of the column that the pattern has found
        self.draws += [column(match.group(1)) if d == 'same' else d for d in draws]
        return match.expand(text).format(*(f'${first + i}' for i in range(len(draws))))

    def execute(self, values):
        parameters = ', '.join(d(values) for d in self.draws)
        return f'execute {self.statement()}' + (f'({parameters})' if parameters else '')


def pool():
    return [Template(name, query(name)) for name in QUERIES]


# Keys are spread over a range that is too large for a bitmap, so that gpuconc probes hash tables.
HASHED_CUSTOMER = 'lo_custkey::bigint * 1000003 = c_custkey::bigint * 1000003'
HASHED_PART = 'lo_partkey::bigint * 1000003 = p_partkey::bigint * 1000003'
MIX_RULES = ((r':quantity', '{0}', [numbers(10, 50)]), (r':tax', '{0}', [numbers(0, 8)]),
             (r':price', '{0}', [numbers(1, 1000000)])) + RULES


def mix():
    """Q1 and Q2; scan-bound, probe-bound, and group-by heavy (its groups stay in the server)."""
    return [
        Template('Q1', f'select sum(lo_revenue), count(c_nation) from lineorder, customer where {HASHED_CUSTOMER} '
                 'and lo_quantity <= :quantity and lo_extendedprice >= :price', MIX_RULES),
        Template('Q2', 'select sum(lo_revenue), count(c_nation), min(p_size) from lineorder, customer, part '
                 f'where {HASHED_CUSTOMER} and {HASHED_PART} and lo_quantity <= :quantity '
                 'and lo_extendedprice >= :price', MIX_RULES),
        Template('S', query('q1.1'), MIX_RULES),
        Template('P', query('q2.1'), MIX_RULES),
        Template('G', 'select count(*), sum(n), max(revenue) from (select lo_quantity, lo_discount, lo_tax, count(*) '
                 'as n, sum(lo_revenue) as revenue from lineorder where lo_extendedprice >= :price group by '
                 'lo_quantity, lo_discount, lo_tax) as g', MIX_RULES),
    ]


def ranges():
    """Nothing but ranges, of columns of few values, and a sum."""
    return Template('R', 'select sum(lo_extendedprice * lo_discount) as revenue from lineorder where lo_discount '
                    'between 1 and 3 and lo_quantity between 26 and 35 and lo_tax = :tax', MIX_RULES)


def different(templates, values):
    """An EXECUTE of each, no two equal (as far as constants go round)."""
    taken, out = set(), []
    for t in templates:
        sql = t.execute(values)
        for _ in range(1000):
            if sql not in taken:
                break
            sql = t.execute(values)
        taken.add(sql)
        out.append(sql)
    return out

"""A picture (SVG) of curves over numbers of clients: panels side by side, one colour per series."""
import textwrap
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, LEGEND = 430, 300, 62, 46, 44, 22
COLOURS = ('#444444', '#1f77b4', '#ff7f0e', '#2ca02c', '#9467bd', '#d62728', '#17becf', '#8c564b')
STYLE = ('text{font:11px sans-serif;fill:#222} .title{font-size:13px;font-weight:bold} .small{font-size:10px;fill:#666} '
         '.grid{stroke:#e4e4e4} .axis{stroke:#999} polyline{fill:none;stroke-width:1.8}')


def round_up(value):
    """The next 1, 2, 2.5, 5 times a power of ten."""
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value:
        power /= 10
    return next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= value)


def panel(at, title, unit, series, colours):
    """One panel: series is {name: [(x, y)]}; all x at equal distances, y from 0."""
    xs = sorted({x for points in series.values() for x, _ in points})
    top = round_up(max((y for points in series.values() for _, y in points), default=1) or 1)
    width, height = WIDTH - LEFT - 16, HEIGHT - TOP - BOTTOM

    def place(x, y):
        return at + LEFT + width * (xs.index(x) + 0.5) / len(xs), TOP + height * (1 - y / top)
    out = [f'<text class="title" x="{at + LEFT}" y="{TOP - 22}">{escape(title)}</text>',
           f'<text class="small" x="{at + LEFT}" y="{TOP - 8}">{escape(unit)}</text>']
    for i in range(6):
        y = TOP + height * i / 5
        out.append(f'<line class="grid" x1="{at + LEFT}" x2="{at + LEFT + width}" y1="{y:.1f}" y2="{y:.1f}"/>'
                   f'<text x="{at + LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{top * (5 - i) / 5:g}</text>')
    for x in xs:
        px, py = place(x, 0)
        out.append(f'<text x="{px:.1f}" y="{py + 16:.1f}" text-anchor="middle">{x}</text>')
    out.append(f'<text class="small" x="{at + LEFT + width / 2}" y="{TOP + height + 32}" text-anchor="middle">clients</text>'
               f'<line class="axis" x1="{at + LEFT}" x2="{at + LEFT + width}" y1="{TOP + height}" y2="{TOP + height}"/>')
    for name, points in series.items():
        at_points = [place(x, y) for x, y in sorted(points)]
        out.append(f'<polyline stroke="{colours[name]}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at_points)}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{colours[name]}"/>' for x, y in at_points]
    return out


def draw(path, caption, panels):
    """panels: [(title, unit, {name: [(clients, value)]})]; all with the same names."""
    names = list(dict.fromkeys(n for _, _, series in panels for n in series))
    colours = {n: COLOURS[i % len(COLOURS)] for i, n in enumerate(names)}
    width = WIDTH * len(panels)
    lines = textwrap.wrap(caption, int((width - LEFT - 10) / 5.4))
    height = HEIGHT + LEGEND + 14 * len(lines)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
           f'<style>{STYLE}</style><rect width="{width}" height="{height}" fill="#fff"/>']
    for i, (title, unit, series) in enumerate(panels):
        out += panel(i * WIDTH, title, unit, series, colours)
    x = LEFT
    for n in names:
        out.append(f'<rect x="{x}" y="{HEIGHT - 2}" width="12" height="4" fill="{colours[n]}"/>'
                   f'<text x="{x + 17}" y="{HEIGHT + 4}">{escape(n)}</text>')
        x += 34 + 6.4 * len(n)
    out += [f'<text class="small" x="{LEFT}" y="{HEIGHT + LEGEND + 2 + 14 * i}">{escape(line)}</text>'
            for i, line in enumerate(lines)]
    out.append('</svg>')
    with open(path, 'w') as f:
        f.write('\n'.join(out) + '\n')

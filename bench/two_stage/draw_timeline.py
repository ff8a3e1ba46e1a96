#!/usr/bin/env python3
"""Draws gpuconc_timeline() as a picture (SVG): what ran beside what, batch by batch.

    draw_timeline.py [--batches N] [--out FILE.svg] [FILE]

FILE has the output of gpuconc_timeline() ("-": standard input); without it, psql asks the server that
the environment names (PGHOST, PGDATABASE, ...).  Lanes hold kernels that ran at the same time, in one
colour per kernel; requests that one shared scan answered have a dark frame.  Dashed lines are the
starts of batches.  Where nothing ran for long, time is cut out, and the cut is marked with its length.
"""
import argparse
import colorsys
import json
import os
import subprocess
import sys
from xml.sax.saxutils import escape

LEFT, RIGHT, TOP = 84, 20, 54
LANE, GAP = 20, 4                   # height of a lane, and the space below it
CUT_WIDTH = 34                      # of a time without kernels that is cut out
CUT_SHARE = 0.05                    # of the time with kernels: longer times without are cut out
LABEL = 62                          # room of a label on the time axis
CHAR = 6.2                          # width of a character at the size of labels
STYLE = '''text{font:11px sans-serif;fill:#222}
.small{font-size:10px;fill:#666} .title{font-size:14px;font-weight:bold}
.axis{stroke:#999} .grid{stroke:#e4e4e4} .start{stroke:#555;stroke-dasharray:4 3} .lane{fill:#f6f6f6}
.batch{fill:#d9dee6;stroke:#8792a3} .wait{fill:#eee0c4;stroke:#c4ac7c} .scan{stroke:#111;stroke-width:1.6}
.cut{fill:#fff} .cutline{stroke:#999;stroke-dasharray:1 2}'''

SHARED = ('shared scan', 'selection scan')      # categories of requests that one scan answered


def read(args):
    if args.file == '-':
        return json.load(sys.stdin)
    if args.file:
        with open(args.file) as f:
            return json.load(f)
    p = subprocess.run(['psql', '-XAtqc', f'SELECT gpuconc_timeline({args.batches})'], capture_output=True,
                       text=True, env=dict(os.environ, LC_ALL='C'))
    if p.returncode:
        sys.exit(f'psql failed: {p.stderr.strip()}')
    return json.loads(p.stdout)


class Scale:
    """Microseconds to pixels, with the long times cut out in which no kernel ran."""

    def __init__(self, spans, width):
        busy = []
        for begin, end in sorted(spans):
            if busy and begin <= busy[-1][1]:
                busy[-1][1] = max(busy[-1][1], end)
            else:
                busy.append([begin, end])
        longest = CUT_SHARE * sum(end - begin for begin, end in busy)
        self.parts = []             # [begin, end] that are drawn in proportion
        for begin, end in busy:
            if self.parts and begin - self.parts[-1][1] <= longest:
                self.parts[-1][1] = end
            else:
                self.parts.append([begin, end])
        # With very many cuts, they may take half of the width.
        self.cut = min(CUT_WIDTH, width / 2 / max(len(self.parts) - 1, 1))
        shown = sum(end - begin for begin, end in self.parts) or 1
        self.per_us = (width - self.cut * (len(self.parts) - 1)) / shown
        self.at = []
        x = LEFT
        for begin, end in self.parts:
            self.at.append(x)
            x += (end - begin) * self.per_us + self.cut

    def x(self, us):
        for n, (begin, end) in enumerate(self.parts):
            if us < begin:          # in a cut, or before everything
                before = self.parts[n - 1][1] if n else begin - 1
                return self.at[n] - (self.cut * (begin - us) / (begin - before) if n else 0)
            if us <= end:
                return self.at[n] + (us - begin) * self.per_us
        return self.at[-1] + (self.parts[-1][1] - self.parts[-1][0]) * self.per_us

    def cuts(self):
        for n in range(1, len(self.parts)):
            yield self.at[n] - self.cut, self.parts[n][0] - self.parts[n - 1][1]

    def ticks(self):
        """(x, us) at round times and where a cut ends, far enough apart for their labels."""
        step = 1e-3
        for factor in [2, 2.5, 2] * 12:
            if step * self.per_us >= 80:
                break
            step *= factor
        last = LEFT - LABEL
        for n, (begin, end) in enumerate(self.parts):
            if self.at[n] - last >= LABEL:
                last = self.at[n]
                yield last, begin
            following = self.at[n + 1] if n + 1 < len(self.parts) else float('inf')
            t = (begin // step + 1) * step
            while t <= end:
                x = self.at[n] + (t - begin) * self.per_us
                if x - last >= LABEL and following - x >= LABEL:
                    last = x
                    yield x, t
                t += step


def duration(us):
    for unit, size in (('s', 1e6), ('ms', 1e3)):
        if abs(us) >= size:
            return f'{us / size:.4g} {unit}'
    return f'{us:.4g} us'


def colours(kernels):
    """One colour per kernel, those that took most time first, as unlike as may be."""
    result = {}
    for n, name in enumerate(kernels):
        r, g, b = colorsys.hls_to_rgb((0.58 + n * 0.381966) % 1, (0.66, 0.54, 0.76)[n // 8 % 3], 0.55)
        result[name] = f'#{int(r * 255):02x}{int(g * 255):02x}{int(b * 255):02x}'
    return result


class Drawing:
    def __init__(self, scale):
        self.scale = scale
        self.out = []
        self.y = TOP

    def text(self, x, y, text, style='', anchor='start'):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, style):
        self.out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{style}"/>')

    def lanes(self, events, title, style, label, fill=lambda e: ''):
        """All lanes of one process, one below the other."""
        tids = sorted({e['tid'] for e in events})
        for tid in tids:
            self.text(LEFT - 8, self.y + LANE - 6, f'{title} {tid}' if len(tids) > 1 else title, anchor='end')
            self.out.append(f'<rect x="{LEFT}" y="{self.y}" width="{self.width()}" height="{LANE}" class="lane"/>')
            for e in (e for e in events if e['tid'] == tid):
                self.bar(e, style(e), label(e), fill(e))
            self.y += LANE + GAP
        self.y += GAP * 2 if tids else 0

    def width(self):
        return round(self.scale.x(float('inf')) - LEFT, 1)

    def bar(self, e, style, label, fill):
        x = self.scale.x(e['ts'])
        width = max(self.scale.x(e['ts'] + e['dur']) - x, 0.8)
        about = '\n'.join([e['name'], duration(e['dur'])] + [f'{k}: {v}' for k, v in e['args'].items()])
        self.out.append(f'<g><title>{escape(about)}</title><rect x="{x:.1f}" y="{self.y}" width="{width:.1f}" '
                        f'height="{LANE}" class="{style}"{fill}/>')
        fitting = [text for text in label if len(text) * CHAR + 4 <= width]
        if fitting:
            self.text(x + 3, self.y + LANE - 6, fitting[0])
        self.out.append('</g>')

    def frame(self, batches, begin):
        """Batch starts, cuts and the time axis, over the lanes from y = begin on."""
        for e in batches:
            x = self.scale.x(e['ts'])
            self.line(x, begin, x, self.y, 'start')
        self.line(LEFT, self.y, LEFT + self.width(), self.y, 'axis')
        for x, us in self.scale.ticks():
            self.line(x, self.y, x, self.y + 5, 'axis')
            anchor = 'start' if x == LEFT else 'end' if x > LEFT + self.width() - LABEL / 3 else 'middle'
            self.text(x, self.y + 18, duration(us) if us else '0', anchor=anchor)
        last = 0
        for x, us in self.scale.cuts():
            self.out.append(f'<rect x="{x + 1:.1f}" y="{begin - 1}" width="{self.scale.cut - 2:.1f}" '
                            f'height="{self.y - begin + 2}" class="cut">'
                            f'<title>{duration(us)} without kernels</title></rect>')
            self.line(x + 1, begin, x + 1, self.y, 'cutline')
            self.line(x + self.scale.cut - 1, begin, x + self.scale.cut - 1, self.y, 'cutline')
            if x - last >= LABEL:
                last = x
                self.text(x + self.scale.cut / 2, begin - 4, duration(us), 'small', 'middle')
        self.y += 40

    def legend(self, kernels, colour, width):
        x = LEFT
        for name, events in kernels.items():
            shared = any(e['cat'] in SHARED for e in events)
            mean = sum(e['dur'] for e in events) / len(events)
            text = f'{name}{" (shared scan)" if shared else ""}: {len(events)} x {duration(mean)}'
            if x + len(text) * CHAR + 22 > width - RIGHT:
                x = LEFT
                self.y += 18
            style = ' class="scan"' if shared else ''
            self.out.append(f'<rect x="{x}" y="{self.y - 9}" width="12" height="11" fill="{colour[name]}"{style}/>')
            self.text(x + 17, self.y, text)
            x += len(text) * CHAR + 36
        self.y += 16


def draw(timeline, width):
    events = [e for e in timeline['traceEvents'] if e['ph'] == 'X']
    batches = sorted((e for e in events if e['cat'] == 'batch'), key=lambda e: e['ts'])
    kernels = [e for e in events if e['cat'] == 'kernel' or e['cat'] in SHARED]
    waits = [e for e in events if e['cat'] == 'waiting']
    copies = [e for e in events if e['cat'] == 'copies']
    waves = [e for e in events if e['cat'] == 'kernels of a wave']
    if not batches and not waves:
        sys.exit('There are no batches and no waves to draw.')
    by_kernel = {}
    for e in kernels:
        by_kernel.setdefault(e['name'], []).append(e)
    by_kernel = dict(sorted(by_kernel.items(), key=lambda i: -sum(e['dur'] for e in i[1])))
    colour = colours(by_kernel)

    d = Drawing(Scale([(e['ts'], e['ts'] + e['dur']) for e in batches + kernels + copies + waves], width - LEFT - RIGHT))
    schedules = sorted({e['args']['schedule'] for e in batches})
    other = timeline.get('otherData', {})
    d.text(LEFT, 20, f'{other.get("device", "device")}: {len(batches)} batches, {len(kernels)} requests'
           + (f', {len(waves)} waves' if waves else ''), 'title')
    d.text(LEFT, 36, f'schedule {", ".join(schedules)}; from {other.get("start", "?")}', 'small')
    begin = d.y
    d.lanes(batches, 'batches', lambda e: 'batch', batch_label)
    d.lanes(kernels, 'lane', lambda e: 'scan' if e['cat'] in SHARED else '', kernel_label,
            lambda e: f' fill="{colour[e["name"]]}"')
    d.lanes(copies, 'link', lambda e: 'wait', lambda e: [f'{e["name"]}: {e["args"]["kB"]} kB', e['name']])
    d.lanes(waves, 'waves', lambda e: 'batch', lambda e: [f'{e["name"]}: {e["args"]["requests"]} requests', e['name']])
    d.lanes(waits, 'waiting', lambda e: 'wait', lambda e: [duration(e['args']['waited_us'])])
    d.frame(batches, begin)
    d.legend(by_kernel, colour, width)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{d.y}" viewBox="0 0 {width} {d.y}">\n'
            f'<style>{STYLE}</style>\n<rect width="100%" height="100%" fill="#fff"/>\n'
            + '\n'.join(d.out) + '\n</svg>\n')


def batch_label(e):
    """Texts for a batch's bar, the longest first: the first one that fits is written."""
    a = e['args']
    predicted = f'predicted {duration(a["predicted_us"])}, ' if a['predicted_us'] > 0 else ''
    requests = f'{a["kernels"]} request{"s" if a["kernels"] != 1 else ""}'
    return [f'{e["name"]}: {requests}, {predicted}took {duration(a["actual_us"])}',
            f'{e["name"]}: {duration(a["actual_us"])}', e['name'], str(a['batch'])]


def kernel_label(e):
    a = e['args']
    scan = f', scan {a["scan"]}' if a['scan'] else ''
    return [f'{e["name"]}{scan}, {a["blocks"]} x {a["threads"]}', e['name'], e['name'][:4]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('file', nargs='?', metavar='FILE')
    parser.add_argument('--batches', type=int, default=20, metavar='N', help='ask the server for so many (20)')
    parser.add_argument('--out', metavar='FILE.svg', help='where to write (standard output)')
    parser.add_argument('--width', type=int, default=1400, metavar='PIXELS')
    args = parser.parse_args()
    picture = draw(read(args), max(args.width, LEFT + RIGHT + 100))
    if args.out:
        with open(args.out, 'w') as f:
            f.write(picture)
    else:
        sys.stdout.write(picture)


if __name__ == '__main__':
    main()

"""Friday as an SVG: calls a second before and after, and how slow the hotel system is. Written by hand, no library."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

_WIDTH, _LEFT, _RIGHT = 860, 70, 24
_STYLE = """
svg { --ink: #1f2328; --faint: #d0d7de; --soft: #59636e; --ground: #ffffff; --band: #d1242f18;
  --before: #cf222e; --after: #0969da; --slow: #8250df; }
@media (prefers-color-scheme: dark) { svg { --ink: #f0f6fc; --faint: #3d444d; --soft: #9198a1; --ground: #0d1117;
  --band: #f8514926; --before: #ff7b72; --after: #58a6ff; --slow: #be8fff; } }
text { font: 12px system-ui, sans-serif; fill: var(--soft); }
.title { font-size: 15px; font-weight: 600; fill: var(--ink); } .ink { fill: var(--ink); }
.end { text-anchor: end; } .mid { text-anchor: middle; }
.grid { stroke: var(--faint); stroke-width: 1; } .band { fill: var(--band); } .ground { fill: var(--ground); }
path { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.before { stroke: var(--before); } .after { stroke: var(--after); } .slow { stroke: var(--slow); }
.dashed { stroke-dasharray: 5 4; }
"""

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """One curve; `style` are classes of the style sheet."""

    label: str
    style: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Panel:
    """One diagram: seconds to the right, a logarithmic scale upwards. What is below `low` lies on the axis."""

    title: str
    unit: str
    top: int
    height: int
    low: float
    high: float
    seconds: float

    def x(self, at: float) -> float:
        """Where a second lies."""
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * at / self.seconds

    def y(self, value: float) -> float:
        """Where a value lies."""
        inside = min(max(value, self.low), self.high)
        part = math.log(inside / self.low) / math.log(self.high / self.low)
        return self.top + self.height * (1 - part)

    def draw(self, lines: Sequence[Line], band: Point, ticks: Sequence[float]) -> list[str]:
        """Band, grid, axes, legend, curves."""
        bottom, left, right = self.top + self.height, self.x(0), self.x(self.seconds)
        start, end = self.x(band[0]), self.x(band[1])
        drawn = [
            _text(left, self.top - 30, self.title, "title"),
            f'<rect class="band" x="{start:.1f}" y="{self.top}" width="{end - start:.1f}" height="{self.height}"/>',
            _text((start + end) / 2, self.top + 15, "outage: every call answered 503", "mid"),
        ]
        drawn.append(_rule(left, bottom, right, bottom))
        for tick in ticks:
            y = self.y(tick)
            label = "0" if tick == self.low else f"{tick:g}"
            drawn += [_rule(left, y, right, y), _text(left - 8, y + 4, label, "end")]
        for second in range(0, int(self.seconds) + 1, _step(self.seconds)):
            x = self.x(second)
            drawn += [_rule(x, bottom, x, bottom + 5), _text(x, bottom + 19, str(second), "mid")]
        middle = self.top + self.height / 2
        drawn += [
            _text((left + right) / 2, bottom + 37, "seconds", "mid"),
            f'<text class="mid" transform="translate(18 {middle:.1f}) rotate(-90)">{escape(self.unit)}</text>',
        ]
        return drawn + self._legend(lines) + [self._curve(line) for line in lines]

    def _legend(self, lines: Sequence[Line]) -> list[str]:
        drawn, x, y = [], self.x(0), self.top - 12
        for line in lines:
            drawn += [
                f'<path class="{line.style}" d="M{x:.0f} {y - 4}h22"/>',
                _text(x + 28, y, line.label, "ink"),
            ]
            x += 44 + 6.4 * len(line.label)
        return drawn

    def _curve(self, line: Line) -> str:
        path = "L".join(f"{self.x(at):.1f} {self.y(value):.1f}" for at, value in line.points)
        return f'<path class="{line.style}" d="M{path}"/>' if path else ""


def _step(seconds: float) -> int:
    return 10 if seconds > 30 else 1


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, said: str, style: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(said)}</text>'


def draw(found: dict[str, Any]) -> str:
    """The picture of a run's findings, as SVG."""
    ours, without, plan = found["over_time"], found["without"], found["plan"]
    seconds = plan["before"] + plan["outage"] + plan["after"]
    band = (ours["outage_from"], ours["outage_until"])
    calls = Panel("Calls per second at the hotel system", "calls/s, log scale", 66, 210, 0.5, 1000, seconds)
    slow = Panel("How long the hotel system takes for a write", "seconds, log scale", 376, 140, 0.001, 20, seconds)
    latency = ours["write_latency"]
    parts = [
        *calls.draw(
            [
                Line("before: three layers of three tries", "before", _seconds(without["calls"])),
                Line("with Roomkey", "after", _seconds(ours["calls"])),
            ],
            band,
            (0.5, 1, 10, 100, 1000),
        ),
        *slow.draw(
            [
                Line("p50", "slow", [(one["at"], one["p50"]) for one in latency]),
                Line("p99 (a write is given 10 s)", "slow dashed", [(one["at"], one["p99"]) for one in latency]),
            ],
            band,
            (0.01, 0.1, 1, 10),
        ),
    ]
    told = (
        f"{plan['rate']:g} bookings/s arrive all the time; calls/s in the outage: "
        f"{without['outage_calls_per_s']:.0f} before, {found['outage_calls_per_s']:.1f} with Roomkey"
    )
    height = 580
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
            f"<title>{escape(told)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="ground" width="{_WIDTH}" height="{height}" rx="6"/>',
            *parts,
            _text(_LEFT, height - 8, told, "ink"),
            "</svg>\n",
        ]
    )


def _seconds(counts: Sequence[int]) -> list[Point]:
    return [(second + 0.5, float(count)) for second, count in enumerate(counts)]

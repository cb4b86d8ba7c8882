# ===- curve.py - Divergence over bits, as a picture ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the result of a language model as SVG: bits per weight from left to right, the logarithm of the divergence upwards."""
import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 420, 64, 44, 16, 16
COLORS = {"attune": "#0b6e99", "attune, calibrated": "#2f8f4e", "llama.cpp": "#c0562b"}


def side_of(row):
    return row["maker"] + (", calibrated" if "+" in row["label"] else "")


def draw(result):
    rows = [row for row in result["rows"] if row["bits"] < 10 and row["kl"] > 0]
    least, most = min(row["bits"] for row in rows) - 0.25, max(row["bits"] for row in rows) + 0.5
    low, high = math.floor(math.log10(min(row["kl"] for row in rows))), math.ceil(math.log10(max(row["kl"] for row in rows)))

    def x(bits):
        return LEFT + (bits - least) / (most - least) * (WIDTH - LEFT - RIGHT)

    def y(divergence):
        return HEIGHT - BOTTOM - (math.log10(divergence) - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    for power in range(low, high + 1):
        at = y(10**power)
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for bits in range(math.ceil(least), math.floor(most) + 1):
        parts.append(f'<path d="M{x(bits):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#eee"/>'
                     f'<text x="{x(bits):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{bits}</text>')
    parts.append(f'<text x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">bits per weight of projections</text>'
                 f'<text transform="translate(14 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">KL divergence from f32</text>')
    for place, (side, color) in enumerate(COLORS.items()):
        points = [row for row in rows if side_of(row) == side]
        if not points:
            continue
        at = TOP + 14 + 16 * place
        parts.append(f'<circle cx="{WIDTH - 150}" cy="{at - 4}" r="4" fill="{color}"/><text x="{WIDTH - 140}" y="{at}">{side}</text>')
        for row in points:
            label = row["label"].removesuffix("+")
            parts.append(f'<circle cx="{x(row["bits"]):.1f}" cy="{y(row["kl"]):.1f}" r="3.5" fill="{color}"/>'
                         f'<text x="{x(row["bits"]) + 6:.1f}" y="{y(row["kl"]) + (12 if side == "llama.cpp" else -4):.1f}" '
                         f'fill="{color}">{label}</text>')
    return "\n".join(parts + ["</svg>\n"])

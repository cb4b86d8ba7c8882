# ===- report.py - Rows as text --------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A line per row, aligned or as a Markdown table."""
from support.worker import DISTURBED

HEADINGS = ("row", "threads", "ours ms min (median)", "peer ms min (median)", "against", "ratio min / median", "% FMA peak", "% read",
            "difference")
WIDTHS = (15, 7, 22, 22, 22, 18, 10, 9, 18)


def percent(value):
    """Returns the text of a share, or of the best and the median of one, in per cent."""
    if isinstance(value, dict):
        return f"{100 * value['best']:.0f} / {100 * value['median']:.0f}"
    return "" if value is None else f"{100 * value:.0f}"


def milliseconds(side):
    return f"{side['min_ms']:.2f} ({side['median_ms']:.2f})" if side else ""


def cells(row):
    """Returns the columns of a row; a row of single layers has one line per layer."""
    if "unavailable" in row:
        return [(row["row"], row["threads"], "-", "", "", "", "", "", row["unavailable"])]
    if "kernels" in row:
        return [(f"{row['row']} {name}", row["threads"], f"{k['ms']:.3f}", "", "", "", "", percent(k["read_fraction"]), "")
                for name, k in row["kernels"].items()]
    peer, difference = row.get("peer"), row.get("difference")
    return [(row["row"], row["threads"], milliseconds(row["ours"]), milliseconds(peer), peer["label"] if peer else "",
             f"{row['ratio_min']:.2f} / {row['ratio_median']:.2f}" if peer else "", percent(row.get("peak_fraction")),
             percent(row.get("read_fraction")), f"{difference['max_abs']:.2g} of {difference['of']:.3g}" if difference else "")]


class Table:
    """Prints lines as results arrive."""

    def __init__(self, markdown, headings=HEADINGS, widths=WIDTHS):
        self.markdown, self.widths = markdown, widths
        self.line(headings)
        if markdown:
            self.line(["---"] * len(headings))

    def line(self, columns):
        if self.markdown:
            print("| " + " | ".join(map(str, columns)) + " |", flush=True)
        else:
            print("  ".join(f"{str(c):<{w}}" for c, w in zip(columns, self.widths)).rstrip(), flush=True)

    def add(self, row):
        for line in cells(row):
            self.line(line)


def machine_line(name, rows):
    """Returns the description of the machine and the highest rates measured on it, for each number of threads."""
    text = name
    for threads in sorted({row["threads"] for row in rows}):
        seen = [row["machine"] for row in rows if row["threads"] == threads and "machine" in row]
        gflops, read = (max((m.get(k, 0) for m in seen), default=0) for k in ("fma_gflops", "read_bytes_per_s"))
        text += f"; {threads} thread{'s' if threads > 1 else ''}: {gflops:.0f} GFLOP/s of FMA, {read / 1e9:.1f} GB/s read"
    return text


def disturbed(rows):
    """Returns the rows during which other processes kept a CPU busy, with their share of it."""
    return [f"{row['row']} on {row['threads']}: {100 * row['foreign']:.0f} %" for row in rows if row.get("foreign", 0) > DISTURBED]


def scaling(rows):
    """Returns, by row, the speedup over one thread for each larger number of threads."""
    one = {row["row"]: row["ours"]["min_ms"] for row in rows if row["threads"] == 1 and "ours" in row}
    return [{"row": row["row"], "threads": row["threads"], "speedup": one[row["row"]] / row["ours"]["min_ms"]}
            for row in rows if row["threads"] > 1 and "ours" in row and row["row"] in one]


def print_summary(name, rows):
    """Prints the remarks below the table."""
    print("\n" + machine_line(name, rows))
    if disturbed(rows):
        print("other processes had CPU time meanwhile: " + "; ".join(disturbed(rows)))
    for entry in scaling(rows):
        print(f"{entry['row']}: {entry['threads']} threads are {entry['speedup']:.2f} times as fast as one")

# ===- compare.py - One row of the table -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Alternates between the process of Attune ("ours"), those of the peers, and the one that measures the machine, and
computes the figures of a row.

On a shared machine a process may run at two thirds of its speed for seconds, so each side gets a block of calls in
turn, round after round. `foreign` is the number of CPUs that other processes kept busy meanwhile, on average: above a
few per cent the figures are of little use. `ratio_min` compares the fastest calls, `ratio_median` is the median over
the rounds of the peer's median time by ours.
"""
import os

from support.worker import Worker, mean, median, worst_difference

# A peer that is slower than the best peer by this factor after two rounds is dropped.
HOPELESS = 1.15
MACHINE_SECONDS = 0.2


class Machine:
    """The peaks of FMAs and of products of bytes, and the read bandwidth, measured before each round and after the last."""

    def __init__(self, worker, threads):
        self.worker = Worker("machine", [worker, "machine"], threads)
        self.rates, self.read = {"gflops": [], "byte_gops": []}, []

    def look(self, attempts):
        seen = self.worker.run(MACHINE_SECONDS, attempts)
        for name, values in self.rates.items():
            values.append(seen[name])
        self.read.append(seen["read_bytes_per_s"])


def fractions(work, fastest_ms, rates):
    """Returns the rate of |work| in the fastest call of each round as a share of the better of the |rates| before and
    after it: the shares of the best round and of the median round."""
    of = [work / (ms / 1e3) / max(before, after) for ms, before, after in zip(fastest_ms, rates, rates[1:]) if max(before, after) > 0]
    return {"best": max(of), "median": median(of)} if of else {"best": 0, "median": 0}


def alternate(machine, sides, options):
    """Runs all |sides| in every round, ours first; drops peers that are much slower. Returns the sides of the last
    round."""
    for number in range(options.rounds):
        machine.look(options.attempts)
        for side in sides:
            side.run(options.seconds, options.attempts)
        if number == 1:
            best = min((min(s.ms) for s in sides[1:]), default=0)
            sides = sides[:1] + [s for s in sides[1:] if min(s.ms) <= HOPELESS * best]
    machine.look(options.attempts)
    return sides


def times(worker):
    return {"label": worker.label, "min_ms": min(worker.ms), "median_ms": median(worker.ms), "runs": len(worker.ms)}


def compare(machine_worker, threads, ours, peers, options, operations=None, read_bytes=None, rate="gflops"):
    """Compares |ours| with |peers|, each (label, command). |operations| and |read_bytes| are the work of one call of
    ours, if it is to be compared with the machine; |rate| names the machine's rate of such operations. Returns the
    figures of the row; "peer" is the fastest peer, if there is any, and "others" has all of them."""
    machine = Machine(machine_worker, threads)
    workers = [Worker(label, command, threads) for label, command in [ours] + peers]
    try:
        sides = alternate(machine, workers, options)
        own = sides[0]
        rates = {"fma_gflops": max(machine.rates["gflops"]), "byte_gops": max(machine.rates["byte_gops"])}
        row = {"ours": times(own), "machine": {**rates, "read_bytes_per_s": max(machine.read)}}
        if operations:
            row["peak_fraction"] = fractions(operations / 1e9, own.fastest, machine.rates[rate])
        if read_bytes:
            row["read_fraction"] = fractions(read_bytes, own.fastest, machine.read)
        row["foreign"] = mean([share for w in workers for share in w.foreign])
        if len(sides) > 1:
            peer = min(sides[1:], key=lambda s: min(s.ms))
            row["peer"], row["others"] = times(peer), [times(s) for s in workers[1:]]
            row["ratio_min"] = min(peer.ms) / min(own.ms)
            row["ratio_median"] = median([p / o for p, o in zip(peer.rounds, own.rounds)])
            if options.outputs:
                path = os.path.join(options.work, f"output-{os.getpid()}.f32")
                difference, scale = worst_difference(own.output(path), peer.output(path))
                row["difference"] = {"max_abs": difference, "of": scale}
        return row
    finally:
        for worker in workers + [machine.worker]:
            worker.close()

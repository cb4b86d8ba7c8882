#!/usr/bin/env python3
"""Runs a command as several ranks on this host, connected by the transport of the tests.

ranks.py LIBRARY N COMMAND...   exits with the status of the first rank that fails, after the others have ended
"""
import os
import subprocess
import sys
import tempfile
import time

# More than SharedWindow::bytes needs for a rank; pages that nobody writes to take no memory.
SEGMENT_BYTES = 4 << 20
# An end of one rank must end the others within this time.
LIMIT_SECONDS = 5


def run(library, count, commands, limit=None, environments=None):
    """Returns the statuses of the ranks of |commands|, one for each, and their standard outputs and errors. Fails if ranks
    run on for LIMIT_SECONDS after one has ended with an error."""
    with tempfile.TemporaryDirectory() as folder:
        window = os.path.join(folder, "window")
        with open(window, "wb") as f:
            f.truncate(count * SEGMENT_BYTES)
        processes = []
        for rank in range(count):
            env = dict(os.environ, ATTUNE_TRANSPORT=library, ATTUNE_LOCAL_RANKS=f"{rank}:{count}:{window}")
            env.update((environments or {}).get(rank, {}))
            # Files, because a full pipe would stop a rank that nobody reads.
            out, err = (open(os.path.join(folder, f"{kind}{rank}"), "w+") for kind in ("out", "err"))
            processes.append((subprocess.Popen(commands[rank], env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err), out, err))
        start, failed = time.monotonic(), None
        while any(p.poll() is None for p, _, _ in processes):
            if failed is None and any(p.poll() not in (None, 0) for p, _, _ in processes):
                failed = time.monotonic()
            late = failed is not None and time.monotonic() - failed > LIMIT_SECONDS
            if late or (limit and time.monotonic() - start > limit):
                for p, _, _ in processes:
                    p.kill()
                sys.exit(f"ranks.py: ranks run on {LIMIT_SECONDS} s after one has ended" if late else "ranks.py: no end")
            time.sleep(0.01)
        results = []
        for p, out, err in processes:
            out.seek(0), err.seek(0)
            results.append((p.returncode, out.read(), err.read()))
            out.close(), err.close()
        return results


def main():
    library, count, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    results = run(library, count, [command] * count)
    for _, out, err in results:
        sys.stdout.write(out)
        sys.stderr.write(err)
    sys.exit(next((status for status, _, _ in results if status != 0), 0))


if __name__ == "__main__":
    main()

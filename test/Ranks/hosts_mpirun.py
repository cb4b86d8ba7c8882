#!/usr/bin/env python3
"""An mpirun whose ranks run on hosts of their own, with limited links between them.

hosts_mpirun.py TOOL GBIT MICROSECONDS openmpi|mpich [FLAGS...] -n N COMMAND...

TOOL is attune-test-hosts. The exit status is that of mpirun, or 77 if this machine or user cannot have such hosts.
"""
import os
import sys

MPI = {
    "openmpi": 'mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent "$ATTUNE_HOSTS_SHELL" --mca btl tcp,self --mca pml ob1 '
               '--mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 --mca mpi_yield_when_idle 1 --bind-to none --host {hosts} "$@"',
    # UCX would see that all hosts are one machine and exchange through its memory.
    "mpich": 'mpirun.mpich -launcher rsh -launcher-exec "$ATTUNE_HOSTS_SHELL" -iface eth0 -env UCX_TLS tcp,self -hosts {hosts} "$@"',
}


def main():
    tool, gigabits, microseconds, mpi, *words = sys.argv[1:]
    count = int(words[words.index("-n") + 1])
    hosts = ",".join(f"10.77.0.{i + 1}:1" for i in range(count))
    script = "exec " + MPI[mpi].format(hosts=hosts)
    os.execv(tool, [tool, str(count), gigabits, microseconds, "sh", "-c", script, "sh", *words])


if __name__ == "__main__":
    main()

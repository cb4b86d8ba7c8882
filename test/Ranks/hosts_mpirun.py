#!/usr/bin/env python3
"""The mpirun of Open MPI with ranks on hosts of their own, and limited links between them.

hosts_mpirun.py TOOL GBIT MICROSECONDS [FLAGS...] -n N COMMAND...

TOOL is attune-test-hosts. The exit status is that of mpirun, or 77 if this machine or user cannot have such hosts. Open MPI is
told to yield when it waits; MPICH does not yield, so more ranks than CPUs take minutes.
"""
import os
import sys

MPIRUN = ('exec mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent "$ATTUNE_HOSTS_SHELL" --mca btl tcp,self --mca pml ob1 '
          '--mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 --mca mpi_yield_when_idle 1 --bind-to none --host {hosts} "$@"')


def main():
    tool, gigabits, microseconds, *words = sys.argv[1:]
    count = int(words[words.index("-n") + 1])
    hosts = ",".join(f"10.77.0.{i + 1}:1" for i in range(count))
    os.execv(tool, [tool, str(count), gigabits, microseconds, "sh", "-c", MPIRUN.format(hosts=hosts), "sh", *words])


if __name__ == "__main__":
    main()

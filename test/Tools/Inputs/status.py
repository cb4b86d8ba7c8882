"""status.py N COMMAND…: runs the command; succeeds if its exit status is N."""
import subprocess
import sys

status = subprocess.run(sys.argv[2:]).returncode
if status != int(sys.argv[1]):
    sys.exit(f"expected exit status {sys.argv[1]}, got {status}: {' '.join(sys.argv[2:])}")

# ===- twice.py - The same command in two processes at the same time ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""twice.py CACHE COMMAND...: runs COMMAND twice at once, with @ in its words replaced by 1 and 2, both with the cache folder CACHE."""

import os
import subprocess
import sys

environment = dict(os.environ, XDG_CACHE_HOME=sys.argv[1])
running = [subprocess.Popen([word.replace("@", number) for word in sys.argv[2:]], env=environment) for number in "12"]
sys.exit(max(process.wait() for process in running))

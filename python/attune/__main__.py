# ===- __main__.py - The command line --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m attune COMMAND …` runs the command `attune` by which this package compiles."""

import os
import sys

from attune.compiler import find_command
from attune.errors import NotFoundError


def main() -> None:
    """Replaces this process by the command."""
    try:
        command = find_command()
        os.execv(command, [command, *sys.argv[1:]])
    except NotFoundError as error:
        sys.exit(f"attune: error: {error}")
    except OSError as error:
        sys.exit(f"attune: error: {command}: {error.strerror}")


if __name__ == "__main__":
    main()

# ===- __main__.py - python -m GoldenBuilder --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m GoldenBuilder: builds golden folders from the declarations in families/."""

import argparse
import os
import sys
import traceback

from .build import Build, BuildError
from .families import FAMILIES


def chosen(options):
    """Yields the pairs (family, case) that the options select."""
    for family in FAMILIES.values():
        if options.family in (None, family.name):
            for case in family.cases:
                if options.case in (None, case.name):
                    yield family, case


def main():
    parser = argparse.ArgumentParser(prog="python -m GoldenBuilder", description="Builds golden folders by the reference library.")
    parser.add_argument("--family", choices=sorted(FAMILIES), metavar="F", help="the cases of one family")
    parser.add_argument("--case", metavar="C", help="the cases of this name")
    parser.add_argument("--all", action="store_true", help="the cases of every family")
    parser.add_argument("--list", action="store_true", help="print the cases instead of building them")
    parser.add_argument("-o", dest="out", metavar="DIR", help="where the folders go, each as DIR/FAMILY_CASE")
    parser.add_argument("--seed", type=int, default=1, help="seed of weights and inputs (1)")
    parser.add_argument("--quick", action="store_true", help="do not check that every tensor matters")
    parser.add_argument("--traceback", action="store_true", help="print where the reference failed")
    options = parser.parse_args()
    cases = list(chosen(options))
    if not cases:
        parser.error(f"expected a case of the table, got '{options.case}'")
    if options.list:
        for family, case in cases:
            print(f"{family.folder(case):40} {case.architecture:40} {case.call.function:12} {'; '.join(case.exercises)}")
        return 0
    if not options.out or not (options.family or options.all):
        parser.error("expected -o DIR and --family F or --all")
    failures = 0
    for family, case in cases:
        try:
            print(Build(family, case, options.seed).run(os.path.join(options.out, family.folder(case)), thorough=not options.quick),
                  flush=True)
        except BuildError as error:
            failures += 1
            print(f"error: {error}", flush=True)
        except Exception as error:  # the reference refuses in many ways
            failures += 1
            print(f"error: {family.folder(case)}: {type(error).__name__}: {error}", flush=True)
            if options.traceback:
                traceback.print_exc()
    print(f"{len(cases) - failures} of {len(cases)} cases built")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

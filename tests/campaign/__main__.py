"""``python -m tests.campaign``: try to make the package lie, lose or fall; exit 1 if any of it succeeds.

Spoilt inputs for every reader, models, results, records and options; kills at random moments; the n-th
write, flush, rename, new file and allocation failing; two commands at once. One table of counts is printed,
and every fault with what is needed to see it again.
"""

import argparse
import sys
import time

from tests.campaign.failing import fail_every_call
from tests.campaign.keeping import spoil_models, spoil_records, spoil_results
from tests.campaign.kills import kill_compares, kill_fits
from tests.campaign.options import odd_options
from tests.campaign.outcome import Tally, memory_limit
from tests.campaign.reading import spoil_files
from tests.campaign.together import compare_twice, fit_twice


def spoil_inputs(tally: Tally, inputs: int, seed: int) -> None:
    """Deal out this many spoilt inputs to all that reads."""
    with memory_limit(8):
        spoil_files(tally, inputs * 70 // 100, seed)
        spoil_models(tally, inputs * 15 // 100, seed)
        spoil_results(tally, inputs * 2 // 100, seed)
        spoil_records(tally, inputs * 8 // 100, seed)
        odd_options(tally, inputs * 5 // 100, seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000, help="number of spoilt inputs")
    parser.add_argument("--kills", type=int, default=100, help="number of kills; a fifth of them of compare")
    parser.add_argument("--rounds", type=int, default=10, help="how often two commands run at once")
    parser.add_argument("--no-failing", action="store_true", help="leave out the failing calls")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=20, help="number of faults that are shown")
    options = parser.parse_args()
    start, tally = time.monotonic(), Tally()
    spoil_inputs(tally, options.inputs, options.seed)
    kill_fits(tally, options.kills - options.kills // 5, options.seed)
    kill_compares(tally, options.kills // 5, options.seed)
    fit_twice(tally, options.rounds, options.seed)
    compare_twice(tally, options.rounds // 5)
    if not options.no_failing:
        fail_every_call(tally)
    print(tally.table())
    print(f"{time.monotonic() - start:.0f} s, seed {options.seed}, {len(tally.faults)} fault(s)")
    for fault in tally.faults[: options.show]:
        print(f"\n{fault}")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())

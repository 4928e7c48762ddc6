"""``python -m tests.campaign``: try to make the package lie, lose or fall; exit 1 if any of it succeeds."""

import argparse
import sys
import time

from tests.campaign.keeping import spoil_models, spoil_records, spoil_results
from tests.campaign.options import odd_options
from tests.campaign.outcome import Tally, memory_limit
from tests.campaign.reading import spoil_files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, help="number of spoilt inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=20, help="number of faults that are shown")
    options = parser.parse_args()
    start, tally = time.monotonic(), Tally()
    with memory_limit(8):
        spoil_files(tally, options.inputs * 7 // 10, options.seed)
        spoil_models(tally, options.inputs * 15 // 100, options.seed)
        spoil_results(tally, options.inputs * 2 // 100, options.seed)
        spoil_records(tally, options.inputs * 8 // 100, options.seed)
        odd_options(tally, options.inputs * 5 // 100, options.seed)
    print(tally.table())
    print(f"{time.monotonic() - start:.0f} s, seed {options.seed}")
    for fault in tally.faults[: options.show]:
        print(f"\n{fault}")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())

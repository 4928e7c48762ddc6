"""``python -m otherhalf`` is ``otherhalf``."""

from otherhalf.cli import main

if __name__ == "__main__":
    main()

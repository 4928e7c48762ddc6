"""``python -m otherhalf`` is ``otherhalf``."""

from otherhalf.cli.commands import main

if __name__ == "__main__":
    main()

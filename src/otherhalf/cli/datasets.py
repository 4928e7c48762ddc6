"""The command ``datasets``: the data sets that have names."""

import sys

from otherhalf.cli.console import print_result
from otherhalf.cli.options import Json


def datasets(as_json: Json = False) -> None:
    """List the named data sets, and the file of each on this computer."""
    from otherhalf.data.catalog import DATASETS
    from otherhalf.data.folders import search_folders

    rows = []
    for entry in DATASETS.values():
        files = [
            str(f / f"{entry.name}.npz") for f in search_folders() if (f / f"{entry.name}.npz").is_file()
        ]
        rows.append({**vars(entry), "file": files[0] if files else None})
    if as_json:
        print_result({"datasets": rows}, "", as_json)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("name", "nodes", "edges", "classes", "features"):
        table.add_column(column, justify="left" if column == "name" else "right", no_wrap=True)
    table.add_column("here", no_wrap=True)
    table.add_column("what it is")
    for row in rows:
        sizes = [f"{row[key]:,}" for key in ("nodes", "edges", "classes", "features")]
        table.add_row(row["name"], *sizes, "yes" if row["file"] else "no", row["description"])
    # A file or a pipe has no width to wrap at.
    Console(width=None if sys.stdout.isatty() else 160).print(table)
    print("\nAlso csbm:nodes=1000,homophily=0.2 (a stochastic block model) and cora@0.3 (its edges redrawn).")

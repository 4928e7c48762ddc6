"""Two tables as a person with a spreadsheet has them: real packages, and everything that goes wrong."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

SECTIONS = ("database", "mail")
_USERS = 8
"""A library is in the table if at least so many of the programs need it."""


def messy_tables(
    nodes: pd.DataFrame, edges: pd.DataFrame, strangers: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the node table and the edge table.

    Args:
        nodes: Packages by name, with a section where it is known.
        edges: Which package needs which: source, target, weight.
        strangers: Edges to packages that are not among the nodes.
    """
    chosen = nodes[nodes.section.isin(SECTIONS) | nodes.section.isna()]
    used = edges[edges.source.isin(chosen.index[chosen.section.notna()]) & edges.target.isin(chosen.index)]
    users = used.target.value_counts()
    chosen = chosen[chosen.section.notna() | (users.reindex(chosen.index).fillna(0) >= _USERS)]
    used = used[used.target.isin(chosen.index)]
    place = pd.Series(range(len(chosen)), index=chosen.index)
    wrong, no_size, no_count = place % 40 == 8, place % 9 == 4, place % 9 == 7
    table = pd.DataFrame(
        {
            "Package": chosen.index,
            "Description": chosen.description,
            "Maintained by": chosen.team,
            "Size (MB)": _commas(chosen.installed_kb / 1000).mask(no_size, "n/a"),
            "Source (MB)": _commas(chosen.source_kb / 1000).mask(wrong, "large"),
            "Binaries": chosen.binaries.mask(no_count),
            "Any machine": chosen.any_machine.map({"yes": "Yes", "no": "No"}),
            "Policy": chosen.policy,
            "Home page": chosen.home.fillna("?"),
            "Snapshot": pd.to_datetime(chosen.snapshot).dt.strftime("%d.%m.%Y"),
            "Tags": chosen.tags,
            "Origin": "Debian 12",
            "Section": chosen.section,
        }
    )
    return table.convert_dtypes(), _messy_edges(used, strangers[strangers.source.isin(chosen.index)], chosen)


def write_messy(table: pd.DataFrame, path: Path) -> None:
    """Write a table with a byte order mark, semicolons and the line ends of Windows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = table.to_csv(index=False, sep=";", lineterminator="\r\n")
    path.write_bytes(text.encode("utf-8-sig"))


def _messy_edges(edges: pd.DataFrame, strangers: pd.DataFrame, nodes: pd.DataFrame) -> pd.DataFrame:
    parts = [
        edges,
        edges.iloc[::7].rename(columns={"source": "target", "target": "source"}),  # both ways
        edges.iloc[::11],  # twice
        strangers.iloc[::20],  # an unknown id
    ]
    joined = pd.concat(parts).reset_index(drop=True)
    # The share of a package's binaries that need the other one; of a library, all of them.
    share = (joined.weight / joined.source.map(nodes.binaries).fillna(1)).clip(upper=1)
    return pd.DataFrame({"from": joined.source, "to": joined.target, "weight": _commas(share)})


def _commas(numbers: pd.Series) -> pd.Series:
    """Return numbers as text with decimal commas, gaps as gaps."""
    return numbers.map(lambda number: f"{number:.2f}".replace(".", ","), na_action="ignore")

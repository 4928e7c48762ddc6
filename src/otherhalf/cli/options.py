"""Options that several commands share."""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from otherhalf.cli.console import typed
from otherhalf.errors import InputError
from otherhalf.system.paths import user_path

DATA_HELP = (
    "A data set's name, an .npz file, nodes.csv,edges.csv (or .jsonl, .parquet), db.sqlite::nodes,edges, a "
    ".graphml, .gml or node-link .json file, or a folder of Geom-GCN's files. "
    "`otherhalf datasets` lists the names."
)
Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)]
Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object on standard output.")]
MOST_THREADS = 1024
MOST_SEED = 2**64 - 1
Threads = Annotated[
    int | None, typer.Option(min=1, max=MOST_THREADS, help="Number of threads; default: all cores.")
]
Device = Annotated[str, typer.Option(help="cpu, or cuda if there is a GPU.")]
Seed = Annotated[
    int, typer.Option(min=0, max=MOST_SEED, help="Seed of all random numbers, also of the split.")
]
Kind = Annotated[
    str, typer.Option("--split", help="How nodes are split: uniform, stratified, quota, fixed or public.")
]
Follow = Annotated[
    str | None,
    typer.Option(
        help="What decides which half is missing: labels (default), ks (default of the method embedding), "
        "homophily, heterophily."
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        help="How the missing half is found: kernel (default, by leave-one-out) or embedding (the paper's)."
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        help="How much a node of each class counts: balanced (every class the same), or spam=5,ham=1. "
        "Default: every node the same."
    ),
]
Preset = Annotated[str, typer.Option(help="best, or paper: the settings of the paper.")]
Id = Annotated[str | None, typer.Option("--id", help="Tables: id column of the node table.")]
Label = Annotated[str | None, typer.Option(help="Tables: label column.")]
Features = Annotated[
    str | None,
    typer.Option(
        help="Tables: feature columns, separated by commas; * stands for any characters, and a name with a "
        "comma is in quotes."
    ),
]
Exclude = Annotated[
    str | None,
    typer.Option(help="Tables: columns to leave out, separated by commas; * stands for any characters."),
]
Kinds = Annotated[
    str | None,
    typer.Option(
        help="Tables: kinds of columns, as in ast_*=number,city=category: number, category, boolean, date, "
        "text, tags, or id (left out). Default: inferred from the cells."
    ),
]
Source = Annotated[str | None, typer.Option(help="Tables: source column of the edge table.")]
Target = Annotated[str | None, typer.Option(help="Tables: target column of the edge table.")]
Directed = Annotated[bool, typer.Option("--directed", help="Tables, folders: keep the direction of edges.")]
UnknownEdges = Annotated[
    str,
    typer.Option(help="Tables: drop edges to unknown ids, raise an error, or add nodes: drop, error or add."),
]
SplitColumn = Annotated[
    str | None,
    typer.Option(help="Tables: node column with the part of each node: train, val or test."),
]
SplitTime = Annotated[
    str | None,
    typer.Option(help="Tables: node column with times; the oldest 60 % train, the next 20 % validate."),
]
SplitIds = Annotated[
    str | None,
    typer.Option(
        help="Files with one node id per line for the parts of the split: train=a.txt,val=b.txt,test=c.txt."
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(help="Tables: edge column with weights; default: a numeric one called weight or w."),
]
NoWeight = Annotated[
    bool, typer.Option("--no-weight", help="Tables: every edge counts the same, whatever columns there are.")
]
Relation = Annotated[
    str | None,
    typer.Option(help="Tables: edge column with kinds of edges; default: several edge tables are several."),
]
NoRelation = Annotated[
    bool,
    typer.Option("--no-relation", help="Tables: all edges are of one kind, also those of several tables."),
]


SpreadsheetSafe = Annotated[
    bool,
    typer.Option(
        "--spreadsheet-safe",
        help="Write an apostrophe before text in CSV files that a spreadsheet would compute as a formula: "
        "text that begins with =, +, - or @ and is no number.",
    ),
]


def path_option(text: Any) -> Path:
    """Return the path of an option; raise typer's error if it is none. Without it, "" is this folder."""
    try:
        return user_path(text)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def free_folder(name: str) -> str:
    """Return a name for a new folder here: this one or, if it is taken, this one with a number."""
    names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next((each for each in names if not os.path.lexists(each)), name)


def class_weight_of(text: str | None) -> dict[str, float] | str | None:
    """Return the weights of classes that ``spam=5,ham=1`` says; ``balanced`` and None stay what they are."""
    if text is None or "=" not in text:
        return text
    weights = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        try:
            weights[name.strip()] = float(number)
        except ValueError as error:
            raise InputError(f"--class-weight {part!r} is not class=number: give spam=5,ham=1") from error
    return weights


@dataclass(frozen=True)
class OpenGraph:
    """Opens the graph that DATA and the options about its tables name.

    Attributes:
        data: DATA.
        columns: What the columns of tables mean.
        split_ids: The files of a split, as the user gives them.
        given: Every option that the user gave, by the name of its parameter, as words to type.
    """

    data: str
    columns: Any
    split_ids: str | None = None
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def command(self, name: str, *more: str, keep: Iterable[str] = (), data: str | None = None) -> str:
        """Return another command about the same graph, as one would type it.

        Args:
            name: Name of the command.
            more: Its other words.
            keep: Options of this command that the other one has too, beside those about tables.
            data: Other DATA.
        """
        tables = inspect.signature(_about_tables).parameters
        words = [word for option in (*tables, *keep) for word in self.given.get(option, ())]
        return typed([name, data or self.data, *words, *more])

    def __call__(self, reading: Any = None) -> Any:
        """Return the graph; the reading of a fit is applied to tables again."""
        from otherhalf.data.own_splits import split_by_ids
        from otherhalf.data.source import open_data

        graph = open_data(self.data, self.columns, reading)
        if self.split_ids is None:
            return graph
        return replace(graph, fixed_splits=(split_by_ids(graph, _files_of_parts(self.split_ids)),))


def _about_tables(
    id: Id = None,
    label: Label = None,
    features: Features = None,
    source: Source = None,
    target: Target = None,
    directed: Directed = False,
    unknown_edges: UnknownEdges = "drop",
    split_column: SplitColumn = None,
    split_time: SplitTime = None,
    split_ids: SplitIds = None,
    weight: Weight = None,
    no_weight: NoWeight = False,
    relation: Relation = None,
    no_relation: NoRelation = False,
    exclude: Exclude = None,
    kinds: Kinds = None,
) -> None:
    """Declare the options about tables once, for all commands that take DATA."""


def _files_of_parts(text: str) -> dict[str, str]:
    """Return the file of each part of a split that the user names."""
    parts = dict[str, str]()
    for word in text.split(","):
        part, mark, file = (piece.strip() for piece in word.partition("="))
        if not (part and mark and file) or part in parts:
            raise InputError(
                f"--split-ids has {word!r}: give each part once, as in train=a.txt,val=b.txt,test=c.txt"
            )
        parts[part] = file
    return parts


def _follow_the_users_split(arguments: dict[str, Any]) -> None:
    """Let a command that splits use the split of the user's table; ``uniform`` is the default."""
    if "split" not in arguments:
        return
    if arguments["split"] not in (None, "uniform", "given"):
        raise InputError(
            f"--split {arguments['split']} and a split of the table's own exclude each other: "
            "leave out one of --split and --split-column, --split-time or --split-ids"
        )
    arguments["split"] = "given"


def _check_the_input_stays(data: str, ids: str | None, model: Path | None, out: Path | None) -> None:
    """Raise InputError if the command would write its result over a file that it reads.

    Args:
        data: DATA.
        ids: The files of a split, as the user gives them.
        model: The folder of the model, where predictions and the half of its fit are too.
        out: The file or the folder of a fit that is written.
    """
    if out is None or not os.path.exists(out):
        return
    from otherhalf.data.source import files_of
    from otherhalf.estimators.run_files import WRITTEN

    written = [out / name for name in WRITTEN] if out.is_dir() else [out]
    parts = [] if ids is None else [user_path(file) for file in _files_of_parts(ids).values()]
    own = [] if model is None else [model / name for name in WRITTEN]
    for kept, why in [
        *((file, "is read") for file in [*files_of(data), *parts]),
        *((file, "is a file of the model") for file in own),
    ]:
        if os.path.isfile(kept) and any(os.path.exists(path) and path.samefile(kept) for path in written):
            raise InputError(f"--out would overwrite {kept}, which {why}: name another place")


def _given(parameters: Mapping[str, inspect.Parameter], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options whose values are not the defaults, as words to type."""
    found = {}
    for name, parameter in parameters.items():
        value = arguments[name]
        if parameter.default is not parameter.empty and value != parameter.default:
            declared = getattr(parameter.annotation, "__metadata__", [None])[0]
            option = next(iter(getattr(declared, "param_decls", None) or ()), f"--{name.replace('_', '-')}")
            found[name] = (option,) if value is True else (option, str(value))
    return found


def takes_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument DATA and the options about its tables.

    The first parameter of the command receives an :class:`OpenGraph`.
    """
    tables = inspect.signature(_about_tables, eval_str=True).parameters
    _, *own = inspect.signature(command, eval_str=True).parameters.values()
    data = inspect.Parameter("data", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Data)

    def run(**arguments: Any) -> None:
        from otherhalf.data.source import Columns

        given = _given(signature.parameters, arguments)
        about = {name: arguments.pop(name) for name in tables}
        for name in ("weight", "relation"):
            if about.pop(f"no_{name}"):
                if about[name] is not None:
                    raise InputError(f"--{name} and --no-{name} exclude each other: leave out one of them")
                about[name] = False
        ids = about.pop("split_ids")
        columns = Columns(**about)
        own = [ids, columns.split_column, columns.split_time]
        if ids is not None and own != [ids, None, None]:
            raise InputError("--split-ids excludes --split-column and --split-time: give one of the three")
        if own != [None, None, None]:
            _follow_the_users_split(arguments)
        _check_the_input_stays(arguments["data"], ids, arguments.get("model"), arguments.get("out"))
        command(OpenGraph(arguments.pop("data"), columns, ids, given), **arguments)

    required = [parameter for parameter in own if parameter.default is parameter.empty]
    optional = [parameter for parameter in own if parameter not in required]
    signature = inspect.Signature([*required, data, *optional, *tables.values()])
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = signature  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return run

"""Mixed columns: into which section of Debian does a program belong?

A program has a description, tags, sizes, a team, a home page. Most columns are no numbers, and many cells are
empty. Programs need libraries; the libraries have no section here and only join programs.
"""

from __future__ import annotations

from story import DATA, NUMBERS, Comparison, arguments, fit_goal

import otherhalf as oh

NODES, EDGES = DATA / "programs_nodes.csv", DATA / "programs_edges.csv"


def main() -> None:
    """Read two tables as they are, show what becomes of the columns, fit, and compare."""
    options = arguments(__doc__)
    notes: list[str] = []
    graph = oh.read_tables(NODES, EDGES, label="section", notes=notes)
    print(f"1. {graph!r}")
    print(f"   Sections: {', '.join(graph.classes)}.\n")
    print("2. What becomes of the columns:")
    for row in graph.reading.encoding.table():
        print(f"   {row.column:13s} {row.kind:9s} {row.gaps:5d} gaps   {row.becomes}")
    print("".join(f"   {note}\n" for note in notes))

    numbers = oh.read_tables(NODES, EDGES, label="section", features=NUMBERS, notes=[])
    comparison = Comparison("accuracy")
    for seed in range(options.runs):
        split = oh.split(graph, "uniform", seed=seed)
        model = fit_goal(graph, split, seed, "accuracy", options.fast)
        comparison.add("GOAL", model, graph, split)
        alone = fit_goal(numbers, split, seed, "accuracy", options.fast)
        comparison.add("GOAL, numbers only", alone, numbers, split)
        comparison.add_simple_models(graph, split, seed)
    print(f"3. {model.diagnosis_}\n")
    print(f"4. Accuracy on the test nodes in percent, {options.runs} split(s):")
    print(comparison)
    gain = comparison.gain("GOAL", "GOAL, numbers only")
    print(f"   The columns that are no numbers are worth {gain:+.1f} points.\n")
    print("5. The same with a command:")
    print(f"   otherhalf compare {NODES.name},{EDGES.name} --label section --models goal,logistic,boosted")


if __name__ == "__main__":
    main()

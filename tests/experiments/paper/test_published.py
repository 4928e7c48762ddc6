"""Every published number, compared with the source of the paper."""

import re
from pathlib import Path

import pytest

from otherhalf.experiments.paper.published import ABLATION, ARXIV, AUTOTUNE, DATASETS, EIGENVALUES, TABLE1

SOURCE = Path(__file__).parents[4] / "shared" / "paper" / "goal_icml2023.tex"
COLUMNS = {
    "Cora": "cora",
    "Citeseer": "citeseer",
    "Pubmed": "pubmed",
    "Computer": "amazon_computers",
    "Computers": "amazon_computers",
    "Photo": "amazon_photo",
    "Chameleon": "chameleon",
    "Squirrel": "squirrel",
    "Actor": "actor",
}
MODELS = {
    "MLP": "mlp",
    "GCN": "gcn",
    "GAT": "gat",
    "APPNP": "appnp",
    "GraphSage": "sage",
    "SAGE": "sage",
    "ChebyNet": "chebynet",
    "GPR-GNN": "gprgnn",
    "JKNET": "jknet",
    "GOAL": "goal",
}


@pytest.fixture(scope="module")
def paper():
    if not SOURCE.is_file():
        pytest.skip("the paper's source is absent")
    return SOURCE.read_text(encoding="utf-8")


def rows(paper, label):
    """Return the cells of a table's rows without TeX; the first row is the heading."""
    (table,) = (t for t in re.findall(r"\\begin{table.*?\\end{table", paper, re.DOTALL) if label in t)
    body = re.search(r"\\begin{tabular}{.*?}\s(.*)\\end{tabular}", table, re.DOTALL)[1]
    body = body.replace(r"\ourmethod", "GOAL")
    body = re.sub(r"\\(textbf|toprule|midrule|bottomrule|hline)", "", body)
    body = re.sub(r"\\(alpha|beta|gamma|delta)", r"\1", body).replace(r"\pm", "±")
    body = re.sub(r"[{}$]", "", body)
    lines = [[cell.strip() for cell in line.split("&")] for line in body.split(r"\\")]
    return [cells for cells in lines if len(cells) > 1]


def mean_and_deviation(cell):
    mean, deviation = cell.split("±")
    return float(mean), float(deviation)


def test_node_classification(paper):
    heading, *lines = rows(paper, "tab:node classification")
    assert tuple(COLUMNS[name] for name in heading[1:]) == DATASETS
    printed = {MODELS[name]: [mean_and_deviation(cell) for cell in cells] for name, *cells in lines}
    assert printed == {model: list(row.values()) for model, row in TABLE1.items()}


def test_ablation(paper):
    heading, *lines = rows(paper, "tab:ablation")
    assert tuple(COLUMNS[name] for name in heading[1:]) == DATASETS
    printed = {}
    for name, *cells in lines:
        term = name.partition("_")[2]
        row = term if "=" in term else f"only {term}" if term else "GOAL"
        printed[row] = [mean_and_deviation(cell) for cell in cells]
    assert printed == {name: list(row.values()) for name, row in ABLATION.items()}


def test_autotune(paper):
    heading, *lines = rows(paper, "tab:GOAL_autotune")
    printed = {name: dict(zip(heading[1:], map(float, cells), strict=True)) for name, *cells in lines}
    assert {COLUMNS[name]: value for name, value in printed["GOAL_at"].items()} == AUTOTUNE
    assert {COLUMNS[name]: value for name, value in printed["GOAL"].items()} == {
        data: TABLE1["goal"][data][0] for data in AUTOTUNE
    }


def test_arxiv(paper):
    heading, cells = rows(paper, "tab:large_exp")
    assert dict(zip((MODELS[name] for name in heading[1:]), map(float, cells[1:]), strict=True)) == ARXIV


def test_eigenvalues(paper):
    heading, cells = rows(paper, "tab:eigen")
    printed = [tuple(float(n) for n in re.findall(r"[\d.]+", cell)) for cell in cells[1:]]
    assert dict(zip((COLUMNS[name] for name in heading[1:]), printed, strict=True)) == EIGENVALUES


def test_the_numbers_are_complete_and_plausible():
    for table in (TABLE1, ABLATION):
        for row in table.values():
            assert tuple(row) == DATASETS
            assert all(20 < mean < 100 and 0 < deviation < 6 for mean, deviation in row.values())
    assert ABLATION["GOAL"] == TABLE1["goal"]
    best = {data: max(TABLE1, key=lambda model: TABLE1[model][data][0]) for data in DATASETS}
    assert set(best.values()) == {"goal"}  # as the paper claims

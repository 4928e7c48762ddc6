"""Inputs of models over rows: products with both halves, in memory, in files, or of a few nodes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.estimators.members.conftest import GRAPH, PARTS, view_of
from tests.estimators.members.test_row_operators import DIRECTED

from otherhalf.errors import InputError
from otherhalf.estimators.members.row_features import RowFeatures
from otherhalf.estimators.members.row_inputs import RowInputs
from otherhalf.estimators.members.view import TrainingLabels


def with_rows(view):
    prepared = view.prepared
    view.row_features = RowFeatures.fit(view.graph, prepared.scaling, prepared.magnitudes, 0)
    return view


@pytest.fixture(scope="module", params=["homophily", "heterophily", "both"])
def each(request):
    return with_rows(view_of(GRAPH if request.param != "both" else DIRECTED, PARTS, kind=request.param))


NODES = np.array([0, 5, 17, 100, 159])


def test_products_are_those_of_full_batches(each):
    inputs, halves = RowInputs(each), each.halves
    x = each.prepared.inputs.features
    given = each.prepared.operator("normalized")
    expected = {
        "x": x,
        "o": halves.homophilic @ x,
        "t": halves.heterophilic @ x,
        "to": halves.heterophilic @ (halves.homophilic @ x),
        "given1": given @ x,
        "given3": given @ (given @ (given @ x)),
        "messages": halves.messages,
        "scores": halves.scores,
    }
    for name, dense in expected.items():
        assert np.allclose(inputs.blocks(name).rows(0, 160), dense.numpy(), atol=1e-5), name
    assert inputs.columns == sum(
        inputs.blocks(name).shape[1] for name in (*inputs.hops, "x", "o", "t", "to", "messages", "scores")
    )


def test_files_hold_what_memory_holds_in_half_precision(each, tmp_path):
    inside, mapped = RowInputs(each), RowInputs(each, tmp_path, most_in_memory=0)
    one, other = inside.batch(NODES), mapped.batch(NODES)
    assert torch.allclose(one.terms["to"], other.terms["to"], atol=2e-3)
    assert torch.allclose(one.messages, other.messages, atol=2e-3)
    assert {path.name for path in tmp_path.iterdir()} >= {"x", "o", "t", "to", "messages", "scores"}
    assert torch.equal(mapped.few(NODES).terms["to"], other.terms["to"])


def test_rows_of_a_few_nodes_are_computed_from_their_neighbourhoods_to_the_same_bits(each):
    inputs = RowInputs(each)
    few, many = inputs.few(NODES), RowInputs(each).batch(NODES)
    assert inputs._blocks == {}
    for name, rows in many.terms.items():
        assert torch.equal(few.terms[name], rows), name
    assert all(torch.equal(*pair) for pair in zip(few.hops, many.hops, strict=True))
    assert torch.allclose(few.messages, many.messages, atol=1e-6)
    assert torch.equal(few.scores, many.scores)


def test_no_node_reads_its_own_label(each):
    labels, node = each.labels, int(each.labels.nodes[3])
    codes = np.array(labels.codes)
    codes[3] = (codes[3] + 1) % labels.classes
    other = with_rows(
        type(each)(
            each.prepared,
            TrainingLabels(labels.nodes, codes, labels.classes),
            each.tendency,
            spread=each.spread,
            kind=each.kind,
            k=each.k,
            found=each.found,
        )
    )
    for read in ("batch", "few"):
        before, after = (getattr(RowInputs(view), read)(np.arange(160)).messages for view in (each, other))
        assert torch.allclose(before[node], after[node], atol=1e-6)
        assert not torch.allclose(before, after, atol=1e-6)


def test_a_plain_model_reads_the_given_edges_only(each):
    batch = RowInputs(each).batch(NODES, convolves=False)
    assert set(batch.terms) == {"x"}
    assert batch.messages is batch.scores is None
    assert len(batch.hops) == (5 if each.graph.directed else 3)


def test_the_first_hop_is_not_computed_twice(each):
    inputs = RowInputs(each)
    alone = each.kind != "both"
    assert (inputs.blocks("given1") is inputs.blocks({"homophily": "t"}.get(each.kind, "o"))) == alone
    assert len(inputs.hops_of(convolves=True)) == len(inputs.hops) - alone


def test_too_little_disk_is_noticed_before_anything_is_computed(each, tmp_path, monkeypatch):
    import otherhalf.system.row_blocks as row_blocks

    monkeypatch.setattr(row_blocks, "SPARE", 10**18)
    with pytest.raises(InputError, match=r"the precomputed rows need .* on the disk"):
        RowInputs(each, tmp_path, most_in_memory=0)
    assert list(tmp_path.iterdir()) == []


def test_temporary_files_are_removed_with_the_inputs(each):
    inputs = RowInputs(each, most_in_memory=0)
    folder = inputs.blocks("x").folder
    assert folder.is_dir()
    del inputs
    assert not folder.exists()


def test_a_view_without_features_of_rows_says_so(view):
    with pytest.raises(ValueError, match="features"):
        RowInputs(view)


def test_labels_are_left_out_where_they_are_not_read(each):
    silent = with_rows(
        type(each)(
            each.prepared, each.labels, each.tendency, kind=each.kind, found=each.found, reads_labels=False
        )
    )
    assert RowInputs(silent).batch(NODES).messages is None


def test_an_isolated_node_has_rows():
    edges = GRAPH.edges[:, (GRAPH.edges != 5).all(axis=0)]
    graph = replace(GRAPH, edges=edges)
    inputs = RowInputs(with_rows(view_of(graph, PARTS)))
    assert not inputs.blocks("given1").take(np.array([5])).any()
    assert torch.isfinite(inputs.few(NODES).terms["to"]).all()

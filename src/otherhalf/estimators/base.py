"""NodeClassifier: what every estimator does. An estimator fills the hooks that are abstract here."""

import hashlib
import json
import time
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from otherhalf.data.entries import catalogue_name
from otherhalf.data.reading import check_same_features
from otherhalf.errors import InputError
from otherhalf.estimators.feature_names import in_order_of
from otherhalf.estimators.feature_range import check_range
from otherhalf.estimators.fitted_on import FittedOn
from otherhalf.estimators.from_probabilities import FromProbabilities
from otherhalf.estimators.given import GraphLike, default_split, read_given
from otherhalf.estimators.held_out import HeldOut
from otherhalf.estimators.model_html import InNotebook
from otherhalf.estimators.new_nodes import KnownNodes
from otherhalf.estimators.saved import SavedModel
from otherhalf.graph import Graph, Split
from otherhalf.nn.inputs import Scaling, check_scaling
from otherhalf.nn.memory import Sizes, input_parts
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.device import usable_device
from otherhalf.system.fields import json_number, to_dict
from otherhalf.system.graph_checks import checked_indices
from otherhalf.system.need import Need, Stage
from otherhalf.system.probabilities import check_probabilities
from otherhalf.system.process import freed_memory_kept
from otherhalf.system.version import VERSION
from otherhalf.training.class_weights import by_name, weights_of
from otherhalf.training.loop import Monitor, OnStep
from otherhalf.training.metric_choice import AUTO, MetricChoice, choose_metric
from otherhalf.training.metrics import check_metric
from otherhalf.training.supervised import Supervision, check_trainable


class NodeClassifier(FromProbabilities, FittedOn, SavedModel, InNotebook, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A scikit-learn classifier of nodes, with a graph in place of X.

    After ``fit``: ``classes_``, ``settings_``, ``history_`` (losses and validation scores by stage),
    ``seconds_`` (duration by stage), ``metric_choice_`` (the metric, and why), ``reading_`` (how the
    tables of the graph were read, for the next tables; None for a graph that does not come from tables),
    ``n_features_in_`` and, if the features have names, ``feature_names_in_``.
    """

    identity: ClassVar[tuple[str, ...]] = ("seed", "device", "metric")
    """Arguments other than the settings that decide a fit."""

    seed: int
    device: str

    _awaited: tuple[IntArray, IntArray] | None = None  # validation nodes and codes, until they are predicted
    _cache: tuple[Graph, PreparedGraph, IntArray] | None = None  # the last graph, made ready

    def _store(self, arguments: dict[str, Any]) -> None:
        """Keep the arguments of ``__init__`` as attributes, as scikit-learn asks, and do nothing else."""
        for name, value in arguments.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    # ------------------------------------------------------------------ hooks

    @abstractmethod
    def resolved_settings(self, data_set: str = "") -> Any:
        """Return the settings of a fit; raise InputError if one of them is not allowed.

        Args:
            data_set: Name of the data set that the graph is by its content; empty for any other graph.
        """

    @abstractmethod
    def _fit(self, prepared: PreparedGraph, settings: Any, supervision: Supervision) -> dict[str, Any]:
        """Learn, and return the attributes to set on the estimator.

        They must hold ``history_`` and ``seconds_``, and ``settings_`` where the fit decided some of them.
        """

    @abstractmethod
    def _probabilities(self, prepared: PreparedGraph) -> FloatArray:
        """Return the ``[N, C]`` class probabilities of a graph whose known nodes come first."""

    def _probabilities_of(self, prepared: PreparedGraph, nodes: IntArray) -> FloatArray:
        """Return the rows of a few nodes; an estimator that can do it computes no other."""
        return self._probabilities(prepared)[nodes]

    def check_fit(self, graph: Graph, split: Split) -> Any:
        """Raise InputError if this fit cannot be done, or needs too much memory; return its settings."""
        settings = self.resolved_settings(catalogue_name(graph))
        usable_device(self.device)
        check_scaling(graph.x, settings.scaling)
        check_range(graph, Scaling.of(graph, settings.scaling))
        check_trainable(graph, split)
        check_metric(self.choose_metric(graph, split).name, graph.num_classes, graph.y[split.val])
        weights_of(settings, graph, split)
        self.need(graph, split).check()
        return settings

    def need(self, graph: Graph, split: Split) -> Need:
        """Return the memory that a fit needs in addition to the graph, by stages and parts."""
        settings = self.resolved_settings(catalogue_name(graph))
        return self._need(Sizes.of(graph, len(split.train)), settings)

    def _need(self, sizes: Sizes, settings: Any) -> Need:
        """Return the memory that a fit needs; that of a model which reads features and edges and no more."""
        return Need((Stage("the inputs", input_parts(sizes)),))

    def prediction_need(self, graph: Graph) -> Need:
        """Return the memory that a prediction needs at least, in addition to the graph."""
        return Need((Stage("the inputs", input_parts(Sizes.of(graph, 0))),), "the prediction")

    def choose_metric(self, graph: Graph, split: Split) -> MetricChoice:
        """Return the metric of a fit; ``auto`` chooses it by the labels."""
        return choose_metric(self.metric, graph.num_classes, graph.y[split.train], graph.y[split.val])

    # ------------------------------------------------------------------ learning

    def fit(
        self,
        graph: GraphLike = None,
        y: Any = None,
        *,
        split: Split | None = None,
        checkpoints: str | Path | None = None,
        on_step: OnStep | None = None,
        **given: Any,
    ) -> Self:
        """Learn from a graph.

        The forms are ``fit(graph, split)``, ``fit(nodes=…, edges=…)`` and ``fit(X, y, edge_index=…)``.

        Args:
            graph: The graph: a Graph, a networkx graph or a PyG ``Data``. Or the features X, one row per
                node: an array, a sparse matrix or a pandas table.
            y: The split, beside a graph. Beside X, the ``[N]`` labels; −1, NaN and None mean unknown.
            split: Labels of ``train`` teach and labels of ``val`` select; no other label is read. Default:
                the split that ``split_column`` or ``split_time`` names, or ``split(graph, "uniform", seed)``.
            checkpoints: Folder that keeps the state of the training. A fit that was killed and is started
                again with the same folder continues, and ends bit-equal to one that was not killed.
            on_step: Progress callback (stage, done, total).
            given: ``edge_index``, ``[2, E]`` or a list of pairs of rows of X, and ``directed``. Or the tables
                ``nodes`` and ``edges``, and any argument of :meth:`Graph.from_frames
                <otherhalf.graph.Graph.from_frames>`: ``label``, ``id``, ``features``, ….
        """
        started = time.perf_counter()
        if isinstance(y, Split):
            if split is not None:
                raise InputError("two splits are given: give one")
            y, split = None, y
        graph = read_given(graph, {**given, "y": y})
        split = default_split(graph, self.seed) if split is None else split
        settings = self.check_fit(graph, split)
        choice = self.choose_metric(graph, split)
        monitor = Monitor(on_step=on_step)
        if checkpoints is not None:
            monitor = Monitor(Path(checkpoints), self.run_identity(graph, split), on_step)
        scaling = Scaling.of(graph, settings.scaling)
        prepared = PreparedGraph(graph, scaling, device=usable_device(self.device))
        supervised = split, self.seed, choice.name, monitor, weights_of(settings, graph, split)
        with freed_memory_kept():
            learned = self._fit(prepared, settings, Supervision(*supervised))
        # Attributes are set only now: a fit that fails leaves the result of an earlier one intact.
        self.settings_ = settings
        self.classes_, self.metric_choice_ = graph.classes, choice
        self.reading_ = graph.reading
        self._scaling, self._known = prepared.scaling, KnownNodes.of(graph)
        self._cache = (graph, prepared, np.arange(graph.num_nodes))
        for name, value in learned.items():
            setattr(self, name, value)
        self._held_out = None
        # Nodes that the model was fitted once more to say nothing of others.
        refitted = getattr(getattr(self.settings_, "ensemble", None), "refit", False)
        self._awaited = None if refitted else (split.val, graph.y[split.val])
        self.seconds_["total"] = time.perf_counter() - started
        return self

    def run_identity(self, graph: Graph, split: Split) -> str:
        """Return a hash of everything that decides a fit; a checkpoint of another fit is not loaded."""
        settings = to_dict(self.resolved_settings(catalogue_name(graph)))
        values = [VERSION, type(self).__name__, graph.unlabelled_fingerprint, settings]
        chosen = self.choose_metric(graph, split).name if self.metric == AUTO else self.metric
        values += [chosen if name == "metric" else getattr(self, name) for name in self.identity]
        digest = hashlib.sha256(json.dumps(values, default=json_number).encode())
        for part in (split.train, split.val):
            digest.update(part.tobytes())
            digest.update(graph.y[part].tobytes())
        return digest.hexdigest()

    # ------------------------------------------------------------------ prediction

    def prepare(self, graph: Graph) -> tuple[PreparedGraph, IntArray]:
        """Return a graph made ready for this model, known nodes first, and the place of each of its nodes.

        The last graph is kept, so that nothing is computed twice from it.
        """
        check_is_fitted(self, "classes_")
        device = usable_device(self.device)
        if self._cache is not None and self._cache[0] is not graph:
            self._keep_held_out()
        if self._cache is None or self._cache[0] is not graph or self._cache[1].device != device:
            check_same_features(self.reading_, graph.reading)
            ordered, order = self._known.known_first(in_order_of(self._feature_names, graph))
            num_known = self._known.count
            check_range(ordered, self._scaling, num_known)
            self.prediction_need(ordered).check()
            prepared = PreparedGraph(ordered, self._scaling, num_known=num_known, device=device)
            self._cache = (graph, prepared, order)
        return self._cache[1:]

    def predict_proba(
        self, graph: GraphLike = None, nodes: Any = None, **given: Any
    ) -> npt.NDArray[np.float32]:
        """Return the ``[N, C]`` class probabilities of every node, in the order of ``classes_``.

        Args:
            graph: The fitted graph, or that graph with nodes and edges added; or its features X.
            nodes: The only nodes to predict, as positions in ``graph``: one row for each, as among all. A
                model over rows then computes the neighbourhoods of these nodes only. With tables, it is the
                table of the nodes, as for :meth:`fit`.
            given: ``edge_index``, or ``nodes`` and ``edges``, as for :meth:`fit`. Columns of tables have the
                meaning that they had there.
        """
        if nodes is not None and (graph is None or "edges" in given):
            given, nodes = {**given, "nodes": nodes}, None
        prepared, order = self.prepare(self.read(graph, given))
        if nodes is not None:
            return self._of_few(prepared, order, nodes)
        probabilities = self._probabilities(prepared)
        check_probabilities(probabilities, prepared.graph.node_names())
        result = np.empty_like(probabilities)
        result[order] = probabilities
        if self._awaited is not None:
            held_out, codes = self._awaited
            self._held_out, self._awaited = HeldOut.of(probabilities[held_out], codes), None
        return result

    def _of_few(self, prepared: PreparedGraph, order: IntArray, nodes: Any) -> FloatArray:
        """Return the probabilities of nodes that are positions in the graph as it was given."""
        wanted = checked_indices("nodes", nodes)
        if len(wanted) and wanted.max() >= len(order):
            raise InputError(
                f"nodes has {wanted.max()}, but the graph has {len(order)} nodes (0 … N−1): give positions "
                "in this graph"
            )
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        different, again = np.unique(place[wanted], return_inverse=True)
        probabilities = self._probabilities_of(prepared, different)
        check_probabilities(probabilities, prepared.graph.node_names()[different])
        return probabilities[again]

    def _keep_held_out(self) -> None:
        """Keep what the validation nodes say of the fitted graph, before another graph takes its place."""
        if self._awaited is not None and self._cache is not None:
            self.predict_proba(self._cache[0])

    def _parameters(self) -> dict[str, Any]:
        """Return the arguments as JSON can have them: its names are text."""
        return {name: by_name(v) if name == "class_weight" else v for name, v in self.get_params().items()}

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {**super().__getstate__()}
        state.pop("_cache", None)  # can be computed again
        return state

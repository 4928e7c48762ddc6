"""What an estimator tells of the graph that it was fitted on, by the names that scikit-learn uses."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from otherhalf.data.reading import Reading
from otherhalf.estimators.new_nodes import KnownNodes


class FittedOn:
    """Sizes and names of the fitted graph; before a fit they raise scikit-learn's NotFittedError."""

    classes_: npt.NDArray[Any]
    reading_: Reading | None = None
    _known: KnownNodes

    @property
    def num_known_(self) -> int:
        """Number of nodes of the fitted graph."""
        check_is_fitted(self, "classes_")
        return self._known.count

    @property
    def n_features_in_(self) -> int:
        """Number of features of the fitted graph, after the columns of tables became numbers."""
        check_is_fitted(self, "classes_")
        return self._known.features

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """Names of these features; there is no such attribute if the fitted graph did not have names."""
        check_is_fitted(self, "classes_")
        if self._feature_names is None:
            raise AttributeError(
                "the features of the fitted graph had no names: fit to tables, or give feature_names"
            )
        return np.array(self._feature_names, dtype=object)

    @property
    def _feature_names(self) -> tuple[str, ...] | None:
        """Names of the features of the fitted graph, if they had some."""
        read = () if self.reading_ is None else self.reading_.feature_names
        return self._known.feature_names or (read if len(read) == self._known.features else None)

    @property
    def _sizes(self) -> tuple[int, int, int]:
        """Features, classes and nodes of the fitted graph, which the modules are made for."""
        return self._known.features, len(self.classes_), self._known.count

"""Every estimator as a folder of files."""

from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from otherhalf.data.reading import Reading
from otherhalf.estimators import model_folder
from otherhalf.estimators.held_out import HeldOut
from otherhalf.estimators.new_nodes import KnownNodes
from otherhalf.estimators.settings import check_settings
from otherhalf.nn.inputs import Scaling
from otherhalf.system.fields import from_dict, to_dict
from otherhalf.system.paths import user_path
from otherhalf.system.typed import typed
from otherhalf.training.checkpoint import History
from otherhalf.training.metric_choice import MetricChoice


class SavedModel:
    """Methods that write an estimator to a folder and read it again."""

    settings_type: ClassVar[type]

    classes_: npt.NDArray[Any]
    settings_: Any
    history_: dict[str, History]
    seconds_: dict[str, float]
    metric: str
    metric_choice_: MetricChoice
    reading_: Reading | None
    _known: KnownNodes
    _scaling: Scaling
    _held_out: HeldOut | None

    @abstractmethod
    def _parts(self) -> dict[str, nn.Module]:
        """Return the trained modules by their names in the model folder."""

    def _description(self) -> dict[str, Any]:
        """Return what the model folder's JSON holds in addition to what every estimator writes."""
        return {}

    def _tensors(self) -> dict[str, Tensor]:
        """Return tensors to save in addition to the weights."""
        return {}

    def _restore(self, description: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        """Set what :meth:`_description` and :meth:`_tensors` wrote, and make the untrained modules."""

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """Return the arguments as JSON can have them."""

    @abstractmethod
    def _keep_held_out(self) -> None:
        """Keep what the validation nodes say of the fitted graph."""

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a folder: JSON and safetensors, never a pickle."""
        check_is_fitted(self, "classes_")
        self._keep_held_out()
        content = {
            "parameters": self._parameters(),
            "settings": to_dict(self.settings_),
            "classes": self.classes_.tolist(),
            "known": self._known.to_dict(),
            "scaling": self._scaling.kind,
            "history": {stage: vars(history) for stage, history in self.history_.items()},
            "seconds": self.seconds_,
            "metric_choice": vars(self.metric_choice_),
            "held_out": self._held_out and self._held_out.to_dict(),
            "reading": self.reading_ and self.reading_.to_dict(),
            **self._description(),
        }
        tensors = self._tensors() | self._scaling.tensors()
        tensors |= {} if self._held_out is None else self._held_out.tensors()
        tensors |= {} if self.reading_ is None else self.reading_.tensors()
        for name, module in self._parts().items():
            tensors |= {f"{name}/{key}": value for key, value in module.state_dict().items()}
        model_folder.write_folder(user_path(path), type(self).__name__, content, tensors)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model written by :meth:`save`; raise InputError if a file was altered or cut short."""
        folder = user_path(path)
        description, tensors = model_folder.read_folder(folder, cls.__name__)
        with model_folder.damage_refused(folder, cls.__name__):
            model = cls._described(description, tensors)
            for name, module in model._parts().items():
                model_folder.load_weights(module, name, tensors, folder)
        return model

    @classmethod
    def _described(cls, description: dict[str, Any], tensors: dict[str, Tensor]) -> Self:
        """Return the model of a folder, with untrained modules."""
        given = {name: value for name, value in description["parameters"].items() if value is not None}
        model = cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in given.items()})
        model.settings_ = from_dict(cls.settings_type, description["settings"])
        check_settings(model.settings_)
        model.classes_ = model_folder.read_classes(description["classes"])
        history = description["history"]
        if "losses" in history:  # a baseline's, written before every stage had a name
            history = {"classifier": history}
        model.history_ = {stage: History.from_dict(values) for stage, values in history.items()}
        model.seconds_ = {str(stage): float(value) for stage, value in description["seconds"].items()}
        asked = MetricChoice(model.metric, "")  # all that older versions wrote
        model.metric_choice_ = typed(MetricChoice, description.get("metric_choice", vars(asked)))
        model._held_out = HeldOut.restore(description.get("held_out"), tensors)
        model.reading_ = Reading.from_parts(description.get("reading"), tensors)
        model._known = KnownNodes.from_dict(description["known"])
        model._scaling = Scaling.from_tensors(description["scaling"], tensors)
        model._restore(description, tensors)
        return model

"""Models on disk: what was saved comes back bit for bit, and damage is noticed and named."""

import errno
import functools
import itertools
import json
import operator
import os
import pickle
import random
import shutil
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from otherhalf import BaselineClassifier, GOALClassifier, Graph, InputError, load, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators import model_folder
from otherhalf.estimators.model_folder import FORMAT_VERSION, MODEL_FILE

SBM = contextual_sbm(num_nodes=150, num_classes=3, num_features=6, homophily=0.1, signal=3.0, seed=4)
NAMES = np.array(["ä", "b,c", "d"])
GRAPH = Graph(edges=SBM.edges, x=SBM.x, y=NAMES[SBM.y], ids=[f"n{i}" for i in range(150)], name="small")
GROWN = Graph(
    edges=np.concatenate([SBM.edges, [[150, 151, 150], [0, 1, 151]]], axis=1),
    x=np.concatenate([SBM.x, SBM.x[:2] + 0.1]),
    ids=[f"n{i}" for i in range(152)],
)


def quick(**options):
    return GOALClassifier(**{"encoder": "mlp", "epochs": 5, "hidden": 8, **options})


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(GRAPH, split(GRAPH))


@pytest.fixture(scope="module")
def other():
    return quick(seed=1).fit(GRAPH, split(GRAPH))


@pytest.fixture
def folder(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    return tmp_path / "model"


def weights_of(folder):
    (path,) = folder.glob("*.safetensors")
    return path


def refusal(path):
    with pytest.raises(InputError) as caught:
        GOALClassifier.load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def edit(folder, change):
    """Change the description and give it the checksum that belongs to it, as a forger would."""
    path = folder / MODEL_FILE
    description = json.loads(path.read_text())
    change(description)
    description["checksum"] = model_folder._checksum(description)
    path.write_text(json.dumps(description))


class TestRoundTrip:
    def test_predictions_bit_for_bit(self, fitted, folder):
        loaded = GOALClassifier.load(folder)
        assert np.array_equal(loaded.predict_proba(GRAPH), fitted.predict_proba(GRAPH))
        assert np.array_equal(loaded.predict_proba(GROWN), fitted.predict_proba(GROWN))
        assert np.array_equal(loaded.predict(GRAPH), fitted.predict(GRAPH))

    def test_everything_learned_comes_back(self, fitted, folder):
        loaded = GOALClassifier.load(str(folder))
        assert loaded.get_params() == fitted.get_params()
        assert loaded.classes_.tolist() == fitted.classes_.tolist() == sorted(NAMES)
        assert loaded.settings_ == fitted.settings_
        assert loaded.history_ == fitted.history_
        assert loaded.coefficients_ == fitted.coefficients_
        assert loaded.seconds_ == fitted.seconds_
        assert loaded.diagnosis_.to_dict() == fitted.diagnosis_.to_dict()
        assert np.array_equal(loaded.diagnosis_.connected, fitted.diagnosis_.connected)
        assert np.array_equal(loaded.missing_half_.pairs, fitted.missing_half_.pairs)
        assert repr(loaded.missing_half_) == repr(fitted.missing_half_)

    def test_a_loaded_model_saves_the_same_files(self, folder, tmp_path):
        GOALClassifier.load(folder).save(tmp_path / "again")
        for path in folder.iterdir():
            assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()

    @pytest.mark.parametrize("encoder", ["gcn", "gat", "structure"])
    def test_sparse_features_number_classes_and_other_encoders(self, encoder, tmp_path):
        x = sp.csr_matrix(np.maximum(SBM.x, 0))
        graph = Graph(edges=SBM.edges, x=x, y=SBM.y)
        model = quick(encoder=encoder, coefficients=(1, 2, 0, 0), learn_coefficients=False, norm="batch")
        model.fit(graph, split(graph)).save(tmp_path)
        loaded = GOALClassifier.load(tmp_path)
        assert np.array_equal(loaded.predict_proba(graph), model.predict_proba(graph))
        assert loaded.predict(graph).dtype == model.predict(graph).dtype == np.int64
        assert loaded.get_params() == model.get_params()

    def test_numbers_from_numpy_as_arguments(self, tmp_path):
        model = quick(seed=np.int64(2), k=np.int32(5), lr=np.float32(0.02)).fit(GRAPH, split(GRAPH))
        model.save(tmp_path)
        loaded = GOALClassifier.load(tmp_path)
        assert (loaded.seed, loaded.k, loaded.lr) == (2, 5, np.float32(0.02))
        assert np.array_equal(loaded.predict_proba(GRAPH), model.predict_proba(GRAPH))


class TestBaselines:
    @pytest.mark.parametrize(
        ("kind", "options"),
        [
            ("mlp", {"scaling": "none"}),
            ("gat", {}),
            ("gprgnn", {"steps": 3, "walk_dropout": 0.5}),
            ("linkx", {"norm": "batch"}),
            ("acmgcn", {"layers": 3}),
        ],
    )
    def test_predictions_bit_for_bit(self, kind, options, tmp_path):
        model = BaselineClassifier(kind, hidden=8, epochs=4, **options).fit(GRAPH, split(GRAPH))
        model.save(tmp_path)
        loaded = BaselineClassifier.load(tmp_path)
        assert loaded.get_params() == model.get_params()
        assert (loaded.settings_, loaded.history_, loaded.seconds_) == (
            model.settings_,
            model.history_,
            model.seconds_,
        )
        for graph in (GRAPH, GROWN):
            assert np.array_equal(loaded.predict_proba(graph), model.predict_proba(graph))
        assert loaded.predict(GRAPH).tolist() == model.predict(GRAPH).tolist()

    def test_an_unfitted_one_has_nothing_to_save(self, tmp_path):
        with pytest.raises(NotFittedError):
            BaselineClassifier("gcn").save(tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_each_class_reads_its_own(self, folder, tmp_path):
        with pytest.raises(InputError, match=r"holds a GOALClassifier: load it with GOALClassifier\.load"):
            BaselineClassifier.load(folder)
        BaselineClassifier("mlp", hidden=8, epochs=2).fit(GRAPH, split(GRAPH)).save(tmp_path / "mlp")
        assert "holds a BaselineClassifier: load it with" in refusal(tmp_path / "mlp")

    def test_a_folder_from_before_there_were_two_is_goals(self, fitted, folder):
        edit(folder, lambda d: d.pop("class"))
        assert np.array_equal(GOALClassifier.load(folder).predict_proba(GRAPH), fitted.predict_proba(GRAPH))


OLD = Path(__file__).parent / "models_of_0_1"


@pytest.mark.parametrize("path", sorted(OLD.iterdir()), ids=lambda path: path.name)
def test_models_written_by_the_first_version(path, tmp_path):
    graph = load("csbm:nodes=40,classes=3,features=4,degree=4,homophily=0.1,seed=5")
    estimator = GOALClassifier if path.name.startswith("goal") else BaselineClassifier
    model = estimator.load(path)
    expected = np.loadtxt(path / "probabilities.csv", delimiter=",")
    np.testing.assert_allclose(model.predict_proba(graph), expected, atol=1e-5)
    assert model.history_["classifier"].epochs == 10
    model.save(tmp_path)  # as this version writes it
    again = estimator.load(tmp_path)
    assert np.array_equal(again.predict_proba(graph), model.predict_proba(graph))
    assert again.get_params() == model.get_params()


class TestDamaged:
    def test_newer_format(self, folder):
        edit(folder, lambda d: d.update(format_version=FORMAT_VERSION + 1))
        message = refusal(folder)
        assert f"has format {FORMAT_VERSION + 1} and this otherhalf reads up to {FORMAT_VERSION}" in message
        assert "upgrade otherhalf" in message

    def test_weights_cut_short(self, folder):
        path = weights_of(folder)
        path.write_bytes(path.read_bytes()[:-1])
        assert path.name in refusal(folder)
        assert "altered or cut short" in refusal(folder)

    def test_one_bit_of_the_weights_altered(self, folder):
        path = weights_of(folder)
        content = bytearray(path.read_bytes())
        content[-5] ^= 1
        path.write_bytes(content)
        assert path.name in refusal(folder)

    def test_weights_missing(self, folder):
        path = weights_of(folder)
        path.unlink()
        assert f"{path.name} cannot be read (No such file or directory)" in refusal(folder)

    def test_description_cut_short(self, folder):
        path = folder / MODEL_FILE
        path.write_text(path.read_text()[:-10])
        assert f"{path} is damaged or cut short" in refusal(folder)

    def test_description_empty_or_binary(self, folder):
        for content in (b"", b"\xff\xfe\x00"):
            (folder / MODEL_FILE).write_bytes(content)
            assert "model.json is damaged or cut short" in refusal(folder)

    def test_description_altered(self, folder):
        path = folder / MODEL_FILE
        assert '"seed": 0' in path.read_text()
        path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
        assert f"{path} was altered after it was written" in refusal(folder)

    def test_laid_out_otherwise_is_not_altered(self, fitted, folder):
        path = folder / MODEL_FILE
        path.write_text(json.dumps(json.loads(path.read_text()), indent=4, sort_keys=True))
        loaded = GOALClassifier.load(folder)
        assert np.array_equal(loaded.predict_proba(GRAPH), fitted.predict_proba(GRAPH))

    @pytest.mark.parametrize("content", ["{}", '{"format_version": "1"}', '{"format_version": true}'])
    def test_some_other_json(self, folder, content):
        (folder / MODEL_FILE).write_text(content)
        assert "model.json is not a model of otherhalf" in refusal(folder)

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            ("[]", "holds no JSON object"),
            ("null", "holds no JSON object"),
            ("[" * 100_000, "nested too deeply"),
            ('{"a":' * 100_000, "nested too deeply"),
            ('{"format_version": ' + "9" * 5000 + "}", "integer string conversion"),
        ],
    )
    def test_json_that_no_model_has(self, folder, content, reason):
        (folder / MODEL_FILE).write_text(content)
        assert reason in refusal(folder)

    def test_description_missing(self, folder, tmp_path):
        (folder / MODEL_FILE).unlink()
        assert f"{folder} holds no model.json" in refusal(folder)
        assert "nowhere holds no model.json" in refusal(tmp_path / "nowhere")

    def test_weights_of_another_shape(self, folder):
        edit(folder, lambda d: d["settings"]["goal"]["shape"].update(hidden=9))
        assert "do not fit the model described there" in refusal(folder)


def paths(value, place=()):
    """The place of every value in nested dictionaries and lists."""
    if place:
        yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in items:
        if not isinstance(name, int) or name == 0:  # the first of a list stands for all
            yield from paths(part, (*place, name))


class TestForged:
    """Files with the right checksums that no version of this package has written."""

    @pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "sub/x.safetensors", "", 5, None, "a\0"])
    def test_weights_of_another_folder(self, folder, name):
        edit(folder, lambda d: d.update(weights=name))
        assert "names no weights file of otherhalf" in refusal(folder)

    def test_links_and_pipes(self, folder, tmp_path):
        path = weights_of(folder)
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        assert "is a link to a file outside its folder" in refusal(folder)
        for name in (path.name, MODEL_FILE):
            (folder / name).unlink()
            os.mkfifo(folder / name)
            assert f"{name} is not a file" in refusal(folder)

    def test_missing_and_mistyped_fields(self, folder):
        """Values of a description removed, and replaced by others: refused, or loaded."""
        whole = json.loads((folder / MODEL_FILE).read_text())
        outcomes = Counter()
        others = ("removed", None, [], {}, "text", -1, 1e308, [[]], True)
        changes = random.Random(0).sample(list(itertools.product(paths(whole), others)), 200)
        for place, other in changes:
            description = json.loads(json.dumps(whole))
            target = functools.reduce(operator.getitem, place[:-1], description)
            if other == "removed":
                del target[place[-1]]
            else:
                target[place[-1]] = other
            description["checksum"] = model_folder._checksum(description)
            (folder / MODEL_FILE).write_text(json.dumps(description))
            try:
                GOALClassifier.load(folder)
                outcomes["loaded"] += 1
            except InputError:
                outcomes["refused"] += 1
        assert outcomes["refused"] > outcomes["loaded"]


class TestTheUsersFiles:
    def test_only_the_weights_of_the_older_model_are_removed(self, folder, other):
        old = weights_of(folder).name
        own = [f"weights-{'0' * 16}.safetensors", "weights-mine.safetensors", "notes.txt"]
        for name in own:
            (folder / name).write_text("precious")
        other.save(folder)
        named = json.loads((folder / MODEL_FILE).read_text())["weights"]
        assert named != old
        assert {path.name for path in folder.iterdir()} == {MODEL_FILE, named, *own}

    def test_a_foreign_description_names_nothing_that_is_removed(self, tmp_path, other):
        (tmp_path / "precious.txt").write_text("precious")
        (tmp_path / "model").mkdir()
        (tmp_path / "model" / MODEL_FILE).write_text(json.dumps({"weights": "../precious.txt"}))
        other.save(tmp_path / "model")
        assert (tmp_path / "precious.txt").read_text() == "precious"

    def test_an_empty_path(self, fitted):
        with pytest.raises(InputError, match="an empty path names nothing"):
            fitted.save("")

    def test_a_full_disk_leaves_the_older_model(self, folder, other, monkeypatch):
        before = {path.name: path.read_bytes() for path in folder.iterdir()}

        def full(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        for write in ("write_text", "write_bytes"):
            monkeypatch.setattr(Path, write, full)
            with pytest.raises(InputError, match=r"cannot be written .*: free some space"):
                other.save(folder)
            monkeypatch.undo()
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    def test_saves_at_the_same_time(self, fitted, other, tmp_path):
        wrong = []

        def save_often(model):
            try:
                for _ in range(10):
                    model.save(tmp_path)
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=save_often, args=(model,)) for model in (fitted, other)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            with suppress(InputError):
                GOALClassifier.load(tmp_path)
        for thread in threads:
            thread.join()
        assert wrong == []
        assert GOALClassifier.load(tmp_path).seed in (0, 1)
        assert len(list(tmp_path.iterdir())) == 2


class Trap:
    """Loading a pickle of this makes the file ``sprung``."""

    def __init__(self, sprung):
        self.sprung = sprung

    def __reduce__(self):
        return (open, (str(self.sprung), "w"))


class TestPickles:
    @pytest.fixture
    def trap(self, tmp_path):
        yield pickle.dumps(Trap(tmp_path / "sprung"))
        assert not (tmp_path / "sprung").exists()

    @pytest.mark.parametrize("name", ["model.pkl", "model.pickle", "model.pt", "model.pth", "model.joblib"])
    def test_file(self, tmp_path, trap, name):
        (tmp_path / name).write_bytes(trap)
        assert f"{name} is a pickle, and loading one can run any code" in refusal(tmp_path / name)

    def test_file_without_a_telling_name(self, tmp_path, trap):
        (tmp_path / "model").write_bytes(trap)
        assert "model holds no model.json" in refusal(tmp_path / "model")

    def test_folder_with_a_pickle_for_a_model(self, tmp_path, trap):
        (tmp_path / "model.pkl").write_bytes(trap)
        assert "holds no model.json" in refusal(tmp_path)

    def test_pickle_for_the_description(self, folder, trap):
        (folder / MODEL_FILE).write_bytes(trap)
        assert "model.json is damaged" in refusal(folder)

    def test_pickle_for_the_weights(self, folder, trap):
        weights_of(folder).write_bytes(trap)
        assert "altered or cut short" in refusal(folder)

    def test_pickle_for_the_weights_with_its_own_checksum(self, folder, trap):
        weights_of(folder).write_bytes(trap)
        digest = model_folder.hashlib.sha256(trap).hexdigest()
        edit(folder, lambda d: d.update(weights_sha256=digest))
        assert "is not a safetensors file" in refusal(folder)


class TestReplacing:
    def test_one_weights_file_is_left(self, folder, other):
        old = weights_of(folder).name
        other.save(folder)
        names = {path.name for path in folder.iterdir()}
        assert names == {MODEL_FILE, weights_of(folder).name}
        assert old not in names
        assert np.array_equal(GOALClassifier.load(folder).predict_proba(GRAPH), other.predict_proba(GRAPH))

    def test_the_same_model_again(self, folder, fitted):
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        fitted.save(folder)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    @pytest.mark.parametrize("writes_before", [0, 1])
    def test_a_kill_in_between_leaves_the_old_model(
        self, folder, fitted, other, monkeypatch, writes_before, tmp_path
    ):
        class Killed(BaseException):
            pass

        done = []
        original = model_folder.atomic_write

        @contextmanager
        def deadly(path):
            if len(done) == writes_before:
                raise Killed
            done.append(path)
            with original(path) as temporary:
                yield temporary

        monkeypatch.setattr(model_folder, "atomic_write", deadly)
        with pytest.raises(Killed):
            other.save(folder)
        assert len(done) == writes_before
        assert np.array_equal(GOALClassifier.load(folder).predict_proba(GRAPH), fitted.predict_proba(GRAPH))

        monkeypatch.undo()
        other.save(folder)
        assert {path.name for path in folder.iterdir()} == {MODEL_FILE, weights_of(folder).name}

    def test_a_moved_folder_loads(self, folder, fitted, tmp_path):
        shutil.move(folder, tmp_path / "elsewhere")
        loaded = GOALClassifier.load(tmp_path / "elsewhere")
        assert np.array_equal(loaded.predict_proba(GRAPH), fitted.predict_proba(GRAPH))

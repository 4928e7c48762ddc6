import pickle
import sys
from types import SimpleNamespace

import pytest
from tests.ray_nodes import RAY

from otherhalf.cluster import remote
from otherhalf.cluster.versions import own_versions
from otherhalf.errors import InputError

pytestmark = RAY


def test_a_worker_names_its_versions_of_what_is_expected():
    name, found = remote._code()({**own_versions(), "no-such-library": "1"})
    assert name
    assert found == {**own_versions(), "no-such-library": ""}


def test_a_worker_without_the_package_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "otherhalf.system.version", None)
    assert remote._code()(own_versions())[1]["otherhalf"] in ("", own_versions()["otherhalf"])


def test_nothing_is_unpickled_before_the_versions_agree(monkeypatch):
    plain = SimpleNamespace(remote=lambda **settings: lambda what: what)
    monkeypatch.setitem(sys.modules, "ray", plain)
    other = {**own_versions(), "otherhalf": "9.9"}
    attempt = remote.remote_call.__wrapped__(1)
    assert attempt(other, b"no pickle", b"no pickle", [])[0] == "refused"
    assert attempt(own_versions(), pickle.dumps(max), pickle.dumps((1, 2)), []) == ("done", 2)
    holder = remote.remote_holder.__wrapped__(1)
    assert holder(other, b"no pickle", b"no pickle").ask("upper", b"")[0] == "refused"
    made = holder(own_versions(), pickle.dumps(str), pickle.dumps(("a",)))
    assert made.ask("upper", pickle.dumps(())) == ("done", "A")


def test_an_actor_with_another_version_is_refused(tasks, monkeypatch):
    monkeypatch.setattr(tasks, "_versions", {**own_versions(), "otherhalf": "9.9"})
    actor = tasks.actor(str, "a")
    with pytest.raises(InputError, match=r"and this process has otherhalf 9\.9"):
        tasks.ask([(actor, "upper", ())])
    tasks.ray.kill(actor)

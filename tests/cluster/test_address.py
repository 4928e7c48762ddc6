import socket
import time

import pytest

from otherhalf.cluster import address
from otherhalf.cluster.address import Address, check_installed
from otherhalf.errors import InputError


def test_the_three_forms():
    assert Address.parse("ray") == Address("")
    assert Address.parse("ray").is_local
    assert Address.parse("ray://auto") == Address("auto")
    assert not Address.parse("ray://auto").is_local
    assert Address.parse("ray://head-1.lan:6379") == Address("head-1.lan:6379")
    assert Address.parse("ray://[::1]:6379") == Address("[::1]:6379")


@pytest.mark.parametrize(
    "text", ["ray://", "ray://head", "ray://head:", "ray://head:0", "ray://head:70000", "ray://a b:1"]
)
def test_what_is_no_address(text):
    with pytest.raises(InputError, match=r"is no address of a Ray: give ray, ray://auto or ray://HOST:PORT"):
        Address.parse(text)


def test_nothing_listens_there():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{unused.getsockname()[1]}"
    begun = time.monotonic()
    with pytest.raises(InputError, match=rf"no Ray answers at {place} \(Connection refused\): give"):
        Address(place).check_answers()
    assert time.monotonic() - begun < address.SECONDS_TO_ANSWER


def test_what_is_not_checked_and_what_listens():
    Address("").check_answers()
    Address("auto").check_answers()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        Address(f"127.0.0.1:{listening.getsockname()[1]}").check_answers()


def test_without_ray_one_sentence_names_the_extra(monkeypatch):
    monkeypatch.setattr(address, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"Ray is not installed: pip install 'otherhalf\[cluster\]'"):
        check_installed()

import pytest

from otherhalf.errors import InputError
from otherhalf.system.device import usable_device


def test_the_processor_can_be_used():
    assert usable_device("cpu").type == "cpu"


@pytest.mark.parametrize("name", ["tpu", "meta", "cuda:99"])
def test_other_devices_are_refused(name):
    with pytest.raises(InputError, match=f"the device '{name}' cannot be used here: give cpu"):
        usable_device(name)

"""The device that models compute on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otherhalf.errors import InputError

if TYPE_CHECKING:
    import torch

DEVICES = ("cpu", "cuda")


def usable_device(name: str) -> torch.device:
    """Return the device of this name; raise InputError if this machine cannot compute on it."""
    import torch

    try:
        if not isinstance(name, str):
            raise RuntimeError("a device is a name")
        device = torch.device(name)
        torch.empty(1, device=device)
        # torch knows devices that make tensors but do not train (meta), or have no sparse products (mps).
        if device.type not in DEVICES:
            raise RuntimeError(f"{device.type} is not supported")
    except (RuntimeError, AssertionError) as error:
        raise InputError(
            f"the device {name!r} cannot be used here: give cpu, or cuda where there is a GPU"
        ) from error
    return device

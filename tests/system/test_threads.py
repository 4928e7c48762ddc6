"""Idle threads sleep soon, unless the user chose."""

import os
import subprocess
import sys
from contextlib import suppress

import pytest
import torch

from otherhalf.system.threads import SMALL, threads_asked_for, worthwhile_threads

NAMES = "GOMP_SPINCOUNT", "OMP_WAIT_POLICY"


@pytest.mark.parametrize(
    ("before", "after"),
    [({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "None")],
)
def test_an_import_says_so_before_torch_is_there(before, after):
    code = "import otherhalf, os, sys; print(os.environ.get('GOMP_SPINCOUNT'), 'torch' in sys.modules)"
    environment = {name: value for name, value in os.environ.items() if name not in NAMES} | before
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.split() == [after, "False"]


@pytest.mark.parametrize(("nodes", "expected"), [(SMALL - 1, 1), (SMALL, 2)])
def test_a_small_graph_is_trained_with_one_thread_and_leaves_the_number_as_it_was(nodes, expected):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with suppress(ValueError), worthwhile_threads(nodes):
            assert torch.get_num_threads() == expected
            assert threads_asked_for() == 2
            with worthwhile_threads(SMALL):
                assert threads_asked_for() == 2
            raise ValueError
        assert torch.get_num_threads() == threads_asked_for() == 2
    finally:
        torch.set_num_threads(before)


def test_nobody_gets_more_threads_than_torch_has():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with worthwhile_threads(1_000_000):
            assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)

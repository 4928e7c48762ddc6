import sys

import numpy as np
import torch

from otherhalf import __version__
from otherhalf.cluster.versions import own_versions, refusal


def test_the_versions_are_those_of_this_process():
    found = own_versions()
    assert found["Python"] == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert found["otherhalf"] == __version__
    assert found["numpy"] == np.__version__
    assert torch.__version__.startswith(found["torch"])


def test_the_sentence_names_what_differs_and_nothing_else():
    found = {**own_versions(), "otherhalf": "0.1.0"}
    del found["numpy"]
    text = str(refusal("node-7", found, own_versions()))
    assert text.startswith("the worker on node-7 has otherhalf 0.1.0, numpy not at all, and ")
    assert "torch" not in text
    assert "install the same versions on all machines" in text

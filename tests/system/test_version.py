import tomllib
from pathlib import Path

import otherhalf
from otherhalf.system.version import VERSION


def test_the_version_is_that_of_the_package():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert otherhalf.__version__ == VERSION == project["project"]["version"]

"""How Sphinx makes the documentation: `make docs` writes it to build/docs."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

from otherhalf.system.version import VERSION  # noqa: E402  # after the path is set

project = "otherhalf"
copyright = "the authors of otherhalf, MIT licence"
release = version = VERSION

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "accessible",
]
exclude_patterns = ["gallery", "_ext", "tutorials/sg_execution_times.rst"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"otherhalf {VERSION}"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_extra_path = ["llms.txt"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "mixed"
napoleon_google_docstring = True
napoleon_numpy_docstring = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "tutorials",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 3600,
    "remove_config_comments": True,
    "write_computation_times": False,
    "capture_repr": ("_repr_html_", "__repr__"),
}

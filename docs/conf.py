"""The site: ``make docs``. Sources are the Markdown files of the repository, so links are those of GitHub."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "src")]

from treeplex.version import __version__ as release  # noqa: E402 - after the path

project = "treeplex"
author = "The treeplex authors"
project_copyright = "The treeplex authors, Apache 2.0"
version = release

# The source folder is the repository (`sphinx-build -c docs . build/site`): pages link to benchmarks and examples.
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "benchmarks/**.md", "examples/**.md"]
exclude_patterns = [
    ".venv",
    "**/.venv",
    "build",
    "dist",
    "runs",
    ".pytest_cache",
    "benchmarks/holdem/notes.md",
]
source_suffix = {".md": "markdown"}

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinxcontrib.bibtex",
    "sphinx_copybutton",
    "anchors",  # _extensions: <a id=""> as targets
    "contents",  # the contents as docs/index.md tells them
    "examples",  # the code of the gallery
    "generated",  # pages made from docstrings and from the commands' own help
    "mathml",  # formulas as MathML, which browsers show without a script
]

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
myst_dmath_allow_labels = True

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
nitpick_ignore_regex = [("py:.*", r"(?!treeplex\.[A-Za-z_]+$|treeplex\.holdem\.).*")]  # types that are not public names
napoleon_numpy_docstring = False
toc_object_entries = False
add_module_names = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_here_doc_delimiter = "EOF"
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_title = f"treeplex {release}"
html_static_path = ["_static"]
html_extra_path = ["_extra"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

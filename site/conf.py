"""How Sphinx builds the site.

Sphinx, because it makes the reference from the docstrings of the installed package and runs the examples of all pages by itself;
the makers of Material for MkDocs, the other candidate, announced in November 2025 that it gets fixes only.
"""

from __future__ import annotations

import ast
import doctest
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import warpath
from warpath._networkx_info import SERVED
from warpath.networkx import NOT_SERVED

ROOT = Path(__file__).parents[1]

project = "Warpath"
version = release = warpath.__version__
html_title = f"Warpath {release}"
html_theme = "furo"
html_copy_source = False
html_show_copyright = False
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.coverage", "sphinx.ext.doctest", "sphinx.ext.napoleon"]
exclude_patterns = ["README.md", "_build"]

myst_enable_extensions = ["colon_fence", "substitution"]
myst_heading_anchors = 3

# Docstrings of the extension module have names in single backticks, as those of Rust do.
default_role = "code"
# Docstrings of the modules in Python have sections of Google's style.
napoleon_numpy_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
maximum_signature_line_length = 88

# Every name has to be found, but for those of other packages, which only the network could tell.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(np|numpy|nx|networkx|scipy|collections|os|typing|pathlib)\..*"),
    (r"py:class", r"Any|ArrayLike|Callable|DTypeLike|Hashable|Iterator|Mapping|ModuleType|NDArray|PathLike|Sequence"),
]

# The builder `coverage` warns of a public name that no page has.
coverage_show_missing_items = True

# Sphinx's own choice does not compare the messages of errors.
doctest_default_flags = doctest.ELLIPSIS
# The examples of a page run one after another in a folder that has a copy of `examples/`.
doctest_global_setup = f"""
import os, shutil, tempfile
folder_of_page = tempfile.TemporaryDirectory()
os.chdir(folder_of_page.name)
shutil.copytree({str(ROOT / "examples")!r}, "examples")
"""
doctest_global_cleanup = """
os.chdir("/")
folder_of_page.cleanup()
"""


def _stub_signatures() -> Iterator[tuple[str, tuple[str, str]]]:
    """The signatures of the extension module, with the types that its stub has, as ``(arguments, result)`` for each name."""
    for item in ast.parse(Path(warpath.__file__).with_name("_warpath.pyi").read_text()).body:
        for function in item.body if isinstance(item, ast.ClassDef) else ():
            if isinstance(function, ast.FunctionDef):
                if not any(ast.unparse(decorator) == "staticmethod" for decorator in function.decorator_list):
                    del function.args.posonlyargs[:1], function.args.args[: not function.args.posonlyargs]
                name = function.name
                yield (
                    f"warpath.{item.name}" + ("" if name == "__new__" else f".{name}"),
                    (f"({ast.unparse(function.args)})", "" if name == "__new__" else ast.unparse(function.returns)),
                )


SIGNATURES = dict(_stub_signatures())


def _signature(app: Any, what: str, name: str, item: Any, options: Any, arguments: str, result: str) -> Any:
    """The signature from the stub; none for classes that nobody makes an object of."""
    if name in ("warpath.read", "warpath.generate"):
        name = name.replace("warpath.", "warpath.Graph.")
    if what == "class" and item.__module__ == "warpath" and name not in SIGNATURES:
        return "", ""
    return SIGNATURES.get(name) if what in ("class", "function", "method") else None


def _type_first(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Puts the type of a property before its description, where napoleon looks for it."""
    if what in ("attribute", "property") and name in SIGNATURES:
        lines[0] = f"{SIGNATURES[name][1]}: {lines[0]}"


def _table(header: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rows])


def _algorithms(engine: str) -> str:
    """The algorithms of an engine with their sources, as ``warpath devices`` has them."""
    command = [sys.executable, "-m", "warpath", "devices", "--json"]
    printed = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    rows = [
        [algorithm["problem"], f"`{algorithm['name']}`", algorithm["summary"], algorithm["source"]]
        for algorithm in printed["algorithms"]
        if algorithm["engine"] == engine
    ]
    return _table(["problem", "algorithm", "what it is", "from"], rows)


myst_substitutions = {
    "cpu_algorithms": _algorithms("cpu"),
    "cuda_algorithms": _algorithms("cuda"),
    "served": _table(["function", "what is particular"], [[f"`{name}`", what] for name, what in SERVED.items()]),
    "not_served": _table(["function", "why not"], [[f"`{name}`", why] for name, why in NOT_SERVED.items()]),
}


def setup(app: Any) -> None:
    """Tells Sphinx of the stub."""
    app.connect("autodoc-process-signature", _signature)
    # Before napoleon, which has the priority 500.
    app.connect("autodoc-process-docstring", _type_first, priority=400)

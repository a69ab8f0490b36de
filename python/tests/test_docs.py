"""The Python on the pages runs: the blocks of a page are one program."""

from __future__ import annotations

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]


PAGES = {"README.md": [], "docs/python.md": [], "docs/python_coming_from.md": [],
         "docs/python_gradients.md": ["torch", "jax"]}


@pytest.mark.parametrize("page, needs", PAGES.items())
def test_page(page, needs, capsys):
    for module in needs:
        pytest.importorskip(module)
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {})

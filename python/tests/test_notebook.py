"""What notebooks show of objects is a table that HTML parsers read."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import scipy.sparse as sp

import krylith


class Table(HTMLParser):
    """The caption and rows of one table; an assertion fails where tags don't close or nest as they must."""

    INSIDE = {"table": None, "caption": "table", "tr": "table", "th": "tr", "td": "tr"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.caption, self.rows = [], "", []
        self.feed(text)
        self.close()
        assert not self.open
        self.row = {head: cells for head, *cells in self.rows}

    def handle_starttag(self, tag, attributes):
        assert self.INSIDE[tag] == (self.open[-1] if self.open else None)
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            assert (tag == "th") == (not self.rows[-1])
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] == "caption":
            self.caption += data
        else:
            assert self.open[-1] in ("th", "td")
            self.rows[-1][-1] += data


def table_of(shown):
    return Table(shown._repr_html_())


def test_info(spd):
    b = np.ones(spd.shape[0])
    shown = table_of(krylith.cg(spd, b, M="jacobi")[1])
    assert shown.caption == "converged" and shown.row["solver"] == ["cg, preconditioner jacobi"]
    assert shown.row["||b - A x|| / ||b||"][0].endswith("(asked for 1e-05)") and "diagnosis" not in shown.row
    info = krylith.cg(spd, b, maxiter=2)[1]
    shown = table_of(info)
    assert shown.caption == "not converged" and shown.row["iterations"] == ["2"]
    assert shown.row["diagnosis"] == [info.diagnosis]
    shown = table_of(krylith.cg(spd, np.stack([b, 2 * b], axis=1))[1])
    assert shown.row["columns"] == ["2 of 2 converged"]


def test_operator(spd):
    op = krylith.Operator(spd, devices=2, backend="host")
    shown = table_of(op)
    assert shown.caption == "krylith.Operator 144 x 144" and shown.row["entries"] == [str(spd.nnz)]
    assert shown.row["devices"] == ["; ".join(op.devices)] and shown.row["format"] == [op.explain()["format"]]
    wide = krylith.Operator(sp.csr_array(np.ones((2, 3))))
    assert table_of(wide).caption == "krylith.Operator 2 x 3"
    free = krylith.Operator(lambda x: x, shape=(5, 5), backend="host")
    assert table_of(free).row["type"] == ["float64"]


def test_preconditioner():
    A = krylith.load("gallery:poisson2d:40")
    M = krylith.amg(A)
    shown = table_of(M)
    assert shown.caption == f"krylith.Preconditioner {M.name}" and len(M.levels) > 1
    assert shown.row["level"] == ["rows", "nonzeros", "format"]
    for number, level in enumerate(M.levels):
        assert shown.row[str(number)] == [str(value) for value in level.values()]
    assert float(shown.row["complexity"][0]) > 1 and shown.row["bytes"] == [str(M.nbytes)]
    shown = table_of(krylith.Operator(A).preconditioner("jacobi"))
    assert "level" not in shown.row and shown.row["rows"] == [str(A.shape[0])]

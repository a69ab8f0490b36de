"""What `verbose` shows."""

from __future__ import annotations

import numpy as np
import pytest

import krylith


def test_lines(spd, rng, capsys):
    b = rng.standard_normal(spd.shape[0])
    x, info = krylith.cg(spd, b, rtol=1e-8, M="jacobi", verbose=True)
    lines = capsys.readouterr().out.splitlines()
    shown = [int(line.split()[0]) for line in lines]
    assert info.iterations > 20 and shown == [*range(1, 10), *range(10, info.iterations, 10), info.iterations]
    assert all("||r|| / ||b|| =" in line for line in lines[:-1])
    assert f"{info.relative_residual:.3e}, cg, jacobi: converged_rtol" in lines[-1]
    krylith.cg(spd, b)
    assert capsys.readouterr().out == ""


def test_columns_are_solved_in_one_loop_all_the_same(spd, rng, capsys):
    B = rng.standard_normal((spd.shape[0], 3))
    X, info = krylith.cg(spd, B, verbose=True)
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert np.array_equal(X, krylith.cg(spd, B)[0])
    krylith.cg(spd, B, M=lambda r: r, verbose=True)
    assert len(capsys.readouterr().out.splitlines()) > 12


def test_beside_a_callback(spd, capsys):
    b, seen = np.ones(spd.shape[0]), []
    op = krylith.Operator(spd)
    x, info = op.cg(b, verbose=True, callback=lambda *now: seen.append(now), callback_type="progress")
    assert len(seen) == info.iterations and len(seen[0]) == 4
    with pytest.raises(ValueError, match="callback_type='progress'"):
        op.cg(b, verbose=True, callback=seen.append)
    for wrong in ("text", 3, ["tqdm"], object()):
        with pytest.raises(ValueError, match="tqdm"):
            op.cg(b, verbose=wrong)


def test_failures_are_shown(spd, capsys):
    with pytest.raises(krylith.NotConverged):
        krylith.cg(spd, np.ones(spd.shape[0]), maxiter=2, verbose=True, raise_on_failure=True)
    assert "iterations" in capsys.readouterr().out.splitlines()[-1]


def test_bar(spd, capsys):
    pytest.importorskip("tqdm")
    x, info = krylith.cg(spd, np.ones(spd.shape[0]), verbose="tqdm")
    printed = capsys.readouterr()
    assert printed.out == "" and f"{info.iterations} iterations" in printed.err and "||r||" in printed.err

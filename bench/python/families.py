#!/usr/bin/env python3
"""Multigrid on families of hard problems, beside PyAMG's two kinds, from a SciPy matrix to x:

    bench/python/families.py [FAMILY]... [--json FILE] [--size 48] [--repetitions 1]

Finite volumes on SIZE^3 cells, or (6 SIZE)^2 in the plane, with harmonic means of the cells' coefficients; bilinear
elements where the coefficient has a direction, along which it is 1 and across less; and what else the names say. b is random, CG, relative residuals 1e-8, recomputed from x. ms is set-up and solve together; a
library that fails or takes more than 500 iterations is VOID, and the exit status stays 0: some of these are hard for all.
PyAMG is optional. Without FAMILY: all.
"""
import argparse

import numpy as np
from scipy import ndimage, sparse

import krylith
from machine import machine
from race import Contestant, Run, race

MOST_ITERATIONS = 500


def volumes(k, neumann=False):
    """The matrix of -div(k grad u) on a grid of cells; with Neumann conditions one cell is held."""
    n = k.size
    index = np.arange(n).reshape(k.shape)
    diagonal, rows, columns, values = np.zeros(n), [], [], []
    for axis in range(k.ndim):
        cells, numbers = np.moveaxis(k, axis, 0), np.moveaxis(index, axis, 0)
        t = (2 * cells[1:] * cells[:-1] / (cells[1:] + cells[:-1])).ravel()
        p, q = numbers[1:].ravel(), numbers[:-1].ravel()
        rows, columns, values = rows + [p, q], columns + [q, p], values + [-t, -t]
        np.add.at(diagonal, p, t)
        np.add.at(diagonal, q, t)
        for side in () if neumann else (0, -1):
            np.add.at(diagonal, numbers[side].ravel(), 2 * cells[side].ravel())
    if neumann:
        diagonal[0] += k.ravel()[0]
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array(sparse.coo_array(entries, shape=(n, n)) + sparse.diags_array(diagonal))


def checkerboard(shape, cells, contrast):
    return np.where((np.indices(shape) // cells).sum(0) % 2 == 0, 1.0, contrast)


def inclusions(shape, contrast, rng):
    k, places = np.ones(shape), np.indices(shape).reshape(3, -1).T + 0.5
    for center in rng.uniform(0, shape[0], (150, 3)):
        k.ravel()[((places - center) ** 2).sum(1) < 9] = contrast
    return k


def lognormal(shape, sigma, length, rng):
    field = rng.standard_normal(shape)
    if length:
        field = ndimage.gaussian_filter(field, length)
    return np.exp(sigma * field / field.std())


def layers(shape, contrast):
    k = np.ones(shape)
    k[::4] = contrast
    return k


def network(side, decades, rng):
    """The Laplacian of a grid graph with random weights, one node held."""
    n = side * side
    index = np.arange(n).reshape(side, side)
    p, q = np.append(index[1:], index[:, 1:].T), np.append(index[:-1], index[:, :-1].T)
    w = 10 ** rng.uniform(-decades / 2, decades / 2, p.size)
    graph = sparse.coo_array((np.append(w, w), (np.append(p, q), np.append(q, p))), shape=(n, n))
    degrees = np.asarray(graph.sum(1)).ravel()
    degrees[0] += 1
    return sparse.csr_array(sparse.diags_array(degrees) - graph)


def tree(n, rng):
    """The Laplacian of a tree, one node held: each node joins a random earlier one, or more often that one's parent."""
    parents = np.zeros(n, int)
    for i, other, up in zip(range(1, n), (rng.random(n - 1) * np.arange(1, n)).astype(int), rng.random(n - 1) < 0.75):
        parents[i] = parents[other] if up else other
    edges = np.arange(1, n), parents[1:]
    joined = sparse.coo_array((np.ones(n - 1), edges), shape=(n, n))
    graph = joined + joined.T
    degrees = np.asarray(graph.sum(1)).ravel()
    degrees[0] += 1
    return sparse.csr_array(sparse.diags_array(degrees) - graph)


def scaled(A, decades, rng):
    """S A S, S random: what units of the unknowns do."""
    S = sparse.diags_array(10 ** rng.uniform(-decades / 2, decades / 2, A.shape[0]))
    return sparse.csr_array(S @ A @ S)


def bilinear(n, angle, across):
    """Bilinear elements on n^2 cells, with a coefficient of 1 along angle(x, y), in radians, and `across` across."""
    x, y = (np.indices((n, n)).reshape(2, -1) + 0.5) / n
    along = np.stack([np.cos(angle(x, y)), np.sin(angle(x, y))], -1)
    tensor = across * np.eye(2) + (1 - across) * along[:, :, None] * along[:, None, :]
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    signs, gauss = 2 * corners - 1, (0.5 - 12**-0.5, 0.5 + 12**-0.5)
    local = 0
    for p in gauss:
        for q in gauss:
            other = np.where(corners == 1, (p, q), (1 - p, 1 - q))[:, ::-1]
            gradients = signs * other
            local = local + np.einsum("ia,eab,jb->eij", gradients, tensor, gradients) / 4
    cells = np.indices((n, n)).reshape(2, -1).T
    nodes = (cells[:, None] + corners) @ (n + 1, 1)
    entries = local.ravel(), (np.repeat(nodes, 4, 1).ravel(), np.tile(nodes, (1, 4)).ravel())
    inner = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)[1:-1, 1:-1].ravel()
    return sparse.csr_array(sparse.csr_array(sparse.coo_array(entries, shape=2 * ((n + 1) ** 2,)))[inner][:, inner])


def patches(n, rng):
    """An angle for each of n^2 patches of the unit square."""
    angles = rng.uniform(0, np.pi, (n, n))
    return lambda x, y: angles[(n * x).astype(int), (n * y).astype(int)]


def families(n, rng):
    """Returns functions that make the matrices."""
    space, plane = (n, n, n), (6 * n, 6 * n)
    made = {f"checkerboard {k:.0e}": lambda k=k: volumes(checkerboard(space, n // 8, k)) for k in (1e2, 1e4, 1e6, 1e8)}
    return made | {
        "plane checkerboard": lambda: volumes(checkerboard(plane, 10, 1e6)),
        "fine checkerboard": lambda: volumes(checkerboard(plane, 3, 1e6)),
        "Neumann checkerboard": lambda: volumes(checkerboard(space, n // 8, 1e4), neumann=True),
        "stiff balls": lambda: volumes(inclusions(space, 1e6, rng)),
        "stiff cells, 31%": lambda: volumes(np.where(rng.random(space) < 0.31, 1e6, 1.0)),
        "stiff cells, 3%": lambda: volumes(np.where(rng.random(space) < 0.03, 1e8, 1.0)),
        "soft cells, 30%": lambda: volumes(np.where(rng.random(space) < 0.3, 1e-8, 1.0)),
        "stiff layers": lambda: volumes(layers(space, 1e6)),
        "lognormal, correlated": lambda: volumes(lognormal(space, 4, 4, rng)),
        "lognormal": lambda: volumes(lognormal(space, 4, 0, rng)),
        "Poisson": lambda: volumes(np.ones(space)),
        "Poisson, scaled by 1e4": lambda: scaled(volumes(np.ones(space)), 4, rng),
        "Poisson, scaled by 1e6": lambda: scaled(volumes(np.ones(space)), 6, rng),
        "network, 1e3": lambda: network(5 * n, 3, rng),
        "network, 1e6": lambda: network(5 * n, 6, rng),
        "tree with hubs": lambda: tree(2 * n * n, rng),
        "direction of an axis, 1e-3": lambda: bilinear(6 * n, lambda x, y: 0 * x, 1e-3),
        "turned by 30 degrees, 1e-3": lambda: bilinear(6 * n, lambda x, y: 0 * x + np.pi / 6, 1e-3),
        "turned by 45 degrees, 1e-3": lambda: bilinear(6 * n, lambda x, y: 0 * x + np.pi / 4, 1e-3),
        "along circles, 1e-2": lambda: bilinear(6 * n, lambda x, y: np.arctan2(x - 0.5, 0.5 - y), 1e-2),
        "patches of any direction, 1e-2": lambda: bilinear(6 * n, patches(20, rng), 1e-2),
    }


def by_krylith(A, b, M):
    return Contestant(f"krylith, {M}", lambda tol, _: krylith.cg(A, b, M=M, rtol=tol, maxiter=MOST_ITERATIONS))


def by_pyamg(A, b, kind):
    import pyamg

    matrix = sparse.csr_matrix(A)  # PyAMG takes no arrays
    make = pyamg.smoothed_aggregation_solver if kind == "SA" else pyamg.ruge_stuben_solver

    def solve(tol, callback):
        return make(matrix).solve(b, tol=tol, accel="cg", maxiter=MOST_ITERATIONS, callback=callback), None

    return Contestant(f"PyAMG, {kind}", solve)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="FAMILY")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--size", type=int, default=48)
    parser.add_argument("--repetitions", type=int, default=1)
    options = parser.parse_args()
    run = Run()
    for name, make in families(options.size, np.random.default_rng(7)).items():
        if options.names and name not in options.names:
            continue
        A = make()
        b = np.random.default_rng(1).uniform(-1, 1, A.shape[0])
        makers = {f"krylith, {M}": lambda M=M: by_krylith(A, b, M) for M in ("amg", "amg:coarsening=classical")}
        makers |= {f"PyAMG, {kind}": lambda kind=kind: by_pyamg(A, b, kind) for kind in ("SA", "RS")}
        race(run, "families", name, A, b, makers, options.repetitions)
    if options.json:
        run.write(options.json, machine())


if __name__ == "__main__":
    main()

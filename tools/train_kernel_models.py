#!/usr/bin/env python3
"""Grows the decision trees that choose among the kernels of sparse products:

    train_kernel_models.py RUN.jsonl[.gz|.xz] ... --model FILE [--report FOLDER] [--plot]

Reads what bench_spmspv has written, one architecture, and writes a kernel model
(spmv/spmspv/kernel_model.hpp): three models in cascade, for the computing pattern (spmv, row, column), the
distribution of work (direct, balanced; one tree for kernels of rows, one for kernels of columns) and the
write-back of column kernels (atomic, sort).

A quarter of the matrices is held out: no vector of theirs is seen in training, nor in the grid search with
cross-validation (folds by matrix too) over depth, leaf size and class weights. Samples weigh what a wrong choice
loses. The report says, for held-out matrices, accuracy and confusion of each model, for a tree, a random forest
and gradient boosting; mean and worst loss of the cascade against the best kernel, that of the best fixed kernel,
and what finding the features costs. The trees of the file are grown with the parameters found, on all matrices.

A choice is called right where its kernel is the fastest, or takes at most 5% or 2 us more: that is less than two
runs differ by. Strict accuracy is reported beside it. Of trees whose losses differ by less than the folds do (one
standard error) the smallest is taken. Needs NumPy and scikit-learn, with --plot matplotlib. The
same input gives the same output. Exits with 2 where it can't train.
"""
import argparse
import datetime
import gzip
import json
import lzma
import os
import pathlib
import sys
import warnings

FEATURES = ["rows", "columns", "nonzeros", "longest_row", "shortest_row", "mean_row", "relative_range",
            "deviation", "gini", "entries", "density", "effective_nonzeros", "effective_ratio",
            "has_pairs", "has_dense", "has_bits", "wants_pairs"]
OF_MATRIX = FEATURES[:9]
NEED_WORK = ("effective_nonzeros", "effective_ratio")
KERNELS = ["spmv", "spmv-balanced", "row", "row-balanced", "column-atomic", "column-sort",
           "column-balanced-atomic", "column-balanced-sort"]
PATTERNS, DISTRIBUTIONS, WRITE_BACKS = ["spmv", "row", "column"], ["direct", "balanced"], ["atomic", "sort"]
# Kernels of [pattern][distribution]; of columns two, by write-back.
OF_PATTERN = [[[0], [1]], [[2], [3]], [[4, 5], [6, 7]]]
NEAR, NEAR_US = 1.05, 2.0
CALL_US = 2.0  # what any call costs beside its kernel: no loss is reckoned against less
MOST_LOSS = 3.0  # a larger one counts as this in weights and folds: single runs of a busy machine
LONG_US = 50.0  # of the report's line for products that a call's own time hardly matters to
# Where a choice makes no difference: what is never much worse, and what is the same on any data.
PREFERRED = {"row_distribution": 1, "column_distribution": 1}


class training_failed(Exception):
    pass


def libraries():
    global np, sklearn, GroupKFold, DecisionTreeClassifier, RandomForestClassifier
    global HistGradientBoostingClassifier
    # Boosting asks for all cores, and waits for them on a busy machine.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        import numpy as np
        import sklearn
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
        from sklearn.model_selection import GroupKFold
        from sklearn.tree import DecisionTreeClassifier
    except ImportError as e:
        raise training_failed(f"{e.name} is missing: the packages python3-numpy and python3-sklearn, or "
                              "python3 -m pip install scikit-learn") from None


# ---- Input ----------------------------------------------------------------------------------------

def lines_of(path):
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(pathlib.Path(path).suffix, open)
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.strip()]
    except (OSError, lzma.LZMAError, EOFError) as e:
        raise training_failed(f"can't read '{path}': {e}") from None
    except ValueError as e:
        raise training_failed(f"'{path}' is not JSON lines: {e}") from None
    for number, line in enumerate(lines, 1):
        if not isinstance(line, dict):
            raise training_failed(f"'{path}', line {number}: must be a JSON object")
    return lines


class samples:
    """Products by row: x [features], us [kernels], group (number of the matrix)."""

    def __init__(self, paths):
        self.headers, self.matrices, self.void = [], [], 0
        features, rows, times, groups, counting = {}, [], [], [], []
        for path in paths:
            lines = lines_of(path)
            if not lines or lines[0].get("program") != "bench_spmspv":
                raise training_failed(f"'{path}' is no run of bench_spmspv")
            if lines[0].get("kernels") != KERNELS:
                raise training_failed(f"'{path}': kernels are {lines[0].get('kernels')}, must be {KERNELS}")
            for field in ("architecture", "device", "semiring", "precision"):
                if field not in lines[0]:
                    raise training_failed(f"'{path}': the first line has no '{field}'")
            self.headers.append(lines[0])
            for number, line in enumerate(lines[1:], 2):
                try:
                    if "features" in line:
                        features[line["matrix"]] = [float(line["features"][f]) for f in OF_MATRIX]
                    elif line.get("void_because"):
                        self.void += 1
                    elif "us" in line:
                        self.take(line, features[line["matrix"]], rows, times, groups, counting)
                except KeyError as e:
                    raise training_failed(f"'{path}', line {number}: no {e}") from None
                except (TypeError, ValueError) as e:
                    raise training_failed(f"'{path}', line {number}: {e}") from None
        architectures = {h["architecture"] for h in self.headers}
        if len(architectures) != 1:
            raise training_failed(f"runs are of several architectures: {', '.join(sorted(architectures))}")
        self.architecture = architectures.pop()
        self.x, self.us = np.array(rows), np.array(times) + CALL_US
        self.group, self.count_us = np.array(groups), np.array(counting)
        if len(self.matrices) < 8:
            raise training_failed(f"there are {len(self.matrices)} matrices, needed are at least 8, "
                                  "and some hundred for trees worth having")
        self.best = self.us.min(axis=1)

    def take(self, line, matrix, rows, times, groups, counting):
        if line["matrix"] not in self.matrices:
            self.matrices.append(line["matrix"])
        of_matrix = dict(zip(OF_MATRIX, matrix))
        work = [line["entries"], line["entries"] / max(of_matrix["columns"], 1), line["work"],
                line["work"] / max(of_matrix["nonzeros"], 1)]
        for given, by_wanted in line["us"].items():
            for wanted, us in by_wanted.items():
                if len(us) != len(KERNELS) or not all(t > 0 for t in us):
                    raise ValueError(f"us of {given}, {wanted} is {us}, must be {len(KERNELS)} numbers above 0")
                forms = [given == "pairs", given in ("dense", "bits"), given == "bits", wanted == "pairs"]
                rows.append(matrix + [float(v) for v in work + forms])
                times.append(us)
                groups.append(self.matrices.index(line["matrix"]))
                counting.append(line["count_us"])


def family(matrix):
    name = matrix.removeprefix("gallery:")
    return name.split(":")[0] if name != matrix else "files"


# ---- The three models -----------------------------------------------------------------------------

class task:
    """What one model decides: samples that it is for, and the microseconds of each of its choices."""

    def __init__(self, name, labels, at, us):
        self.name, self.labels, self.at, self.us = name, labels, at, us
        self.label = us.argmin(axis=1)
        least = us.min(axis=1)
        self.near = (us <= NEAR * least[:, None]) | (us <= least[:, None] + NEAR_US)
        loss = us / least[:, None] - 1
        # What a wrong choice loses, on average over the wrong ones; ties weigh next to nothing.
        self.weight = np.minimum(loss.sum(axis=1) / (len(labels) - 1), MOST_LOSS) + 0.01
        self.loss = loss

    def picked(self, places):
        return task(self.name, self.labels, self.at[places], self.us[places])

    def part(self, chosen):
        """Those of the samples for which `chosen`, by number of the sample, is true."""
        return self.picked(chosen[self.at])

    def capped(self, predicted):
        """The mean loss, where one of more than 300% counts as that: single runs of a busy machine."""
        return np.minimum(self.loss[np.arange(len(predicted)), predicted], MOST_LOSS).mean()


def tasks_of(data):
    """Times of a choice are those with the best of what is chosen after it."""
    by_pattern = np.stack([data.us[:, sum(p, [])].min(axis=1) for p in OF_PATTERN], axis=1)
    best_pattern = by_pattern.argmin(axis=1)
    every = np.arange(len(data.us))
    rows, columns = every[best_pattern != 2], every[best_pattern == 2]
    of_rows = np.where((best_pattern[rows] == 0)[:, None], data.us[rows][:, [0, 1]],
                       data.us[rows][:, [2, 3]])
    of_columns = np.stack([data.us[columns][:, k].min(axis=1) for k in OF_PATTERN[2]], axis=1)
    balanced = of_columns.argmin(axis=1)
    written = np.where((balanced == 0)[:, None], data.us[columns][:, [4, 5]], data.us[columns][:, [6, 7]])
    return {"pattern": task("pattern", PATTERNS, every, by_pattern),
            "row_distribution": task("row_distribution", DISTRIBUTIONS, rows, of_rows),
            "column_distribution": task("column_distribution", DISTRIBUTIONS, columns, of_columns),
            "write_back": task("write_back", WRITE_BACKS, columns, written)}


class constant:
    """Where there is nothing to choose, or no sample."""

    def __init__(self, label):
        self.label = label

    def predict(self, x):
        return np.full(len(x), self.label)


def usable(work):
    return [k for k, f in enumerate(FEATURES) if work or f not in NEED_WORK]


def fit(parameters, t, data, columns):
    if "label" in parameters:
        return constant(parameters["label"])
    return fit_classifier(DecisionTreeClassifier(
        max_depth=parameters["depth"], min_samples_leaf=parameters["leaf"],
        class_weight=parameters["weights"], random_state=0), t, data, columns)


def fit_classifier(classifier, t, data, columns):
    if len(t.at) == 0 or len(np.unique(t.label)) == 1:
        return constant(int(t.label[0]) if len(t.at) else PREFERRED.get(t.name, 0))
    return classifier.fit(data.x[t.at][:, columns], t.label, sample_weight=t.weight)


def quality(t, predicted):
    """Right (or near), strictly right, mean loss."""
    here = np.arange(len(predicted))
    return (t.near[here, predicted].mean(), (predicted == t.label).mean(),
            t.loss[here, predicted].mean())


def search(t, data, columns, quick):
    """Depth, leaf size and class weights by cross-validation over matrices: the shallowest within a standard
    error of the least mean loss (Breiman, Friedman, Olshen, Stone, 1984), no tree at all if a constant is.
    By hand, as scikit-learn's GridSearchCV passes neither weights nor times to its scores."""
    fixed = PREFERRED.get(t.name, 0)
    groups = data.group[t.at]
    folds = min(5, len(np.unique(groups)))
    if folds < 2 or len(np.unique(t.label)) == 1:
        return {"depth": 0, "leaf": 0, "weights": None, "label": int(t.label[0]) if len(t.at) else fixed}
    splits = [(t.picked(train), t.picked(test))
              for train, test in GroupKFold(folds).split(t.at, groups=groups)]
    grid = [{"depth": 0, "leaf": 0, "weights": None, "label": k} for k in range(len(t.labels))]
    grid.sort(key=lambda p: p["label"] != fixed)
    grid += [{"depth": depth, "leaf": leaf, "weights": weights}
             for depth in ((2, 4, 6) if quick else (1, 2, 3, 4, 5, 6, 7, 8))
             for leaf in ((20,) if quick else (60, 20, 5)) for weights in (None, "balanced")]
    found = []
    for p in grid:
        scores = []
        for inner, outer in splits:
            predicted = fit(p, inner, data, columns).predict(data.x[outer.at][:, columns]).astype(int)
            right, _, _ = quality(outer, predicted)
            scores.append((outer.capped(predicted), right))
        each = np.array(scores)
        found.append((each[:, 0].mean(), each[:, 0].std(ddof=1) / np.sqrt(len(each)), each[:, 1].mean()))
    least = min(found)
    taken = next(k for k, f in enumerate(found) if f[0] <= least[0] + least[1])
    return {**grid[taken], "fold_loss": float(found[taken][0]), "fold_right": float(found[taken][2])}


# ---- The cascade ----------------------------------------------------------------------------------

def cascade(models, x, columns):
    """The kernel of each row of x."""
    seen = x[:, columns]
    pattern, rows, by_columns, written = (
        models[name].predict(seen).astype(int)
        for name in ("pattern", "row_distribution", "column_distribution", "write_back"))
    return np.where(pattern == 0, rows, np.where(pattern == 1, 2 + rows, 4 + 2 * by_columns + written))


def asks_for_work(model, x, columns):
    """For which rows the way through a tree asks for effective nonzeros."""
    asked = np.zeros(len(x), dtype=bool)
    if isinstance(model, constant):
        return asked
    need = [k for k, c in enumerate(columns) if FEATURES[c] in NEED_WORK]
    paths = model.decision_path(x[:, columns])
    for node in np.flatnonzero(np.isin(model.tree_.feature, need)):
        asked |= paths[:, node].toarray().ravel().astype(bool)
    return asked


def cascade_asks_for_work(models, x, columns):
    """The same of the trees that the cascade comes by."""
    by_columns = models["pattern"].predict(x[:, columns]).astype(int) == PATTERNS.index("column")
    of_columns = (asks_for_work(models["column_distribution"], x, columns) |
                  asks_for_work(models["write_back"], x, columns))
    of_rows = asks_for_work(models["row_distribution"], x, columns)
    return asks_for_work(models["pattern"], x, columns) | np.where(by_columns, of_columns, of_rows)


def losses(data, at, chosen):
    loss = data.us[at, chosen] / data.best[at] - 1
    return {"mean": float(loss.mean()), "median": float(np.median(loss)),
            "p95": float(np.quantile(loss, 0.95)), "worst": float(loss.max()),
            "total": float(data.us[at, chosen].sum() / data.best[at].sum() - 1)}


def best_fixed(data, train, test):
    """Chosen on the training matrices."""
    means = (data.us[train] / data.best[train][:, None]).mean(axis=0)
    k = int(means.argmin())
    return k, losses(data, test, np.full(len(test), k))


# ---- Output ---------------------------------------------------------------------------------------

def nodes_of(model, labels, columns):
    """Lines of the file. scikit-learn compares numbers of single precision with its thresholds; krylith
    compares doubles, which can differ only for a value within a rounding of the threshold."""
    if isinstance(model, constant):
        return [f"leaf {labels[model.label]}"]
    tree, leaves = model.tree_, {}

    def label(node):
        """Of all leaves below, or None where they differ: such a split decides nothing."""
        if node not in leaves:
            if tree.children_left[node] < 0:
                leaves[node] = int(model.classes_[tree.value[node][0].argmax()])
            else:
                below, above = label(tree.children_left[node]), label(tree.children_right[node])
                leaves[node] = below if below is not None and below == above else None
        return leaves[node]

    lines = []

    def write(node):
        here = len(lines)
        if label(node) is not None:
            lines.append(f"leaf {labels[label(node)]}")
            return here
        lines.append("")
        below = write(tree.children_left[node])
        above = write(tree.children_right[node])
        lines[here] = (f"node {FEATURES[columns[tree.feature[node]]]} {float(tree.threshold[node])!r} "
                       f"{below} {above}")
        return here

    write(0)
    return lines


def model_text(data, models, columns, name, origin):
    text = ["krylith kernel model 1", f"architecture {data.architecture}", f"name {name}", f"origin {origin}"]
    for tree, labels in (("pattern", PATTERNS), ("row_distribution", DISTRIBUTIONS),
                         ("column_distribution", DISTRIBUTIONS), ("write_back", WRITE_BACKS)):
        text += [f"tree {tree}", *nodes_of(models[tree], labels, columns)]
    return "\n".join(text) + "\n"


def percent(share):
    return "-" if share is None else f"{100 * share:.1f}%"


def markdown(r):
    out = [f"# Kernel model of {r['name']}", "",
           f"{r['samples']} products of {r['matrices']} matrices; {r['held_out']} matrices "
           f"({r['held_out_samples']} products) held out. {r['origin']}.", "",
           "Right: the fastest, or at most 5% or 2 us slower. Loss: time over that of the best kernel, less 1.", "",
           "| model | classifier | right | strictly | mean loss |", "|---|---|---|---|---|"]
    for name, by_classifier in r["models"].items():
        for classifier, q in by_classifier["classifiers"].items():
            out.append(f"| {name} | {classifier} | {percent(q['right'])} | {percent(q['strictly'])} | "
                       f"{percent(q['loss'])} |")
    out += ["", "| on held-out matrices | mean loss | median | 95% below | worst | of all time |",
            "|---|---|---|---|---|---|"]
    for name, l in r["losses"].items():
        shares = " | ".join(percent(l[key]) for key in ("mean", "median", "p95", "worst", "total"))
        out.append(f"| {name} | {shares} |")
    out += ["", f"Effective nonzeros are asked for in {percent(r['asks_for_work'])} of the products; finding them "
            f"takes {percent(r['selection'])} of the time, where the caller doesn't know them.", "",
            "| tree | depth | leaf | class weights | nodes |", "|---|---|---|---|---|"]
    for name, m in r["models"].items():
        p = m["parameters"]
        out.append(f"| {name} | {p['depth']} | {p['leaf']} | {p['weights'] or 'none'} | {m['nodes']} |")
    for name, m in r["models"].items():
        labels = m["labels"]
        out += ["", f"Confusion of the tree `{name}` (rows: the fastest, columns: chosen; near choices "
                "count as chosen right):", "", "| | " + " | ".join(labels) + " |", "|---" * (len(labels) + 1) + "|"]
        out += [f"| {label} | " + " | ".join(str(n) for n in row) + " |"
                for label, row in zip(labels, m["confusion"])]
    out += ["", "| family (held out whole) | mean loss of the cascade | products |", "|---|---|---|"]
    out += [f"| {name} | {percent(f['mean'])} | {f['products']} |" for name, f in r["families"].items()]
    return "\n".join(out) + "\n"


def confusion(t, predicted):
    """Near choices on the diagonal."""
    actual = np.where(t.near[np.arange(len(predicted)), predicted], predicted, t.label)
    table = np.zeros((len(t.labels), len(t.labels)), dtype=int)
    np.add.at(table, (actual, predicted), 1)
    return table.tolist()


def plot(data, folder, test, chosen, fixed, report):
    try:
        import matplotlib
        matplotlib.use("svg")
        import matplotlib.pyplot as plt
    except ImportError:
        raise training_failed("matplotlib is missing: the package python3-matplotlib") from None
    plt.rcParams.update({"svg.hashsalt": "krylith", "font.size": 9, "axes.spines.top": False,
                         "axes.spines.right": False})

    def save(figure, name):
        figure.savefig(folder / name, bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)

    figure, axes = plt.subplots(figsize=(6, 3.5))
    for label, choice in (("trees", chosen), (f"always {KERNELS[fixed]}", np.full(len(test), fixed))):
        loss = np.sort(data.us[test, choice] / data.best[test])
        axes.plot(loss, np.linspace(0, 1, len(loss)), label=label)
    axes.set(xscale="log", xlabel="time over that of the best kernel", ylabel="share of products")
    axes.legend(frameon=False)
    save(figure, "loss.svg")
    figure, axes = plt.subplots(figsize=(6, 3.5))
    ratio = data.x[:, FEATURES.index("effective_ratio")]
    best = data.us.argmin(axis=1)
    edges = np.geomspace(max(ratio[ratio > 0].min(), 1e-7), 1, 25)
    place = np.clip(np.digitize(ratio, edges), 0, len(edges) - 1)
    bottom = np.zeros(len(edges))
    for k, name in enumerate(KERNELS):
        share = np.array([(best[place == b] == k).mean() if (place == b).any() else 0
                          for b in range(len(edges))])
        axes.bar(range(len(edges)), share, bottom=bottom, label=name, width=1)
        bottom += share
    axes.set(xlabel="effective ratio", ylabel="share of products where it is the fastest",
             xticks=range(0, len(edges), 6), xticklabels=[f"{edges[b]:.0e}" for b in range(0, len(edges), 6)])
    axes.legend(frameon=False, fontsize=7, bbox_to_anchor=(1, 1))
    save(figure, "fastest.svg")
    figure, panels = plt.subplots(1, len(report["models"]), figsize=(12, 3))
    for axes, (name, m) in zip(panels, report["models"].items()):
        table = np.array(m["confusion"])
        axes.imshow(table / np.maximum(table.sum(axis=1, keepdims=True), 1), cmap="Blues", vmin=0, vmax=1)
        for i, row in enumerate(table):
            for j, number in enumerate(row):
                axes.text(j, i, str(number), ha="center", va="center", fontsize=7)
        axes.set(title=name, xticks=range(len(m["labels"])), xticklabels=m["labels"],
                 yticks=range(len(m["labels"])), yticklabels=m["labels"])
    save(figure, "confusion.svg")


# ---- All of it ------------------------------------------------------------------------------------

def hold_out(data):
    """A quarter of the matrices: the first of a fixed shuffle."""
    order = np.random.RandomState(0).permutation(len(data.matrices))
    held = np.isin(data.group, order[: max(2, len(order) // 4)])
    return ~held, held


def grow(all_tasks, chosen, data, columns, parameters):
    return {name: fit(p, all_tasks[name].part(chosen), data, columns) for name, p in parameters.items()}


def train(data, quick, features):
    tasks, (train_on, held) = tasks_of(data), hold_out(data)
    test = np.flatnonzero(held)
    candidates = {}
    for work in (True, False):  # with and without what a wait for the device costs
        columns = usable(work)
        parameters = {name: search(t.part(train_on), data, columns, quick) for name, t in tasks.items()}
        # Judged by the training matrices' folds: the held-out ones are for the report alone.
        fold_loss = []
        for inner, outer in GroupKFold(4).split(data.x[train_on], groups=data.group[train_on]):
            at = np.flatnonzero(train_on)
            mask = np.zeros(len(data.x), dtype=bool)
            mask[at[inner]] = True
            models = grow(tasks, mask, data, columns, parameters)
            picked = cascade(models, data.x[at[outer]], columns)
            fold_loss.append(losses(data, at[outer], picked)["mean"])
        candidates[work] = (float(np.mean(fold_loss)), columns, parameters)
    work = {"all": True, "cheap": False}.get(features, candidates[True][0] < candidates[False][0] - 0.005)
    _, columns, parameters = candidates[work]
    models = grow(tasks, train_on, data, columns, parameters)
    chosen = cascade(models, data.x[test], columns)
    fixed, fixed_losses = best_fixed(data, np.flatnonzero(train_on), test)
    report = {"models": {}, "losses": {"cascade of trees": losses(data, test, chosen)}}

    forests = {
        "random forest": lambda: RandomForestClassifier(100, min_samples_leaf=3, random_state=0, n_jobs=1),
        "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0)}
    of_classifier = {}
    for name, t in tasks.items():
        ours, theirs = t.part(train_on), t.part(held)
        classifiers, table = {}, np.zeros((len(t.labels), len(t.labels)), dtype=int).tolist()
        fitted = {"tree": models[name],
                  **{c: fit_classifier(make(), ours, data, columns) for c, make in forests.items()}}
        for classifier, model in fitted.items():
            of_classifier.setdefault(classifier, {})[name] = model
            if len(theirs.at) == 0:  # no held-out product comes by this model: nothing is known of it
                classifiers[classifier] = {"right": None, "strictly": None, "loss": None}
                continue
            predicted = model.predict(data.x[theirs.at][:, columns]).astype(int)
            right, strictly, loss = quality(theirs, predicted)
            classifiers[classifier] = {"right": float(right), "strictly": float(strictly), "loss": float(loss)}
            if classifier == "tree":
                table = confusion(theirs, predicted)
        report["models"][name] = {"labels": t.labels, "classifiers": classifiers, "confusion": table,
                                  "parameters": parameters[name], "samples": int(len(t.at))}
    for classifier in forests:
        picked = cascade(of_classifier[classifier], data.x[test], columns)
        report["losses"][f"cascade of {classifier}"] = losses(data, test, picked)
    long = data.best[test] >= LONG_US
    if long.any():
        name = f"cascade of trees, products of {LONG_US:g} us and more"
        report["losses"][name] = losses(data, test[long], chosen[long])
    report["losses"][f"best fixed: {KERNELS[fixed]}"] = fixed_losses

    asked = cascade_asks_for_work(models, data.x[test], columns)
    taken = data.us[test, chosen]
    report["asks_for_work"] = float(asked.mean())
    report["selection"] = float((data.count_us[test] * asked).sum() / (taken + data.count_us[test] * asked).sum())
    report["families"] = by_family(data, tasks, columns, parameters)
    report["fold_loss"] = {"with work": candidates[True][0], "without": candidates[False][0]}
    final = grow(tasks, np.ones(len(data.x), dtype=bool), data, columns, parameters)
    return report, final, columns, test, chosen, fixed


def by_family(data, tasks, columns, parameters):
    """Trees that have seen nothing of a family, on that family; their parameters are those found on all."""
    names = np.array([family(m) for m in data.matrices])
    found = {}
    if len(set(names)) < 2:
        return found
    for name in sorted(set(names)):
        outer = names[data.group] == name
        models = grow(tasks, ~outer, data, columns, parameters)
        at = np.flatnonzero(outer)
        found[name] = {**losses(data, at, cascade(models, data.x[at], columns)), "products": int(len(at))}
    return found


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN.jsonl")
    parser.add_argument("--model", required=True, help="the kernel model to write")
    parser.add_argument("--report", help="a folder for report.md and report.json (and figures)")
    parser.add_argument("--plot", action="store_true", help="figures too; needs matplotlib")
    parser.add_argument("--quick", action="store_true", help="a smaller grid")
    parser.add_argument("--features", choices=["auto", "all", "cheap"], default="auto",
                        help="cheap: none that counts effective nonzeros, which takes a pass over x and a wait for "
                        "the device unless the caller knows them; auto: all where that loses less by half a percent")
    parser.add_argument("--name", help="of the model; the device's if it is left out")
    parser.add_argument("--note", default="", help="added to the origin")
    parser.add_argument("--date", help="in the origin; today's if it is left out")
    options = parser.parse_args(arguments)
    if options.plot and not options.report:
        raise training_failed("--plot needs --report FOLDER for its figures")
    libraries()
    warnings.filterwarnings("ignore")
    data = samples(options.runs)
    report, final, columns, test, chosen, fixed = train(data, options.quick, options.features)
    name = options.name or data.headers[0]["device"]
    kinds = sorted({f"{h['semiring']} {h['precision']}" for h in data.headers})
    date = options.date or datetime.date.today().isoformat()
    origin = (f"trained on {len(data.us)} products of {len(data.matrices)} matrices ({', '.join(kinds)}; "
              f"{data.headers[0]['device']}), {date}" + (f"; {options.note}" if options.note else ""))
    for tree, m in report["models"].items():
        m["nodes"] = len(nodes_of(final[tree], m["labels"], columns))
    report = {"name": name, "architecture": data.architecture, "origin": origin, "samples": len(data.us),
              "void": data.void, "matrices": len(data.matrices),
              "held_out": int(len(set(data.group[test].tolist()))), "held_out_samples": int(len(test)),
              "sklearn": sklearn.__version__, **report}
    path = pathlib.Path(options.model)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(model_text(data, final, columns, name, origin), encoding="utf-8")
    text = markdown(report)
    if options.report:
        folder = pathlib.Path(options.report)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.md").write_text(text, encoding="utf-8")
        (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
        if options.plot:
            plot(data, folder, test, chosen, fixed, report)
    print(text)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (training_failed, OSError) as e:
        print(f"train_kernel_models.py: {e}", file=sys.stderr)
        sys.exit(2)

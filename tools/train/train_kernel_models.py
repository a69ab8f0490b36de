#!/usr/bin/env python3
"""Grows the decision trees that choose among the kernels of sparse products:

    train_kernel_models.py RUN.jsonl[.gz|.xz] ... --model FILE [--report FOLDER] [--plot]

Reads what `krylith bench spmspv` has written, one architecture, and writes a kernel model
(spmspv/kernel_model.hpp): three models in cascade, for the computing pattern (spmv, row, column), the
distribution of work (direct, balanced; one tree for kernels of rows, one for kernels of columns) and the
write-back of column kernels (atomic, sort). Each is two trees behind one node: one for products whose effective
nonzeros are known, and one that guesses, for the others. To count them takes a wait for the device, which most
products are too short for (a sort needs their number in any case, and pays for it). Where a product is expected to
be so large that counting costs less than half of what it saves, and at most 5% of the time, the pattern's tree goes
over to the one that knows, and so asks (`find_gate`).

A run of some kernels (krylith bench spmspv --kernels) replaces their times in the runs of all kernels, where matrix, kind of
vector, entries, effective nonzeros, semiring and precision are the same. Products that either has alone are left
out, since runs end early; but a run with other vectors of the same matrix is refused. Of one product in two runs of
all kernels the later counts.

A quarter of the matrices is held out: no vector of theirs is seen in training, nor in the grid search with
cross-validation (folds by matrix too) over depth and leaf size. Trees are grown by what a wrong choice loses, and
each leaf takes the choice that loses least; the pattern's tree reckons with the kernels that the trees behind it
would take. The report says, for held-out matrices and for each of both cases, accuracy and confusion of each
model, for a tree, a random forest, gradient boosting and a support vector machine; mean and worst loss of the
cascade against the best kernel, that of the best fixed kernel, how long a prediction takes, what finding the
features costs, and how much each feature tells: by chi2 (scikit-learn's SelectKBest) and in the trees. The trees
of the file are grown with the parameters found, on all matrices.

A choice is called right where its kernel is the fastest, or takes at most 5% or 2 us more: that is less than two
runs differ by. Strict accuracy is reported beside it. Where a constant loses no more than the best tree, within one
standard error of the difference between folds, there is no tree. Needs NumPy and scikit-learn, with --plot
matplotlib. The same input gives the same model and report, but for the times of predictions. Exits with 2 where it
can't train.
"""
import argparse
import copy
import datetime
import gzip
import json
import lzma
import os
import pathlib
import sys
import time
import warnings

FEATURES = ["rows", "columns", "nonzeros", "longest_row", "shortest_row", "mean_row", "relative_range",
            "deviation", "gini", "entries", "density", "effective_nonzeros", "effective_ratio",
            "has_pairs", "has_dense", "has_bits", "wants_pairs", "expected_nonzeros", "most_nonzeros",
            "knows_work"]
OF_MATRIX = FEATURES[:9]
NEED_WORK = ("effective_nonzeros", "effective_ratio")
KERNELS = ["spmv", "spmv-balanced", "row", "row-balanced", "column-atomic", "column-sort",
           "column-balanced-atomic", "column-balanced-sort"]
PATTERNS, DISTRIBUTIONS, WRITE_BACKS = ["spmv", "row", "column"], ["direct", "balanced"], ["atomic", "sort"]
# Kernels of [pattern][distribution]; of columns two, by write-back.
OF_PATTERN = [[[0], [1]], [[2], [3]], [[4, 5], [6, 7]]]
SORTS = (5, 7)
NEAR, NEAR_US = 1.05, 2.0
CALL_US = 2.0  # what any call costs beside its kernel: no loss is reckoned against less
MOST_LOSS = 30.0  # a larger one counts as this: single runs of a busy machine
MOST_COUNTING = 0.05  # of a product's time, where trees ask for effective nonzeros nobody knows
MOST_SUPPORT = 4000  # samples that a support vector machine learns from: its time grows with their square
LONG_US = 50.0  # of the report's line for products that a call's own time hardly matters to
# Where a choice makes no difference: what is never much worse, and what is the same on any data.
PREFERRED = {"row_distribution": 1, "column_distribution": 1}


class training_failed(Exception):
    pass


def libraries():
    global np, sklearn, GroupKFold, DecisionTreeRegressor, RandomForestClassifier
    global HistGradientBoostingClassifier, SelectKBest, chi2, SVC, StandardScaler
    # Boosting asks for all cores, and waits for them on a busy machine.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        import numpy as np
        import sklearn
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
        from sklearn.feature_selection import SelectKBest, chi2
        from sklearn.model_selection import GroupKFold
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVC
        from sklearn.tree import DecisionTreeRegressor
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
        self.headers, self.void, self.stale, self.alone, self.again = [], 0, 0, 0, set()
        self.features, self.products = {}, {}
        runs = [(path, self.checked(path, lines_of(path))) for path in paths]
        for path, lines in runs:
            if lines[0]["kernels"] == KERNELS:
                self.headers.append(lines[0])
                self.read(path, lines, self.take)
        architectures = {lines[0]["architecture"] for _, lines in runs}
        if len(architectures) != 1:
            raise training_failed(f"runs are of several architectures: {', '.join(sorted(architectures))}")
        self.architecture = architectures.pop()
        if not self.headers:
            raise training_failed("there is no run of all kernels, only of some: " + ", ".join(map(str, paths)))
        for path, lines in runs:
            if lines[0]["kernels"] != KERNELS:
                self.again |= set(lines[0]["kernels"])
                self.missing = []
                self.read(path, lines, self.replace)
                self.check_missing(path, lines)
        self.gather()

    @staticmethod
    def checked(path, lines):
        if not lines or lines[0].get("benchmark") != "spmspv":
            raise training_failed(f"'{path}' is no run of krylith bench spmspv")
        kernels = lines[0].get("kernels")
        if not (isinstance(kernels, list) and kernels and kernels == [k for k in KERNELS if k in kernels]):
            raise training_failed(f"'{path}': kernels are {kernels}, must be {KERNELS} or some of them in this order")
        for field in ("architecture", "device", "semiring", "precision"):
            if field not in lines[0]:
                raise training_failed(f"'{path}': the first line has no '{field}'")
        return lines

    def read(self, path, lines, take):
        seen = set()
        for number, line in enumerate(lines[1:], 2):
            try:
                if "features" in line:
                    self.know(line)
                elif "us" in line:
                    take(line, lines[0], path, seen)
            except KeyError as e:
                raise training_failed(f"'{path}', line {number}: no {e}") from None
            except (TypeError, ValueError) as e:
                raise training_failed(f"'{path}', line {number}: {e}") from None

    def know(self, line):
        """Features of a matrix; those of another by the same name are refused."""
        name, found = line["matrix"], [float(line["features"][f]) for f in OF_MATRIX]
        for f, value, before in zip(OF_MATRIX, found, self.features.get(name, found)):
            if abs(value - before) > 1e-9 * abs(before):
                raise ValueError(f"{f} of {name} is {value:g}, was {before:g} before: not the same matrix")
        self.features.setdefault(name, found)

    @staticmethod
    def key(line, header):
        return (line["matrix"], line["vector"], line["entries"], line["work"], header["semiring"],
                header["precision"])

    @staticmethod
    def times(line, kernels):
        for given, by_wanted in line["us"].items():
            for wanted, us in by_wanted.items():
                if len(us) != kernels or not all(t > 0 for t in us):
                    raise ValueError(f"us of {given}, {wanted} is {us}, must be {kernels} numbers above 0")
                yield (given, wanted), us

    def take(self, line, header, path, _):
        void = bool(line.get("void_because"))
        if line["matrix"] not in self.features:
            raise KeyError(line["matrix"])
        us = {} if void else {forms: list(us) for forms, us in self.times(line, len(KERNELS))}
        self.products[self.key(line, header)] = {
            "us": us, "void": void, "count_us": 0 if void else float(line["count_us"]), "run": path, "new": set(),
            "effort": [header.get(f) for f in ("clock", "quantile")]}

    def replace(self, line, header, path, seen):
        """Times of some kernels, in place of those that the same product has."""
        key = self.key(line, header)
        what = f"{key[0]}, a {key[1]} vector of {key[2]} entries"
        product = self.products.get(key)
        if key in seen:
            raise ValueError(f"{what} is there twice")
        seen.add(key)
        if product is None:
            self.missing.append(key)
            return
        effort = [header.get(f) for f in ("clock", "quantile")]
        if effort != product["effort"]:
            raise ValueError(f"clock and quantile are {effort}, must be those of {product['run']}: "
                             f"{product['effort']}")
        if line.get("void_because"):
            product["void"] = True
        if product["void"]:
            return
        found = dict(self.times(line, len(header["kernels"])))
        if found.keys() != product["us"].keys():
            raise ValueError(f"{what} has times for other forms than in {product['run']}")
        for forms, us in found.items():
            for kernel, t in zip(header["kernels"], us):
                product["us"][forms][KERNELS.index(kernel)] = t
        product["new"] |= set(header["kernels"])

    def check_missing(self, path, lines):
        """Products of a run of some kernels that no run of all has: ones that it was too short for, or others?"""
        if len(self.missing) == sum("us" in line for line in lines):
            raise training_failed(f"'{path}': none of its products ({lines[0]['semiring']} {lines[0]['precision']}) is "
                                  "in a run of all kernels, by matrix, kind of vector, entries and effective nonzeros")
        replaced = set(lines[0]["kernels"])
        kept = {(k[0], *k[4:]): k for k, p in self.products.items() if not p["void"] and not replaced <= p["new"]}
        for key in self.missing:
            other = kept.get((key[0], *key[4:]))
            if other is not None:
                raise training_failed(
                    f"'{path}': {key[0]} has a {key[1]} vector of {key[2]} entries and {key[3]} effective nonzeros "
                    f"that no run of all kernels has, and lacks their {other[1]} one of {other[2]} and {other[3]}: "
                    "not the same vectors")
        self.alone += len(self.missing)

    def gather(self):
        self.matrices, rows, times, groups, counting, numbers = [], [], [], [], [], {}
        touched = {p["run"] for p in self.products.values() if p["new"]}
        for (name, _, entries, work, *_), p in self.products.items():
            if p["void"]:
                self.void += 1
                continue
            if p["run"] in touched and p["new"] != self.again:
                self.stale += 1
                continue
            if name not in numbers:
                numbers[name] = len(self.matrices)
                self.matrices.append(name)
            matrix = self.features[name]
            of_matrix = dict(zip(OF_MATRIX, matrix))
            density = entries / max(of_matrix["columns"], 1)
            of_vector = [entries, density, work, work / max(of_matrix["nonzeros"], 1)]
            nonzeros = of_matrix["nonzeros"]
            bounds = [density * nonzeros, min(nonzeros, entries * of_matrix["longest_row"])]
            for (given, wanted), us in p["us"].items():
                forms = [given == "pairs", given in ("dense", "bits"), given == "bits", wanted == "pairs"]
                rows.append([*matrix, *map(float, of_vector), *map(float, forms), *bounds, 1])
                times.append(us)
                groups.append(numbers[name])
                counting.append(p["count_us"])
        if len(self.matrices) < 8:
            raise training_failed(f"there are {len(self.matrices)} matrices, needed are at least 8, "
                                  "and some hundred for trees worth having")
        self.x, self.us = np.array(rows), np.array(times) + CALL_US
        self.group, self.count_us = np.array(groups), np.array(counting)
        self.best = self.us.min(axis=1)

    def of(self, feature):
        return self.x[:, FEATURES.index(feature)]

    def told(self):
        """For which products effective nonzeros are known in any case: x is empty or full."""
        return (self.of("entries") == 0) | (self.of("entries") == self.of("columns"))

    def where_nobody_knows(self):
        """The same products, with what a sort has to find out first in its time: it needs the effective nonzeros."""
        view = copy.copy(self)
        view.us = self.us + np.where(self.told(), 0, self.count_us)[:, None] * [k in SORTS for k in range(len(KERNELS))]
        view.best = view.us.min(axis=1)
        return view


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
        """The mean loss, where one of more than MOST_LOSS counts as that."""
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


class cost_tree:
    """Grown by the square roots of losses, which keep a single large one from ruling; a leaf takes the label that
    loses least."""

    def __init__(self, depth, leaf):
        self.grown = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=leaf, random_state=0)

    def fit(self, x, loss):
        loss = np.minimum(loss, MOST_LOSS)
        leaves = self.grown.fit(x, np.sqrt(loss)).apply(x)
        sums = [np.bincount(leaves, of_label, self.grown.tree_.node_count) for of_label in loss.T]
        self.labels = np.argmin(sums, axis=0)
        return self

    def predict(self, x):
        return self.labels[self.grown.apply(x)]


class support_vectors:
    """A support vector machine with radial basis functions, on logarithms of the features, standardised."""

    def fit(self, x, label, sample_weight):
        taken = np.random.RandomState(0).permutation(len(x))[:MOST_SUPPORT]
        self.scaler = StandardScaler().fit(np.log1p(x[taken]))
        self.machine = constant(int(label[taken][0]))
        if len(np.unique(label[taken])) > 1:
            self.machine = SVC(kernel="rbf").fit(self.seen(x[taken]), label[taken], sample_weight[taken])
        return self

    def seen(self, x):
        return self.scaler.transform(np.log1p(x))

    def predict(self, x):
        return self.machine.predict(self.seen(x))


def usable(work):
    """Columns of features that trees may ask for, where effective nonzeros are known or not."""
    without = ("knows_work",) if work else ("knows_work", *NEED_WORK)
    return [k for k, f in enumerate(FEATURES) if f not in without]


def fit(parameters, lesson, data, columns):
    if "label" in parameters:
        return constant(parameters["label"])
    return cost_tree(parameters["depth"], parameters["leaf"]).fit(data.x[lesson.at][:, columns], lesson.loss)


def fit_classifier(classifier, t, data, columns):
    if len(t.at) == 0 or len(np.unique(t.label)) == 1:
        return constant(int(t.label[0]) if len(t.at) else PREFERRED.get(t.name, 0))
    return classifier.fit(data.x[t.at][:, columns], t.label, sample_weight=t.weight)


def quality(t, predicted):
    """Right (or near), strictly right, mean loss."""
    here = np.arange(len(predicted))
    return (t.near[here, predicted].mean(), (predicted == t.label).mean(),
            t.loss[here, predicted].mean())


def lesson_of(name, data, at, models, columns):
    """What a tree learns from: all samples `at`, since no tree can rely on the ones before it, with the times of
    the kernels that `models`, those behind it, take."""
    us, x = data.us[at], data.x[at][:, columns]
    here = np.arange(len(at))
    if name == "write_back":
        return task(name, WRITE_BACKS, at, np.minimum(us[:, [4, 5]], us[:, [6, 7]]))
    if name == "row_distribution":
        return task(name, DISTRIBUTIONS, np.concatenate([at, at]), np.concatenate([us[:, [0, 1]], us[:, [2, 3]]]))
    written = models["write_back"].predict(x).astype(int)
    if name == "column_distribution":
        return task(name, DISTRIBUTIONS, at, np.stack([us[here, 4 + written], us[here, 6 + written]], axis=1))
    rows = models["row_distribution"].predict(x).astype(int)
    by_columns = models["column_distribution"].predict(x).astype(int)
    return task(name, PATTERNS, at, np.stack([us[here, rows], us[here, 2 + rows],
                                              us[here, 4 + 2 * by_columns + written]], axis=1))


# Those behind come first.
ORDER = ["write_back", "column_distribution", "row_distribution", "pattern"]


def grow(chosen, data, columns, parameters):
    """The trees named in `parameters`, by samples for which `chosen` is true."""
    at, models = np.flatnonzero(chosen), {}
    for name in ORDER:
        if name in parameters:
            models[name] = fit(parameters[name], lesson_of(name, data, at, models, columns), data, columns)
    return models


def grid_of(labels, preferred, quick):
    """The smaller, the earlier."""
    yield from ({"depth": 0, "leaf": 0, "label": k} for k in sorted(range(labels), key=lambda k: k != preferred))
    for depth in (2, 4, 6) if quick else (2, 4, 6, 8, 10, 12):
        yield from ({"depth": depth, "leaf": leaf} for leaf in ((20,) if quick else (40, 20, 10)))


def search(chosen, data, columns, quick):
    """Depth and leaf size of each tree by cross-validation over matrices: those that lose least, but no tree where
    a constant loses no more by one standard error of the difference. By hand, as scikit-learn's GridSearchCV knows
    no losses."""
    at = np.flatnonzero(chosen)
    folds = min(5, len(np.unique(data.group[at])))
    splits = [(at[inner], at[outer]) for inner, outer in GroupKFold(folds).split(at, groups=data.group[at])]
    behind = [{} for _ in splits]
    parameters = {}
    for name in ORDER:
        lessons = [(lesson_of(name, data, inner, models, columns), lesson_of(name, data, outer, models, columns))
                   for (inner, outer), models in zip(splits, behind)]
        grid = list(grid_of(len(lessons[0][0].labels), PREFERRED.get(name, 0), quick))
        fitted = [[fit(p, inner, data, columns) for inner, _ in lessons] for p in grid]
        scores = np.array([[outer.capped(model.predict(data.x[outer.at][:, columns]))
                            for model, (_, outer) in zip(models, lessons)] for models in fitted])
        taken = int(scores.mean(axis=1).argmin())
        for k in (k for k, p in enumerate(grid) if "label" in p):
            more = scores[k] - scores[taken]
            if more.mean() <= more.std(ddof=1) / np.sqrt(folds):
                taken = k
                break
        parameters[name] = {**grid[taken], "fold_loss": float(scores[taken].mean())}
        for models, model in zip(behind, fitted[taken]):
            models[name] = model
    return parameters


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
    tree = model.grown.tree_
    decided = common_labels(model)
    paths = model.grown.decision_path(x[:, columns])
    for node in np.flatnonzero(np.isin(tree.feature, need)):
        if decided[node] is None:
            asked |= paths[:, node].toarray().ravel().astype(bool)
    return asked


def cascade_asks_for_work(models, x, columns):
    """The same of the trees that the cascade comes by."""
    by_columns = models["pattern"].predict(x[:, columns]).astype(int) == PATTERNS.index("column")
    of_columns = (asks_for_work(models["column_distribution"], x, columns) |
                  asks_for_work(models["write_back"], x, columns))
    of_rows = asks_for_work(models["row_distribution"], x, columns)
    return asks_for_work(models["pattern"], x, columns) | np.where(by_columns, of_columns, of_rows)


class pair:
    """What the file holds: trees for products whose effective nonzeros are known, trees that guess, and the gate
    between them: (expected nonzeros, mean row) above which counting pays, or None."""

    def __init__(self, knowing, guessing, gate):
        self.knowing, self.guessing, self.gate = knowing, guessing, gate

    def counts(self, data, at):
        """Where the gate leads to the trees that ask, though nobody knows."""
        if self.gate is None:
            return np.zeros(len(at), dtype=bool)
        expected, mean_row = data.of("expected_nonzeros")[at], data.of("mean_row")[at]
        return ~data.told()[at] & (expected > self.gate[0]) & (mean_row > self.gate[1])

    def knows(self, data, at, known):
        return np.full(len(at), known) | data.told()[at] | self.counts(data, at)

    def predict(self, name, data, at, known):
        knowing, guessing = (models[name].predict(data.x[at][:, usable(work)]).astype(int)
                             for models, work in ((self.knowing, True), (self.guessing, False)))
        return np.where(self.knows(data, at, known), knowing, guessing)

    def kernels(self, data, at, known):
        knowing, guessing = (cascade(models, data.x[at], usable(work))
                             for models, work in ((self.knowing, True), (self.guessing, False)))
        return np.where(self.knows(data, at, known), knowing, guessing)

    def asks(self, data, at, known):
        """For which products the device is waited for: by a tree, or by a sort, which needs the number itself."""
        if known:
            return np.zeros(len(at), dtype=bool)
        return (self.counts(data, at) & cascade_asks_for_work(self.knowing, data.x[at], usable(True)) |
                ~data.told()[at] & np.isin(self.kernels(data, at, known), SORTS))


def find_gate(data, at, saved):
    """From which product on counting takes less than half of what it saves, and than 5% of the time, `saved` being
    the losses that it spared in folds: the largest tenth of the products that nobody knows tells what is saved and
    how long an expected nonzero takes there, the median; counting takes a wait and a time an entry, each of which
    may take half of what is allowed. None where nothing worth mentioning is saved."""
    unknown = ~data.told()[at]
    at, saved = at[unknown], saved[unknown]
    expected, entries = data.of("expected_nonzeros")[at], data.of("entries")[at]
    if len(at) < 100 or not expected.max() > 0:
        return None
    large = expected >= np.quantile(expected, 0.9)
    allowed = min(MOST_COUNTING, saved[large].mean() / 2)
    if allowed < 0.005:
        return None
    nonzero_us = float(np.median(data.best[at][large] / expected[large]))
    entry_us, wait_us = np.polyfit(entries, data.count_us[at], 1)
    wait_us = max(float(wait_us), float(np.median(data.count_us[at])))
    share = allowed / 2 * nonzero_us
    return float(f"{wait_us / share:.3g}"), float(f"{max(entry_us, 0) / share:.3g}")


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

def common_labels(model):
    """By node of a grown tree: the label of all leaves below, or None where they differ: such a split decides."""
    tree = model.grown.tree_
    labels = [None] * tree.node_count
    for node in reversed(range(tree.node_count)):  # children stand behind
        below, above = tree.children_left[node], tree.children_right[node]
        if below < 0:
            labels[node] = int(model.labels[node])
        elif labels[below] == labels[above]:
            labels[node] = labels[below]
    return labels


def nodes_of(model, labels, columns, first=0):
    """Lines of the file, from node `first` on. scikit-learn compares numbers of single precision with its
    thresholds; krylith compares doubles, which can differ only for a value within a rounding of the threshold."""
    if isinstance(model, constant):
        return [f"leaf {labels[model.label]}"]
    tree, decided, lines = model.grown.tree_, common_labels(model), []

    def write(node):
        here = len(lines)
        if decided[node] is not None:
            lines.append(f"leaf {labels[decided[node]]}")
            return here
        lines.append("")
        below = write(tree.children_left[node])
        above = write(tree.children_right[node])
        lines[here] = (f"node {FEATURES[columns[tree.feature[node]]]} {float(tree.threshold[node])!r} "
                       f"{first + below} {first + above}")
        return here

    write(0)
    return lines


def pair_nodes(trees, name, labels):
    """Both trees behind a node; the gate, where there is one, is the pattern's: what it has asked for, the trees
    behind it know."""
    gate = trees.gate if name == "pattern" else None
    first = 1 if gate is None else 3
    guessing = nodes_of(trees.guessing[name], labels, usable(False), first)
    knows = first + len(guessing)
    knowing = nodes_of(trees.knowing[name], labels, usable(True), knows)
    if len(guessing) == 1 and guessing == knowing:
        return guessing
    head = [f"node knows_work 0.5 1 {knows}"]
    if gate is not None:
        head += [f"node expected_nonzeros {gate[0]!r} 3 2", f"node mean_row {gate[1]!r} 3 {knows}"]
    return head + guessing + knowing


def model_text(data, trees, name, origin):
    text = ["krylith kernel model 1", f"architecture {data.architecture}", f"name {name}", f"origin {origin}"]
    for tree, labels in (("pattern", PATTERNS), ("row_distribution", DISTRIBUTIONS),
                         ("column_distribution", DISTRIBUTIONS), ("write_back", WRITE_BACKS)):
        text += [f"tree {tree}", *pair_nodes(trees, tree, labels)]
    return "\n".join(text) + "\n"


def percent(share):
    return "-" if share is None else f"{100 * share:.1f}%"


CASES = {"known": "where effective nonzeros are known", "unknown": "where nobody knows them"}


def markdown(r):
    out = [f"# Kernel model of {r['name']}", "",
           f"{r['samples']} products of {r['matrices']} matrices; {r['held_out']} matrices "
           f"({r['held_out_samples']} products) held out. {r['origin']}.", ""]
    if r["again"]:
        out += [f"Measured again, later: {', '.join(r['again'])}; {r['stale']} vectors without new times and "
                f"{r['alone']} without the other kernels' are left out.", ""]
    out += ["Right: the fastest, or at most 5% or 2 us slower. Loss: time over that of the best kernel, less 1.", "",
            "| on held-out matrices | pattern | rows' distribution | columns' distribution | write-back | mean loss | "
            "choosing asks the device | which takes, of the time |", "|---|---|---|---|---|---|---|---|"]
    for case, title in CASES.items():
        c = r["cases"][case]
        right = " | ".join(percent(m["classifiers"]["tree"]["right"]) for m in c["models"].values())
        out.append(f"| {title} | {right} | {percent(c['losses']['cascade of trees']['mean'])} | "
                   f"{percent(c['asks_for_work'])} | {percent(c['selection'])} |")
    out += ["", "Where nobody knows them, trees guess, and count " + (
        "never." if r["gate"] is None else f"where more than {r['gate'][0]:g} nonzeros are expected to be effective "
        f"and a mean row has more than {r['gate'][1]:g}."), ""]
    for case, title in CASES.items():
        out += [f"## {title[0].upper()}{title[1:]}", "", *case_lines(r["cases"][case])]
    out += ["| family (held out whole) | mean loss, known | mean loss, unknown | products |", "|---|---|---|---|"]
    out += [f"| {name} | {percent(f['known'])} | {percent(f['unknown'])} | {f['products']} |"
            for name, f in r["families"].items()]
    return "\n".join(out) + "\n"


def case_lines(r):
    out = ["| model | classifier | right | strictly | mean loss |", "|---|---|---|---|---|"]
    for name, by_classifier in r["models"].items():
        for classifier, q in by_classifier["classifiers"].items():
            out.append(f"| {name} | {classifier} | {percent(q['right'])} | {percent(q['strictly'])} | "
                       f"{percent(q['loss'])} |")
    out += ["", "| on held-out matrices | mean loss | median | 95% below | worst | of all time |",
            "|---|---|---|---|---|---|"]
    for name, l in r["losses"].items():
        shares = " | ".join(percent(l[key]) for key in ("mean", "median", "p95", "worst", "total"))
        out.append(f"| {name} | {shares} |")
    out += ["", "| classifier, by scikit-learn | us a product of 1000 at once | us of one alone |", "|---|---|---|"]
    out += [f"| {name} | {us['of_many']:.3g} | {us['alone']:.3g} |" for name, us in r["prediction_us"].items()]
    out += ["", *importance_lines(r["importance"])]
    out += ["", "| tree | depth | leaf | nodes |", "|---|---|---|---|"]
    out += [f"| {name} | {m['parameters']['depth']} | {m['parameters']['leaf']} | {m['nodes']} |"
            for name, m in r["models"].items()]
    for name, m in r["models"].items():
        labels = m["labels"]
        out += ["", f"Confusion of the tree `{name}` (rows: the fastest, columns: chosen; near choices "
                "count as chosen right):", "", "| | " + " | ".join(labels) + " |", "|---" * (len(labels) + 1) + "|"]
        out += [f"| {label} | " + " | ".join(str(n) for n in row) + " |"
                for label, row in zip(labels, m["confusion"])]
    return [*out, ""]


def importance_lines(found):
    """A line a feature, those that tell the most first: chi2 and, of the tree's, the gain of its splits."""
    def told(feature):
        return -max(shares[feature] for m in found.values() for shares in m.values())

    features = sorted((f for f in next(iter(found.values()))["chi2"]), key=told)
    out = ["| feature: share of chi2, of the tree | " + " | ".join(found) + " |", "|---" * (len(found) + 1) + "|"]
    return out + [f"| {f} | " + " | ".join(f"{percent(m['chi2'][f])}, {percent(m['tree'][f])}" for m in found.values())
                  + " |" for f in features]


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
    for label, choice in (*((f"trees, work {case}", chosen[case]) for case in CASES),
                          (f"always {KERNELS[fixed]}", np.full(len(test), fixed))):
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
    models = report["cases"]["known"]["models"]
    figure, panels = plt.subplots(1, len(models), figsize=(12, 3))
    for axes, (name, m) in zip(panels, models.items()):
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


def train(data, quick):
    """The report, the trees grown on all matrices, and what the figures need."""
    train_on, held = hold_out(data)
    every = np.ones(len(data.x), dtype=bool)
    views = {True: data, False: data.where_nobody_knows()}
    parameters = {work: search(train_on, views[work], usable(work), quick) for work in views}
    # Judged by the training matrices' folds: the held-out ones are for the report alone.
    gate = find_gate(data, np.flatnonzero(train_on), fold_savings(views, train_on, parameters))

    def grown(chosen):
        return pair(*(grow(chosen, view, usable(work), parameters[work]) for work, view in views.items()), gate)

    trees, test = grown(train_on), np.flatnonzero(held)
    report = {"gate": gate, "cases": {}}
    final, chosen = grown(every), {}
    for case in CASES:
        known = case == "known"
        chosen[case] = trees.kernels(data, test, known)
        report["cases"][case] = judged(views[known], trees, known, train_on, held, chosen[case])
        counting = data.count_us[test][trees.asks(data, test, known)]
        report["cases"][case]["asks_for_work"] = len(counting) / len(test)
        report["cases"][case]["selection"] = float(counting.sum() /
                                                   (data.us[test, chosen[case]].sum() + counting.sum()))
        fixed, fixed_losses = best_fixed(views[known], np.flatnonzero(train_on), test)
        report["cases"][case]["losses"][f"best fixed: {KERNELS[fixed]}"] = fixed_losses
        report["cases"][case]["importance"] = importance(views[known], final.knowing if known else final.guessing,
                                                         usable(known))
        for name, m in report["cases"][case]["models"].items():
            m["parameters"] = parameters[known][name]
            m["nodes"] = len(nodes_of((final.knowing if known else final.guessing)[name], m["labels"],
                                      usable(known)))
    report["families"] = by_family(views, grown)
    return report, final, test, chosen, fixed


def fold_savings(views, train_on, parameters):
    """By training sample: how much less a tree loses that knows than one that guesses, both grown without it."""
    data, at = views[True], np.flatnonzero(train_on)
    saved = np.zeros(len(at))
    for inner, outer in GroupKFold(4).split(at, groups=data.group[at]):
        mask = np.zeros(len(data.x), dtype=bool)
        mask[at[inner]] = True
        taken = [data.us[at[outer], cascade(grow(mask, view, usable(work), parameters[work]), data.x[at[outer]],
                                            usable(work))] for work, view in views.items()]
        knowing, guessing = (np.minimum(us / data.best[at[outer]] - 1, MOST_LOSS) for us in taken)
        saved[outer] = guessing - knowing
    return saved


def prediction_us(models, x, columns):
    """Microseconds that scikit-learn takes for the cascade: a product of 1000 at once, and one by itself. The library
    goes through a tree itself, in the time that `krylith bench graph --oracle` calls the model's."""
    def seconds(rows):
        start = time.perf_counter()
        cascade(models, rows, columns)
        return time.perf_counter() - start

    many = x[:1000]
    return {"of_many": 1e6 * min(seconds(many) for _ in range(3)) / len(many),
            "alone": 1e6 * sorted(seconds(x[k % len(x)][None]) for k in range(9))[4]}


def importance(data, models, columns):
    """By model and feature: its share of the sum of all chi2 between a feature and the fastest, and of what the
    tree's splits gain. For chi2 a feature is the logarithm of 1 + its value, over the largest: chi2 is no less
    for numbers than for ratios."""
    seen = np.log1p(data.x[:, columns])
    seen /= np.maximum(seen.max(axis=0), 1e-300)
    found = {}
    for name, t in tasks_of(data).items():
        shares = {"chi2": np.zeros(len(columns)), "tree": np.zeros(len(columns))}
        if len(np.unique(t.label)) > 1:
            scores = np.nan_to_num(SelectKBest(chi2, k="all").fit(seen[t.at], t.label).scores_)
            shares["chi2"] = scores / max(scores.sum(), 1e-300)
        if not isinstance(models[name], constant):
            shares["tree"] = models[name].grown.feature_importances_
        found[name] = {by: {FEATURES[c]: float(s) for c, s in zip(columns, of)} for by, of in shares.items()}
    return found


def judged(data, trees, known, train_on, held, chosen):
    """What the report says of one case, by held-out matrices."""
    test, columns, tasks = np.flatnonzero(held), usable(known), tasks_of(data)
    report = {"models": {}, "losses": {"cascade of trees": losses(data, test, chosen)}}
    forests = {
        "random forest": lambda: RandomForestClassifier(100, min_samples_leaf=3, random_state=0, n_jobs=1),
        "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0),
        "support vectors": support_vectors}
    of_classifier = {name: {} for name in forests}
    for name, t in tasks.items():
        ours, theirs = t.part(train_on), t.part(held)
        classifiers, table = {}, np.zeros((len(t.labels), len(t.labels)), dtype=int).tolist()
        for forest, make in forests.items():
            of_classifier[forest][name] = fit_classifier(make(), ours, data, columns)
        for classifier in ("tree", *forests):
            if len(theirs.at) == 0:  # no held-out product comes by this model: nothing is known of it
                classifiers[classifier] = {"right": None, "strictly": None, "loss": None}
                continue
            if classifier == "tree":
                predicted = trees.predict(name, data, theirs.at, known)
                table = confusion(theirs, predicted)
            else:
                predicted = of_classifier[classifier][name].predict(data.x[theirs.at][:, columns]).astype(int)
            right, strictly, loss = quality(theirs, predicted)
            classifiers[classifier] = {"right": float(right), "strictly": float(strictly), "loss": float(loss)}
        report["models"][name] = {"labels": t.labels, "classifiers": classifiers, "confusion": table,
                                  "samples": int(len(t.at))}
    of_trees = trees.knowing if known else trees.guessing
    report["prediction_us"] = {"tree": prediction_us(of_trees, data.x[test], columns)}
    for forest, models in of_classifier.items():
        report["prediction_us"][forest] = prediction_us(models, data.x[test], columns)
        report["losses"][f"cascade of {forest}"] = losses(data, test, cascade(models, data.x[test], columns))
    long = data.best[test] >= LONG_US
    if long.any():
        name = f"cascade of trees, products of {LONG_US:g} us and more"
        report["losses"][name] = losses(data, test[long], chosen[long])
    return report


def by_family(views, grown):
    """Trees that have seen nothing of a family, on that family; their parameters are those found on all."""
    data = views[True]
    names = np.array([family(m) for m in data.matrices])
    found = {}
    if len(set(names)) < 2:
        return found
    for name in sorted(set(names)):
        outer = names[data.group] == name
        trees, at = grown(~outer), np.flatnonzero(outer)
        found[name] = {"products": int(len(at))}
        for case in CASES:
            known = case == "known"
            found[name][case] = losses(views[known], at, trees.kernels(data, at, known))["mean"]
    return found


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN.jsonl")
    parser.add_argument("--model", required=True, help="the kernel model to write")
    parser.add_argument("--report", help="a folder for report.md and report.json (and figures)")
    parser.add_argument("--plot", action="store_true", help="figures too; needs matplotlib")
    parser.add_argument("--quick", action="store_true", help="a smaller grid")
    parser.add_argument("--name", help="of the model; the device's if it is left out")
    parser.add_argument("--note", default="", help="added to the origin")
    parser.add_argument("--date", help="in the origin; today's if it is left out")
    options = parser.parse_args(arguments)
    if options.plot and not options.report:
        raise training_failed("--plot needs --report FOLDER for its figures")
    libraries()
    warnings.filterwarnings("ignore")
    data = samples(options.runs)
    report, final, test, chosen, fixed = train(data, options.quick)
    name = options.name or data.headers[0]["device"]
    kinds = sorted({f"{h['semiring']} {h['precision']}" for h in data.headers})
    date = options.date or datetime.date.today().isoformat()
    origin = (f"trained on {len(data.us)} products of {len(data.matrices)} matrices ({', '.join(kinds)}; "
              f"{data.headers[0]['device']}), {date}" + (f"; {options.note}" if options.note else ""))
    report = {"name": name, "architecture": data.architecture, "origin": origin, "samples": len(data.us),
              "void": data.void, "again": [k for k in KERNELS if k in data.again], "stale": data.stale,
              "alone": data.alone, "matrices": len(data.matrices),
              "held_out": int(len(set(data.group[test].tolist()))), "held_out_samples": int(len(test)),
              "sklearn": sklearn.__version__, **report}
    path = pathlib.Path(options.model)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(model_text(data, final, name, origin), encoding="utf-8")
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

# SPDX-License-Identifier: Apache-2.0
"""Ridge regression in its dual form, and how much better than the mean it predicts.

    kernel = least_squares.kernel(rows, columns, training)      # the first `training` rows are to learn from
    error, predictions = least_squares.learn(kernel, targets[:training])
    least_squares.relative_error(predictions, targets[training:], least_squares.mean(targets[:training]))
"""

import math

# From almost plain least squares to almost the mean.
STRENGTHS = (1e-9, 1e-6, 1e-3, 1e-1, 1, 10, 100, 1e4)
_FOLDS = 5


def mean(values):
    return sum(values) / len(values)


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def _solve(matrix, right):
    """The solution of a symmetric positive definite system, by Cholesky's decomposition."""
    size = len(matrix)
    lower = []
    for i in range(size):
        row = []
        for j in range(i):
            row.append((matrix[i][j] - _dot(row, lower[j])) / lower[j][j])
        row.append(math.sqrt(max(matrix[i][i] - _dot(row, row), 1e-300)))
        lower.append(row)
    forward = []
    for i in range(size):
        forward.append((right[i] - _dot(lower[i], forward)) / lower[i][i])
    solution = [0.0] * size
    for i in reversed(range(size)):
        rest = sum(lower[k][i] * solution[k] for k in range(i + 1, size))
        solution[i] = (forward[i] - rest) / lower[i][i]
    return solution


def kernel(rows, columns, training):
    """The products of all rows with the training rows, standardized by what these are; constant columns are dropped."""
    standard = [[] for _ in rows]
    for column in columns:
        values = [row[column] for row in rows]
        middle = mean(values[:training])
        deviation = math.sqrt(mean([(value - middle) ** 2 for value in values[:training]]))
        if deviation <= 1e-12 * max(1.0, abs(middle)):
            continue
        for row, value in zip(standard, values):
            row.append((value - middle) / deviation)
    return [[_dot(row, other) for other in standard[:training]] for row in standard]


def _predict(products, targets, train, test, strength):
    """What rows `test` are, by numbers, learnt from rows `train`."""
    middle = mean([targets[i] for i in train])
    matrix = [[products[i][j] for j in train] for i in train]
    weight = strength * max(mean([matrix[i][i] for i in range(len(train))]), 1e-12)
    for i in range(len(train)):
        matrix[i][i] += weight
    dual = _solve(matrix, [targets[i] - middle for i in train])
    return [middle + _dot(dual, [products[i][j] for j in train]) for i in test]


def relative_error(predictions, targets, prior):
    """Root mean square error, relative to that of always predicting `prior`."""
    error = sum((prediction - target) ** 2 for prediction, target in zip(predictions, targets))
    return math.sqrt(error / sum((prior - target) ** 2 for target in targets))


def _validation_error(products, targets, strength):
    size = len(targets)
    predictions = []
    for fold in range(_FOLDS):
        test = [i for i in range(size) if i * _FOLDS // size == fold]
        train = [i for i in range(size) if i * _FOLDS // size != fold]
        predictions += _predict(products, targets, train, test, strength)
    return relative_error(predictions, targets, mean(targets))


def learn(products, targets):
    """(error by cross-validation, predictions of the rows after the training) with the best strength."""
    size = len(targets)
    error, strength = min((_validation_error(products, targets, strength), strength) for strength in STRENGTHS)
    return error, _predict(products, targets, range(size), range(size, len(products)), strength)

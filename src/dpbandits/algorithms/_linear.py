"""Linear algebra of linear bandits in plain loops: the same bits in Python and on all processors.

Matrices are small. A Cholesky factor L of V = L L^T takes the place of the root of V: L^-1 N and
V^(-1/2) N have the same covariance for N(0, I).
"""

import math

import numpy as np

from dpbandits.kernel.compilation import allocating, inlined

INDEPENDENT = 1e-9  # share of a squared norm outside a span, from which a vector is not in it


@inlined
def dot(x, y):
    """Return the inner product of two vectors."""
    total = x[0] * y[0]
    for i in range(1, x.size):
        total += x[i] * y[i]
    return total


@inlined
def norm2(inverse, x):
    """Return x^T V^-1 x, the squared norm of x in V^-1."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * dot(inverse[i], x)
    return total


@inlined
def add_outer(matrix, x, weight):
    """Add `weight` x x^T to a matrix in place."""
    for i in range(x.size):
        for j in range(x.size):
            matrix[i, j] += weight * x[i] * x[j]


@inlined
def shrink_inverse(inverse, x, weight, image):
    """Turn V^-1 into (V + weight x x^T)^-1 in place (Sherman, Morrison); `image` gets V^-1 x."""
    for i in range(x.size):
        image[i] = dot(inverse[i], x)
    add_outer(inverse, image, -weight / (1.0 + weight * dot(image, x)))


@allocating
def cholesky(matrix):
    """Return the lower triangular factor L of a positive definite matrix L L^T."""
    n = matrix.shape[0]
    factor = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            left = matrix[i, j]
            for k in range(j):
                left -= factor[i, k] * factor[j, k]
            factor[i, j] = math.sqrt(left) if i == j else left / factor[j, j]
    return factor


@allocating
def forward(factor, b):
    """Return L^-1 b."""
    x = np.zeros(b.size)
    for i in range(b.size):
        left = b[i]
        for j in range(i):
            left = left - factor[i, j] * x[j]
        x[i] = left / factor[i, i]
    return x


@allocating
def backward(factor, b):
    """Return L^-T b."""
    x = np.zeros(b.size)
    for i in range(b.size - 1, -1, -1):
        left = b[i]
        for j in range(i + 1, b.size):
            left = left - factor[j, i] * x[j]
        x[i] = left / factor[i, i]
    return x


@allocating
def inverted(matrix):
    """Return the inverse of a positive definite matrix."""
    n = matrix.shape[0]
    factor, inverse = cholesky(matrix), np.zeros((n, n))
    for i in range(n):
        unit = np.zeros(n)
        unit[i] = 1.0
        inverse[i] = backward(factor, forward(factor, unit))
    return inverse


@allocating
def on_span(actions):
    """Return coordinates of the actions in their span, (n, rank), and `rank` of them as a basis.

    The basis, int64 of shape (rank,), has in each step the action farthest from the span of those
    before, the first one if tied. The coordinates are orthonormal. Zeros alone, whose rewards are
    alike, count as one action, of coordinate 1.
    """
    n, d = actions.shape
    rest, axes, basis = actions.copy(), np.zeros((min(n, d), d)), np.zeros(min(n, d), np.int64)
    rank, largest = 0, 0.0
    for i in range(n):
        largest = max(largest, dot(actions[i], actions[i]))
    for _ in range(min(n, d)):
        farthest, length2 = 0, 0.0
        for i in range(n):
            if dot(rest[i], rest[i]) > length2 * (1.0 + INDEPENDENT):
                farthest, length2 = i, dot(rest[i], rest[i])
        if length2 <= INDEPENDENT * largest:
            break
        for k in range(d):
            axes[rank, k] = rest[farthest, k] / math.sqrt(length2)
        for i in range(n):
            along = dot(axes[rank], rest[i])
            for k in range(d):
                rest[i, k] -= along * axes[rank, k]
        basis[rank] = farthest
        rank += 1
    if rank == 0:
        return np.ones((n, 1)), basis[:1]
    coordinates = np.zeros((n, rank))
    for i in range(n):
        for k in range(rank):
            coordinates[i, k] = dot(axes[k], actions[i])
    return coordinates, basis[:rank]


@inlined
def farthest_and_nearest(actions, design, inverse):
    """Return the action of largest norm in V^-1 and that of smallest norm in the support.

    Each with its squared norm; the first one if tied.
    """
    far, near, largest, smallest = 0, 0, -math.inf, math.inf
    for i in range(design.size):
        size = norm2(inverse, actions[i])
        if size > largest * (1.0 + INDEPENDENT):
            far, largest = i, size
        if design[i] > 0.0 and size < smallest:
            near, smallest = i, size
    return far, largest, near, smallest


@allocating
def g_optimal_design(actions, basis, tolerance):
    """Return a nearly G-optimal design π, (n,), and g, the largest x^T V(π)^-1 x of an action.

    `actions`, (n, rank), span their space, as those of the basis do. Frank and Wolfe's method
    (Lattimore and Szepesvári 2020, section 21.2; azize2024, (5.7)), which starts from the basis,
    moves weight to the action of largest norm, or away from the one in the support of smallest norm
    (Wolfe and Atwood), until both are within the tolerance of the rank: g <= rank (1 + tolerance).
    """
    n, rank = actions.shape
    design, matrix, image = np.zeros(n), np.zeros((rank, rank)), np.zeros(rank)
    for i in basis:
        design[i] = 1.0 / rank
        add_outer(matrix, actions[i], 1.0 / rank)
    inverse = inverted(matrix)
    while True:
        moved, size, near, smallest = farthest_and_nearest(actions, design, inverse)
        if size <= rank * (1.0 + tolerance):
            return design, size
        if rank - smallest <= size - rank:
            step = (size / rank - 1.0) / (size - 1.0)
        else:  # at most as far away as to remove it
            moved, step = near, -design[near] / (1.0 - design[near])
            if smallest > 1.0:
                step = max(step, (smallest / rank - 1.0) / (smallest - 1.0))
        for i in range(n):
            design[i] *= 1.0 - step
        design[moved] += step
        if design[moved] < INDEPENDENT:
            design[moved] = 0.0
        # V becomes (1 - step) V + step x x^T.
        shrink_inverse(inverse, actions[moved], step / (1.0 - step), image)
        for i in range(rank):
            for j in range(rank):
                inverse[i, j] /= 1.0 - step

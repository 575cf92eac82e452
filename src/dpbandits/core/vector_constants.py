"""Constants of the vector primitives, in all their forms."""

import numpy as np

LANES = 8  # doubles in a vector
STRIDE = 2 * LANES  # numbers that one step of a generator yields; lengths are multiples of it
RUNS = 2 * LANES  # runs that are played in step (lanes.py)

ONE = np.uint64(0x3FF0000000000000)
TOP_OF_ROOT = np.uint64(0x3FE6A09E00000000)  # upper bits of sqrt(1/2)
FRACTION = np.uint64(0x000FFFFFFFFFFFFF)
TWO_52 = np.uint64(0x4330000000000000)  # bits of 2^52

# Coefficients of log(1 + f) in fdlibm (e_log.c), Lg1 to Lg7, and log 2 in two parts.
ODD = (
    6.666666666666735130e-01,
    2.857142874366239149e-01,
    1.818357216161805012e-01,
    1.479819860510658591e-01,
)
EVEN = (3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)
LOG2_HIGH, LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
BIAS = 2.0**52 + 1023.0  # of an exponent that was put below the bits of 2^52

# Coefficients of exp in fdlibm (e_exp.c), P1 to P5. Adding ROUNDING rounds a number to an integer.
EXP = (
    1.66666666666666019037e-01,
    -2.77777777770155933842e-03,
    6.61375632143793436117e-05,
    -1.65339022054652515390e-06,
    4.13813679705723846039e-08,
)
INVERSE_LOG2, ROUNDING = 1.44269504088896338700e00, 1.5 * 2.0**52
LOWEST_EXPONENT = -708.0  # exp of it is still a normal number

"""The answer of an identification algorithm: the arm that it takes for the best one.

An algorithm that answers stops; one that reaches the limit of rounds without an answer stays
undecided. It pulls the bandit of kernel/bandit.py, whose horizon is that limit.
"""

from dpbandits.kernel.compilation import inlined

UNDECIDED = -1
NO_ANSWER = 3  # mark of a game that cannot count, beside those of kernel/bandit.py


@inlined
def answer(bandit, arm):
    """Answer with an arm, from 0; a second answer, or no such arm, marks the game."""
    if 0 <= arm < bandit.pulls.size and bandit.answer[0] == UNDECIDED:
        bandit.answer[0] = arm
    else:
        bandit.clock[2] = NO_ANSWER

"""Units of computation: an algorithm on a bandit, a stopping rule on a stream, an audit."""

"""Foundation of every kernel: compiler, bandit, random streams, parameters, registry, errors."""

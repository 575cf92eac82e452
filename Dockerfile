# The two commands of the README in a container: the first figure, and the tests.
# The tag gets security updates; requirements.lock pins what computes.
FROM python:3.13-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/*
# Figures are made, and tests run, by a user who is not root and owns the checkout with out/ and cache/.
RUN useradd --create-home bandit && install -d -o bandit -g bandit /dpbandits
USER bandit
WORKDIR /dpbandits
COPY --chown=bandit:bandit . .
RUN make fig-adap-ksweep
CMD ["make", "test"]

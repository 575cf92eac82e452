# The two commands of the README in a container: the first figure, and the tests.
FROM python:3.13-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /dpbandits
COPY . .
RUN make fig-adap-ksweep
CMD ["make", "test"]

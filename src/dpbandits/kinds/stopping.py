"""Stopping rules on streams of samples: the samples that a rule uses, and its failures."""

from collections.abc import Iterator, Mapping
from typing import Any

from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.kinds import Given, Key, Kind, Quantity, Words, in_words
from dpbandits.experiments.stopping import FAILURES, SAMPLES, StoppingExperiment, Stream
from dpbandits.kernel import parameters
from dpbandits.kernel.errors import shown

STREAM = Key(dict[Any, Any], "samples of a stopping rule", parts=Stream)


class StoppingKind(Kind):
    """Keys, quantities and words of rules that estimate a mean."""

    key = "rule"
    title = "Stopping rules"
    experiment = StoppingExperiment
    quantities = (
        Quantity(SAMPLES, "samples that a rule uses", "Samples used"),
        Quantity(FAILURES, "share of estimates α |μ| or more away from μ", "Share of failures"),
    )
    keys: Mapping[str, Key] = {"stream": STREAM}
    usual: Mapping[str, Any] = {"epsilon": 1.0, "alpha": 0.5, "beta": 0.05}  # as drawn

    def text_values(self, given: Given) -> Mapping[str, Any]:
        return {} if given.value("stream")[0] is None else {"stream": stream(given)._asdict()}

    def read(self, given: Given, shows: Quantity) -> Experiment:
        read = StoppingExperiment(given.name, given.params(), stream(given), given.seed)
        if read.samples_at_most() > 2**53:
            raise given.error(given.path, f": {self._name(read)} may take more than 2^53 samples")
        return read

    def words(self, experiment: StoppingExperiment) -> Words:
        radius = experiment.stream.radius
        return Words(
            name=self._name(experiment),
            settings=parameters.as_json(experiment.params),
            arguments={**experiment.stream._asdict(), **experiment.params._asdict()},
            declaring=(experiment.params, radius),
            phrase=f"samples of {radius:g} or {-radius:g}",
            unit="stream",
            shared=experiment.description(),
        )

    def _name(self, experiment: StoppingExperiment) -> str:
        params, samples = (parameters.as_json(p) for p in (experiment.params, experiment.stream))
        return f"{experiment.member}({in_words(params)}) on samples of {in_words(samples)}"

    def game(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return (Stream(1.0).radius,)

    def most(self, experiment: StoppingExperiment, arguments: Mapping[str, Any]) -> float | None:
        return None  # a rule may take any number of samples

    def cases(self, member: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Experiment]]:
        params = self.case_params(member, values)
        for samples in (Stream(0.3), Stream(-0.9, 2.0)):
            name = f"samples of mean {samples.mean:g} and radius {samples.radius:g}"
            yield name, StoppingExperiment(member, params, samples, 2022)


def stream(given: Given) -> Stream:
    """Return the stream of samples, of which every layer may set a part."""
    read: Stream = given.parts("stream")
    if abs(read.mean) > read.radius:
        path = given.value("stream")[1]
        problem = f"must be within {read.radius:g} of 0, got {shown(read.mean)}"
        raise given.error(f"{path}.mean", problem)
    return read


kind = StoppingKind()

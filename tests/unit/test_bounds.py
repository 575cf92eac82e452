"""Curves of bounds: their arguments, the curves of a panel, the points where regimes meet."""

import pytest

from dpbandits.config.compose import load
from dpbandits.experiments.formula import Formula
from dpbandits.kernel.errors import UserError
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.theory.azize2022 import problem_dependent_transitions

pytestmark = pytest.mark.usefixtures("in_checkout")


def spec_of(figure: str, *overrides: str) -> FigureSpec:
    return load(figure, overrides)[0]


def curve(spec: FigureSpec, name: str) -> Curve:
    (found,) = (c for p in spec.panels for c in p.curves if c.name == name)
    return found


def curve_of(spec: FigureSpec, letter: str, name: str) -> Curve:
    (found,) = (c for p in spec.panels if p.letter == letter for c in p.curves if c.name == name)
    return found


def arguments(bound: object) -> dict[str, object]:
    assert isinstance(bound, Formula)
    return dict(bound.values)


def test_a_bound_takes_from_its_curve_what_the_game_does_not_give() -> None:
    spec = spec_of("lower-bounds")
    assert arguments(curve(spec, "basis-d5").sources[0]) == {
        "dimension": 5,
        "extra": (0.9, 0.5),
        "horizon": 10_000_000,
        "epsilon": 1e-6,
    }
    assert arguments(curve(spec, "minimax").sources[0])["arms"] == 5
    changed = spec_of("lower-bounds", "figure.curves.basis-d5.extra=[0.5]")
    assert arguments(curve(changed, "basis-d5").sources[0])["extra"] == (0.5,)


def test_the_sweep_beats_an_epsilon_that_stands_in_the_curve_of_a_bound() -> None:
    swept = curve(spec_of("lower-bounds"), "c1")
    assert swept.x == tuple(arguments(source)["epsilon"] for source in swept.sources)
    with pytest.raises(
        UserError, match=r"changes nothing in the figure: set by figure\.sweep\.values"
    ):
        spec_of("lower-bounds", "+figure.curves.c1.epsilon=0.5")


def test_a_bound_is_evaluated_where_its_regimes_meet() -> None:
    meet = curve(spec_of("lower-bounds"), "c2-regimes")
    assert meet.style == "transition"
    assert meet.x == problem_dependent_transitions((0.75, 0.625, 0.5, 0.375, 0.25))
    assert tuple(arguments(source)["epsilon"] for source in meet.sources) == meet.x
    regimes = curve(spec_of("adap-regimes"), "regimes")
    assert regimes.x == pytest.approx((0.27279,), abs=5e-6)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("+figure.curves.basis-d5.dimensions=3", "'dimension'"),
        ("figure.curves.basis-d5.dimension=1", "dimension must be a whole number from 2 to 100"),
        ("figure.curves.basis-d5.extra=0.9", "extra must be"),
        ("+figure.curves.minimax.alpha=3.1", "unknown key 'figure.curves.minimax.alpha'"),
        ("figure.curves.c1-regimes.at=azize2022.transitions", "unknown at"),
        ("figure.curves.c1.bound=azize2022.minimax_transitions", "unknown bound"),
        ("figure.panels.a.curves=[minimax,minimax-regime]", "did you mean 'minimax-regimes'"),
        ("figure.panels.a.curves=[minimax]", "minimax-regimes is among the curves of no panel"),
        (
            "figure.curves.c1-regimes.environment={family:bernoulli,means:[0.5,0.5]}",
            "one regime only",
        ),
    ],
)
def test_a_mistake_in_a_bound_is_told(override: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        spec_of("lower-bounds", override)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_regimes_meet_on_an_axis_of_epsilon_alone() -> None:
    swept = ("figure.sweep.key=horizon", "figure.sweep.values=[100,200]")
    with pytest.raises(UserError, match="needs a sweep over the budget"):
        spec_of("lower-bounds", "+figure.epsilon=1", *swept)


def test_what_a_curve_of_a_panel_does_not_take_cannot_be_swept() -> None:
    with pytest.raises(UserError, match=r"unknown figure.sweep.key 'dimension'"):
        spec_of("adap-ksweep", "figure.sweep.key=dimension")
    # The environment gives a bound its means, so only a change of the environment changes them.
    with pytest.raises(UserError, match=r"unknown figure.sweep.key 'means'"):
        spec_of("adap-ksweep", "figure.sweep.key=means")


def test_a_panel_may_give_parameters_to_its_curves_and_no_others() -> None:
    override = "+figure.panels.a.parameters={alpha:0.25}"
    elsewhere = "figure.panels.b.curves=[nas,t1]"
    spec = spec_of("stopping-rules", override, "figure.curves.t2.alpha=null", elsewhere)
    assert arguments(curve_of(spec, "a", "t2").sources[0])["alpha"] == 0.25
    assert arguments(curve_of(spec, "a", "t1").sources[0])["alpha"] == 0.5  # its own
    with pytest.raises(UserError, match=r"unknown key 'figure.panels.a.parameters.alfa'"):
        spec_of("stopping-rules", "+figure.panels.a.parameters={alfa:0.25}")

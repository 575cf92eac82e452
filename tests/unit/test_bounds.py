"""Curves of bounds: their arguments, the curves of a panel, the points where regimes meet."""

import math
from itertools import pairwise

import pytest

from dpbandits import theory
from dpbandits.config.compose import load
from dpbandits.core.errors import UserError
from dpbandits.experiments.formula import Formula
from dpbandits.files import project
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
    return bound.arguments()


def test_lower_bounds_is_of_bounds_alone() -> None:
    spec = spec_of("lower-bounds")
    assert spec.cells() == ()
    shown = [[c.name for c in p.curves if c.style == "bound"] for p in spec.panels]
    assert shown == [
        ["minimax"],
        ["minimax-d2", "minimax-d5", "minimax-d10"],
        ["c1", "c2", "c3", "c4", "c1-2025", "c2-2025", "c3-2025", "c4-2025"],
        ["basis-d2", "basis-d5", "basis-d10"],
    ]


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


def test_adap_regimes_has_24_budgets_in_equal_steps_and_the_border() -> None:
    x = curve(spec_of("adap-regimes"), "adap-klucb").x
    assert x is not None
    assert (len(x), x[0], x[-1]) == (25, 0.05, 10.0)
    steps = [math.log(b / a) for a, b in pairwise(x) if 0.273 not in (a, b)]
    assert steps == pytest.approx([math.log(200) / 23] * 22, rel=0.02)


@pytest.mark.parametrize("profile", project.names("profile"))
@pytest.mark.parametrize("figure", ["lower-bounds", "adap-regimes", "adap-alpha", "adap-c3"])
def test_the_figures_of_azize2022_load_in_every_profile(figure: str, profile: str) -> None:
    assert spec_of(figure, f"profile={profile}").panels


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("+figure.curves.basis-d5.dimensions=3", "'dimension'"),
        ("figure.curves.basis-d5.dimension=1", "dimension must be a whole number from 2 to 100"),
        ("figure.curves.basis-d5.extra=0.9", "extra must be"),
        ("~figure.curves.basis-d5.extra", "needs extra"),
        ("+figure.curves.minimax.alpha=3.1", "unknown key 'figure.curves.minimax.alpha'"),
        ("figure.curves.c1-regimes.at=azize2022.transitions", "unknown at"),
        ("figure.curves.c1-regimes.at=azize2022.minimax_lower_bound", "unknown at"),
        ("figure.curves.c1.bound=azize2022.minimax_transitions", "unknown bound"),
        ("figure.panels.a.curves=[minimax,minimax-regime]", "did you mean 'minimax-regimes'"),
        ("figure.panels.a.curves=minimax", "must be a list, got 'minimax'"),
        ("figure.panels.a.curves=[minimax]", "minimax-regimes is among the curves of no panel"),
        (
            "figure.curves.c1-regimes.environment={law:bernoulli,means:[0.5,0.5]}",
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


def test_every_function_of_theory_is_a_bound_or_says_where_regimes_meet() -> None:
    assert "azize2022.basis_lower_bound" in theory.bounds()
    assert "azize2022.basis_transitions" in theory.transitions()
    assert not set(theory.bounds()) & set(theory.transitions())
    assert not any("structural" in name for name in [*theory.bounds(), *theory.transitions()])


def test_an_argument_of_a_bound_alone_may_be_swept_in_equal_steps() -> None:
    spec = spec_of(
        "stopping-rules",
        "figure.panels.a.curves=[t2]",
        "figure.panels.a.sweep={key:alpha,values:[0.25,0.5]}",
    )
    (panel, *_) = spec.panels
    (found,) = panel.curves
    assert found.x == (0.25, 0.5)
    assert [arguments(source)["alpha"] for source in found.sources] == [0.25, 0.5]
    stepped = spec_of(
        "lower-bounds",
        "~figure.sweep",
        "+figure.sweep={key:epsilon,values:{first:1,last:2,number:5}}",
    )
    assert curve(stepped, "c1").x == (1.0, 1.25, 1.5, 1.75, 2.0)


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

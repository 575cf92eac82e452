"""Titles and labels state the values that are played."""

import math

import pytest
from composed import load

from dpbandits.config.templates import Several, filled
from dpbandits.core.errors import UserError


@pytest.mark.parametrize(
    ("template", "value", "expected"),
    [
        ("{x}", 0.1, "0.1"),
        ("{x}", 1.0, "1"),
        ("{x}", 0.001, "0.001"),
        ("{x}", 1e-10, "10^{-10}"),
        ("{x}", math.exp(-10), "e^{-10}"),
        ("{x}", 4.54e-5, "4.54e-05"),
        ("{x:g}", math.exp(-10), "4.53999e-05"),
        ("{x:,}", 1_000_000, "1,000,000"),
        ("{x:words} arms", 2, "two arms"),
        ("{x:words} arms", 25, "25 arms"),
        ("{x[mean]:g}", {"mean": 0.5}, "0.5"),
        ("{x}", "C2", "C2"),
        ("$e^{{-10}}$", 1, "$e^{-10}$"),
    ],
)
def test_a_value_is_written_as_asked(template: str, value: object, expected: str) -> None:
    assert filled(template, {"x": value}) == expected


@pytest.mark.parametrize("template", ["{y}", "{x:words:3}", "{x[a]}", "{", "{x.y}", "{0}"])
def test_a_template_that_names_something_else_is_an_error(template: str) -> None:
    with pytest.raises(ValueError, match=r"no value|format|expected|Single"):
        filled(template, {"x": 1.0})


def test_the_values_of_several_panels_are_listed_in_the_format_asked_for() -> None:
    assert f"{Several([0.1, 0.25])}" == "0.1 and 0.25"
    assert f"{Several([2, 10, 12]):words}" == "two, ten and 12"
    assert f"{Several([1_000, 2_000]):,}" == "1,000 and 2,000"


@pytest.mark.usefixtures("in_checkout")
def test_titles_and_labels_follow_the_overrides() -> None:
    def titles(figure: str, *overrides: str) -> tuple[str, list[str], list[str]]:
        spec, _ = load(figure, overrides)
        labels = [curve.label for panel in spec.panels for curve in panel.curves]
        return spec.title, [panel.title for panel in spec.panels], labels

    assert titles("dpucb-2arms")[0] == "Regret with two arms"
    title, panels, _ = titles("dpucb-2arms", "figure.environment=c1")
    assert (title, panels[0]) == ("Regret with five arms", r"$\epsilon = 1$, 5 arms")
    # A panel with its own environment: the title lists both.
    assert titles("adap-c2", "+figure.panels.a.environment=c4")[0] == (
        "Evolution of regret on C4 and C2"
    )
    _, _, labels = titles("adap-alpha", "figure.curves.adap-ucb-one.alpha=2")
    assert labels[2] == "AdaP-UCB (alpha=2)"
    _, panels, _ = titles("ftpl-approx-dp", "figure.panels.b.delta=0.2")
    assert panels[1] == r"Instance 1, $\delta = 0.2$"
    _, panels, _ = titles("dpse-epsilon", "figure.panels.a.each.values=[0.2,0.3,4]")
    assert panels[0] == r"$\epsilon$ = 0.2, 0.3 and 4"
    # An instance without a named file is described by its law.
    bernoulli = "figure.environment={law: bernoulli, means: [0.5, 0.1]}"
    assert titles("adap-c2", bernoulli)[0] == "Evolution of regret on Bernoulli, K = 2"
    # The name belongs to the instance, however it is written.
    c4 = "figure.environment={law: bernoulli, means: [0.75, 0.71875, 0.625, 0.46875, 0.25]}"
    assert titles("adap-c2", c4)[0] == "Evolution of regret on C4"


@pytest.mark.usefixtures("in_checkout")
def test_a_horizon_in_a_title_is_the_one_that_is_played() -> None:
    spec, _ = load("leaderboard", ["profile=smoke"])
    assert "1,000 rounds" in spec.panels[0].row


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    "override",
    ["+figure.curves.dp-se.label='\"{nothing}\"'", "figure.title='\"{nothing}\"'"],
)
def test_a_title_or_label_that_names_no_value_is_an_error(override: str) -> None:
    with pytest.raises(UserError, match=r"\{nothing\}.* may name only .*epsilon"):
        load("adap-headline", [override])

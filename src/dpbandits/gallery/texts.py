"""Conversion of figure texts, docstrings and documents to HTML."""

import inspect
import math
import re
from collections.abc import Mapping
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from mdit_py_plugins.dollarmath import dollarmath_plugin

from dpbandits.drawing.formulas import split
from dpbandits.factory.papers import BY_KEY, OWN
from dpbandits.gallery.mathematics import to_mathml


def maths(text: str) -> Markup:
    """Convert a text with mathtext between dollars to HTML, with formulas in MathML."""
    return Markup("").join(
        to_mathml(part) if formula else escape(part) for part, formula in split(text)
    )


def budget(value: float | None) -> Markup:
    """Format an epsilon or a delta to four digits; an infinite one as `no bound`."""
    if value is None:
        return Markup('<span class="none">needs dp-accounting</span>')
    if math.isinf(value):
        return Markup('<span class="none">no bound</span>')
    return number(float(f"{value:.4g}"))


def number(value: Any) -> Markup:
    """Format a configured value: 10,000,000 and 0.25 and 1.45519·10^-11; other values as text."""
    if isinstance(value, list | tuple):
        numbers = [number(v) for v in value]
        if len(numbers) > 10:
            last = Markup("{} ({} values)").format(numbers[-1], len(value))
            numbers = [*numbers[:2], Markup("…"), last]
        return Markup(", ").join(numbers)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return escape(str(value))
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e15):
        return Markup(f"{int(value):,}".replace("-", "−"))
    digits, _, power = f"{value:.6g}".partition("e")
    raised = f"·10<sup>{int(power)}</sup>" if power else ""
    return Markup(f"{digits}{raised}".replace("-", "−"))


def cited(text: str, up: str = "") -> Markup:
    """Convert prose to HTML, with links from the keys of papers and with `code` set as such.

    `up` is the path to the index.
    """
    keys = "|".join(key for key in BY_KEY if key != OWN)
    out = Markup("")
    for part in re.split(rf"(\b(?:{keys})\b|`[^`]+`|\bdocs/deviations\.md\b)", text):
        if part in BY_KEY:
            out += Markup('<a class="key" href="{}index.html#paper-{}" title="{}">{}</a>').format(
                up, part, BY_KEY[part].title, part
            )
        elif part == "docs/deviations.md":
            out += Markup('<a href="{}deviations.html">{}</a>').format(up, part)
        elif part.startswith("`") and len(part) > 1:
            out += Markup("<code>{}</code>").format(part.strip("`"))
        else:
            out += maths(part)
    return out


def docstring(text: str | None, up: str = "") -> Markup:
    """Convert a docstring to HTML: paragraphs, and indented blocks unchanged."""
    out = Markup("")
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text or "").strip("\n")):
        tag = "pre" if block.startswith("    ") else "p"
        if block.strip():
            content = inspect.cleandoc(block) if tag == "pre" else cited(block, up)
            out += Markup("<{0}>{1}</{0}>\n").format(tag, content)
    return out


def document(source: str, pages: Mapping[str, str]) -> tuple[Markup, list[tuple[int, str, str]]]:
    """Convert a Markdown document to HTML; return it with its headings: level, anchor, text.

    Formulas between dollars become MathML. Inline code that is a key of `pages` becomes a link to
    the address there.
    """
    parser = MarkdownIt("commonmark", {"html": False, "typographer": True})
    parser.enable(["table", "smartquotes"])
    parser.use(dollarmath_plugin, renderer=lambda source, _: to_mathml(source))
    headings: list[tuple[int, str, str]] = []
    tokens = parser.parse(source)
    for i, token in enumerate(tokens):
        if token.type == "heading_open":
            words = "".join(t.content for t in tokens[i + 1].children or [])
            anchor = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:60].strip("-")
            taken = {known for _, known, _ in headings}
            while anchor in taken or not anchor:
                anchor += "x"
            token.attrSet("id", anchor)
            headings.append((int(token.tag[1]), anchor, words))

    def code(tokens: Any, i: int, options: Any, env: Any) -> str:
        content = tokens[i].content
        element = Markup("<code>{}</code>").format(content)
        if address := pages.get(content):
            return Markup('<a href="{}">{}</a>').format(address, element)
        return element

    box = '<div class="scroll" role="region" aria-label="Table" tabindex="0">'
    parser.renderer.rules |= {  # type: ignore[attr-defined]
        "code_inline": code,
        "table_open": lambda *_: f"{box}<table>\n",
        "table_close": lambda *_: "</table></div>\n",
    }
    return Markup(parser.renderer.render(tokens, parser.options, {})), headings

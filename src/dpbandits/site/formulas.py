"""Extension of Markdown: formulas between dollars become MathML: no script and no font."""

import html
import re
from typing import Any
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element
from markdown import Extension, Markdown
from markdown.postprocessors import Postprocessor

# As pymdownx.arithmatex marks them.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


class _Formulas(Postprocessor):  # type: ignore[misc]
    def run(self, text: str) -> str:
        return FORMULA.sub(lambda m: to_mathml(html.unescape(m[2]), m[1] == "div"), text)


class _Extension(Extension):  # type: ignore[misc]
    def extendMarkdown(self, md: Markdown) -> None:
        md.postprocessors.register(_Formulas(md), "mathml", priority=0)


def makeExtension(**options: Any) -> Extension:
    """Return the extension, which follows pymdownx.arithmatex."""
    return _Extension(**options)


def to_mathml(source: str, displayed: bool = False) -> str:
    """Convert a formula, without its dollars, to MathML; one that cannot be read stays as code."""
    try:
        math = convert_to_element(source, display="block" if displayed else "inline")
    except Exception:  # the converter raises errors of many classes
        return f"<code>{html.escape(source)}</code>"
    del math.attrib["xmlns"]  # HTML knows its namespace
    for element in math.iter():
        # The converter leaves character references in texts.
        element.text = html.unescape(element.text or "")
        if element.text == "|":  # browsers space it as a relation
            element.attrib |= {"lspace": "0", "rspace": "0"}
    return tostring(math, encoding="unicode", short_empty_elements=False)

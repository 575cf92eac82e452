"""Hook of MkDocs: formulas between dollars become MathML, which needs no script and no font."""

import html
import re
from typing import Any
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element

# As pymdownx.arithmatex marks them.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """Return the HTML of a page with its formulas in MathML."""
    return FORMULA.sub(lambda match: to_mathml(html.unescape(match[2]), match[1] == "div"), content)


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

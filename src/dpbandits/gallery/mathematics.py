"""Conversion of formulas to MathML, which browsers typeset without a script."""

import html
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element
from markupsafe import Markup


def to_mathml(source: str) -> Markup:
    """Convert a formula, without its dollars, to MathML; one that cannot be read stays as code.

    The converter returns character references as text, which it writes unescaped: here they are
    resolved, and written as any text of a page.
    """
    try:
        math = convert_to_element(source.replace(r"\mathdefault", ""))
    except Exception:  # the converter raises errors of many classes
        return Markup("<code>{}</code>").format(source)
    del math.attrib["xmlns"]  # HTML knows its namespace
    for element in math.iter():
        element.text = html.unescape(element.text or "")
        if element.text == "|":  # browsers space it as a relation
            element.attrib |= {"lspace": "0", "rspace": "0"}
    return Markup(tostring(math, encoding="unicode", short_empty_elements=False))

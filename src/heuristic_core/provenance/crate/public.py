"""A study's settings without what tells of a user's machine or accounts."""

import json
from collections.abc import Iterator

from markupsafe import escape

from heuristic_core.provenance.record import public


def public_page(html: str, settings: dict) -> str:
    """A report that shows `settings`, each as a cell or quoted in one, with what :func:`public` makes of them."""
    for text in set(_texts(settings)):
        if (shown := public(text)) != text:
            html = html.replace(f">{escape(text)}<", f">{escape(shown)}<")
            quoted, short = (escape(json.dumps(value, ensure_ascii=False)) for value in (text, shown))
            html = html.replace(quoted, short)
    return html


def _texts(value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)

"""Removal of private paths and addresses from a study's report."""

import json
from collections.abc import Iterator

from markupsafe import escape

from heuristic_core.provenance.settings import redact


def redact_page(html: str, settings: dict) -> str:
    """Replace private settings in a report by what :func:`public` returns for them.

    Args:
        html: The report, in which a setting is the content of a cell, or quoted in one.
        settings: All settings of the study, nested.
    """
    for text in set(_iter_texts(settings)):
        if (public_text := redact(text)) != text:
            html = html.replace(f">{escape(text)}<", f">{escape(public_text)}<")
            quoted, public_quoted = (escape(json.dumps(value, ensure_ascii=False)) for value in (text, public_text))
            html = html.replace(quoted, public_quoted)
    return html


def _iter_texts(value) -> Iterator[str]:
    """Yield all strings in a nested value, without keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _iter_texts(inner)

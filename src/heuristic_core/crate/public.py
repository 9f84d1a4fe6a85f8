"""A study's settings without what tells of a user's machine or accounts."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from markupsafe import escape


def public(value):
    """The same settings with paths that lead out of the working directory cut to their last part, and addresses
    without user, password and query."""
    if isinstance(value, dict):
        return {key: public(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [public(inner) for inner in value]
    if not isinstance(value, str):
        return value
    if "://" in value:
        parts = urlsplit(value)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    outside = os.path.isabs(value) or value.startswith("~") or ".." in Path(value).parts
    return Path(value).name if outside else value


def public_page(html: str, settings: dict) -> str:
    """A report that shows `settings`, each as a cell or quoted in one, with what :func:`public` makes of them."""
    for text in set(_texts(settings)):
        if (shown := public(text)) != text:
            html = html.replace(f">{escape(text)}<", f">{escape(shown)}<")
            quoted, short = (escape(json.dumps(one, ensure_ascii=False)) for one in (text, shown))
            html = html.replace(quoted, short)
    return html


def _texts(value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)

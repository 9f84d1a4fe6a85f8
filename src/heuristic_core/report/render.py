"""Rendering of templates as self-contained HTML pages, and filters of the templates."""

import base64
import math
from typing import Any

import jinja2

from heuristic_core.common.durations import format_duration

_PACKAGE = "heuristic_core.report"
MINUS, NO_BREAK = "−", "\N{NO-BREAK SPACE}"


def render(template: str, package: str = _PACKAGE, **values: Any) -> str:
    """Render a page that contains its style sheet and scripts.

    Args:
        template: File name of the template.
        package: Package whose folder "templates" has it. It may extend and include templates of this package, too.
        **values: Variables of the template; text is escaped.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in dict.fromkeys((package, _PACKAGE))]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "number": format_number,
        "interval": format_interval,
        "p": format_p,
        "duration": lambda seconds: format_duration(seconds).replace(" ", NO_BREAK),
    }
    return environment.get_template(template).render(values)


def data_uri(content: bytes, media_type: str) -> str:
    """Return content as a data URI.

    Args:
        content: The bytes.
        media_type: Type of the content, such as text/csv.
    """
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def is_number(value: Any) -> bool:
    """Return whether a cell holds a value: neither None nor NaN."""
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def format_number(value: float | None, *others: float | None) -> str:
    """Format an integer in full, a real number to one decimal, or to three below 1; empty for null.

    Args:
        value: The number.
        *others: Numbers beside it: it has as many decimals as the largest of them.
    """
    if not is_number(value):
        return ""
    magnitude = max(abs(number) for number in (value, *others) if is_number(number))
    if isinstance(value, int) or magnitude == 0:
        text = f"{value:,.0f}"
    elif magnitude >= 1e6 or magnitude < 1e-3:
        text = f"{value:.1e}"
    else:
        text = f"{value:z,.{1 if magnitude >= 1 else 3}f}"
    return text.replace("-", MINUS)


def format_interval(low: float | None, high: float | None, *others: float | None) -> str:
    """Format an interval, such as "−1.2 to 3.4"; empty if an end is null.

    Args:
        low: Lower end.
        high: Upper end.
        *others: Numbers beside it, which have as many decimals.
    """
    if not is_number(low) or not is_number(high):
        return ""
    return f"{format_number(low, high, *others)} to {format_number(high, low, *others)}"


def format_p(p: float | None) -> str:
    """Format a p-value to three decimals, to four below 0.001, and as "< 0.0001" below that; empty for null."""
    if not is_number(p):
        return ""
    return "< 0.0001" if p < 1e-4 else f"{p:.{3 if p >= 1e-3 else 4}f}"

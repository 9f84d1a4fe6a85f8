"""From a template and its values to one self-contained HTML page."""

import base64
import math

import jinja2

SHARED = "heuristic_core.report"
MINUS, NO_BREAK = "−", "\N{NO-BREAK SPACE}"


def render(template: str, package: str = SHARED, **values) -> str:
    """The page `template`, with the style sheet and the scripts inside it. Text in `values` is escaped.

    package: whose folder "templates" has it; what it extends and includes may also be the report's own.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in dict.fromkeys((package, SHARED))]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"number": number, "interval": interval, "duration": duration}
    return environment.get_template(template).render(values)


def data_uri(content: bytes, kind: str) -> str:
    """`content` as an address that holds it. kind: its media type, such as text/csv."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def is_number(value) -> bool:
    """Whether a cell holds a value: neither null nor NaN."""
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def number(value) -> str:
    """An integer as it is, a real number of unknown size to one decimal (three below 1); empty where it is null."""
    if not is_number(value):
        return ""
    size = abs(value)
    if isinstance(value, int) or value == 0:
        text = f"{value:,.0f}"
    elif size >= 1e6 or size < 1e-3:
        text = f"{value:.1e}"
    else:
        text = f"{value:,.{1 if size >= 1 else 3}f}"
    return text.replace("-", MINUS)


def interval(low, high) -> str:
    """Such as "−1.2 to 3.4"; empty where an end is null."""
    return f"{number(low)} to {number(high)}" if is_number(low) and is_number(high) else ""


def duration(seconds: float) -> str:
    """Such as "0.4 s", "12 s", "3 min 5 s" or "2 h 4 min"."""
    if seconds < 9.95:
        return f"{seconds:.1f}{NO_BREAK}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours}{NO_BREAK}h {minutes_left}{NO_BREAK}min"
    return f"{minutes}{NO_BREAK}min {rest}{NO_BREAK}s" if minutes else f"{rest}{NO_BREAK}s"

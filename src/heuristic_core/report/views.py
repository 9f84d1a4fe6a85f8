"""Figures to play with: values and a Vega-Lite specification beside a static figure, and the library that draws them.

A page holds the library and the values, so that it needs no network. Expressions of the specifications are interpreted:
no text becomes code, and the page's content security policy stays as it is.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import pandas as pd

from heuristic_core.figures.roles import Role

VEGA_LITE = "6.4"
ALL = "all"
DIGITS = 2  # of values in views
INK = "var(--ink)"  # the page's colours, which follow light and dark
SHAPES = {"o": "circle", "^": "triangle-up", "s": "square", "D": "diamond", "v": "triangle-down", "P": "cross"}
DASHES = {"-": [], "--": [6, 3], "-.": [8, 3, 2, 3], ":": [2, 2]}
AXIS = {"domainColor": "var(--soft)", "tickColor": "var(--soft)", "gridColor": "var(--line)", "grid": False}
TEXT = {
    "labelColor": "var(--soft)",
    "titleColor": INK,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": 400,
}
CONFIG = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": AXIS | TEXT,
    "legend": TEXT | {"orient": "top", "title": None, "columns": 3, "symbolType": "circle"},
    "rule": {"color": INK},
}


class Switch(NamedTuple):
    """A choice of the rows that are shown: those whose `column` has the value chosen, first the first of `values`.

    labels: what the reader chooses among. whole: whether all rows can be chosen, too, which then comes first.
    """

    column: str
    name: str
    values: Sequence
    labels: Sequence[str]
    whole: bool = False


@cache
def library() -> str:
    """JavaScript of Vega, Vega-Lite and Vega-Embed, minified, that gives the page one name: vegaEmbed."""
    from vl_convert import javascript_bundle

    bundle = javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    return f"(() => {{{bundle}}})();".replace("</script", "<\\/script").replace("<!--", "<\\!--")


def view(rows: pd.DataFrame, switches: Sequence[Switch], layers: Sequence[dict], height: int = 320) -> dict:
    """A figure of `rows` with `switches` that have something to choose. layers: Vega-Lite's, drawn over each other.

    columns: the values by column, from which the page makes rows. spec: all else.
    """
    switches = [switch for switch in switches if len(switch.values) > 1]
    spec = {
        "width": "container",
        "height": height,
        "params": [_param(switch) for switch in switches],
        "transform": [{"filter": _filter(switch)} for switch in switches],
        "layer": list(layers),
    }
    return {"columns": columns(rows), "spec": spec}


def columns(rows: pd.DataFrame) -> dict[str, list]:
    """Values by column for JSON: real numbers to `DIGITS` decimals, None for what is missing."""
    rounded = rows.round(DIGITS).astype(object)
    return {name: values.tolist() for name, values in rounded.where(rows.notna(), None).items()}


def coloured(field: str, looks: dict[str, Role], channel: str = "color") -> dict:
    """An encoding of `field`, whose values are the labels of `looks`, by colour, shape or strokeDash."""
    encoders = {"color": lambda role: colour(role.colour), "shape": lambda role: SHAPES[role.marker]}
    encoders["strokeDash"] = lambda role: DASHES[role.line]
    scale = {
        "domain": [role.label for role in looks.values()],
        "range": [encoders[channel](role) for role in looks.values()],
    }
    return {"field": field, "type": "nominal", "scale": scale}


def colour(name: str) -> str:
    """A role's colour as the page writes it. Black is the page's ink; a number between 0 and 1 is a grey."""
    if name == "black":
        return INK
    return (
        name if name.startswith("#") else f"rgb({100 * float(name):g}% {100 * float(name):g}% {100 * float(name):g}%)"
    )


def tooltip(**titles: str) -> list[dict]:
    """What is told of a mark under the pointer: the fields and their titles."""
    return [{"field": field, "title": title} for field, title in titles.items()]


def _chosen(switch: Switch) -> str:
    return f"chosen_{switch.column}"


def _param(switch: Switch) -> dict:
    whole = [ALL] if switch.whole else []
    options, labels = [*whole, *switch.values], [*whole, *switch.labels]
    bind = {"input": "select", "options": options, "labels": labels, "name": switch.name}
    return {"name": _chosen(switch), "value": options[0], "bind": bind}


def _filter(switch: Switch) -> str:
    this = f"datum.{switch.column} === {_chosen(switch)}"
    return f"{_chosen(switch)} === '{ALL}' || {this}" if switch.whole else this

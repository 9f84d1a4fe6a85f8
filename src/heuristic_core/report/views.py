"""Interactive views beside static figures: values, Vega-Lite specifications, and the library that draws them.

A page contains the library and the values, so that it needs no network. Expressions of the specifications are
interpreted, not compiled, which the page's content security policy would forbid.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import pandas as pd

from heuristic_core.figures.roles import Role

VEGA_LITE = "6.4"
_ALL_ROWS = "all"
DIGITS = 2  # decimals of values in views
INK_COLOUR = "var(--ink)"  # colour of the page, for light and dark mode
SHAPES = {"o": "circle", "^": "triangle-up", "s": "square", "D": "diamond", "v": "triangle-down", "P": "cross"}
DASHES = {"-": [], "--": [6, 3], "-.": [8, 3, 2, 3], ":": [2, 2]}
AXIS = {"domainColor": "var(--soft)", "tickColor": "var(--soft)", "gridColor": "var(--line)", "grid": False}
TEXT = {
    "labelColor": "var(--soft)",
    "titleColor": INK_COLOUR,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": 400,
}
VIEW_CONFIG = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": AXIS | TEXT,
    "legend": TEXT | {"orient": "top", "title": None, "columns": 3, "symbolType": "circle"},
    "rule": {"color": INK_COLOUR},
}


class Switch(NamedTuple):
    """A menu that selects the rows with one value of a column.

    Attributes:
        column: Column of the rows.
        name: Label of the menu.
        values: Values of the column, the default first.
        labels: Labels of the values.
        include_all: Whether the menu begins with a choice of all rows, which is then the default.
    """

    column: str
    name: str
    values: Sequence
    labels: Sequence[str]
    include_all: bool = False


@cache
def load_library() -> str:
    """Return minified JavaScript of Vega, Vega-Lite and Vega-Embed, which defines only `vegaEmbed`."""
    from vl_convert import javascript_bundle

    bundle = javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    return f"(() => {{{bundle}}})();".replace("</script", "<\\/script").replace("<!--", "<\\!--")


def make_view(rows: pd.DataFrame, switches: Sequence[Switch], layers: Sequence[dict], height: int = 320) -> dict:
    """Make an interactive view.

    Args:
        rows: Values.
        switches: Menus; those with fewer than two values are left out.
        layers: Vega-Lite layers, drawn over each other.
        height: Height, pixels.

    Returns:
        "columns": values by column, from which the page makes rows; "spec": Vega-Lite specification without values.
    """
    switches = [switch for switch in switches if len(switch.values) > 1]
    spec = {
        "width": "container",
        "height": height,
        "params": [_param(switch) for switch in switches],
        "transform": [{"filter": _filter(switch)} for switch in switches],
        "layer": list(layers),
    }
    return {"columns": rounded_columns(rows), "spec": spec}


def rounded_columns(rows: pd.DataFrame) -> dict[str, list]:
    """Return values by column for JSON: real numbers rounded to `DIGITS` decimals, None for nulls."""
    rounded = rows.round(DIGITS).astype(object)
    return {name: values.tolist() for name, values in rounded.where(rows.notna(), None).items()}


def encode_roles(field: str, looks: dict[str, Role], channel: str = "color") -> dict:
    """Return the Vega-Lite encoding of a field by the looks of its values.

    Args:
        field: Field whose values are the labels of `looks`.
        looks: Looks, by any key.
        channel: "color", "shape" or "strokeDash".
    """
    encoders = {"color": lambda role: css_colour(role.colour), "shape": lambda role: SHAPES[role.marker]}
    encoders["strokeDash"] = lambda role: DASHES[role.line]
    scale = {
        "domain": [role.label for role in looks.values()],
        "range": [encoders[channel](role) for role in looks.values()],
    }
    return {"field": field, "type": "nominal", "scale": scale}


def css_colour(name: str) -> str:
    """Convert a role's colour to CSS. Black becomes the page's text colour, "0" to "1" a grey."""
    if name == "black":
        return INK_COLOUR
    if name.startswith("#"):
        return name
    grey = f"{100 * float(name):g}%"
    return f"rgb({grey} {grey} {grey})"


def tooltip_fields(**titles: str) -> list[dict]:
    """Return the Vega-Lite tooltip of a mark: field -> title."""
    return [{"field": field, "title": title} for field, title in titles.items()]


def _param_name(switch: Switch) -> str:
    """Return the name of a menu's Vega-Lite parameter."""
    return f"chosen_{switch.column}"


def _param(switch: Switch) -> dict:
    """Return the Vega-Lite parameter of a menu."""
    all_rows = [_ALL_ROWS] if switch.include_all else []
    options, labels = [*all_rows, *switch.values], [*all_rows, *switch.labels]
    bind = {"input": "select", "options": options, "labels": labels, "name": switch.name}
    return {"name": _param_name(switch), "value": options[0], "bind": bind}


def _filter(switch: Switch) -> str:
    """Return the Vega expression of the rows that a menu selects."""
    condition = f"datum.{switch.column} === {_param_name(switch)}"
    return f"{_param_name(switch)} === '{_ALL_ROWS}' || {condition}" if switch.include_all else condition

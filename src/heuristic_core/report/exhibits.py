"""Figures and tables of a study as a page shows them: everything inside the page but the formats for printing."""

import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from heuristic_core.common.errors import InputError
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.targets import outputs
from heuristic_core.report.render import data_uri

LARGEST = 1 << 21  # bytes of values that are put into a page; more are linked


class Exhibit(NamedTuple):
    """One target. label: "Figure 2". csv: address of the values behind its marks, which holds them up to `LARGEST`.
    links: other formats by name, relative to the page. A figure has an image with its size in pixels, a table sheets.
    """

    name: str
    label: str
    title: str
    caption: str
    csv: str
    csv_name: str
    links: dict[str, str]
    image: str | None = None
    width: int | None = None
    height: int | None = None
    sheets: tuple[Sheet, ...] = ()


def exhibit(
    root: Path, name: str, title: str, caption: str, sheets: Callable[[pd.DataFrame], list[Sheet]], prefix: str = ""
) -> Exhibit:
    """Target `name` from its files under `root`.

    sheets: from a table target's marks to the tables for reading. prefix: from the page's folder to `root`, such as
    "../other/".
    """
    files = {Path(path).suffix[1:]: path for path in outputs("", name)}
    files = {suffix: path.lstrip("/") for suffix, path in files.items()}
    if absent := [path for path in files.values() if not (root / path).is_file()]:
        raise InputError(f"{root / absent[0]}: no such file, but {name} is asked for; draw it first")
    values = (root / files["csv"]).read_bytes()
    common = {
        "name": name,
        "label": label(name),
        "title": title,
        "caption": caption,
        "csv": data_uri(values, "text/csv") if len(values) <= LARGEST else f"{prefix}{files['csv']}",
        "csv_name": f"{root.name}-{name}.csv",
        "links": {kind.upper(): f"{prefix}{path}" for kind, path in files.items() if kind not in ("csv", "png", "md")},
    }
    if "parquet" in files:
        return Exhibit(**common, sheets=tuple(sheets(pd.read_parquet(root / files["parquet"]))))
    png = (root / files["png"]).read_bytes()
    width, height = png_size(png)
    return Exhibit(**common, image=data_uri(png, "image/png"), width=width, height=height)


def label(name: str) -> str:
    """ "Figure 2" for figure02, "Table: core seeds" for a target without a number."""
    kind = "Table" if name.startswith("table") else "Figure"
    rest = name.removeprefix(kind.lower()).replace("_", " ").strip()
    return f"{kind} {int(rest)}" if rest.isdecimal() else f"{kind}: {rest}"


def png_size(content: bytes) -> tuple[int, int]:
    """Width and height in pixels, which are at the head of a PNG file."""
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def caption_of(names: Sequence[str], captions: Mapping[str, str]) -> str:
    """The caption of a target: its own, else the caption of the target whose drawing it repeats. names: of both."""
    for name in names:
        if name in captions:
            return " ".join(captions[name].split())
    wanted = " or ".join(f"{name}.rst" for name in dict.fromkeys(names))
    raise InputError(f"--captions: none for {names[0]}; give {wanted}")

"""Figures and tables of a study as a page shows them: everything inside the page but the formats for printing."""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import jinja2
import pandas as pd
from PIL import Image

from heuristic_core.common.errors import InputError
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.targets import outputs
from heuristic_core.report.render import data_uri

LARGEST = 1 << 21  # bytes of values that are put into a page; more are linked


class Exhibit(NamedTuple):
    """One target as a page shows it. A figure has an image, a table has sheets.

    Attributes:
        name: Name of the target.
        label: Such as "Figure 2".
        title: Title of the target.
        caption: Its caption.
        csv: Address of the values behind its marks; a data URI up to `LARGEST` bytes.
        csv_name: File name for saving them.
        links: Other formats by name, relative to the page.
        image: Data URI.
        width: Of the image, pixels.
        height: Of the image, pixels.
        sheets: Tables for reading.
        view: Interactive view, see :func:`heuristic_core.report.views.view`.
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
    view: dict | None = None


def exhibit(
    root: Path,
    name: str,
    title: str,
    caption: str,
    sheets: Callable[[pd.DataFrame], list[Sheet]],
    prefix: str = "",
    view: Callable[[pd.DataFrame], dict | None] | None = None,
) -> Exhibit:
    """Target `name` from its files under `root`.

    sheets: from a table target's marks to the tables for reading. prefix: from the page's folder to `root`, such as
    "../other/". view: from a figure's marks to its view, where it has one.
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
    image, width, height = picture((root / files["png"]).read_bytes())
    shown = view(_marks(root / files["csv"])) if view and len(values) <= LARGEST else None
    return Exhibit(**common, image=image, width=width, height=height, view=shown)


def _marks(path: Path) -> pd.DataFrame:
    """The values behind the marks of a figure. A subset may be called 1, or null."""
    names = dict.fromkeys(("subset", "family"), str)
    return pd.read_csv(path, dtype=names, keep_default_na=False, na_values=[""])


def label(name: str) -> str:
    """Return "Figure 2" for figure02, "Table: core seeds" for a target without a number."""
    kind = "Table" if name.startswith("table") else "Figure"
    rest = name.removeprefix(kind.lower()).replace("_", " ").strip()
    return f"{kind} {int(rest)}" if rest.isdecimal() else f"{kind}: {rest}"


def picture(png: bytes) -> tuple[str, int, int]:
    """A PNG as an address that holds it, and its width and height in pixels.

    The address holds the same pixels as lossless WebP, which takes less than half of the bytes.
    """
    image = Image.open(io.BytesIO(png))
    if image.mode == "RGBA" and image.getextrema()[3] == (255, 255):
        image = image.convert("RGB")
    file = io.BytesIO()
    image.save(file, format="WEBP", lossless=True, method=2)
    return data_uri(file.getvalue(), "image/webp"), *image.size


def caption_of(names: Sequence[str], captions: Mapping[str, str], settings: Mapping | None) -> str:
    """The caption of a target: its own, else the caption of the target whose drawing it repeats.

    names: of both. captions: by target, templates as Snakemake's report fills them in. settings: the study's checked
    configuration, which is `snakemake.config` in them; None for imported results.
    """
    for name in names:
        if name in captions:
            text = jinja2.Template(captions[name]).render(snakemake={"config": settings or {}})
            return " ".join(text.split())
    wanted = " or ".join(f"{name}.rst" for name in dict.fromkeys(names))
    raise InputError(f"--captions: none for {names[0]}; give {wanted}")

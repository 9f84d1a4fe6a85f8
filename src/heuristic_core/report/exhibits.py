"""Figures and tables of a study for a page, which contains them; formats for printing are linked."""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import jinja2
import pandas as pd
from PIL import Image

from heuristic_core.common.errors import InputError
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.targets import target_files
from heuristic_core.report.render import data_uri

MAX_INLINE_BYTES = 1 << 21  # bytes of a CSV file that a page contains; larger files are linked


class Exhibit(NamedTuple):
    """One target on a page. A figure has an image, a table has sheets.

    Attributes:
        name: Name of the target.
        label: Such as "Figure 2".
        title: Title of the target.
        caption: Its caption.
        csv: Address of the values behind its marks; a data URI up to `MAX_INLINE_BYTES` bytes.
        csv_name: File name for saving them.
        links: Other formats by name, relative to the page.
        image: Data URI.
        width: Width of the image, pixels.
        height: Height of the image, pixels.
        sheets: Tables for reading.
        view: Interactive view, see :func:`heuristic_core.report.views.make_view`.
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

    @property
    def is_numbered(self) -> bool:
        """Whether its label is a number of the paper; the title names others better."""
        return self.label[-1:].isdecimal()


def load_exhibit(
    root: Path,
    name: str,
    title: str,
    caption: str,
    sheets: Callable[[pd.DataFrame], list[Sheet]],
    prefix: str = "",
    view: Callable[[pd.DataFrame], dict | None] | None = None,
) -> Exhibit:
    """Load a target from its files.

    Args:
        root: Folder of the study.
        name: Name of the target.
        title: Title of the target.
        caption: Caption of the target.
        sheets: Function from the marks of a table to tables for reading.
        prefix: Relative link from the page's folder to `root`, such as "../other/".
        view: Function from the marks of a figure to its interactive view, or None.

    Raises:
        InputError: If a file is missing.
    """
    files = {Path(path).suffix[1:]: path for path in target_files("", name)}
    files = {suffix: path.lstrip("/") for suffix, path in files.items()}
    if absent := [path for path in files.values() if not (root / path).is_file()]:
        raise InputError(f"{root / absent[0]}: no such file; draw {name} first")
    values = (root / files["csv"]).read_bytes()
    common = {
        "name": name,
        "label": target_label(name),
        "title": title,
        "caption": caption,
        "csv": data_uri(values, "text/csv") if len(values) <= MAX_INLINE_BYTES else f"{prefix}{files['csv']}",
        "csv_name": f"{root.name}-{name}.csv",
        "links": {kind.upper(): f"{prefix}{path}" for kind, path in files.items() if kind not in ("csv", "png", "md")},
    }
    if "parquet" in files:
        return Exhibit(**common, sheets=tuple(sheets(pd.read_parquet(root / files["parquet"]))))
    image, width, height = encode_picture((root / files["png"]).read_bytes())
    figure_view = view(_read_marks(root / files["csv"])) if view and len(values) <= MAX_INLINE_BYTES else None
    return Exhibit(**common, image=image, width=width, height=height, view=figure_view)


def _read_marks(path: Path) -> pd.DataFrame:
    """Read the values behind the marks of a figure. Names are text, even "1" or "null"."""
    dtypes = dict.fromkeys(("subset", "family"), str)
    return pd.read_csv(path, dtype=dtypes, keep_default_na=False, na_values=[""])


def target_label(name: str) -> str:
    """Return "Figure 2" for figure02, "Table: core seeds" for a target without a number."""
    kind = "Table" if name.startswith("table") else "Figure"
    rest = name.removeprefix(kind.lower()).replace("_", " ").strip()
    return f"{kind} {int(rest)}" if rest.isdecimal() else f"{kind}: {rest}"


def encode_picture(png: bytes) -> tuple[str, int, int]:
    """Convert a PNG to a data URI of lossless WebP, which is less than half as large.

    Returns:
        The data URI, and width and height in pixels.
    """
    image = Image.open(io.BytesIO(png))
    if image.mode == "RGBA" and image.getextrema()[3] == (255, 255):
        image = image.convert("RGB")
    file = io.BytesIO()
    image.save(file, format="WEBP", lossless=True, method=2)
    return data_uri(file.getvalue(), "image/webp"), *image.size


def render_caption(names: Sequence[str], captions: Mapping[str, str], settings: Mapping | None) -> str:
    """Render the caption of a target.

    Args:
        names: Name of the target, then of targets whose captions fit, too.
        captions: Target -> template in the form of Snakemake's report.
        settings: Checked configuration of the study, `snakemake.config` in templates; None for imported results.

    Raises:
        InputError: If no target has a caption.
    """
    for name in names:
        if name in captions:
            text = jinja2.Template(captions[name]).render(snakemake={"config": settings or {}})
            return " ".join(text.split())
    files = " or ".join(f"{name}.rst" for name in dict.fromkeys(names))
    raise InputError(f"--captions: none for {names[0]}; give {files}")

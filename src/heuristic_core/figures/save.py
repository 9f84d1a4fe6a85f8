"""Writing of a target's files; the same figure gives the same bytes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heuristic_core.common.atomic import replace_atomically, write_text
from heuristic_core.config.figure import Figure as FigureSettings
from heuristic_core.figures import glyphs, style
from heuristic_core.figures.sheets import Sheet, to_latex, to_markdown
from heuristic_core.figures.targets import target_files

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Format -> metadata without dates, so that files are reproducible.
_UNDATED_METADATA = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def save(
    folder: str | Path,
    name: str,
    figure: "Figure | None",
    marks: "pd.DataFrame",
    settings: FigureSettings,
    title: str,
    sheets: Sequence[Sheet] | None = None,
    parse_math: bool = True,
) -> None:
    """Write the files of a target, which ``targets.target_files(folder, name)`` lists.

    Args:
        folder: Folder of figures and tables.
        name: Name of the target.
        figure: matplotlib Figure; None for a table.
        marks: Frame of the values behind every mark, written as CSV with all digits, nulls empty.
        settings: ``config.figure.Figure`` of the target; `dpi` is used for the PNG.
        title: Title in the metadata of a figure, or caption of a table.
        sheets: Tables for reading; None for a figure.
        parse_math: See `style.use_style`; as the figure was drawn, since ticks may be made only here.
    """
    files = {Path(path).suffix[1:]: path for path in target_files(str(folder), name)}
    write_text(files["csv"], marks.to_csv(index=False, lineterminator="\n"))
    if figure is None:
        _save_table(files, name, marks, title, sheets)
        return
    with style.use_style(parse_math):
        # Lay out once, so that all formats agree.
        figure.draw_without_rendering()
        if glyphs.add_fallback_fonts(figure):
            figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for suffix, undated in _UNDATED_METADATA.items():
            with replace_atomically(files[suffix]) as partial:
                metadata = {"Title": f"{name}: {title}"}
                figure.savefig(partial, format=suffix, dpi=settings.dpi, metadata=metadata | undated)


def _save_table(files: dict[str, str], name: str, marks, title: str, sheets: Sequence[Sheet]) -> None:
    """Write a table as Markdown, LaTeX and Parquet."""
    write_text(files["md"], to_markdown(sheets))
    write_text(files["tex"], to_latex(sheets, title, name))
    with replace_atomically(files["parquet"]) as partial:
        marks.to_parquet(partial, index=False, compression="zstd")

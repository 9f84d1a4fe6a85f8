"""Writing a target's files; the same figure gives the same bytes."""

from collections.abc import Sequence
from pathlib import Path

from heuristic_core.common.atomic import replacing, write_text
from heuristic_core.figures import glyphs, style
from heuristic_core.figures.sheets import Sheet, to_latex, to_markdown
from heuristic_core.figures.targets import outputs

# No dates, so that drawing again changes nothing.
UNDATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def save(
    folder: str | Path,
    name: str,
    figure,
    marks,
    settings,
    title: str,
    sheets: Sequence[Sheet] | None = None,
    formulas: bool = True,
) -> None:
    """Write what ``draw`` gave for target `name`: the files that ``targets.outputs(folder, name)`` lists.

    marks: the values behind every mark, written with all their digits, nulls empty (CSV).
    settings: the target's ``config.figure.Figure``; its `dpi` is for the PNG.
    title: of the figure's file, and a table's caption. sheets: of a table, for reading.
    formulas: as of `style.applied`, within which the figure was drawn; ticks may be made as late as here.
    """
    files = {Path(path).suffix[1:]: path for path in outputs(str(folder), name)}
    write_text(files["csv"], marks.to_csv(index=False, lineterminator="\n"))
    if figure is None:
        _save_table(files, name, marks, title, sheets)
        return
    with style.applied(formulas):
        # Laid out once, so that all formats agree and saving again moves nothing.
        figure.draw_without_rendering()
        if glyphs.complete(figure):
            figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for suffix, undated in UNDATED.items():
            with replacing(files[suffix]) as partial:
                metadata = {"Title": f"{name}: {title}"}
                figure.savefig(partial, format=suffix, dpi=settings.dpi, metadata=metadata | undated)


def _save_table(files: dict[str, str], name: str, marks, title: str, sheets: Sequence[Sheet]) -> None:
    write_text(files["md"], to_markdown(sheets))
    write_text(files["tex"], to_latex(sheets, title, name))
    with replacing(files["parquet"]) as partial:
        marks.to_parquet(partial, index=False, compression="zstd")

"""Tables for reading, as Markdown and LaTeX."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LATEX_ESCAPES = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)
_LINE_BREAKS = re.compile(r"[\t-\r\x1c-\x1f\x85\u2028\u2029]+")
# Characters with a meaning inside a Markdown cell; an underscore has one only at the ends of words.
_MARKDOWN_SPECIAL = re.compile(r"[\\`*<$~|]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|(?<=\])\(")
_LATEX_SYMBOLS = {"−": "$-$", "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$", "×": r"$\times$", "²": "$^2$"}


class MarkdownCell(str):
    """A cell in Markdown. Other cells are plain text and are escaped."""


@dataclass(frozen=True)
class Sheet:
    """One table for reading. The first column names the rows; the others are numbers.

    Attributes:
        title: Title above the table; empty for none.
        columns: Column headers.
        rows: Cells as text, as many as columns.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __post_init__(self):
        if invalid := [row for row in self.rows if len(row) != len(self.columns)]:
            row = invalid[0]
            raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns: {row}")


def to_markdown(sheets: Sequence[Sheet]) -> str:
    """Return tables as Markdown, one below the other, each under its title."""
    lines = []
    for sheet in sheets:
        lines += [f"## {sheet.title}", ""] if sheet.title else []
        rows = [sheet.columns, ["---"] * len(sheet.columns), *sheet.rows]
        lines += [*map(_markdown_row, rows), ""]
    return "\n".join(lines)


def _markdown_row(cells: Sequence[str]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(map(_escape_markdown, cells))} |"


def _escape_markdown(cell: str) -> str:
    """Return a cell of plain text in Markdown, in one line."""
    return cell if isinstance(cell, MarkdownCell) else _MARKDOWN_SPECIAL.sub(r"\\\g<0>", _LINE_BREAKS.sub(" ", cell))


def to_latex(sheets: Sequence[Sheet], caption: str, label: str) -> str:
    """Return tables as one LaTeX float, with a tabular for each. It needs the package booktabs.

    Args:
        sheets: The tables.
        caption: Caption of the float.
        label: Label of the float.
    """
    lines = [r"\begin{table}", r"\centering", r"\small"]
    for k, sheet in enumerate(sheets):
        lines += [r"\par\medskip"] if k else []
        lines += [rf"\textit{{{_escape_latex(sheet.title)}}}\par\smallskip"] if sheet.title else []
        lines += [rf"\begin{{tabular}}{{l{'r' * (len(sheet.columns) - 1)}}}", r"\toprule"]
        rows = [_latex_row(row) for row in sheet.rows]
        lines += [_latex_row(sheet.columns), r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\caption{{{_escape_latex(caption)}}}", rf"\label{{{label}}}", r"\end{table}", ""]
    return "\n".join(lines)


def _latex_row(cells: Sequence[str]) -> str:
    r"""Return a row of a tabular. A first cell beginning with [ or * would be read as an option of the \\ before it."""
    first, *others = map(_escape_latex, cells)
    if first.startswith(("[", "*")):
        first = f"{{{first[0]}}}{first[1:]}"
    return f"{' & '.join([first, *others])} \\\\"


def _escape_latex(text: str) -> str:
    """Return plain text in LaTeX, in one line."""
    text = _LINE_BREAKS.sub(" ", text).translate(_LATEX_ESCAPES)
    for symbol, latex in _LATEX_SYMBOLS.items():
        text = text.replace(symbol, latex)
    return text

"""Tables for reading: what a table target shows, and its form in Markdown and LaTeX."""

from collections.abc import Sequence
from dataclasses import dataclass

SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"})
PIPE = r"\|"  # inside a Markdown cell
SYMBOLS = {"−": "$-$", "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$", "×": r"$\times$", "²": "$^2$"}


@dataclass(frozen=True)
class Sheet:
    """One table. title: above it; empty for none. columns: their heads. rows: cells as text, as many as columns.

    The first column names the rows; the others are numbers.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __post_init__(self):
        if uneven := [row for row in self.rows if len(row) != len(self.columns)]:
            raise ValueError(f"a row of {len(uneven[0])} cells in a table of {len(self.columns)} columns: {uneven[0]}")


def to_markdown(sheets: Sequence[Sheet]) -> str:
    """The tables one below the other, each under its title."""
    lines = []
    for sheet in sheets:
        lines += [f"## {sheet.title}", ""] if sheet.title else []
        lines += [_line(sheet.columns), _line(["---"] * len(sheet.columns)), *map(_line, sheet.rows), ""]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', PIPE) for cell in cells)} |"


def to_latex(sheets: Sequence[Sheet], caption: str, label: str) -> str:
    """A float with booktabs rules, one tabular for each table. Needs the package booktabs."""
    lines = [r"\begin{table}", r"\centering", r"\small"]
    for k, sheet in enumerate(sheets):
        lines += [r"\par\medskip"] if k else []
        lines += [rf"\textit{{{_escaped(sheet.title)}}}\par\smallskip"] if sheet.title else []
        lines += [rf"\begin{{tabular}}{{l{'r' * (len(sheet.columns) - 1)}}}", r"\toprule"]
        lines += [_row(sheet.columns), r"\midrule", *map(_row, sheet.rows), r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\caption{{{_escaped(caption)}}}", rf"\label{{{label}}}", r"\end{table}", ""]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(map(_escaped, cells))} \\\\"


def _escaped(text: str) -> str:
    text = text.translate(SPECIAL)
    for symbol, latex in SYMBOLS.items():
        text = text.replace(symbol, latex)
    return text

"""Tables for reading: what a table target shows, and its form in Markdown and LaTeX."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)
BREAK = re.compile(r"[\t-\r\x1c-\x1f\x85\u2028\u2029]+")  # what ends a line
# What begins something else inside a Markdown cell; an underscore does at the ends of words alone.
MARKDOWN = re.compile(r"[\\`*<$~|]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|(?<=\])\(")
SYMBOLS = {"−": "$-$", "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$", "×": r"$\times$", "²": "$^2$"}


class Formatted(str):
    """A cell that is Markdown; other cells are plain text."""


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
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(cell: str) -> str:
    return cell if isinstance(cell, Formatted) else MARKDOWN.sub(r"\\\g<0>", BREAK.sub(" ", cell))


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
    first, *others = map(_escaped, cells)
    if first.startswith(("[", "*")):  # of the line break before
        first = f"{{{first[0]}}}{first[1:]}"
    return f"{' & '.join([first, *others])} \\\\"


def _escaped(text: str) -> str:
    text = BREAK.sub(" ", text).translate(SPECIAL)
    for symbol, latex in SYMBOLS.items():
        text = text.replace(symbol, latex)
    return text

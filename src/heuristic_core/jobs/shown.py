"""What scripts of several experiments do alike: draw a figure from tables, judge claims, write the report."""

import platform
from collections.abc import Callable, Mapping
from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.config.blocks import Block
from heuristic_core.config.claims import load_claims
from heuristic_core.figures.save import save
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.digests import commit, versions
from heuristic_core.provenance.record import records
from heuristic_core.report.settings import read_study
from heuristic_core.tables.parquet import read_rows, read_table, write_table

ABSENT = "of each figure and table that the study cannot have, why"


def drawing(about: str, targets: Mapping, settings: type[Block], draw: Callable, sheets_of: Callable) -> Callable:
    """Return the `main` of a script that draws one of `targets`.

    about: its docstring. draw, sheets_of: as in :mod:`heuristic_core.figures.drawing`.
    """

    def main(arguments=None):
        parser = Arguments(about)
        parser.add_argument("--name", required=True, choices=targets, help="which one")
        parser.settings("figures", settings)
        parser.reads("+", tables="the Parquet tables it is drawn from")
        parser.places(folder="the study's folder, with figures/ and tables/ in it")
        parser.writes("*", files="the files that are written there, for the record")
        args = parser.read(arguments)
        figure, marks = draw(args.name, _by_name(args.tables), args.figures)
        title, sheets = targets[args.name].title, sheets_of(args.name, marks)
        save(args.folder, args.name, figure, marks, args.figures, title, sheets)

    return main


def judging(about: str, claims: Callable) -> Callable:
    """The `main` of a script that judges claims. claims: from a study's name, tables and claims to verdicts."""

    def main(arguments=None):
        parser = Arguments(about)
        parser.add_argument("--study", required=True, help="name of the study")
        parser.reads("+", tables="the study's Parquet tables")
        parser.reads(claims="the claims (YAML)")
        parser.writes(table="where to write verdicts")
        args = parser.read(arguments)
        write_table("claims", claims(args.study, _by_name(args.tables), load_claims(args.claims)), args.table)

    return main


def reporting(about: str, targets: Mapping, page: Callable[..., str]) -> Callable:
    """The `main` of a script that writes a report. page: as the ``<experiment>_page`` of an experiment's `report`."""

    def main(arguments=None):
        parser = Arguments(about)
        parser.places(root="the study's folder, with figures/ and tables/ in it")
        parser.reads(settings="the study's study.json, which has its checked settings", claims="table of claims")
        parser.reads("+", captions="captions, <target>.rst")
        parser.reads("*", drawn="files of the figures and tables, for the record")
        parser.add_argument(
            "--targets", nargs="+", required=True, choices=targets, metavar="NAME", help="figures and tables, in order"
        )
        parser.add_argument("--absent", nargs="*", default=[], metavar="REASON", help=ABSENT)
        parser.writes(report="where to write the report (HTML)")
        args = parser.read(arguments)
        html = page(
            Path(args.root),
            settings=read_study(args.settings)["settings"],
            claims=read_rows(args.claims),
            captions={Path(path).stem: Path(path).read_text() for path in args.captions},
            targets=args.targets,
            records=records(args.root),
            made_with={"platform": platform.platform(), **versions(), "commit": str(commit())},
            absent=args.absent,
        )
        write_text(args.report, html)

    return main


def _by_name(paths: list[str]) -> dict:
    return {Path(path).stem: read_table(path) for path in paths}

"""Write the report of a list-sorting study: claims, figures and tables, and how they came about."""

import platform
from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.report import sorting_page
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.digests import commit, versions
from heuristic_core.provenance.record import recorded, records
from heuristic_core.report.settings import read_study
from heuristic_core.tables.parquet import read_rows


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.places(root="the study's folder, with figures/ and tables/ in it")
    parser.reads(settings="the study's study.json, which has its checked settings", claims="table of claims")
    parser.reads("+", captions="captions, <target>.rst")
    parser.reads("*", drawn="files of the figures and tables, for the record")
    parser.add_argument(
        "--targets", nargs="+", required=True, choices=TARGETS, metavar="NAME", help="figures and tables, in order"
    )
    parser.writes(report="where to write the report (HTML)")
    args = parser.read(arguments)
    page = sorting_page(
        Path(args.root),
        settings=read_study(args.settings)["settings"],
        claims=read_rows(args.claims),
        captions={Path(path).stem: Path(path).read_text() for path in args.captions},
        targets=args.targets,
        records=records(args.root),
        made_with={"platform": platform.platform(), **versions(), "commit": str(commit())},
    )
    write_text(args.report, page)


if __name__ == "__main__":
    recorded(main)

"""Write a study's report: what it shows and does not show, its figures and tables, and how they came about."""

import platform
from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.experiments.heuristic_core.figures.targets import TARGETS
from heuristic_core.experiments.heuristic_core.jobs.arguments import Arguments
from heuristic_core.experiments.heuristic_core.report.page import study_page
from heuristic_core.jobs.shown import ABSENT
from heuristic_core.provenance.digests import commit, versions
from heuristic_core.provenance.record import recorded, records
from heuristic_core.report.settings import read_study
from heuristic_core.tables.parquet import read_rows


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.places(root="the study's folder, with figures/ and tables/ in it")
    parser.context()
    parser.reads(
        settings="the study's study.json, which has its checked settings",
        claims="table of claims",
    )
    parser.reads("+", captions="captions, <target>.rst")
    parser.reads(
        "?",
        splits="table of splits, for the record",
        runs="table of pruning runs, for the record",
        chance="table of full models against chance, for the record",
    )
    parser.reads(
        "*",
        drawn="files of the figures and tables, for the record",
        subnetworks="tables that describe subnetworks, for the record",
    )
    parser.add_argument(
        "--targets", nargs="+", required=True, choices=TARGETS, metavar="NAME", help="figures and tables, in order"
    )
    parser.add_argument("--absent", nargs="*", default=[], metavar="REASON", help=ABSENT)
    parser.writes(report="where to write the report (HTML)")
    args = parser.read(arguments)
    captions = {Path(path).stem: Path(path).read_text() for path in args.captions}
    page = study_page(
        Path(args.root),
        args.context,
        settings=read_study(args.settings)["settings"],
        claims=read_rows(args.claims),
        captions=captions,
        targets=args.targets,
        records=records(args.root),
        made_with={"platform": platform.platform(), **versions(), "commit": str(commit())},
        absent=args.absent,
    )
    write_text(args.report, page)


if __name__ == "__main__":
    recorded(main)

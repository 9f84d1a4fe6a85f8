"""Write the study's report: what it shows and does not show, and its figures."""

from pathlib import Path

from heuristic_core.analysis.report import report
from heuristic_core.arguments import Arguments
from heuristic_core.files import write_text
from heuristic_core.tables import read_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--study", required=True, help="its name")
    parser.add_argument("--captions", nargs="+", required=True, metavar="PATH", help="<target>.rst, in their order")
    parser.files(findings="table of findings", report="where to write the report (Markdown)")
    args = parser.read(arguments)
    captions = {Path(path).stem: Path(path).read_text().strip() for path in args.captions}
    write_text(args.report, report(read_table(args.findings), args.study, captions))


if __name__ == "__main__":
    main()

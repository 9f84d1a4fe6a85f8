"""Print the reports of a configuration as PDF, beside report.html. Without Chromium there is only a message."""

from pathlib import Path

from heuristic_core.config.reading import read_merged_configs
from heuristic_core.experiments.studies import read_studies
from heuristic_core.jobs.arguments import JobParser
from heuristic_core.provenance.record import run_with_record
from heuristic_core.report.pdf import print_page


def main(arguments=None):
    parser = JobParser(__doc__)
    parser.add_argument("--configfile", nargs="+", required=True, metavar="FILE", help="as Snakemake's own")
    args = parser.parse(arguments)
    studies = read_studies(read_merged_configs(args.configfile), args.configfile[-1])
    for page in (Path(configured.study.root, "report.html") for configured in studies.values()):
        pdf = page.with_suffix(".pdf")
        reason = print_page(page, pdf) if page.is_file() else "there is no report"
        print(f"No {pdf}: {reason}." if reason else f"Printed: {pdf}")


if __name__ == "__main__":
    run_with_record(main)

"""Print the report of each study to report.pdf beside it, if Chromium is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from heuristic_core.config.reading import read_merged_configs
from heuristic_core.experiments.studies import read_studies
from heuristic_core.jobs.arguments import JobParser
from heuristic_core.provenance.record import run_with_record

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def main(arguments=None):
    parser = JobParser(__doc__)
    parser.add_argument("--configfile", nargs="+", required=True, metavar="FILE", help="as Snakemake's own")
    args = parser.parse(arguments)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    for configured in read_studies(read_merged_configs(args.configfile), args.configfile[-1]).values():
        report = Path(configured.study.root) / "report.html"
        print(f"Report: {report}")
        if browser and print_page(browser, report):
            print(f"PDF: {report.with_suffix('.pdf')}")


def print_page(browser: str, page: Path) -> bool:
    """Print an HTML page to a PDF beside it, and return whether it exists. A failure is reported."""
    pdf = page.with_suffix(".pdf")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to run as root with a sandbox
    options = ["--headless", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={pdf.absolute()}", *sandbox]
    done = subprocess.run([browser, *options, page.absolute().as_uri()], capture_output=True, text=True)
    if done.returncode or not pdf.is_file():
        print(f"{browser} could not print {page}: {done.stderr.strip()[-500:]}", file=sys.stderr)
    return pdf.is_file()


if __name__ == "__main__":
    run_with_record(main)

"""List the targets of a configuration: figures and tables of its studies, with titles.

Unavailable targets follow, with the setting that would enable them.
"""

from pathlib import Path

from heuristic_core.config.reading import read_merged_configs
from heuristic_core.experiments.studies import ConfiguredStudy, parse_sweep, parse_tables, read_studies
from heuristic_core.figures.targets import is_report_file
from heuristic_core.jobs.arguments import JobParser
from heuristic_core.provenance.record import run_with_record

TABLE_TITLES = {
    "replicates": "number of training seeds on which each claim holds",
    "verdicts": "the verdict of each study on each claim",
}
HINT = "snakemake --cores all --configfile {files} -- {name}"


def main(arguments=None):
    parser = JobParser(__doc__)
    parser.add_argument("--configfile", nargs="+", required=True, metavar="FILE", help="as Snakemake's own")
    args = parser.parse(arguments)
    values = read_merged_configs(args.configfile)
    studies = read_studies(values, args.configfile[-1])
    titles = {
        name: title for prefix, configured in studies.items() for name, title in list_titles(prefix, configured).items()
    }
    if "studies" in values and (sweep := parse_sweep(values, studies, args.configfile[-1])):
        titles[sweep.target] = "All studies: cost of ablation against their different settings"
    if "studies" in values:
        for kind, table in parse_tables(values, studies, args.configfile[-1]).items():
            titles[table.target] = f"All studies: {TABLE_TITLES[kind]}"
    titles["all_figures"] = "All of these (default target)"
    width = max(map(len, titles))
    print("\n".join(f"{name:{width}}  {title}" for name, title in titles.items()))
    absent = [
        f"{prefix}{why}"
        for prefix, configured in studies.items()
        for why in configured.experiment.list_unavailable(configured.study).values()
    ]
    if absent:
        print("\nNot available in this configuration:\n" + "\n".join(absent))
    print(f"\nTo make one: {HINT.format(files=' '.join(args.configfile), name=next(iter(titles)))}")


def list_titles(prefix: str, configured: ConfiguredStudy) -> dict[str, str]:
    """Return target -> title of the figures and tables available to a study, its report and its archive."""
    describe, members = configured.experiment.describe_file, configured.experiment.list_members(configured.study)
    drawn = [Path(path) for path in members if is_report_file(f"{configured.study.root}/{path}")]
    titles = {f"{prefix}{path.stem}": describe(path) for path in drawn if describe(path)}
    if "report.html" in members:
        titles[f"{prefix}report"] = f"All of them on one page: {configured.study.root}/report.html"
    return titles | {
        f"{prefix}export": f"Archive of the study: {configured.study.root}/{configured.study.study}.crate.zip"
    }


if __name__ == "__main__":
    run_with_record(main)

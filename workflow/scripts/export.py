"""Write a study's archive: an RO-Crate of its tables, figures, subnetworks, settings and provenance."""

import json
from pathlib import Path

import yaml

from heuristic_core.experiments.registry import experiment_of
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.crate.archive import write_archive
from heuristic_core.provenance.crate.metadata import (
    CITATION,
    CLAIMS,
    CONFIGURATION,
    LOCK,
    NAME,
    WORKFLOW,
    metadata,
    run_of,
)
from heuristic_core.provenance.crate.public import public_page
from heuristic_core.provenance.crate.records import records
from heuristic_core.provenance.record import check, digests, public, read_record, recorded
from heuristic_core.report.settings import read_study


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--settings", required=True, type=json.loads, metavar="JSON", help="the study as configured")
    parser.places(root="the study's folder")
    parser.reads(
        workflow="the main Snakefile",
        claims="the claims (YAML)",
        lock="versions of all packages",
        citation="CITATION.cff",
    )
    parser.writes(archive="where to write the archive")
    args = parser.read(arguments)
    experiment, root = experiment_of(args.settings), Path(args.root)
    study = experiment.parse(args.settings)
    names = experiment.members(study)
    for name in names:
        check(str(root / name), digests(root / name), root)
    made = records(root, names)
    given = {WORKFLOW: args.workflow, CLAIMS: args.claims, LOCK: args.lock, CITATION: args.citation}
    contents = {name: root / name for name in (*names, *made)} | {name: Path(path) for name, path in given.items()}
    contents[CONFIGURATION] = yaml.safe_dump(public(args.settings), sort_keys=False, allow_unicode=True).encode()
    if "study.json" in names:
        described = read_study(root / "study.json")
        contents["study.json"] = (json.dumps(public(described), indent=1) + "\n").encode()
        if "report.html" in names:
            contents["report.html"] = public_page((root / "report.html").read_text(), described["settings"]).encode()
    run = run_of(read_record(root / name) for name in made)
    citation = yaml.safe_load(Path(args.citation).read_text())
    contents[NAME] = metadata(study.study, experiment.subject(study), contents, citation, run)
    write_archive(args.archive, contents)


if __name__ == "__main__":
    recorded(main)

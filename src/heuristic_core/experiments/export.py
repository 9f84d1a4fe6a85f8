"""Export of a study of any experiment."""

import json
from pathlib import Path
from typing import Annotated

import yaml

from heuristic_core.common.roles import Folder, Input, Output, Read
from heuristic_core.experiments.registry import load_experiment
from heuristic_core.provenance.crate.archive import write_archive
from heuristic_core.provenance.crate.metadata import (
    CITATION_FILE,
    CLAIMS_FILE,
    CONFIGURATION_FILE,
    LOCK_FILE,
    METADATA_FILE,
    WORKFLOW_FILE,
    build_metadata,
    summarise_run,
)
from heuristic_core.provenance.crate.public import redact_page
from heuristic_core.provenance.crate.records import collect_records
from heuristic_core.provenance.record import check_result, read_record, result_digests
from heuristic_core.provenance.settings import redact
from heuristic_core.report.settings import read_study


def export_study(
    settings: Annotated[dict, Read(json.loads)],
    root: Folder,
    workflow: Input,
    claims: Input,
    lock: Input,
    citation: Input,
    archive: Output,
) -> None:
    """Write a study's archive: an RO-Crate of its tables, figures, subnetworks, settings and provenance.

    Args:
        settings: The study as configured, as JSON.
        root: The study's folder.
        workflow: The main Snakefile.
        claims: The claims (YAML).
        lock: Versions of all packages.
        citation: CITATION.cff.
        archive: Where to write the archive.
    """
    experiment, folder = load_experiment(settings), Path(root)
    study = experiment.parse(settings)
    members = experiment.list_members(study)
    for name in members:
        check_result(str(folder / name), result_digests(folder / name), folder)
    record_files = collect_records(folder, members)
    files = {WORKFLOW_FILE: workflow, CLAIMS_FILE: claims, LOCK_FILE: lock, CITATION_FILE: citation}
    contents = {name: folder / name for name in (*members, *record_files)}
    contents |= {name: Path(path) for name, path in files.items()}
    contents[CONFIGURATION_FILE] = yaml.safe_dump(redact(settings), sort_keys=False, allow_unicode=True).encode()
    if "study.json" in members:
        description = read_study(folder / "study.json")
        contents["study.json"] = (json.dumps(redact(description), indent=1) + "\n").encode()
        if "report.html" in members:
            page = redact_page((folder / "report.html").read_text(), description["settings"])
            contents["report.html"] = page.encode()
    run = summarise_run(read_record(folder / name) for name in record_files)
    citation_values = yaml.safe_load(Path(citation).read_text())
    contents[METADATA_FILE] = build_metadata(
        study.study, experiment.describe_archive(study), contents, citation_values, run
    )
    write_archive(archive, contents)

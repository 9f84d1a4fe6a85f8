"""The file ro-crate-metadata.json of an archive: description of each file, run, authors and licence."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from importlib import metadata as packages
from pathlib import Path
from typing import NamedTuple

from rocrate.model import ComputationalWorkflow, ContextEntity, File
from rocrate.rocrate import ROCrate

from heuristic_core.provenance.crate.archive import read_member
from heuristic_core.provenance.crate.records import RECORD_DIR
from heuristic_core.provenance.crate.subject import Subject

_CRATE_VERSION = "1.3"  # of the RO-Crate specification
METADATA_FILE = "ro-crate-metadata.json"
_UNKNOWN_DATE = "1970-01-01"  # date of results without records
WORKFLOW_FILE, CONFIGURATION_FILE, CLAIMS_FILE, LOCK_FILE, CITATION_FILE = (
    "Snakefile", "config.yaml", "claims.yaml", "envs/requirements.txt", "CITATION.cff",
)  # fmt: skip
INPUT_FILES = (CONFIGURATION_FILE, CLAIMS_FILE, LOCK_FILE)
_MEDIA_TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".tex": "application/x-tex",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".html": "text/html",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".cff": "application/yaml",
    ".txt": "text/plain",
    "": "text/plain",
}
DESCRIPTIONS = {
    WORKFLOW_FILE: "The workflow that made the results: its entry; rules and library are beside it in its repository",
    CONFIGURATION_FILE: "The study's configuration as it was given; paths of one machine are cut to their last part",
    CLAIMS_FILE: "The claims that the study was judged on: sentences, statistics, thresholds",
    LOCK_FILE: "The environment: every Python package with its version",
    CITATION_FILE: "How to cite the software, and the paper whose study it implements",
    "study.json": "The checked configuration, defaults included, and what analysis and figures know of it",
    "report.html": "The report: claims, figures, tables, settings, run times; opens offline",
}


class WorkflowRun(NamedTuple):
    """When a study ran, and with what code.

    Attributes:
        started: ISO 8601 start of the first job; None without records.
        ended: ISO 8601 end of the last job; None without records.
        commit: Commit of the code; None if unknown or changed.
    """

    started: str | None
    ended: str | None
    commit: str | None


def summarise_run(records: Iterable[Mapping]) -> WorkflowRun:
    """Summarise provenance records: start, end, and the commit of the job that ended last.

    The commit of a job whose code differed from it does not count.
    """
    jobs = []
    for record in records:
        started = datetime.fromisoformat(record["started"])
        commit = "" if record.get("dirty") else record.get("commit") or ""
        jobs.append((started + timedelta(seconds=record["seconds"]), started, commit))
    if not jobs:
        return WorkflowRun(None, None, None)
    ended, _, commit = max(jobs)
    started = min(started for _, started, _ in jobs)
    return WorkflowRun(started.isoformat(timespec="seconds"), ended.isoformat(timespec="seconds"), commit or None)


def build_metadata(
    study: str, subject: Subject, members: Mapping[str, Path | bytes], citation: Mapping, run: WorkflowRun
) -> bytes:
    """Build the content of ro-crate-metadata.json.

    Args:
        study: Name of the study.
        subject: Descriptions of its archive.
        members: Name in the archive -> path of a file, or its content.
        citation: Content of CITATION.cff.
        run: When the study ran.
    """
    crate = ROCrate(version=_CRATE_VERSION)
    files = {name: _add_file(crate, name, read_member(member), subject) for name, member in sorted(members.items())}
    licence = _add_licence(crate, citation)
    authors = _add_authors(crate, citation)
    paper = _add_paper(crate, citation, subject.paper)
    workflow = files[WORKFLOW_FILE]
    _set(workflow, author=authors, programmingLanguage=_add_snakemake(crate), softwareRequirements=files[LOCK_FILE])
    _set(workflow, version=citation["version"])
    if run.commit:
        _set(workflow, identifier=f"swh:1:rev:{run.commit}")  # Software Heritage identifies a revision by its git hash
    action = crate.add(ContextEntity(crate, "#run", {"@type": "CreateAction"}))
    _set(
        action,
        name=f"Run of study {study}",
        description=subject.run,
        instrument=workflow,
        object=[files[name] for name in INPUT_FILES],
        result=[file for name, file in files.items() if name not in (*INPUT_FILES, WORKFLOW_FILE, CITATION_FILE)],
    )
    if run.ended:
        _set(action, startTime=run.started, endTime=run.ended)
    _set(
        crate.root_dataset,
        name=f"{study}: results of {citation['title']}",
        description=subject.results,
        datePublished=(run.ended or _UNKNOWN_DATE)[:10],
        license=licence,
        author=authors,
        citation=paper,
        mainEntity=workflow,
        mentions=action,
    )
    return (json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _add_file(crate: ROCrate, name: str, member: bytes, subject: Subject) -> File:
    """Add a member of the archive to the crate."""
    entity_class = ComputationalWorkflow if name == WORKFLOW_FILE else File
    properties = {
        "name": name,
        "description": _describe(Path(name), subject),
        "encodingFormat": _MEDIA_TYPES[Path(name).suffix],
        "contentSize": str(len(member)),
        "sha256": hashlib.sha256(member).hexdigest(),
    }
    return crate.add(entity_class(crate, dest_path=name, properties=properties))


def _describe(path: Path, subject: Subject) -> str:
    """Return a description of a file in one line."""
    if str(path) in DESCRIPTIONS:
        return DESCRIPTIONS[str(path)]
    if path.parts[0] == RECORD_DIR:
        return "Provenance record: what job made the results, from what, with which settings, code and packages"
    description = subject.describe(path)
    return description or f"Table {path.stem}, one row per observation; the file's own metadata explain its columns"


def _add_licence(crate: ROCrate, citation: Mapping) -> ContextEntity:
    """Add the licence of the software."""
    name = citation["license"]
    properties = {"@type": "CreativeWork", "name": name, "description": f"The licence that SPDX lists as {name}"}
    return crate.add(ContextEntity(crate, f"https://spdx.org/licenses/{name}", properties))


def _add_authors(crate: ROCrate, citation: Mapping) -> list[ContextEntity] | ContextEntity:
    """Add the authors of the software; return one entity for a single author. In CITATION.cff, `name` means a group."""
    authors = []
    for number, author in enumerate(citation["authors"], start=1):
        properties = {"@type": "Organization" if "name" in author else "Person", "name": _format_name(author)}
        authors.append(crate.add(ContextEntity(crate, f"#author-{number}", properties)))
    return authors if len(authors) > 1 else authors[0]


def _add_paper(crate: ROCrate, citation: Mapping, identifier: str) -> ContextEntity:
    """Add the paper whose study the software implements."""
    (paper,) = [reference for reference in citation["references"] if reference["identifiers"][0]["value"] == identifier]
    authors = ", ".join(map(_format_name, paper["authors"]))
    properties = {
        "@type": "ScholarlyArticle",
        "name": paper["title"],
        "description": f"{authors}. {paper['collection-title']}, {paper['year']}",
    }
    return crate.add(ContextEntity(crate, f"https://arxiv.org/abs/{identifier.removeprefix('arXiv:')}", properties))


def _add_snakemake(crate: ROCrate) -> ContextEntity:
    """Add the language of the workflow."""
    properties = {
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "url": "https://snakemake.readthedocs.io",
        "version": packages.version("snakemake"),
    }
    return crate.add(ContextEntity(crate, "https://w3id.org/workflowhub/workflow-ro-crate#snakemake", properties))


def _format_name(author: Mapping) -> str:
    """Return the name of an author or a group."""
    return author.get("name") or f"{author['given-names']} {author['family-names']}"


def _set(entity, **values) -> None:
    """Set properties of an entity."""
    for key, value in values.items():
        entity[key] = value

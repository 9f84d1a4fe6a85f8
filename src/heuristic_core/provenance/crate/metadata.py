"""An archive's ro-crate-metadata.json: what each file is, what made it, and by whom it may be used."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from importlib import metadata as packages
from pathlib import Path
from typing import NamedTuple

from rocrate.model import ComputationalWorkflow, ContextEntity, File
from rocrate.rocrate import ROCrate

from heuristic_core.provenance.crate.archive import content
from heuristic_core.provenance.crate.records import RECORDS
from heuristic_core.provenance.crate.subject import Subject

VERSION = "1.3"  # of the RO-Crate specification
NAME = "ro-crate-metadata.json"
UNKNOWN = "1970-01-01"  # the date of results that have no records
WORKFLOW, CONFIGURATION, CLAIMS, LOCK, CITATION = (
    "Snakefile", "config.yaml", "claims.yaml", "envs/requirements.txt", "CITATION.cff",
)  # fmt: skip
INPUT_FILES = (CONFIGURATION, CLAIMS, LOCK)
FORMATS = {
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
    WORKFLOW: "The workflow that made the results: its entry; rules and library are beside it in its repository",
    CONFIGURATION: "The study's configuration as it was given; paths of one machine are cut to their last part",
    CLAIMS: "The claims that the study was judged on: sentences, statistics, thresholds",
    LOCK: "The environment: every Python package with its version",
    CITATION: "How to cite the software, and the paper whose study it implements",
    "study.json": "The checked configuration, defaults included, and what analysis and figures know of it",
    "report.html": "The report: claims, figures, tables, settings, run times; opens offline",
}


class WorkflowRun(NamedTuple):
    """started, ended: ISO 8601, None where no records tell. commit: of the code that ran, or None."""

    started: str | None
    ended: str | None
    commit: str | None


def run_of(records: Iterable[Mapping]) -> WorkflowRun:
    """When a study ran, and the commit of the job that ended last, from its provenance records.

    A job whose code differed from its commit has none.
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


def metadata(
    study: str, subject: Subject, members: Mapping[str, Path | bytes], citation: Mapping, run: WorkflowRun
) -> bytes:
    """ro-crate-metadata.json of the archive of `study` that holds `members`.

    citation: what CITATION.cff holds.
    """
    crate = ROCrate(version=VERSION)
    files = {name: _file(crate, name, content(member), subject) for name, member in sorted(members.items())}
    licence, authors, paper = (
        _licence(crate, citation),
        _authors(crate, citation),
        _paper(crate, citation, subject.paper),
    )
    workflow = files[WORKFLOW]
    _set(workflow, author=authors, programmingLanguage=_snakemake(crate), softwareRequirements=files[LOCK])
    _set(workflow, version=citation["version"])
    if run.commit:
        _set(workflow, identifier=f"swh:1:rev:{run.commit}")  # of Software Heritage, which is the git commit's own
    action = crate.add(ContextEntity(crate, "#run", {"@type": "CreateAction"}))
    _set(
        action,
        name=f"Run of study {study}",
        description=subject.run,
        instrument=workflow,
        object=[files[name] for name in INPUT_FILES],
        result=[file for name, file in files.items() if name not in (*INPUT_FILES, WORKFLOW, CITATION)],
    )
    if run.ended:
        _set(action, startTime=run.started, endTime=run.ended)
    _set(
        crate.root_dataset,
        name=f"{study}: results of {citation['title']}",
        description=subject.results,
        datePublished=(run.ended or UNKNOWN)[:10],
        license=licence,
        author=authors,
        citation=paper,
        mainEntity=workflow,
        mentions=action,
    )
    return (json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _file(crate: ROCrate, name: str, member: bytes, subject: Subject) -> File:
    kind = ComputationalWorkflow if name == WORKFLOW else File
    properties = {
        "name": name,
        "description": _describe(Path(name), subject),
        "encodingFormat": FORMATS[Path(name).suffix],
        "contentSize": str(len(member)),
        "sha256": hashlib.sha256(member).hexdigest(),
    }
    return crate.add(kind(crate, dest_path=name, properties=properties))


def _describe(path: Path, subject: Subject) -> str:
    """One line on what the file is."""
    if str(path) in DESCRIPTIONS:
        return DESCRIPTIONS[str(path)]
    if path.parts[0] == RECORDS:
        return "Provenance record: what job made the results, from what, with which settings, code and packages"
    description = subject.about(path)
    return description or f"Table {path.stem}, one row per observation; the file's own metadata explain its columns"


def _licence(crate: ROCrate, citation: Mapping) -> ContextEntity:
    name = citation["license"]
    properties = {"@type": "CreativeWork", "name": name, "description": f"The licence that SPDX lists as {name}"}
    return crate.add(ContextEntity(crate, f"https://spdx.org/licenses/{name}", properties))


def _authors(crate: ROCrate, citation: Mapping) -> list[ContextEntity] | ContextEntity:
    """Those of the software, or the only one: whole names are of organisations or groups, others of persons."""
    authors = []
    for number, author in enumerate(citation["authors"], start=1):
        properties = {"@type": "Organization" if "name" in author else "Person", "name": _name(author)}
        authors.append(crate.add(ContextEntity(crate, f"#author-{number}", properties)))
    return authors if len(authors) > 1 else authors[0]


def _paper(crate: ROCrate, citation: Mapping, identifier: str) -> ContextEntity:
    """The paper whose study the software implements."""
    (paper,) = [reference for reference in citation["references"] if reference["identifiers"][0]["value"] == identifier]
    properties = {
        "@type": "ScholarlyArticle",
        "name": paper["title"],
        "description": f"{', '.join(map(_name, paper['authors']))}. {paper['collection-title']}, {paper['year']}",
    }
    return crate.add(ContextEntity(crate, f"https://arxiv.org/abs/{identifier.removeprefix('arXiv:')}", properties))


def _snakemake(crate: ROCrate) -> ContextEntity:
    properties = {
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "url": "https://snakemake.readthedocs.io",
        "version": packages.version("snakemake"),
    }
    return crate.add(ContextEntity(crate, "https://w3id.org/workflowhub/workflow-ro-crate#snakemake", properties))


def _name(author: Mapping) -> str:
    return author.get("name") or f"{author['given-names']} {author['family-names']}"


def _set(entity, **values) -> None:
    for key, value in values.items():
        entity[key] = value

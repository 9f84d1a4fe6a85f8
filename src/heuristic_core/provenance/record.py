"""What each result was made from: a record of it, written by the job that made it, checked by those that read it.

A result `<study>/tables/core.parquet` has the record `<study>/provenance/tables/core.parquet.json`. The record is the
job's: results of one job have the same one. It holds no user name, host, secret or path outside the checkout.
"""

import hashlib
import json
import logging
import os
import platform
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from heuristic_core.common import arithmetic as arithmetics
from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.provenance.digests import versions

LOGGER = logging.getLogger(__name__)
COMMIT = "HEURISTIC_CORE_COMMIT"  # set by the workflow: the commit checked out, with a + where files differ from it
NON_SETTINGS = ("--code", "--log")  # options that are no settings of the work
FIELDS = {
    *("job", "script", "settings", "inputs", "sources", "outputs", "code", "commit", "dirty", "packages", "system"),
    *("seeds", "device", "processor", "precision", "arithmetic", "started", "seconds", "digest"),
}
# The option by which a rule says what its results depend on beside files, settings and code: when and where its job
# ran, as a report that tells of this, or a network.
DEPENDS_ON = "depends-on"
RUN, NETWORK = "run", "network"
SEED = re.compile(r"(^|[-_])seeds?$")


class Record:
    """The record of the job that this process is, from reading its arguments to its end.

    inputs, outputs: paths of files or folders. log: of the job, below the study's logs. arguments: the command line.
    arithmetic: what the job computes in, which is native where a processor cannot do what the study asks for.
    """

    def __init__(self, code, inputs: Sequence[str], outputs: Sequence[str], log: str, arguments, arithmetic: str):
        self.root, job = study_and_job(log)
        self.outputs, self.arithmetic = outputs, arithmetic
        self.started, self.clock = datetime.now(UTC), time.monotonic()
        self.text = {
            "job": job,
            "script": Path(sys.argv[0]).stem,
            "settings": settings(arguments, {*inputs, *outputs}),
            "code": code,
        }
        read = {path: digests(path) for path in inputs}
        for path, found in read.items():
            if Path(path).is_relative_to(self.root):
                check(path, found, self.root)
        files = {file: sha for found in read.values() for file, sha in found.items()}
        self.text["inputs"], self.text["sources"] = named(files, self.root)

    def write(self) -> None:
        """Write the record of the finished job, beside every result.

        Raises InputError where a library that was loaded meanwhile computes in another arithmetic.
        """
        arithmetics.check(self.arithmetic)
        chosen_settings = self.text["settings"]
        device = chosen_settings.get("device", "cpu")
        self.text |= {
            "outputs": named({file: sha for path in self.outputs for file, sha in digests(path).items()}, self.root)[0],
            "seeds": seeds(chosen_settings),
            "device": device,
            "processor": processor(device),
            "precision": precision(chosen_settings),
            "arithmetic": self.arithmetic,
            "started": self.started.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "seconds": round(time.monotonic() - self.clock, 3),
        } | environment()
        self.text["digest"] = digest(self.text)
        for path in self.outputs:
            write_text(record_of(path, self.root), json.dumps(self.text, indent=1, sort_keys=True) + "\n")


_CURRENT: list[Record] = []


def begin(record: Record) -> None:
    """Let `record` be the record of this process's job, once its arguments are read."""
    _CURRENT[:] = [record]


def recorded(main: Callable, *arguments) -> None:
    """Run a script's main; once it has succeeded, write the record that it began.

    A command without a record ends in peace when nobody reads on, as `head` does not.
    """
    try:
        try:
            main(*arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if _CURRENT:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python still has to write
    for record in _CURRENT:
        record.write()


def study_and_job(log: str) -> tuple[Path, str]:
    """The study's folder, and the job's name, of the log `<study>/logs/<job>.log`."""
    root, _, job = log.rpartition("/logs/")
    return Path(root), job.removesuffix(".log")


def record_of(path: str | Path, root: Path) -> Path:
    """The path of the record of the result `path` of the study `root`."""
    return root / "provenance" / f"{os.path.relpath(path, root)}.json"


def files_of(path: str | Path) -> list[str]:
    """The files that a result is: itself, or all below it but for hidden ones; none where it is missing."""
    if not os.path.isdir(path):
        return [str(path)] if os.path.exists(path) else []
    return sorted(str(file) for file in Path(path).rglob("*") if file.is_file() and not file.name.startswith("."))


def digests(path: str | Path) -> dict[str, str]:
    """SHA-256 of every file of a result, by path."""
    return {file: file_digest(file) for file in files_of(path)}


def named(files: dict[str, str], root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """SHA-256 by path, as records have it: results by their path below the study's folder `root`, and other files.

    Those outside the working directory are named by their last part, and numbered where several have the same.
    """
    results, sources = {}, {}
    for path, sha in files.items():
        if Path(path).is_relative_to(root):
            results[os.path.relpath(path, root)] = sha
            continue
        name, count = public(path), 1
        while name in sources:
            count += 1
            name = f"{public(path)} ({count})"
        sources[name] = sha
    return results, sources


def check(path: str, found: dict[str, str], root: Path) -> None:
    """Raise InputError unless the result `path`, whose files have the digests `found`, is what its record says."""
    file = record_of(path, root)
    if not file.exists():
        return LOGGER.info("%s has no record; not checked", path)
    record = read_record(file)
    names = {os.path.relpath(file, root): sha for file, sha in found.items()}
    inside = os.path.relpath(path, root)
    recorded = {name: sha for name, sha in record["outputs"].items() if Path(name).is_relative_to(inside)}
    for name in sorted(names.keys() | recorded.keys()):
        if names.get(name) != recorded.get(name):
            state = "is missing" if name not in names else "was added" if name not in recorded else "has changed"
            raise InputError(
                f"{root / name} {state} since {record['script']} made it (SHA-256 {names.get(name)}, recorded "
                f"{recorded.get(name)}). To make it again: rm -r {shlex.quote(path)}, and run again"
            )


def digest(record: dict) -> str:
    """SHA-256 of all that a record says, but for this digest itself."""
    content = {key: value for key, value in record.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_record(file: str | Path) -> dict:
    """A record. Raises InputError, naming the file, if it is none, or not as it was written."""
    try:
        record = json.loads(Path(file).read_text())
        fault = None if record["digest"] == digest(record) else "it was changed after it was written"
        if missing := sorted(FIELDS - record.keys()):
            fault = f"it lacks {', '.join(missing)}"
    except (OSError, KeyError, TypeError, ValueError) as error:
        fault = f"{type(error).__name__}: {error}"
    if fault:
        raise InputError(
            f"{file} is no sound provenance record ({fault}). "
            "To make it again: remove it and the result it is of, and run again"
        )
    return record


def settings(arguments: Sequence[str], paths: Iterable[str]) -> dict:
    """What a command line sets, by option, but for its files `paths`; JSON is read, and what is private is cut."""
    options: dict[str, list] = {}
    values: list = []
    for argument in arguments:
        if argument.startswith("--"):
            values = options.setdefault(argument, [])
        elif argument not in paths:
            values.append(public(_parsed(argument)))
    kept = {name: values for name, values in options.items() if values and name not in NON_SETTINGS}
    return {name[2:]: values[0] if len(values) == 1 else values for name, values in kept.items()}


def _parsed(text: str):
    try:
        return json.loads(text)
    except ValueError:
        return text


def public(value):
    """The same without what tells of a user: of a path outside the checkout its last part, of an address no query."""
    if isinstance(value, dict):
        return {key: public(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [public(inner) for inner in value]
    if not isinstance(value, str):
        return value
    if "://" in value and not value.startswith("file:"):
        parts = urlsplit(value)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    outside = os.path.isabs(value) or value.startswith(("~", "file:")) or ".." in Path(value).parts
    return Path(value).name if outside else value


def seeds(values: dict) -> dict:
    """Every seed among settings, by the path of its keys."""
    values_by_path = {}
    for key, value in values.items():
        if isinstance(value, dict):
            values_by_path |= {f"{key}.{inner}": seed for inner, seed in seeds(value).items()}
        elif SEED.search(key):
            values_by_path[key] = value
    return values_by_path


def precision(values: dict) -> str | None:
    """The precision of the model that a job trained, or else ran; null of a job that ran none."""
    blocks = [value for value in values.values() if isinstance(value, dict)]
    setting = next((block["precision"] for block in [*blocks, values] if block.get("precision")), None)
    if setting != "auto":
        return setting
    if "device" not in values:
        return None
    from heuristic_core.models.device import precision_on, usable_device

    return precision_on(usable_device(values["device"]), setting)


def processor(device: str) -> str:
    """The model name of the processor, or of the GPU for `device: cuda`."""
    if device == "cuda" and "torch" in sys.modules:
        return sys.modules["torch"].cuda.get_device_name()
    return _cpu()


@cache
def _cpu() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE) if cpuinfo.exists() else []
    return names[0] if names else platform.processor() or platform.machine()


def environment() -> dict:
    """Commit, whether files differ from it, system and versions of the packages that matter."""
    commit = os.environ.get(COMMIT, "")
    return {
        "commit": commit.rstrip("+") or None,
        "dirty": commit.endswith("+") if commit else None,
        "system": f"{platform.system()} {platform.machine()}",
        "packages": versions(),
    }


def records(root: str | Path) -> list[dict]:
    """The record of every job of the study `root`, by name."""
    files = Path(root).joinpath("provenance").rglob("*.json")
    jobs = {record["job"]: record for record in map(read_record, files)}
    return [jobs[job] for job in sorted(jobs)]


def rows(root: str | Path) -> list[dict]:
    """Rows of table `provenance` of the study `root`, one per job, by name."""
    return [row_of(root, record) for record in records(root)]


def row_of(root: str | Path, record: dict) -> dict:
    """The row of one record."""
    cells = {key: json.dumps(cell, sort_keys=True) if isinstance(cell, dict) else cell for key, cell in record.items()}
    return {"study": Path(root).name} | cells

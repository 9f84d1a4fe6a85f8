# What earlier runs left, looked at before anything runs. Of these faults Snakemake says nothing, or shows a traceback.
import base64
import logging

from snakemake.logging import logger

from heuristic_core.common.arithmetic import PORTABLE, available
from heuristic_core.common.atomic import obstacle

RECORDS = os.path.abspath(".snakemake" if os.path.isdir(".snakemake") else ".")
# Snakemake's own records, one file for each output. Nothing public tells of them while this file is read:
# docs/decisions/records.md.
METADATA = f"{RECORDS}/metadata"
# Snakemake's own log is there, too. Where the disk is full, the terminal still tells what happened, without tracebacks.
logging.raiseExceptions = False


def metadata_of(path):
    """Snakemake's record of the output `path`; it keeps a path as long as this one in parts, which this does not tell."""
    return f"{METADATA}/{base64.urlsafe_b64encode(path.encode()).decode()}"


def check_writable():
    """Snakemake needs this also for a dry run."""
    if reason := obstacle(RECORDS, 1 << 20):
        raise WorkflowError(
            f"{RECORDS} cannot be written ({reason}), and Snakemake keeps its records there, also in a dry run; make "
            "room or make it writable, then run the same command, or let --directory name another folder"
        )


def check_records():
    """Snakemake skips a record that was cut off, as its job runs again anyway, but not one with other bytes."""
    for path in glob.glob(f"{METADATA}/**/*", recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                if not file.read().isascii():
                    made = base64.urlsafe_b64decode(
                        os.path.relpath(path, METADATA).replace(os.sep, "").replace("@", "")
                    )
                    raise WorkflowError(
                        f"{path}, Snakemake's record of {made.decode(errors='replace')}, is damaged; delete both, then "
                        "run the same command"
                    )


def warn_of_strangers():
    """Results without records count as finished, whatever they were made from."""
    description = f"{L.root}/study.json"
    record = metadata_of(description)
    if len(os.path.basename(record)) < 255 and os.path.exists(description) and not os.path.exists(record):
        logger.warning(
            f"{L.root} was not made in this working folder (there is no record of it in {METADATA}). What is there "
            "counts as finished, whatever configuration and code it was made with; `make audit` compares it with both; "
            f"delete what is to be made again, or all of {L.root}."
        )


def warn_of_arithmetic():
    if STUDY.arithmetic == PORTABLE and not available():
        logger.warning(
            "arithmetic = 'portable' needs an x86-64 processor with AVX2, which this processor has not: jobs compute in native "
            "arithmetic. The study is as good, but its bytes differ; each result's record says 'native'."
        )


if workflow.is_main_process:
    check_writable()
    warn_of_arithmetic()
    check_records()
    warn_of_strangers()


def check_results():
    """Snakemake would end with a traceback."""
    if reason := obstacle(L.root, 1 << 12):
        raise WorkflowError(
            f"{L.root} cannot be written ({reason}); make room or make it writable, or let `results` name another "
            "folder, then run the same command: what is finished stays"
        )


def check_device():
    """The first job without its GPU would fail, and Snakemake would delete the results that it was to replace.

    Which jobs are to run, nothing public tells in `onstart`.
    """
    jobs = workflow.persistence.dag.needrun_jobs() if GPUS and workflow.local_exec else []
    if any(job.resources.get("gpu") for job in jobs):
        from heuristic_core.models.device import usable_device

        try:
            usable_device(STUDY.device)
        except InputError as error:
            raise WorkflowError(str(error)) from None


STARTING = [check_results, check_device]

# Checks of the working folder before anything runs. Snakemake ignores these errors or shows a traceback.
import logging
from pathlib import Path

from snakemake.logging import logger

from heuristic_core.common.arithmetic import PORTABLE, supports_portable
from heuristic_core.common.atomic import find_write_error, write_text
from heuristic_core.common.errors import InputError
from heuristic_core.jobs.working_folder import equalise_copied_times

RECORDS = os.path.abspath(".snakemake" if os.path.isdir(".snakemake") else ".")
# Exists if this study began in this working folder; results that were copied here lack it.
ORIGIN_MARKER = f".snakemake/heuristic-core/{hashlib.sha256(LAYOUT.root.encode()).hexdigest()}"
DESCRIPTION = f"{LAYOUT.root}/study.json"
# Snakemake's log is in the same folder. If the disk is full, messages still appear on the terminal, without tracebacks.
logging.raiseExceptions = False


def check_writable():
    """Raise WorkflowError if Snakemake cannot write its records, as it does even in a dry run."""
    if reason := find_write_error(RECORDS, 1 << 20):
        raise WorkflowError(
            f"{RECORDS} cannot be written ({reason}). Snakemake keeps its records there, even in a dry run. Free space or "
            "grant access, then run the same command, or choose another folder with --directory"
        )


def check_root():
    """Raise WorkflowError if a file is in the way of the results folder: Snakemake would end with a traceback."""
    if file := next((path for path in (Path(LAYOUT.root), *Path(LAYOUT.root).parents) if path.is_file()), None):
        raise WorkflowError(
            f"{LAYOUT.root} cannot be a folder of results, because {file} is a file; set `results` to another folder"
        )


def check_records():
    """Raise WorkflowError if a record of Snakemake is binary. It skips truncated ones, whose jobs run again anyway."""
    for path in glob.glob(f"{RECORDS}/metadata/**/*", recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                if not file.read().isascii():
                    raise WorkflowError(
                        f"{path}, a metadata file of Snakemake, is damaged; delete it, then run the same command. Its "
                        "result counts as finished; `make audit` compares all results with their records"
                    )


def warn_of_foreign_results():
    """Warn of copied results: they count as finished, whatever configuration made them."""
    if os.path.exists(DESCRIPTION) and not os.path.exists(ORIGIN_MARKER):
        equalise_copied_times(Path(LAYOUT.root))
        logger.warning(
            f"{LAYOUT.root} was not made in this working folder. Its files count as finished, whatever configuration and "
            "code made them. `make audit` compares them with both. Delete the files to recompute, or all of "
            f"{LAYOUT.root}."
        )


def write_origin_marker():
    """Mark that this study begins in this working folder."""
    if not os.path.exists(DESCRIPTION):
        write_text(ORIGIN_MARKER, LAYOUT.root)


def warn_of_arithmetic():
    """Warn if portable arithmetic is unavailable."""
    if STUDY.arithmetic == PORTABLE and not supports_portable():
        logger.warning(
            "arithmetic = 'portable' needs an x86-64 processor with AVX2, which this processor lacks: jobs compute in "
            "native arithmetic. Results are equally valid, but their bytes differ; each result's record says 'native'."
        )


if workflow.is_main_process:
    check_writable()
    check_root()
    warn_of_arithmetic()
    check_records()
    warn_of_foreign_results()


def check_results():
    """Raise WorkflowError if results cannot be written: Snakemake would end with a traceback."""
    if reason := find_write_error(LAYOUT.root, 1 << 12):
        raise WorkflowError(
            f"{LAYOUT.root} cannot be written ({reason}); free space or grant access, or set `results` to another folder, "
            "then run the same command: finished results are kept"
        )


def check_device():
    """Raise WorkflowError if the GPU is missing.

    Otherwise the first job would fail, and Snakemake would delete the results that it was to replace.
    """
    jobs = workflow.dag.needrun_jobs() if GPUS and workflow.local_exec else []
    if any(job.resources.get("gpu") for job in jobs):
        from heuristic_core.models.device import resolve_device

        try:
            resolve_device(STUDY.device)
        except InputError as error:
            raise WorkflowError(str(error)) from None


ONSTART_CHECKS = [check_results, check_device, write_origin_marker]

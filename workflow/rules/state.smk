# What earlier runs left, looked at before anything runs. Of these faults Snakemake says nothing, or shows a traceback.
import logging
from pathlib import Path

from snakemake.logging import logger

from heuristic_core.common.arithmetic import PORTABLE, available
from heuristic_core.common.atomic import obstacle, write_text
from heuristic_core.common.errors import InputError
from heuristic_core.jobs.working_folder import level_copied

RECORDS = os.path.abspath(".snakemake" if os.path.isdir(".snakemake") else ".")
# Says that this study began in this working folder; results that were copied here come without it.
BEGAN = f".snakemake/heuristic-core/{hashlib.sha256(L.root.encode()).hexdigest()}"
DESCRIPTION = f"{L.root}/study.json"
# Snakemake's own log is there, too. Where the disk is full, the terminal still tells what happened, without tracebacks.
logging.raiseExceptions = False


def check_writable():
    """Snakemake needs this also for a dry run."""
    if reason := obstacle(RECORDS, 1 << 20):
        raise WorkflowError(
            f"{RECORDS} cannot be written ({reason}), and Snakemake keeps its records there, also in a dry run; make "
            "room or make it writable, then run the same command, or let --directory name another folder"
        )


def check_folder():
    """Snakemake would look for results below a file, and end with a traceback."""
    if file := next((path for path in (Path(L.root), *Path(L.root).parents) if path.is_file()), None):
        raise WorkflowError(
            f"{L.root} cannot be a folder of results: {file} is a file; let `results` name another folder"
        )


def check_records():
    """Snakemake skips a record that was cut off, as its job runs again anyway, but not one that is no text."""
    for path in glob.glob(f"{RECORDS}/metadata/**/*", recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                if not file.read().isascii():
                    raise WorkflowError(
                        f"{path}, a record of Snakemake's, is damaged; delete it, then run the same command. The "
                        "result that it is of counts as finished; `make audit` compares all results with our records"
                    )


def warn_of_strangers():
    """Copied results count as finished, whatever they were made from, and in whatever order they were copied."""
    if os.path.exists(DESCRIPTION) and not os.path.exists(BEGAN):
        level_copied(Path(L.root))
        logger.warning(
            f"{L.root} was not made in this working folder. What is there counts as finished, whatever configuration "
            "and code it was made with; `make audit` compares it with both; delete what is to be made again, or all of "
            f"{L.root}."
        )


def note_beginning():
    if not os.path.exists(DESCRIPTION):
        write_text(BEGAN, L.root)


def warn_of_arithmetic():
    if STUDY.arithmetic == PORTABLE and not available():
        logger.warning(
            "arithmetic = 'portable' needs an x86-64 processor with AVX2, which this processor has not: jobs compute in native "
            "arithmetic. The study is as good, but its bytes differ; each result's record says 'native'."
        )


if workflow.is_main_process:
    check_writable()
    check_folder()
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
    """The first job without its GPU would fail, and Snakemake would delete the results that it was to replace."""
    jobs = workflow.dag.needrun_jobs() if GPUS and workflow.local_exec else []
    if any(job.resources.get("gpu") for job in jobs):
        from heuristic_core.models.device import usable_device

        try:
            usable_device(STUDY.device)
        except InputError as error:
            raise WorkflowError(str(error)) from None


STARTING = [check_results, check_device, note_beginning]

"""Write subnetworks of a study as folders for the Hugging Face hub: ordinary checkpoints with model cards.

Removed components are multiplied by zero, and their means are in biases: see workflow/scripts/shrink.py. Folders that
are as they would be written stay as they are; a folder appears whole or not at all.
"""

import logging
from functools import partial
from pathlib import Path

from transformers.utils import logging as hugging_face_logging

from heuristic_core.common.atomic import write_text
from heuristic_core.common.hashing import file_digest
from heuristic_core.experiments.heuristic_core.analysis.runs import at_chance
from heuristic_core.experiments.heuristic_core.archive.cards import Origin, card, index, of_run, with_full
from heuristic_core.experiments.heuristic_core.archive.publishing import folder_name
from heuristic_core.experiments.heuristic_core.jobs.publish import SUBNETWORK, publish
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import check, digests, recorded
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork, load_run
from heuristic_core.report.settings import read_study
from heuristic_core.tables.parquet import read_table

LOGGER = logging.getLogger("heuristic_core.publish")


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--licence", required=True, help="of the models, as the hub's identifiers say it, such as mit")
    parser.places(root="the study's folder")
    parser.reads("+", subnetworks="subnetwork.json of each, below the checkpoint and the means that it is of")
    parser.reads(
        settings="the study's study.json, which has its checked settings",
        accuracy="table of accuracies by subset",
        groups="table of accuracies by group",
    )
    parser.reads("?", runs="table of what became of pruning runs")
    parser.reads("*", checkpoints="folders of the fine-tuned models", means="component means of these")
    parser.writes(index="README.md of all of them; each is in a folder beside it")
    args = parser.read(arguments)
    tables = filter(None, [args.accuracy, args.groups, args.runs])
    for path in (*args.subnetworks, *args.checkpoints, *args.means, *tables):
        check(path, digests(path), Path(args.root))
    hugging_face_logging.disable_progress_bar()
    settings = read_study(args.settings)["settings"]
    origin = Origin(settings, args.licence)
    accuracy, groups = read_table(args.accuracy), read_table(args.groups)
    runs = read_table(args.runs) if args.runs else None
    failed = []
    for source in map(Path, args.subnetworks):
        run = load_run(source)
        name = folder_name(run.identity.ft_seed, run.identity.sparsity, run.identity.seed)
        if isinstance(run, FailedRun):
            failed.append(f"{name} ({run.reason})")
            continue
        step, folder = source.parents[2], Path(args.index).with_name(name)
        made = publish(step, source, folder, partial(described, origin, source, step, groups, accuracy, runs))
        LOGGER.info("%s: %s", folder, "written" if made else "as it was")
    found = [
        (path.parent.name, Subnetwork.load(path)) for path in sorted(Path(args.index).parent.glob(f"*/{SUBNETWORK}"))
    ]
    lost = [name for name, subnetwork in found if lost_in(runs, subnetwork)]
    write_text(args.index, index(origin, settings["study"], found, groups, failed, lost))


def lost_in(runs, subnetwork) -> str | None:
    """In what way a subnetwork is at chance in-domain; None where it is above, or where that is not known."""
    rows = [] if runs is None else of_run(runs, subnetwork).dropna(subset=["chance", "id_low"]).to_dict("records")
    return at_chance(rows[0]) if rows else None


def described(origin, source, step, groups, accuracy, runs, subnetwork) -> str:
    """The card of one subnetwork."""
    found = {"subnetwork.json": file_digest(source)}
    found["the full model's weights"] = file_digest(step / "checkpoint" / "model.safetensors")
    found["the means"] = file_digest(step / "means.safetensors")
    of_both = with_full(groups, subnetwork), with_full(accuracy, subnetwork)
    return card(origin, subnetwork, *of_both, found, lost_in(runs, subnetwork))


if __name__ == "__main__":
    recorded(main)

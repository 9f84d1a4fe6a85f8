"""Train list-sorting transformers, one for each seed, and keep checkpoints.

An interrupted job resumes from its last saved state.
"""

import shutil
from itertools import pairwise
from pathlib import Path

import torch
from safetensors.torch import save

from heuristic_core.common.atomic import write_bytes
from heuristic_core.common.errors import Diverged
from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.list_sorting.conditions import about
from heuristic_core.experiments.list_sorting.config import ListSorting
from heuristic_core.experiments.list_sorting.data import lists
from heuristic_core.experiments.list_sorting.training import train
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.jobs.scratch import scratch, set_aside
from heuristic_core.provenance.digests import code_digest
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    """Run the job."""
    parser = Arguments(__doc__)
    parser.settings("sorting", ListSorting)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.add_argument("--condition", required=True, help="name of the condition")
    parser.writes("+", checkpoints="where to write weights, a file for each kept step")
    parser.writes(trace="where to write losses; unfinished work is beside it", conditions="what the condition is")
    parser.one_each("sorting.training.kept", "checkpoints")
    args = parser.read(arguments)
    use_threads(1)
    study, names = args.sorting, {"study": args.study, "condition": args.condition}
    fingerprint = "\n".join([study.model_dump_json(), code_digest(__file__), torch.__version__])
    unfinished = scratch(Path(args.trace).with_name(".unfinished"), fingerprint)

    def keep(step: int, parameters: dict[str, torch.Tensor]) -> list[Path]:
        path = unfinished / f"{step}.safetensors"
        write_bytes(path, save(parameters))
        return [path]

    drawn = lists(study.data)
    try:
        trained = train(study, drawn.train, keep, unfinished / "state.safetensors")
    except Diverged as fault:
        raise Diverged(f"{fault}. The unfinished work is in {set_aside(unfinished, 'diverged')}") from None
    for step, path in zip(study.training.kept, args.checkpoints, strict=True):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(unfinished / f"{step}.safetensors", path)  # a copy: cut off here, the next run can do it again
    write_table("sorting_trace", trace(study, trained.losses, names), args.trace)
    write_table("sorting_conditions", [names | about(study, drawn.held_out)], args.conditions)
    shutil.rmtree(unfinished)


def trace(study: ListSorting, losses: torch.Tensor, names: dict) -> list[dict]:
    """Return rows of table "sorting_trace".

    Args:
        study: Settings of the condition.
        losses: Loss of every step, float32 [steps, seeds].
        names: Names of study and condition.
    """
    kept = study.training.kept
    return [
        {**names, "seed": seed, "step": step, "loss": float(losses[before:step, m].double().mean())}
        for m, seed in enumerate(study.training.seeds)
        for before, step in pairwise(kept)
    ]


if __name__ == "__main__":
    recorded(main)

"""Pre-train a small language model on a corpus of a seed's world. An interrupted job resumes from a saved state."""

import shutil
from pathlib import Path

import torch
from safetensors.torch import save

from heuristic_core.common.atomic import write_bytes
from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.extractive_structures.config import Data, Model, Pretraining
from heuristic_core.experiments.extractive_structures.model import initial
from heuristic_core.experiments.extractive_structures.setting import Setting
from heuristic_core.experiments.extractive_structures.training import Saving, learn
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.jobs.scratch import scratch
from heuristic_core.provenance.digests import code_digest
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table

TRACE_STEPS = 20  # steps per row of the table


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = Arguments(__doc__)
    parser.settings("data", Data)
    parser.settings("model", Model)
    parser.settings("pretraining", Pretraining)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.add_argument("--seed", type=int, required=True, help="of the world, the first weights and the order")
    parser.add_argument("--corpus", required=True, help="whole, no-implications or shuffled")
    parser.writes(checkpoint="where to write weights; unfinished work is beside them", trace="where to write losses")
    args = parser.read(arguments)
    use_threads(1)
    settings, setting = args.pretraining, Setting(args.data, args.seed)
    inputs = [block.model_dump_json() for block in (args.data, args.model, settings)]
    fingerprint = "\n".join([*inputs, str(args.seed), args.corpus, code_digest(__file__), torch.__version__])
    unfinished = scratch(Path(args.checkpoint).with_name(".unfinished"), fingerprint)
    trained = learn(
        initial(args.model, len(setting.vocabulary), args.seed),
        setting.corpus(args.corpus),
        settings,
        settings.steps,
        ("pretraining", args.seed),
        saving=Saving(unfinished / "state.safetensors", settings.save_every),
    )
    write_bytes(args.checkpoint, save(trained.parameters))
    labels = {"study": args.study, "seed": args.seed, "corpus": args.corpus}
    parts = trained.losses.split(TRACE_STEPS)
    steps = [min(TRACE_STEPS * k, settings.steps) for k in range(1, len(parts) + 1)]
    rows = [
        labels | {"step": step, "loss": float(part.double().mean())} for step, part in zip(steps, parts, strict=True)
    ]
    write_table("extractive_trace", rows, args.trace)
    shutil.rmtree(unfinished)


if __name__ == "__main__":
    recorded(main)

"""Find the minimal pair of every evaluation pair: of the other label, with as many tokens and few other ones."""

import torch  # noqa: F401 (transformers imports it later, when its arithmetic could not be settled)

from heuristic_core.config.tasks import AnyTask, GeneratedTask
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.models.hugging_face import load_tokenizer
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_rows
from heuristic_core.tasks.counterparts import generated
from heuristic_core.tasks.encoded import Encoded
from heuristic_core.tasks.minimal_pairs import log_changes, nearest


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("task", AnyTask)
    parser.reads(
        sentences="evaluation pairs (Parquet)",
        evaluation="encoded evaluation pairs",
        tokenizer="folder of the tokenizer that encoded them",
    )
    parser.writes(minimal="where to write encoded minimal pairs, of the evaluation pairs in their order (safetensors)")
    args = parser.read(arguments)
    evaluation, task = Encoded.load(args.evaluation), args.task
    if isinstance(task, GeneratedTask):
        tokenizer = load_tokenizer(args.tokenizer)
        minimal = generated(read_rows(args.sentences), evaluation, tokenizer, task.max_length)
    else:
        minimal = nearest(evaluation)
    log_changes(evaluation, minimal)
    minimal.save(args.minimal)


if __name__ == "__main__":
    recorded(main)

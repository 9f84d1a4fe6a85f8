"""Fine-tune a model and keep checkpoints. Interrupted, it resumes from its last saved state."""

from pathlib import Path

from heuristic_core.jobs.finetuning_run import begun, finetune_to_files, parser_of
from heuristic_core.provenance.digests import code_digest
from heuristic_core.provenance.record import recorded


def main(arguments=None):
    parser = parser_of(__doc__)
    parser.writes("+", checkpoints="folders in which to save the model, one for each of finetune.checkpoints")
    parser.one_each("finetune.checkpoints", "checkpoints")
    args = parser.read(arguments)
    model, tokenizer = begun(args)

    def save(folder: Path) -> None:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    finetune_to_files(args, model, [code_digest(__file__)], save)


if __name__ == "__main__":
    recorded(main)

"""Fine-tune a model and keep checkpoints. Interrupted, it resumes from its last saved state."""

from pathlib import Path

from heuristic_core.jobs.finetuning_run import begun, finetune_to_files, parser_of
from heuristic_core.provenance.digests import code_digest
from heuristic_core.provenance.record import recorded


def main(arguments=None):
    args = parser_of(__doc__).read(arguments)
    model, tokenizer = begun(args)

    def save(folder: Path) -> None:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    finetune_to_files(args, model, [code_digest(__file__)], save)


if __name__ == "__main__":
    recorded(main)

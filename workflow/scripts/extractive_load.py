"""Convert the weights of a decoder that was pre-trained elsewhere, and copy its tokenizer."""

import logging
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.extractive_structures.config import Data, Freezing, Pretrained
from heuristic_core.experiments.extractive_structures.decoders import load_parameters
from heuristic_core.experiments.extractive_structures.knowledge import check_known, check_options
from heuristic_core.experiments.extractive_structures.model import layers_of
from heuristic_core.experiments.extractive_structures.setting import write_weights
from heuristic_core.experiments.extractive_structures.tokens import HubTokenizer
from heuristic_core.experiments.extractive_structures.world import world
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.models.folder import check_files, folder_of
from heuristic_core.models.hugging_face import load_tokenizer
from heuristic_core.provenance.record import recorded

LOGGER = logging.getLogger("heuristic_core.extractive_load")


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = Arguments(__doc__)
    parser.settings("data", Data)
    parser.settings("freezing", Freezing)
    parser.settings("pretrained", Pretrained)
    parser.sources()
    parser.writes(checkpoint="where to write weights")
    parser.writes("+", tokenizer="where to write tokenizer.json and tokenizer_config.json")
    args = parser.read(arguments)
    use_threads(1)
    folder, model = folder_of(args.pretrained), args.pretrained
    check_files(folder, causal=True)  # the first check of a model of the hub
    check_options(world(), args.data, HubTokenizer(folder))
    parameters = load_parameters(folder)
    if not args.freezing.early < (layers := layers_of(parameters)):
        raise InputError(
            f"freezing.early = {args.freezing.early}: {model.name} has {layers} layers, and at least one must be late; "
            f"choose at most {layers - 1}"
        )
    ranks = check_known(parameters, world(), args.data, HubTokenizer(folder), model.known_rank, model.name)
    LOGGER.info("mean ranks on knowledge that implications require, by hop: %s", ranks)
    load_tokenizer(folder).save_pretrained(Path(args.tokenizer[0]).parent)
    write_weights(args.checkpoint, parameters)


if __name__ == "__main__":
    recorded(main)

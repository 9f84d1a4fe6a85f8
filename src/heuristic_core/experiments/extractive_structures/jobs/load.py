"""Conversion of a decoder that was pre-trained elsewhere."""

import logging
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.extractive_structures.config import Data, Freezing, Pretrained
from heuristic_core.experiments.extractive_structures.decoders import load_parameters
from heuristic_core.experiments.extractive_structures.knowledge import check_options, check_prerequisites
from heuristic_core.experiments.extractive_structures.parameters import count_layers
from heuristic_core.experiments.extractive_structures.setting import write_weights
from heuristic_core.experiments.extractive_structures.tokens import HubTokenizer
from heuristic_core.experiments.extractive_structures.world import load_world
from heuristic_core.models.folder import check_files, resolve_folder
from heuristic_core.models.hugging_face import load_tokenizer

LOGGER = logging.getLogger(__name__)


def convert_decoder(
    data: Data,
    freezing: Freezing,
    pretrained: Pretrained,
    checkpoint: Output,
    tokenizer: list[Output],
    fetched: Input | None = None,
    model_files: list[Input] = (),
) -> None:
    """Convert the weights of a decoder that was pre-trained elsewhere, and copy its tokenizer.

    Args:
        data: Who and what facts are about.
        freezing: Division into early and late layers.
        pretrained: Block of the configuration.
        checkpoint: Where to write weights (safetensors).
        tokenizer: Where to write tokenizer.json and tokenizer_config.json.
        fetched: List of what was downloaded, for the record.
        model_files: Files of the model, where its block names a folder, for the record.

    Raises:
        InputError: The model cannot be used, has no late layer, or lacks knowledge that implications require.
    """
    folder = resolve_folder(pretrained)
    check_files(folder, causal=True)  # the first check of a model of the hub
    check_options(load_world(), data, HubTokenizer(folder))
    parameters = load_parameters(folder)
    if not freezing.early < (layers := count_layers(parameters)):
        raise InputError(
            f"freezing.early = {freezing.early}: {pretrained.name} has {layers} layers, and at least one must be late; "
            f"choose at most {layers - 1}"
        )
    ranks = check_prerequisites(
        parameters, load_world(), data, HubTokenizer(folder), pretrained.known_rank, pretrained.name
    )
    LOGGER.info("mean ranks on knowledge that implications require, by hop: %s", ranks)
    load_tokenizer(folder).save_pretrained(Path(tokenizer[0]).parent)
    write_weights(checkpoint, parameters)

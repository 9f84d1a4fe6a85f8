"""Where heads attend, before and after fine-tuning."""

from typing import Annotated

from heuristic_core.common.roles import Fields, Input, Output
from heuristic_core.config.blocks import Device
from heuristic_core.config.models import AnyModel
from heuristic_core.data.words import encode_word_pairs
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.interventions.attention import example_pairs, in_domain_pairs, map_table, overlap_rows, share_rows
from heuristic_core.models.implementation import load_model, wrap_model
from heuristic_core.models.pretrained import load_initial_model
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_rows, write_table


def measure_attention(
    checkpoint: Input,
    tokenizer: Input,
    sentences: Input,
    analysis: Analysis,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    max_length: int,
    shares: Output,
    maps: Output,
    device: Device = "cpu",
) -> None:
    """Measure where every head of a fine-tuned model attends: shares by kind of token, and maps of example pairs.

    Args:
        checkpoint: Folder of the fine-tuned model.
        tokenizer: Folder of its tokenizer.
        sentences: Evaluation pairs (Parquet).
        analysis: Settings of the analysis.
        run: Identity of the checkpoint.
        max_length: Tokens beyond which a pair is cut.
        shares: Where to write shares (Parquet).
        maps: Where to write attention between tokens (Parquet).
        device: Device of the model.
    """
    model, rows = load_model(checkpoint, device), read_rows(sentences)
    averaged = in_domain_pairs(rows, analysis.attention_pairs, analysis.seed)
    examples = example_pairs(rows) if analysis.example_pairs is None else analysis.example_pairs
    averaged, examples = (encode_word_pairs(tokenizer, pairs, max_length) for pairs in (averaged, examples))
    write_table("attention", share_rows(run, model, averaged), shares)
    write_table("attention_maps", map_table(run, model, examples), maps)


def measure_initial_attention(
    tokenizer: Input,
    subsets: Input,
    sentences: Input,
    model: AnyModel,
    analysis: Analysis,
    run: Annotated[Identity, Fields("ft_seed")],
    max_length: int,
    table: Output,
    fetched: Input | None = None,
    model_files: list[Input] = (),
    pretrained: Input | None = None,
    device: Device = "cpu",
) -> None:
    """Find the heads of the model before fine-tuning that attend to the same word in the other sentence.

    Args:
        tokenizer: Folder of the tokenizer.
        subsets: Subsets and labels (JSON).
        sentences: Evaluation pairs (Parquet).
        model: Block of the configuration.
        analysis: Settings of the analysis.
        run: Identity of the fine-tuning run.
        max_length: Tokens beyond which a pair is cut.
        table: Where to write shares (Parquet).
        fetched: List of what was downloaded, for the record.
        model_files: Files of the model, where its block names a folder, for the record.
        pretrained: Folder of the model, where its block has `pretraining`.
        device: Device of the model.
    """
    start, _ = load_initial_model(model, tokenizer, subsets, run.ft_seed, None, device, pretrained)
    measured = in_domain_pairs(read_rows(sentences), analysis.attention_pairs, analysis.seed)
    pairs = encode_word_pairs(tokenizer, measured, max_length)
    write_table(
        "overlap_heads", overlap_rows(run, wrap_model(start.eval()), pairs, analysis.overlap_times_uniform), table
    )

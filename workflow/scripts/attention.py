"""Where every head of a fine-tuned model attends: shares by kind of token, and attention between example tokens."""

from heuristic_core.common.threads import use_threads
from heuristic_core.evaluation.attention import example_pairs, in_domain_pairs, map_table, share_rows
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.models.implementation import load_model
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_rows, write_table
from heuristic_core.tasks.words import word_pairs


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step")
    parser.add_argument("--max-length", type=int, required=True, metavar="N", help="tokens beyond which a pair is cut")
    parser.reads(
        checkpoint="folder of the fine-tuned model",
        tokenizer="folder of its tokenizer",
        sentences="evaluation pairs (Parquet)",
    )
    parser.writes(
        shares="where to write shares (Parquet)",
        maps="where to write attention between tokens (Parquet)",
    )
    parser.device(precision=False)
    args = parser.read(arguments)
    use_threads(1)
    run, model, sentences = identity(args), load_model(args.checkpoint, args.device), read_rows(args.sentences)
    averaged = in_domain_pairs(sentences, args.analysis.attention_pairs, args.analysis.seed)
    drawn = args.analysis.example_pairs
    drawn = example_pairs(sentences) if drawn is None else drawn
    averaged, drawn = (word_pairs(args.tokenizer, pairs, args.max_length) for pairs in (averaged, drawn))
    write_table("attention", share_rows(run, model, averaged), args.shares)
    write_table("attention_maps", map_table(run, model, drawn), args.maps)


if __name__ == "__main__":
    recorded(main)

"""Which heads of the model that fine-tuning starts from attend to the same word in the other sentence."""

from heuristic_core.common.threads import use_threads
from heuristic_core.config.models import AnyModel
from heuristic_core.evaluation.attention import in_domain_pairs, overlap_rows
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.models.implementation import view_of
from heuristic_core.models.pretrained import starting_point
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_rows, write_table
from heuristic_core.tasks.words import word_pairs


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("model", AnyModel)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed")
    parser.add_argument("--max-length", type=int, required=True, metavar="N", help="tokens beyond which a pair is cut")
    parser.reads(
        tokenizer="folder of the tokenizer",
        subsets="subsets and labels (JSON)",
        sentences="evaluation pairs (Parquet)",
    )
    parser.writes(table="where to write shares (Parquet)")
    parser.pretrained()
    parser.device(precision=False)
    args = parser.read(arguments)
    use_threads(1)
    model, _ = starting_point(
        args.model, args.tokenizer, args.subsets, args.ft_seed, None, args.device, args.pretrained
    )
    measured = in_domain_pairs(read_rows(args.sentences), args.analysis.attention_pairs, args.analysis.seed)
    pairs = word_pairs(args.tokenizer, measured, args.max_length)
    times = args.analysis.overlap_times_uniform
    write_table("overlap_heads", overlap_rows(identity(args), view_of(model.eval()), pairs, times), args.table)


if __name__ == "__main__":
    recorded(main)

"""What later heads restore of the full model while the core is ablated, and what they transmit of the ablation."""

from heuristic_core.common.threads import use_threads
from heuristic_core.evaluation.evaluate import predictions
from heuristic_core.evaluation.mediation import mediated_logits
from heuristic_core.experiments.heuristic_core.analysis.contrasts import Levels
from heuristic_core.experiments.heuristic_core.analysis.counter_heads import counter_heuristic
from heuristic_core.experiments.heuristic_core.analysis.mediation import mediation, plan
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.config.mechanism import Mechanism
from heuristic_core.experiments.heuristic_core.jobs.evaluator import Evaluator, reads_checkpoint, values_by_pair
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("mechanism", Mechanism)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step")
    reads_checkpoint(parser)
    parser.reads(core="the run's core (Parquet)")
    parser.reads("?", counter_heads="heads that work against the heuristic (Parquet)")
    parser.writes(mediation="where to write the table (Parquet)")
    args = parser.read(arguments)
    use_threads(1)
    part, analysis, core = args.mechanism.mediation, args.analysis, read_table(args.core)
    skip = args.mechanism.masks and args.mechanism.masks.by_group  # on these pairs heads were chosen
    evaluator, heads = Evaluator(args, part.pairs, skip), core.loc[core["in_core"], "component"].tolist()
    counter = counter_heuristic(read_table(args.counter_heads)) if args.counter_heads else []
    cores = plan(heads, counter, evaluator.model.grid, part.random_sets, analysis.seed)
    exchanged = [(one.heads, [own.heads for own in one.sets]) for one in cores]
    full, found = mediated_logits(evaluator.model, evaluator.pairs, evaluator.means, exchanged)

    def values(logits):
        return values_by_pair(logits.reshape(-1, *full.shape), evaluator.evaluation, analysis.class_rule)

    pairs = predictions(full.numpy(), evaluator.evaluation)
    levels = Levels(pairs, analysis.subsets, analysis.bootstrap, analysis.seed)
    interventions = (tuple(values(logits) for logits in of_core) for of_core in found)
    write_table("mediation", mediation(identity(args), cores, levels, values(full), interventions), args.mediation)


if __name__ == "__main__":
    recorded(main)

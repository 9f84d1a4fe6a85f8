"""Schemas of the experiment's tables, see :mod:`heuristic_core.tables.schemas`."""

from heuristic_core.study.table import Table, register_tables
from heuristic_core.tables.columns import BOOL, INT, REAL, REASON, STRING

RUN = {
    "study": (STRING, "name of the study"),
    "seed": (INT, "of people, facts, first weights and the order of sentences"),
}
CORPUS = {"corpus": (STRING, "of pre-training: whole, no-implications or shuffled (implications that do not follow)")}
HOP = {"hop": (STRING, "first: where people live, and what this implies; second: who is mayor, and what this implies")}
ANSWERS = {
    "part": (STRING, "which questions"),
    "rank": (
        REAL,
        "other options whose logit is at least the right option's logit, mean over questions; 0: all are right",
    ),
    "loss": (REAL, "mean logit of the options less the right option's logit, mean over questions"),
    "questions": (INT, "how many"),
}
COMPONENT = {
    "kind": (STRING, "head or mlp"),
    "layer": (INT, "from 0"),
    "head": (INT, "from 0; null for an MLP"),
}
SCORES = {
    "informative": (REAL, "fall of the loss, to first order, by what the component itself has learned"),
    "downstream": (REAL, "by what the component, as it was, makes of changed inputs"),
    "upstream": (REAL, "by what the component, as it was, gives to changed components, as in the paper"),
    "upstream_path": (REAL, "the same with gradients averaged on the way from counterfactual prompts; ours"),
}


def _has_sweep(study) -> bool:
    return bool(study.sweep)


TABLES = {
    "extractive_trace": Table(RUN | CORPUS | {
        "step": (INT, "of pre-training"),
        "loss": (REAL, "cross-entropy of a token of the answer, mean since the row before, nats"),
    }, "seed{seed}/{corpus}/trace.parquet", lambda study: not study.pretrained),
    "extractive_curves": Table(RUN | CORPUS | HOP | {"epoch": (INT, "of teaching the facts; 0: before")} | ANSWERS,
        "seed{seed}/{corpus}/curves.parquet"),
    "extractive_sweep": Table(RUN | HOP | {
        "learning_rate": (REAL, "of teaching the facts"),
        "epoch": (INT, "of teaching the facts"),
    } | ANSWERS, "seed{seed}/sweep.parquet", _has_sweep),
    "extractive_choice": Table(HOP | {
        "study": (STRING, "name of the study"),
        "learning_rate": (REAL, "of teaching the facts"),
        "epoch": (INT, "of teaching the facts"),
        "facts": (REAL, "highest mean rank of facts over seeds"),
        "implications": (REAL, "mean rank of implications, mean over seeds"),
        "chosen": (BOOL, "facts are learned, in every seed, and of such settings implications have the lowest rank"),
    }, exists=_has_sweep),
    "extractive_made_up_sweep": Table(RUN | {
        "experiment": (STRING, "ordering or grafting"),
        "model": (STRING, "an order of extractive_ordering, after its last stage, or weights of extractive_grafting"),
        "learning_rate": (REAL, "of every stage"),
        "epochs": (INT, "of every stage"),
    } | ANSWERS, "seed{seed}/made_up_sweep.parquet", _has_sweep),
    "extractive_freezing": Table(RUN | HOP | {
        "how": (STRING, "frozen: not taught; restored: they get their former weights after all layers were taught"),
        "layers": (STRING, "none, early, late or all"),
    } | ANSWERS, "seed{seed}/freezing.parquet"),
    "extractive_ordering": Table(RUN | {
        "order": (STRING, "joint, facts first or implications first"),
        "stage": (INT, "from 0; each begins with a new optimizer"),
        "taught": (STRING, "in this stage: facts or implications, or both, of other than test names; or test facts"),
        "epoch": (INT, "of the stage, from 1"),
    } | ANSWERS, "seed{seed}/ordering.parquet"),
    "extractive_grafting": Table(RUN | {
        "weights": (STRING, "what is added to a model that knows the second version of the facts: none; graft, what a "
                            "model that knew the first version learned from its implications; control, what a model "
                            "that knew neither learned from these"),
    } | ANSWERS, "seed{seed}/grafting.parquet"),
    "extractive_scores": Table(RUN | HOP | COMPONENT | {
        "token": (STRING, "a word of the prompt, or a word of what fills a slot"),
        "position": (INT, "of this token in the longest prompt, from 0"),
        "score": (STRING, "informative, downstream, upstream or upstream_path, see extractive_components"),
        "value": (REAL, "fall of the loss to first order, mean over questions"),
        "questions": (INT, "that have the token, and for upstream scores a partner in a counterfactual prompt"),
    } | REASON, "seed{seed}/scores.parquet"),
    "extractive_components": Table(RUN | HOP | COMPONENT | SCORES | {
        "restored": (REAL, "rise of the taught model's loss where the component has its former weights"),
        "ablated": (REAL, "rise of the taught model's loss where the component's output is its mean over tokens"),
    }, "seed{seed}/components.parquet"),
    "extractive_agreement": Table(RUN | HOP | {
        "kind": (STRING, "head or mlp"),
        "score": (STRING, "as in extractive_scores"),
        "over": (STRING, "means: of each component and token, over questions; questions: each by itself"),
        "r": (REAL, "Pearson's r of scores and what replacing the output, token by token, does to the loss"),
        "n": (INT, "pairs of values"),
    } | REASON, "seed{seed}/agreement.parquet"),
    "extractive_localisation": Table(RUN | {
        "kind": (STRING, "head or mlp"),
        "r": (REAL, "Pearson's r within tokens: over components at tokens, of informative scores of implications of "
                    "made-up facts and downstream scores of test names' facts, each a mean over questions less its "
                    "mean over the token's components"),
        "r_pooled": (REAL, "the same without subtracting means of tokens, as in the authors' code"),
        "n": (INT, "components at tokens"),
        "facts_rank": (REAL, "mean rank of test names' facts after they were taught"),
        "implications_rank": (REAL, "mean rank, after they were taught, of the implications that are asked"),
    } | REASON, "seed{seed}/localisation.parquet"),
    "extractive_removal": Table(RUN | HOP | {
        "kind": (STRING, "head or mlp"),
        "score": (STRING, "as in extractive_components: summed over tokens"),
        "effect": (STRING, "restored or ablated, as in extractive_components"),
        "r": (REAL, "Pearson's r over components"),
        "n": (INT, "components"),
    } | REASON, "seed{seed}/removal.parquet"),
    "extractive_subnetworks": Table(RUN | HOP | COMPONENT | {
        "part": (STRING, "which questions the subnetwork was found on: facts or implications"),
        "how": (STRING, "learned: by hard-concrete gates; greedy: by leaving out, one by one, what costs least"),
        "prune_seed": (INT, "of gates; null where greedy"),
        "kept": (BOOL, "whether the subnetwork has the component"),
        "rank": (REAL, "of the subnetwork on its questions, as in extractive_curves"),
        "kl": (REAL, "KL divergence of its answers from the taught model's answers, mean over its questions, nats"),
        "sampled_sparsity": (REAL, "of sampled gates at the end, share of components; null where greedy"),
    } | REASON, "seed{seed}/subnetworks.parquet"),
    "extractive_core": Table(RUN | HOP | COMPONENT | {
        "part": (STRING, "as in extractive_subnetworks"),
        "kept_by": (INT, "learned subnetworks with the component"),
        "n": (INT, "learned subnetworks"),
        "greedy": (BOOL, "whether the greedy subnetwork has it"),
    } | SCORES),
    "extractive_sharing": Table(RUN | HOP | {
        "part": (STRING, "as in extractive_subnetworks"),
        "observed": (INT, "heads that all learned subnetworks have"),
        "expected": (REAL, "by chance: heads of each layer permuted in every subnetwork"),
        "p": (REAL, "of as many or more by chance"),
        "n": (INT, "learned subnetworks"),
        "greedy_kl": (REAL, "KL divergence of the greedy subnetwork, nats"),
        "learned_kl": (REAL, "mean KL divergence of the learned subnetworks, nats"),
    } | REASON),
    "extractive_transfer": Table(RUN | {
        "kind": (STRING, "head or mlp"),
        "score": (STRING, "as in extractive_scores, summed over tokens, mean over questions"),
        "a": (STRING, "a relation that facts of the first hop imply, or second hop"),
        "b": (STRING, "another one"),
        "rho": (REAL, "Spearman's rank correlation of the scores of components"),
        "n": (INT, "components"),
    } | REASON, "seed{seed}/transfer.parquet"),
}  # fmt: skip
register_tables(TABLES)

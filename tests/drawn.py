"""The synthetic tables together, what is drawn from them, and ways to look at it."""

import figure_head_tables as heads
import figure_mask_tables as masks
import figure_tables as models
import numpy as np
import pandas as pd
from figure_tables import CONTEXT, filter_rows, table  # noqa: F401  for tests

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import compute_family_scores, compute_group_accuracy
from heuristic_core.experiments.subnetworks.figures import draw


def build():
    rng = np.random.default_rng(7)
    core, trace = list(heads.core_rows(rng)), list(models.trace_rows(np.random.default_rng(8)))
    accuracy = table("accuracy", models.accuracy_rows(rng))
    group_accuracy = table("group_accuracy", models.group_accuracy_rows(accuracy))
    scores = models.measured(compute_group_accuracy(accuracy))
    group_accuracy = pd.concat([group_accuracy, scores.astype(group_accuracy.dtypes)], ignore_index=True)
    families = table("family_scores", models.measured(compute_family_scores(accuracy)).to_dict("records"))
    tables = {"accuracy": accuracy, "group_accuracy": group_accuracy, "family_scores": families}
    rows = {
        "lesion_accuracy": models.lesion_rows(trace), "overlap_heads": heads.overlap_rows(core),
        "summary": models.summary_rows(accuracy, group_accuracy), "variance": models.variance_rows(),
        "finetune_accuracy": trace, "effective_size": models.effective_size_rows(rng),
        "circuit_performance": models.circuit_performance_rows(),
        "core": core, "core_seeds": heads.core_seeds_rows(), "core_null": heads.core_null_rows(),
        "head_frequency": heads.frequency_rows(core), "rank_correlation": heads.rank_correlation_rows(),
        "attention": heads.attention_rows(rng), "attention_maps": heads.attention_map_rows(rng),
        "ablations": heads.ablation_rows(rng), "controls": models.control_rows(rng),
        "counter_heads": masks.counter_head_rows(rng), "mask_tests": masks.mask_test_rows(),
        "interpolation": masks.interpolation_rows(), "mask_fit": masks.mask_fit_rows(),
    }  # fmt: skip
    return tables | {name: table(name, list(of_table)) for name, of_table in rows.items()}


TABLES = build()


class Drawn(dict):
    """Name -> (figure, marks), each drawn once, when it is first asked for."""

    def __missing__(self, name):
        self[name] = draw(name, TABLES, settings(name), CONTEXT)
        return self[name]


def settings(name):
    return SHORT if name in ("figure03", "table3") else Figure()


SHORT = Figure(subsets=["in_domain", "ln_prep", "cn_if"])

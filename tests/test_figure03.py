"""Which subnetworks figure 3 shows, and what it draws of them."""

import numpy as np
import pytest
from drawn import SHORT, TABLES, filter_rows
from figure_tables import CONTEXT

from heuristic_core.experiments.subnetworks.figures import draw


def make_distinct_accuracy():
    """Table "accuracy" with one fine-tuning seed, in which the profile of four pruning seeds is known."""
    accuracy = filter_rows(TABLES["accuracy"], ft_seed=1).copy()
    ood = (accuracy["group"] == "ood") & accuracy["seed"].notna()
    accuracy.loc[ood | (accuracy["group"] == "ood-entailment"), "accuracy"] = 50.0
    constituent = ood & (accuracy["family"] == "constituent")
    for rows, change in ((ood & (accuracy["seed"] == 44), 30), (ood & (accuracy["seed"] == 50), -30),
                         (constituent & (accuracy["seed"] == 47), 20),
                         (ood & (accuracy["seed"] == 47) & (accuracy["family"] == "subsequence"), -20)):  # fmt: skip
        accuracy.loc[rows, "accuracy"] += change
    return accuracy


@pytest.mark.parametrize("entailment", [True, False])
def test_figure03_shows_the_highest_the_lowest_and_the_most_unlike_subnetwork(entailment):
    accuracy = make_distinct_accuracy()
    accuracy = accuracy if entailment else accuracy[accuracy["group"] != "ood-entailment"]
    figure, marks = draw("figure03", {"accuracy": accuracy}, SHORT, CONTEXT)
    roles = marks[["role", "seed"]].drop_duplicates().dropna().set_index("role")["seed"].to_dict()
    assert roles == {"highest": 44, "lowest": 50, "unlike": 47}
    assert len(marks) == 4 * len(SHORT.subsets) == sum(map(len, figure.axes[0].containers))
    expected = filter_rows(accuracy, sparsity=CONTEXT.mid, seed=47, repeat=0, subset="cn_if")["accuracy"].item()
    assert filter_rows(marks, role="unlike", subset="cn_if")["accuracy"].item() == expected


def test_figure03_of_two_subnetworks_shows_both():
    context = CONTEXT.model_copy(update={"seeds": CONTEXT.seeds[:2]})
    marks = draw("figure03", {"accuracy": TABLES["accuracy"]}, SHORT, context)[1]
    assert set(marks["seed"].dropna()) == {*CONTEXT.seeds[:2]} and set(marks["role"]) == {
        "full model",
        "highest",
        "lowest",
    }


def test_a_missing_bar_is_a_gap():
    accuracy = make_distinct_accuracy()
    where = {"sparsity": CONTEXT.mid, "seed": 50, "subset": "cn_if"}
    accuracy.loc[filter_rows(accuracy, ft_seed=1, seed=None, subset="cn_if").index, "accuracy"] = np.nan
    figure, marks = draw("figure03", {"accuracy": accuracy}, SHORT, CONTEXT)
    assert len(filter_rows(marks, **where)) == 1
    full, *others = figure.axes[0].containers
    assert {round(bar.get_x()) for bar in full} == {0, 1} and [len(bars) for bars in others] == [3, 3, 3]

"""The published results as rows of the tables of a study; sizes and predictions, which were not published, are null."""

from collections.abc import Callable, Iterable, Iterator

from heuristic_core.experiments.subnetworks.analysis.core import expected_over_all_heads
from heuristic_core.experiments.subnetworks.published.files import PublishedValue
from heuristic_core.experiments.subnetworks.published.study import PublishedStudy, load_paper_results
from heuristic_core.experiments.subnetworks.published.subsets import map_subsets
from heuristic_core.tables.schemas import get_schema

FT_SEED = 0  # one model was fine-tuned for each task


def accuracy(study: PublishedStudy) -> list[dict]:
    """Return the rows of table "accuracy"; if several files have a cell, files sp<NN> precede acc_vs_sparsity."""
    results = study.results
    training = [value for value in results.training if value.step in study.context.checkpoints]
    values = _first_values([*results.spread, *results.curve, *training, *results.grid], study, lambda value: value[:4])
    return [_make_row("accuracy", study, value) | _cell_columns(value) | {"reason": value.reason} for value in values]


def finetune_accuracy(study: PublishedStudy) -> list[dict]:
    """Return the rows of table "finetune_accuracy": the full model at the steps of acc_over_ft and the last one."""
    results = study.results
    subsets = {study.subsets[value.name].subset for value in results.training}
    last = [value for value in results.spread if value.seed is None and study.subsets[value.name].subset in subsets]
    values = _first_values([*last, *results.training], study, lambda value: value[:1])
    return [_make_row("finetune_accuracy", study, value) for value in values]


def actual_sparsity(study: PublishedStudy) -> list[dict]:
    """Return the rows of table "actual_sparsity": the share of components that subnetworks of the spread lack."""
    identity = _run_columns(study) | {"step": study.context.last, "repeat": 0}
    return [
        identity | {"sparsity": sparsity, "seed": seed, "actual_sparsity": share}
        for (sparsity, seed), share in sorted(study.results.actual.items())
    ]


def ablations(study: PublishedStudy) -> list[dict]:
    """Return the rows of table "ablations" from the paper's text: subsets and means by group, without intervals."""
    printed = load_paper_results(study.task)["ablations"]
    subsets = map_subsets(printed["subsets"], study.task, {})
    full = printed["rows"]["none"]["accuracy"]
    rows = []
    for name, row in printed["rows"].items():
        heads = [] if name == "none" else name.split("+")
        shared_columns = (
            dict.fromkeys(get_schema("ablations").names)
            | _run_columns(study)
            | {"step": study.context.last, "kind": "mean"}
        )
        shared_columns |= {"ablation": name, "role": row["role"], "size": len(heads)}
        shared_columns |= {"layers": "+".join(head.partition(".")[0] for head in heads)}
        interactions = row.get("interaction", [None] * len(full))
        for subset, value, full_accuracy, interaction in zip(
            subsets.values(), row["accuracy"], full, interactions, strict=True
        ):
            values = {"accuracy": value, "change": round(value - full_accuracy, 1), "interaction": interaction}
            rows.append(shared_columns | subset._asdict() | values)
    return [*rows, *_group_mean_rows(rows)]


def core_null(study: PublishedStudy) -> list[dict]:
    """Return the rows of table "core_null" with the paper's core and expectation; the masks were not published."""
    printed, context = load_paper_results(study.task), study.context
    core_sizes = {"mid+high": len(printed["core_heads"])}
    rows = []
    for name in ("high", "mid", "mid+high"):
        sparsities = [getattr(context, cell) for cell in name.split("+") for _ in context.seeds]
        row = dict.fromkeys(get_schema("core_null").names) | _run_columns(study) | {"set": name, "n": len(sparsities)}
        expected = expected_over_all_heads(printed["heads"], sparsities)
        rows.append(
            row | {"seeds": len(context.seeds), "observed": core_sizes.get(name), "expected_over_all": expected}
        )
    return rows


def _group_mean_rows(rows: list[dict]) -> list[dict]:
    """Average over each ablation's subsets of a group, unweighted; null if a subset's value is null."""
    rows_by_group: dict[tuple, list[dict]] = {}
    for row in rows:
        rows_by_group.setdefault((row["ablation"], row["group"]), []).append(row)
    means = []
    for group in rows_by_group.values():
        values = {column: [row[column] for row in group] for column in ("accuracy", "change", "interaction")}
        mean = {
            column: None if None in column_values else sum(column_values) / len(column_values)
            for column, column_values in values.items()
        }
        means.append(group[0] | {"subset": None, "family": None} | mean)
    return means


def _run_columns(study: PublishedStudy) -> dict:
    """Return the columns that identify the fine-tuning run."""
    return {"study": study.name, "model": study.context.counterpart.model, "task": study.task, "ft_seed": FT_SEED}


def _make_row(table: str, study: PublishedStudy, value: PublishedValue) -> dict:
    """Return a row of `table`; columns that the files lack are null."""
    row = dict.fromkeys(get_schema(table).names) | _run_columns(study) | study.subsets[value.name]._asdict()
    return row | {"step": value.step, "accuracy": value.accuracy}


def _cell_columns(value: PublishedValue) -> dict:
    """Return the columns that identify the subnetwork."""
    return {"sparsity": value.sparsity, "seed": value.seed, "repeat": value.repeat}


def _first_values(
    values: Iterable[PublishedValue], study: PublishedStudy, model: Callable[[PublishedValue], tuple]
) -> Iterator[PublishedValue]:
    """Yield the first value of each model and subset, models ascending, subsets in order of first appearance.

    `model` maps a value to what identifies its model.
    """
    first: dict[tuple, PublishedValue] = {}
    order: dict[str, int] = {}
    for value in values:
        subset = study.subsets[value.name].subset
        order.setdefault(subset, len(order))
        first.setdefault((model(value), subset), value)

    def sort_key(value: PublishedValue) -> tuple:
        seed = -1 if value.seed is None else value.seed
        return value.step, value.sparsity, seed, value.repeat, order[study.subsets[value.name].subset]

    yield from sorted(first.values(), key=sort_key)

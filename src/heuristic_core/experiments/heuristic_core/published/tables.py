"""The published results as our tables, row by row. What the authors did not publish is null: sizes, predictions."""

from collections.abc import Callable, Iterable, Iterator

from heuristic_core.experiments.heuristic_core.analysis.core import expected_over_all_heads
from heuristic_core.experiments.heuristic_core.published.files import Value
from heuristic_core.experiments.heuristic_core.published.study import Published, paper
from heuristic_core.experiments.heuristic_core.published.subsets import named
from heuristic_core.tables.schemas import schema

FT_SEED = 0  # one model was fine-tuned for each task


def accuracy(study: Published) -> list[dict]:
    """Table "accuracy". Where several files have the same cell, the sp files, then acc_vs_sparsity count."""
    results = study.results
    training = [value for value in results.training if value.step in study.context.checkpoints]
    values = _once([*results.spread, *results.curve, *training, *results.grid], study, lambda value: value[:4])
    return [_row("accuracy", study, value) | _cell(value) | {"reason": value.reason} for value in values]


def finetune_accuracy(study: Published) -> list[dict]:
    """Table "finetune_accuracy": the full model at every step of acc_over_ft, and at the last checkpoint."""
    results = study.results
    drawn = {study.subsets[value.name].subset for value in results.training}
    last = [v for v in results.spread if v.seed is None and study.subsets[v.name].subset in drawn]
    values = _once([*last, *results.training], study, lambda value: value[:1])
    return [_row("finetune_accuracy", study, value) for value in values]


def actual_sparsity(study: Published) -> list[dict]:
    """Table "actual_sparsity": what the subnetworks of the spread really lack."""
    identity = _run(study) | {"step": study.context.last, "repeat": 0}
    return [
        identity | {"sparsity": sparsity, "seed": seed, "actual_sparsity": share}
        for (sparsity, seed), share in sorted(study.results.actual.items())
    ]


def ablations(study: Published) -> list[dict]:
    """Table "ablations" from the paper's text: its subsets and their means by group, without intervals."""
    printed = paper(study.task)["ablations"]
    subsets = named(printed["subsets"], study.task, {})
    full = printed["rows"]["none"]["accuracy"]
    rows = []
    for name, row in printed["rows"].items():
        heads = [] if name == "none" else name.split("+")
        about = dict.fromkeys(schema("ablations").names) | _run(study) | {"step": study.context.last, "kind": "mean"}
        about |= {"ablation": name, "role": row["role"], "size": len(heads)}
        about |= {"layers": "+".join(head.partition(".")[0] for head in heads)}
        interactions = row.get("interaction", [None] * len(full))
        for one, value, before, interaction in zip(subsets.values(), row["accuracy"], full, interactions, strict=True):
            change = {"accuracy": value, "change": round(value - before, 1), "interaction": interaction}
            rows.append(about | one._asdict() | change)
    return [*rows, *_group_rows(rows)]


def core_null(study: Published) -> list[dict]:
    """Table "core_null" as far as the paper goes: its core, and its expectation. The masks were not published."""
    printed, context = paper(study.task), study.context
    known = {"mid+high": len(printed["core_heads"])}
    rows = []
    for name in ("high", "mid", "mid+high"):
        sparsities = [getattr(context, cell) for cell in name.split("+") for _ in context.seeds]
        row = dict.fromkeys(schema("core_null").names) | _run(study) | {"set": name, "n": len(sparsities)}
        expected = expected_over_all_heads(printed["heads"], sparsities)
        rows.append(row | {"seeds": len(context.seeds), "observed": known.get(name), "expected_over_all": expected})
    return rows


def _group_rows(rows: list[dict]) -> list[dict]:
    """The unweighted means over each ablation's subsets of a group; null where a subset has no value."""
    of_group: dict[tuple, list[dict]] = {}
    for row in rows:
        of_group.setdefault((row["ablation"], row["group"]), []).append(row)
    means = []
    for group in of_group.values():
        values = {column: [row[column] for row in group] for column in ("accuracy", "change", "interaction")}
        mean = {column: None if None in found else sum(found) / len(found) for column, found in values.items()}
        means.append(group[0] | {"subset": None, "family": None} | mean)
    return means


def _run(study: Published) -> dict:
    return {"study": study.name, "model": study.context.counterpart.model, "task": study.task, "ft_seed": FT_SEED}


def _row(table: str, study: Published, value: Value) -> dict:
    """A row of `table`; what the files do not tell is null."""
    row = dict.fromkeys(schema(table).names) | _run(study) | study.subsets[value.name]._asdict()
    return row | {"step": value.step, "accuracy": value.accuracy}


def _cell(value: Value) -> dict:
    return {"sparsity": value.sparsity, "seed": value.seed, "repeat": value.repeat}


def _once(values: Iterable[Value], study: Published, model: Callable[[Value], tuple]) -> Iterator[Value]:
    """The first value of every model (what `model` gives) and subset: models ascending, subsets as first seen."""
    first: dict[tuple, Value] = {}
    order: dict[str, int] = {}
    for value in values:
        subset = study.subsets[value.name].subset
        order.setdefault(subset, len(order))
        first.setdefault((model(value), subset), value)

    def place(value: Value) -> tuple:
        seed = -1 if value.seed is None else value.seed
        return value.step, value.sparsity, seed, value.repeat, order[study.subsets[value.name].subset]

    yield from sorted(first.values(), key=place)

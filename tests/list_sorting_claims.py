"""Made tables of list-sorting studies, as evidence for the tests of claims."""

from heuristic_core.experiments.list_sorting import claims  # noqa: F401  registers the statistics
from heuristic_core.experiments.list_sorting.evidence import Evidence
from heuristic_core.stats.estimates import STATISTICS
from heuristic_core.tables.parquet import as_frame, as_table
from heuristic_core.tables.schemas import get_schema

SEEDS, LAST = (1, 2, 3), 100
CONDITIONS = {  # all but numbers, windows and weight decay alike
    "l2": {},
    "bare": {"weight_decay": 0.0, "but_data": "bare"},
    "small": {"nominal_gap": 2.0, "numbers": 25, "but_decay": "small"},
    "large": {"nominal_gap": 8.0, "numbers": 100, "but_decay": "large"},
    "near": {"nominal_gap": 2.0, "but_decay": "near"},
    "decoupled": {},
}
LIKE = {"nominal_gap": 4.0, "numbers": 50, "length": 10, "steps": LAST, "weight_decay": 0.005}
LIKE |= {"but_decay": "l2", "but_data": "l2"}


def table(name, rows):
    empty = dict.fromkeys(get_schema(f"sorting_{name}").names) | {"study": "s"}
    return as_frame(as_table(f"sorting_{name}", [empty | row for row in rows]))


def evidence(names=tuple(CONDITIONS), **tables):
    rows = [{"condition": name} | LIKE | CONDITIONS[name] for name in names]
    tables = {"conditions": rows, "models": models("token_accuracy", **dict.fromkeys(names, (0.99,) * 3))} | tables
    return Evidence({f"sorting_{name}": table(name, rows) for name, rows in tables.items()})


def models(measure, **by_condition):
    """Values of each seed at the last step, after a step at which all are 0.5; None: not measured."""
    lists = {"lists": 300} if measure == "token_accuracy" else {}
    return [
        lists | {"condition": condition, "seed": seed, "step": step, measure: value if step == LAST else 0.5}
        for condition, values in by_condition.items()
        for seed, value in zip(SEEDS, values, strict=True)
        for step in (10, LAST)
    ]


def statistic(name, study_evidence, **options):
    return STATISTICS[name](study_evidence, **options)


def exact_zero_bound(seeds: int) -> float:
    """The upper end of the mean of `seeds` values that are all 0 of 100 (Clopper and Pearson)."""
    return 100 * (1 - 0.025 ** (1 / seeds))

"""Model cards of published subnetworks: what each is, how accurate, what it is not for, and the hub's metadata."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.heuristic_core.archive.subject import PAPER
from heuristic_core.experiments.heuristic_core.figures.roles import ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import GROUPS, MEASURED
from heuristic_core.figures.sheets import Formatted, Sheet, to_markdown
from heuristic_core.figures.text import bracket, number, percent
from heuristic_core.provenance.record import public
from heuristic_core.pruning.subnetwork import Subnetwork

ACCURATE = """\
Percent, with 95 % intervals in brackets (bootstrap over templates or pairs); J in points. In-domain (ID) pairs;
out-of-domain (OOD) pairs{}; OOD-entailment pairs{}. J is the mean accuracy on the last two, added up, minus 100; AUC
says how well log odds of entailment tell them apart."""
NOT_FOR = """\
It is an object of study, not a classifier to rely on. Pruning made it imitate the full model on training pairs; nothing
keeps what the full model knows of other pairs. Subnetworks of other pruning seeds with the same accuracy in-domain
answer out-of-domain pairs differently. No claim about a language, a population or another task follows from one
subnetwork. It has the biases of its base model and of its training data, too."""
AT_CHANCE = """\
**This subnetwork is at chance in-domain: {}.** Always giving one class is no worse. So
it claims no accuracy, and what it answers on out-of-domain pairs says nothing of what it knows."""
STORED = """\
As an ordinary checkpoint of its architecture, in the full model's shape. Weights that read a removed component are
zero; the mean output that takes the component's place is a constant, and is in a bias of the same layer. So the
checkpoint takes the memory and time of the full model. `subnetwork.json` has the components kept and the log alphas.

```python
from transformers import AutoModelForSequenceClassification, AutoTokenizer

folder = "."  # of this file, or the repository's name
model = AutoModelForSequenceClassification.from_pretrained(folder)
tokenizer = AutoTokenizer.from_pretrained(folder)
```
"""
GENERATED = " It knows only the words of a small generated language, which is not English."


class Origin(NamedTuple):
    """What all cards of a study share. settings: the checked configuration. licence: an identifier of the hub."""

    settings: Mapping
    licence: str

    @property
    def base(self) -> str | None:
        """The repository of the hub that fine-tuning started from; None of a model from elsewhere."""
        return self.settings["model"].get("hub")

    @property
    def started_from(self) -> str:
        model = self.settings["model"]
        if model["source"] == "new":
            return "random weights, as the study's configuration says"
        if self.base:
            return f"`{self.base}` at commit `{model['revision']}`"
        package = f" of the Python package `{model['package']}`" if model.get("package") else ""
        return f"the folder `{public(model['folder'])}`{package}, which has no repository on the hub that is known here"

    @property
    def where(self) -> tuple[str, str]:
        """What distinguishes OOD pairs, and OOD-entailment pairs; nothing where the study does not declare it."""
        phrase = self.settings["task"].get("heuristic")
        return (f", on which {phrase} misleads", f", on which {phrase} is right") if phrase else ("", "")

    @property
    def generated(self) -> bool:
        return self.settings["task"]["source"] == "generated"


def card(
    origin: Origin,
    subnetwork: Subnetwork,
    groups: pd.DataFrame,
    subsets: pd.DataFrame,
    digests: Mapping[str, str],
    lost: str | None = None,
) -> str:
    """README.md of one subnetwork.

    groups, subsets: its rows and the full model's of tables "group_accuracy" and "accuracy". digests: SHA-256 by what
    it is of. lost: in what way it is at chance in-domain, as :func:`at_chance` says; it then claims no accuracy.
    """
    run = subnetwork.identity
    kept, size = len(subnetwork.kept), len(subnetwork.grid)
    components = ", ".join(component.name for component in subnetwork.grid if component.index in subnetwork.kept)
    paper = f"[{PAPER}](https://arxiv.org/abs/{PAPER.removeprefix('arXiv:')})"
    names = list(dict.fromkeys(subsets["subset"]))
    lines = [
        f"# A subnetwork of {run.model} on {run.task}: sparsity {percent(run.sparsity)}, pruning seed {run.seed}",
        f"{kept} of {size} attention heads and MLPs of a fine-tuned model, found by structured pruning in the study "
        f"`{run.study}`, as in {paper}, with heuristic-core.",
        *([AT_CHANCE.format(lost)] if lost else []),
        "## What was measured" if lost else "## How accurate it is",
        ACCURATE.format(*origin.where),
        to_markdown([_accuracies(groups, "group", [ROLES[one].label for one in MEASURED], MEASURED)]),
        to_markdown([_accuracies(subsets, "subset", names, names)]),
        "## What it is not for",
        NOT_FOR + GENERATED * origin.generated,
        "## Which it is",
        to_markdown([_identity(origin, subnetwork, digests)]),
        f"Kept: {components}.",
        "## How it is stored",
        STORED,
    ]
    results = None if lost else _results(groups[groups["seed"].notna()], run)
    return _header(origin, f"{run.study}-ft{run.ft_seed}-s{run.sparsity:g}-seed{run.seed}", results) + "\n\n".join(
        lines
    )


def index(
    origin: Origin,
    study: str,
    folders: Sequence[tuple[str, Subnetwork]],
    groups: pd.DataFrame,
    failed: Sequence[str],
    lost: Collection[str] = (),
) -> str:
    """README.md of all published subnetworks of a study: a line for each folder, and the runs that found none.

    lost: the folders of subnetworks at chance in-domain.
    """
    rows = []
    for folder, subnetwork in folders:
        values = of_run(groups, subnetwork).set_index("group")["accuracy"]
        rows.append(
            [
                Formatted(f"[{folder}]({folder})" + ", at chance" * (folder in lost)),
                str(len(subnetwork.kept)),
                *(number(values.get(one)) for one in MEASURED),
            ]
        )
    sheet = Sheet("", ["folder", "components kept", *(ROLES[one].label for one in MEASURED)], rows)
    lines = [
        f"# Subnetworks of study {study}",
        "",
        "Each folder is an ordinary checkpoint with a card of its own. Accuracies are percent, J is points.",
        "",
        to_markdown([sheet]),
        *([f"No subnetwork was found by {', '.join(failed)}.", ""] if failed else []),
    ]
    return _header(origin, study, None) + "\n".join(lines)


def of_run(table: pd.DataFrame, subnetwork: Subnetwork) -> pd.DataFrame:
    """Rows of a table of accuracies that are about one subnetwork."""
    run = subnetwork.identity._asdict()
    return table[(table[list(run)] == pd.Series(run)).all(axis=1)]


def with_full(table: pd.DataFrame, subnetwork: Subnetwork) -> pd.DataFrame:
    """Rows of a table of accuracies that are about one subnetwork, and those about the full model it is of."""
    run = subnetwork.identity
    full = (table["ft_seed"] == run.ft_seed) & (table["step"] == run.step) & table["seed"].isna()
    return pd.concat([table[full], of_run(table, subnetwork)], ignore_index=True)


def _accuracies(table: pd.DataFrame, by: str, labels: Sequence[str], keys: Sequence[str]) -> Sheet:
    own, full = (table[mask].set_index(by) for mask in (table["seed"].notna(), table["seed"].isna()))
    rows = [[label, _value(own, key), _value(full, key)] for label, key in zip(labels, keys, strict=True)]
    return Sheet("", [by, "this subnetwork", "the full model"], rows)


def _value(rows: pd.DataFrame, key: str) -> str:
    if key not in rows.index or pd.isna(rows.loc[key, "accuracy"]):
        return "–"
    row = rows.loc[key]
    return number(row["accuracy"]) + bracket(row["low"], row["high"])


def _identity(origin: Origin, subnetwork: Subnetwork, digests: Mapping[str, str]) -> Sheet:
    run = subnetwork.identity
    rows = {
        "study": run.study,
        "started from": Formatted(origin.started_from),
        "task": run.task,
        "fine-tuning seed": run.ft_seed,
        "fine-tuning step": run.step,
        "target sparsity": percent(run.sparsity),
        "sparsity reached": f"{100 * subnetwork.actual_sparsity:.1f} %",
        "pruning seed": run.seed,
    } | {f"SHA-256 of {what}": Formatted(f"`{digest}`") for what, digest in digests.items()}
    return Sheet(
        "", ["", "value"], [[name, value if isinstance(value, str) else str(value)] for name, value in rows.items()]
    )


def _results(groups: pd.DataFrame, run) -> list:
    """Accuracies by group as the hub's metadata have them."""
    from huggingface_hub import EvalResult

    known = groups[groups["group"].isin(GROUPS)].dropna(subset="accuracy")
    return [
        EvalResult(
            task_type="text-classification",
            dataset_type=run.task,
            dataset_name=f"{run.task}, {ROLES[row.group].label}",
            dataset_config=ROLES[row.group].label,
            metric_type="accuracy",
            metric_value=round(row.accuracy / 100, 4),
        )
        for row in known.itertuples()
    ]


def _header(origin: Origin, name: str, results: list | None) -> str:
    """The YAML header of a card."""
    from huggingface_hub import ModelCardData

    data = ModelCardData(
        license=origin.licence,
        base_model=origin.base,
        library_name="transformers",
        pipeline_tag="text-classification",
        tags=["pruning", "subnetwork", "interpretability", "heuristic-core"],
        model_name=name if results else None,
        eval_results=results,
    )
    return f"---\n{data.to_yaml()}\n---\n\n"

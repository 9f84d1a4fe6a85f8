"""Model cards of published subnetworks: identity, accuracy, limits, and the hub's metadata."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from heuristic_core.config.tasks import parse_task
from heuristic_core.experiments.subnetworks import PAPER
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import GROUPS, SUMMARY_GROUPS
from heuristic_core.figures.sheets import MarkdownCell, Sheet, to_markdown
from heuristic_core.figures.text import format_interval, format_number, format_percent
from heuristic_core.provenance.settings import redact
from heuristic_core.pruning.subnetwork import Subnetwork

ACCURACY_TEXT = """\
Percent, with 95 % intervals in brackets (bootstrap over templates or pairs); J in points. In-domain (ID) pairs;
out-of-domain (OOD) pairs{}; OOD-entailment pairs{}. J is the sum of the mean accuracies on the last two minus
100; AUC measures how well log odds of entailment separate them."""
LIMITS_TEXT = """\
This subnetwork is an object of study, not a classifier to rely on. Pruning made it imitate the full model on training
pairs only; on other pairs it may differ. Subnetworks of other pruning seeds with the same in-domain accuracy answer
out-of-domain pairs differently. No claim about a language, a population or another task follows from one subnetwork. It
also has the biases of its base model and training data."""
AT_CHANCE_TEXT = """\
**This subnetwork is at chance in-domain: {}.** Predicting one class for all pairs is no
worse. This card therefore claims no accuracy, and answers on out-of-domain pairs are not meaningful."""
STORAGE_TEXT = """\
This is an ordinary checkpoint in the shape of the full model, with the same memory and run time. Weights that read a
removed component are zero, and its mean output is stored in a bias of the same layer. `subnetwork.json` lists the
components kept and the log alphas.

```python
from transformers import AutoModelForSequenceClassification, AutoTokenizer

folder = "."  # of this file, or the repository's name
model = AutoModelForSequenceClassification.from_pretrained(folder)
tokenizer = AutoTokenizer.from_pretrained(folder)
```
"""
TARGET_TEXT = """\
The study classified a word of each sentence, the target: give the classifier's head the hidden state of the target's
last token instead of the one that it reads by default.

```python
# head: model.bert.pooler (BERT), model.classifier (RoBERTa, ELECTRA), model.pooler (DeBERTa) or model.score (decoders)
def classify(model, head, position, **inputs):
    spread = lambda _, args: (args[0][:, [position]].expand_as(args[0]), *args[1:])
    handle = head.register_forward_pre_hook(spread)
    try:
        return model(**inputs).logits
    finally:
        handle.remove()
```
"""
GENERATED_TEXT = " It knows only the words of a small generated language."


class Origin(NamedTuple):
    """Origin of the subnetworks of a study, for their cards.

    Attributes:
        settings: The checked configuration.
        licence: The hub's identifier of the licence.
    """

    settings: Mapping
    licence: str

    @property
    def has_target(self) -> bool:
        """Whether the study classifies a word of each sentence."""
        return parse_task(self.settings["task"]).has_target

    @property
    def base_model(self) -> str | None:
        """The hub repository that fine-tuning started from; None for other models."""
        return self.settings["model"].get("hub")

    @property
    def base_description(self) -> str:
        """A description of the model that fine-tuning started from."""
        model = self.settings["model"]
        if model["source"] == "new":
            return "random weights (see the study's configuration)"
        if self.base_model:
            return f"`{self.base_model}` at commit `{model['revision']}`"
        package = f" of the Python package `{model['package']}`" if model.get("package") else ""
        return f"the folder `{redact(model['folder'])}`{package}, which names no repository on the hub"

    @property
    def heuristic_phrases(self) -> tuple[str, str]:
        """Phrases that describe OOD and OOD-entailment pairs; empty if the task declares no heuristic."""
        phrase = self.settings["task"].get("heuristic")
        return (f", on which {phrase} would mislead", f", on which {phrase} would be right") if phrase else ("", "")

    @property
    def is_generated(self) -> bool:
        """Whether the task's pairs are generated."""
        return self.settings["task"]["source"] == "generated"


def render_card(
    origin: Origin,
    subnetwork: Subnetwork,
    groups: pd.DataFrame,
    subsets: pd.DataFrame,
    digests: Mapping[str, str],
    chance_reason: str | None = None,
) -> str:
    """Return README.md of one subnetwork.

    Args:
        origin: Origin of the subnetworks.
        subnetwork: The subnetwork.
        groups: The rows of the subnetwork and of the full model in table "group_accuracy".
        subsets: The same rows of table "accuracy".
        digests: SHA-256 digests by a description of the file.
        chance_reason: How the subnetwork is at chance in-domain, from `analysis.runs.describe_chance`; None if it is
            not. A subnetwork at chance claims no accuracy.
    """
    run = subnetwork.identity
    kept, size = len(subnetwork.kept), len(subnetwork.grid)
    components = ", ".join(component.name for component in subnetwork.grid if component.index in subnetwork.kept)
    paper = f"[{PAPER}](https://arxiv.org/abs/{PAPER.removeprefix('arXiv:')})"
    names = list(dict.fromkeys(subsets["subset"]))
    lines = [
        f"# A subnetwork of {run.model} on {run.task}: sparsity {format_percent(run.sparsity)}, pruning "
        f"seed {run.seed}",
        f"{kept} of {size} attention heads and MLPs of a fine-tuned model, found by structured pruning in the study "
        f"`{run.study}`, as in {paper}, with heuristic-core.",
        *([AT_CHANCE_TEXT.format(chance_reason)] if chance_reason else []),
        "## Measurements" if chance_reason else "## Accuracy",
        ACCURACY_TEXT.format(*origin.heuristic_phrases),
        to_markdown(
            [_accuracy_sheet(groups, "group", [ROLES[group].label for group in SUMMARY_GROUPS], SUMMARY_GROUPS)]
        ),
        to_markdown([_accuracy_sheet(subsets, "subset", names, names)]),
        "## Limitations",
        LIMITS_TEXT + GENERATED_TEXT * origin.is_generated,
        "## Identity",
        to_markdown([_identity_sheet(origin, subnetwork, digests)]),
        f"Kept: {components}.",
        "## Use",
        STORAGE_TEXT + TARGET_TEXT * origin.has_target,
    ]
    results = None if chance_reason else _eval_results(groups[groups["seed"].notna()], run)
    return _yaml_header(origin, f"{run.study}-ft{run.ft_seed}-s{run.sparsity:g}-seed{run.seed}", results) + "\n\n".join(
        lines
    )


def render_index(
    origin: Origin,
    study: str,
    folders: Sequence[tuple[str, Subnetwork]],
    groups: pd.DataFrame,
    failed: Sequence[str],
    folders_at_chance: Collection[str] = (),
) -> str:
    """Return README.md of all published subnetworks of a study.

    Args:
        origin: Origin of the subnetworks.
        study: The study's name.
        folders: Pairs of a folder and its subnetwork, one line each.
        groups: Table "group_accuracy".
        failed: The pruning runs that found no subnetwork.
        folders_at_chance: The folders of subnetworks at chance in-domain.
    """
    rows = []
    for folder, subnetwork in folders:
        values = select_run(groups, subnetwork).set_index("group")["accuracy"]
        rows.append(
            [
                MarkdownCell(f"[{folder}]({folder})" + ", at chance" * (folder in folders_at_chance)),
                str(len(subnetwork.kept)),
                *(format_number(values.get(group)) for group in SUMMARY_GROUPS),
            ]
        )
    sheet = Sheet("", ["folder", "components kept", *(ROLES[group].label for group in SUMMARY_GROUPS)], rows)
    lines = [
        f"# Subnetworks of study {study}",
        "",
        "Each folder is an ordinary checkpoint with its own card. Accuracies are in percent, J in points.",
        "",
        to_markdown([sheet]),
        *([f"Failed pruning runs: {', '.join(failed)}.", ""] if failed else []),
    ]
    return _yaml_header(origin, study, None) + "\n".join(lines)


def select_run(table: pd.DataFrame, subnetwork: Subnetwork) -> pd.DataFrame:
    """Select the rows of one subnetwork.

    Args:
        table: Table of accuracies.
        subnetwork: The subnetwork.
    """
    run = subnetwork.identity._asdict()
    return table[(table[list(run)] == pd.Series(run)).all(axis=1)]


def select_run_and_full_model(table: pd.DataFrame, subnetwork: Subnetwork) -> pd.DataFrame:
    """Select the rows of one subnetwork and of its full model.

    Args:
        table: Table of accuracies.
        subnetwork: The subnetwork.
    """
    run = subnetwork.identity
    full = (table["ft_seed"] == run.ft_seed) & (table["step"] == run.step) & table["seed"].isna()
    return pd.concat([table[full], select_run(table, subnetwork)], ignore_index=True)


def _accuracy_sheet(table: pd.DataFrame, by: str, labels: Sequence[str], keys: Sequence[str]) -> Sheet:
    """Return a table of accuracies of the subnetwork and the full model by `keys` of column `by`."""
    pruned, full = (table[mask].set_index(by) for mask in (table["seed"].notna(), table["seed"].isna()))
    rows = [
        [label, _format_accuracy(pruned, key), _format_accuracy(full, key)]
        for label, key in zip(labels, keys, strict=True)
    ]
    return Sheet("", [by, "this subnetwork", "the full model"], rows)


def _format_accuracy(rows: pd.DataFrame, key: str) -> str:
    """Format an accuracy with its interval, or a dash if it is missing."""
    if key not in rows.index or pd.isna(rows.loc[key, "accuracy"]):
        return "–"
    row = rows.loc[key]
    return format_number(row["accuracy"]) + format_interval(row["low"], row["high"])


def _identity_sheet(origin: Origin, subnetwork: Subnetwork, digests: Mapping[str, str]) -> Sheet:
    """Return the table that identifies the subnetwork."""
    run = subnetwork.identity
    rows = {
        "study": run.study,
        "started from": MarkdownCell(origin.base_description),
        "task": run.task,
        "fine-tuning seed": run.ft_seed,
        "fine-tuning step": run.step,
        "target sparsity": format_percent(run.sparsity),
        "sparsity reached": f"{100 * subnetwork.actual_sparsity:.1f} %",
        "pruning seed": run.seed,
    } | {f"SHA-256 of {what}": MarkdownCell(f"`{digest}`") for what, digest in digests.items()}
    return Sheet(
        "", ["", "value"], [[name, value if isinstance(value, str) else str(value)] for name, value in rows.items()]
    )


def _eval_results(groups: pd.DataFrame, run) -> list:
    """Return accuracies by group as ``EvalResult`` objects of the hub."""
    from huggingface_hub import EvalResult

    rows = groups[groups["group"].isin(GROUPS)].dropna(subset="accuracy")
    return [
        EvalResult(
            task_type="text-classification",
            dataset_type=run.task,
            dataset_name=f"{run.task}, {ROLES[row.group].label}",
            dataset_config=ROLES[row.group].label,
            metric_type="accuracy",
            metric_value=round(row.accuracy / 100, 4),
        )
        for row in rows.itertuples()
    ]


def _yaml_header(origin: Origin, name: str, results: list | None) -> str:
    """Return the YAML header of a card."""
    from huggingface_hub import ModelCardData

    data = ModelCardData(
        license=origin.licence,
        base_model=origin.base_model,
        library_name="transformers",
        pipeline_tag="text-classification",
        tags=["pruning", "subnetwork", "interpretability", "heuristic-core"],
        model_name=name if results else None,
        eval_results=results,
    )
    return f"---\n{data.to_yaml()}\n---\n\n"

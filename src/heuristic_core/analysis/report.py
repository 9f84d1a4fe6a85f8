"""The report: what the study shows and what it does not, and its figures, in Markdown."""

from collections.abc import Iterator

import pandas as pd

VERDICTS = {True: "shown", False: "**not shown**", None: "*cannot be said*"}


def report(findings: pd.DataFrame, study_name: str, captions: dict[str, str]) -> str:
    """Markdown from table "findings".

    captions: the caption of every figure and table by its name, in the order in which they are to appear. Figures
    (names that begin so) become images, figures/<name>.png; tables links, tables/<name>.md.
    """
    lines = [
        f"# {study_name}",
        "",
        "ID is in-domain accuracy. OOD is accuracy on out-of-domain pairs, where the word-overlap heuristic is wrong.",
        "Entailment class is accuracy on pairs of these families where it is right, and rejecting overlap wrong.",
        "Every claim is judged on each fine-tuning seed by itself, by one rule and the thresholds it names.",
        "",
        *_summary(findings),
        "",
        *_table(findings),
        "",
        *_estimates(findings),
        *_figures(captions),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _verdict(shown) -> str:
    return VERDICTS[None if pd.isna(shown) else bool(shown)]


def _summary(findings: pd.DataFrame) -> Iterator[str]:
    """How many claims hold on all seeds, and by name those that do not."""
    by_claim = findings.groupby("claim", sort=False)
    open_claims = {claim: rows for claim, rows in by_claim if not rows["shown"].eq(True).all()}
    held = len(by_claim) - len(open_claims)
    yield f"{held} of {len(by_claim)} claims are shown on every fine-tuning seed."
    if open_claims:
        yield "These are not:"
        yield ""
    for claim, rows in open_claims.items():
        verdicts = ", ".join(f"{_verdict(row.shown)} on seed {row.ft_seed}" for row in rows.itertuples())
        yield f"- {claim}: {verdicts}."


def _table(findings: pd.DataFrame) -> Iterator[str]:
    """Claims x fine-tuning seeds."""
    seeds = findings["ft_seed"].unique()
    yield "## Claims"
    yield ""
    yield f"| claim | {' | '.join(f'seed {seed}' for seed in seeds)} |"
    yield f"|---|{'---|' * len(seeds)}"
    for claim, rows in findings.groupby("claim", sort=False):
        verdicts = dict(zip(rows["ft_seed"], rows["shown"].map(_verdict), strict=True))
        yield f"| {claim} | {' | '.join(verdicts.get(seed, '') for seed in seeds)} |"


def _estimates(findings: pd.DataFrame) -> Iterator[str]:
    yield "## Estimates"
    yield ""
    for claim, rows in findings.groupby("claim", sort=False):
        yield f"### {claim}"
        yield ""
        for row in rows.itertuples():
            yield f"- Seed {row.ft_seed}, {_verdict(row.shown)}: {row.estimate}."
        yield ""


def _figures(captions: dict[str, str]) -> Iterator[str]:
    yield "## Figures and tables"
    yield ""
    for name, caption in captions.items():
        image = f"![{name}](figures/{name}.png)"
        yield image if name.startswith("figure") else f"[{name}](tables/{name}.md)"
        yield ""
        yield f"*{name}.* {caption}"
        yield ""

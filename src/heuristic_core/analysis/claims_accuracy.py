"""Claims about accuracy: the model generalises late, and its subnetworks disagree (paper, sections 3 and 4)."""

from heuristic_core.analysis.evidence import CannotSay, Evidence, Verdict, entailment_class, span

# In-domain accuracy has saturated once it is within 5 % of its best: what is left to learn is then little.
# A share, not a number of points, as the best differs between tasks (100 % in the miniature, 84 % on MNLI).
SATURATED = 0.95
# Below 5 % a model answers as the overlap heuristic does on all but a few pairs.
FLOOR = 5.0
# Above 50 % a model resists the heuristic more often than it follows it.
RISEN = 50.0
# Subnetworks agree when no two differ by more than the usual margin of faithfulness.
AGREE = 3.0
# A fifth of a subset's pairs is far beyond evaluation noise: with 100 pairs, a standard error of 5 points at most.
APART = 20.0
# The heuristic gives almost nothing out of domain; 10 % leaves room for a subset that it does not cover entirely.
NEAR_ZERO = 10.0
# A subnetwork still does its task if it keeps 90 % of the full model's accuracy; those that the paper prunes to
# 70 % on MNLI keep 90.5 % on average.
KEEPS = 0.90


def saturates_before_generalising(evidence: Evidence) -> Verdict:
    curve = evidence.training_curve()
    best = curve["id"].max()
    saturated = curve[curve["id"] >= SATURATED * best]
    floor = saturated[saturated["ood"] < FLOOR]
    if floor.empty:
        lowest, step = saturated["ood"].min(), saturated["ood"].idxmin()
        text = f"best ID {best:.1f} %; wherever ID has saturated, OOD is {lowest:.1f} % or more"
        return Verdict(False, f"{text}; at step {step}, where it is lowest, {_over_fine_tuning(evidence, step)}")
    at, step = floor.iloc[0], floor.index[0]
    text = f"ID {at['id']:.1f} %, OOD {at['ood']:.1f} % and {_over_fine_tuning(evidence, step)} at step {step}"
    return Verdict(True, f"{text}; ID and OOD are so in {len(floor)} of {len(curve)} evaluations")


def generalises_later(evidence: Evidence) -> Verdict:
    ood = evidence.training_curve()["ood"]
    floor = ood.index[ood < FLOOR]
    if not len(floor):
        raise CannotSay(f"OOD was never below {FLOOR:g} %: lowest {ood.min():.1f} %")
    later = ood.loc[floor[0] :]
    first, best, last = floor[0], later.idxmax(), later.index[-1]
    highest = f"highest {later.max():.1f} % at step {best}"
    text = f"OOD below {FLOOR:g} % at step {first}, {highest}, last {later[last]:.1f} % at step {last}"
    entailment = _over_fine_tuning(evidence, first, best, last)
    return Verdict(bool(later.max() > RISEN), f"{text}; at these steps {entailment}")


def mid_agrees_in_domain(evidence: Evidence) -> Verdict:
    id_ = evidence.spread_mean(evidence.context.mid, "id")
    width = id_.max() - id_.min()
    return Verdict(bool(width <= AGREE), f"ID {span(id_)}: {width:.1f} points, over {len(id_)} subnetworks")


def mid_disagrees_out_of_domain(evidence: Evidence) -> Verdict:
    ood = evidence.spread(evidence.context.mid, "ood")
    width = ood.max() - ood.min()
    widest = ood[width.idxmax()]
    text = f"widest on {widest.name}: {span(widest)}, {width.max():.1f} points"
    text = f"{text}; mean over OOD subsets {span(ood.mean(axis='columns'))}"
    return Verdict(bool(width.max() >= APART), f"{text}, {_over_seeds(evidence, evidence.context.mid)}")


def mid_keeps_entailment(evidence: Evidence) -> Verdict:
    kept, full = evidence.spread_mean(evidence.context.mid, "ood-entailment"), evidence.full("ood-entailment")
    text = f"entailment class of the OOD families {span(kept)}, full model {full:.1f} %"
    return Verdict(bool(kept.min() >= KEEPS * full), text)


def high_does_not_generalise(evidence: Evidence) -> Verdict:
    high = evidence.context.high
    id_, ood, full = evidence.spread_mean(high, "id"), evidence.spread_mean(high, "ood"), evidence.full("id")
    text = f"OOD {span(ood)}, ID {span(id_)} (full model {full:.1f} %), {_over_seeds(evidence, high)}"
    return Verdict(bool(ood.max() < NEAR_ZERO and id_.min() > KEEPS * full), text)


def _over_fine_tuning(evidence: Evidence, *steps: int) -> str:
    """For instance "entailment class 99.8 %, 96.0 %"."""
    return entailment_class(lambda: ", ".join(f"{value:.1f} %" for value in evidence.entailment_at(steps)))


def _over_seeds(evidence: Evidence, sparsity: float) -> str:
    return entailment_class(lambda: span(evidence.spread_mean(sparsity, "ood-entailment")))


CLAIMS = [
    (
        f"ID accuracy saturates (at least {SATURATED:.0%} of its best) while OOD accuracy is below {FLOOR:g} %",
        saturates_before_generalising,
    ),
    (f"OOD accuracy later rises above {RISEN:g} %", generalises_later),
    (
        f"Mid-sparsity subnetworks lie within {AGREE:g} points of each other on ID",
        mid_agrees_in_domain,
    ),
    (
        f"Mid-sparsity subnetworks lie at least {APART:g} points apart on some OOD subset",
        mid_disagrees_out_of_domain,
    ),
    (
        f"Mid-sparsity subnetworks keep at least {KEEPS:.0%} of the full model's accuracy on the entailment class "
        "of the same families: OOD accuracy is not bought by rejecting every overlap",
        mid_keeps_entailment,
    ),
    (
        f"Every high-sparsity subnetwork has OOD accuracy below {NEAR_ZERO:g} % "
        f"with more than {KEEPS:.0%} of the full model's ID accuracy",
        high_does_not_generalise,
    ),
]

"""A small synthetic study for the figures: random masks, and subnetworks between two learned ones."""

from figure_tables import CONTEXT, FT_SEEDS, SUBSETS, run

HEADS = [(layer, head) for layer in range(2) for head in range(3)]
GROUPS = ("id", "ood", "ood-entailment", "j")
H, M = 44, 51


def head(layer, head):
    return {"component": 4 * layer + head, "name": f"{layer}.{head}", "kind": "head", "layer": layer, "head": head}


def counter_head_rows(rng):
    """Head 1.2 is counter-heuristic on prep; head 0.1 is known of no mask."""
    values = [{"subset": name, "group": group, "family": family} for name, (group, family) in SUBSETS.items()]
    values += [{"subset": None, "group": group, "family": None} for group in GROUPS]
    values += [{"subset": None, "group": "ood", "family": "subsequence"}]
    for ft_seed in FT_SEEDS:
        for item in HEADS:
            for value in values:
                row = run(ft_seed, step=CONTEXT.last) | head(*item) | value
                if item == (0, 1):
                    yield row | {
                        "included": 1,
                        "excluded": 99,
                        "reason": "fewer than 3 masks have the head, or lack it",
                    }
                    continue
                counter = item == (1, 2) and value["subset"] == "ln_prep"
                beta = 37.5 if counter else rng.normal()
                row |= {"included": 40, "excluded": 60, "beta": beta, "low": beta - 2, "high": beta + 2}
                q = 0.001 if counter else 0.5
                yield row | {"p": q / 2, "q": q, "counter": counter if value["group"] == "ood" else None}


def mask_test_rows():
    for ft_seed in FT_SEEDS:
        for test in ("counter", "profile", "opposite"):
            observed = {"test": test, "observed": 3.0, "expected": 0.1, "p": 0.001, "p_below": 1.0}
            yield run(ft_seed, step=CONTEXT.last) | observed | {"masks": 100, "draws": 1000}


def mask_fit_rows():
    """Fine-tuning seed 2 has nothing to predict."""
    values = [("ln_prep", "ood", "lexical_overlap"), (None, "id", None), (None, "ood", None), (None, "j", None)]
    for masks, n, r2 in (("learned", 12, 0.75), ("random", 100, 0.8)):
        for subset, group, family in values:
            about = run(1, step=CONTEXT.last, masks=masks, n=n, heads=6, subset=subset, group=group, family=family)
            if masks == "learned" and group == "id":
                yield about | {"sd": 0.0, "error": 1.25, "reason": "all masks have the same value"}
            else:
                yield about | {"sd": 15.0, "error": 7.5, "r2": r2, "rho": 0.9}
    yield run(2, step=CONTEXT.last, n=0, heads=0, reason="no sound mid-sparsity subnetwork keeps a head")


def interpolation_rows():
    """Fine-tuning seed 1 has a path of two steps; on seed 2 there is none."""
    for group in GROUPS:
        for ft_seed in FT_SEEDS:
            about = run(ft_seed, step=CONTEXT.last, subset=None, group=group, family=None, heuristic=H, generalising=M)
            about |= {"measure": "j", "n": 100, "unit": "pair", "units": 100}
            about |= {"reason": "no path: H and M are 4.0 points of J apart"} if ft_seed == 2 else {}
            yield about | {"role": "H", "place": 0} | _values(10, 0, "H")
            yield about | {"role": "M"} | _values(60, 0, "M")
            if ft_seed == 2:
                continue
            steps = ((1, 2), True, 45), ((0, 1), False, 60)
            for place, (position, added, value) in enumerate(steps, start=1):
                row = about | {"role": "path", "place": place, "added": added} | head(*position)
                yield row | _values(value, value - 10, "H")
            yield about | {"role": "with", "added": True} | head(1, 2) | _values(45, 35, "H")
            yield about | {"role": "without", "added": False} | head(1, 2) | _values(20, -40, "M")


def _values(value, change, against):
    ends = {"low": value - 4.0, "high": value + 4.0, "change_low": change - 3.0, "change_high": change + 3.0}
    return {"accuracy": float(value), "change": float(change), "against": against} | ends

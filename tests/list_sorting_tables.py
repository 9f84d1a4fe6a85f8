"""Tables of a made list-sorting study: three conditions, three seeds, for the tests of its figures."""

import numpy as np

from heuristic_core.experiments.list_sorting.stages import STAGES
from heuristic_core.stats.frames import make_frame

SEEDS, STEPS, LAST = (1, 2, 3), (0, 10, 32, 100, 316), 316
HEADS, KINDS = (0, 1), ("zero", "mean", "resample")
CONDITIONS = {
    "l2": {"numbers": 12, "length": 4, "mean_gap": 2.6, "optimiser": "adam-l2", "weight_decay": 0.005},
    "no-decay": {"numbers": 12, "length": 4, "mean_gap": 2.6, "optimiser": "adam", "weight_decay": 0.0},
    "numbers-20": {"numbers": 20, "length": 4, "mean_gap": 4.2, "optimiser": "adam-l2", "weight_decay": 0.005},
}
DIVERGED, NO_FALL = "2 of 2 chains diverged", "the overlap does not fall"  # reasons
RNG = np.random.default_rng(5)
RUNS = [(name, seed, step) for name in CONDITIONS for seed in SEEDS for step in STEPS]


def named(condition, seed, step):
    return {"study": "made", "condition": condition, "seed": seed, "step": step}


def scores(step, cost=0.0):
    far = np.log10(1 + step) / np.log10(1 + LAST)
    loss = 3 * (1 - far) + 0.05 + cost + 0.02 * RNG.random()
    accuracy = 1 / (1 + loss)
    return {
        "loss": loss,
        "token_accuracy": accuracy,
        "list_accuracy": accuracy**4,
        "entropy": loss / 2,
        "confidence": accuracy,
        "calibration_error": 0.1 * loss,
    }


def model_rows():
    for condition, seed, step in RUNS:
        far = np.log10(1 + step) / np.log10(1 + LAST)
        shares = {"overlap": 0.6 - 0.5 * far, "suppression": (0.0 if condition == "l2" else 0.4) * far}
        shares |= {"suppression_of_next": 0.0, "folded_opposite_sign": 0.7 * far}
        shares["splitting"] = (0.9 if condition == "l2" else 0.1) * far
        shares = {name: value + 0.004 * RNG.random() for name, value in shares.items()}
        yield named(condition, seed, step) | scores(step) | shares | {"weight_norm": 10.0, "lists": 40}


def copier(seed):
    """The head that copies: it is another one in the second seed."""
    return int(seed == 2)


def head_rows():
    for condition, seed, step in RUNS:
        for head in HEADS:
            copies = head == copier(seed)
            suppression = 0.01 if copies or condition == "l2" else 0.15
            result = {"copying": 5.0 if copies else 2.0, "suppression": suppression + 0.01 * RNG.random()}
            ranks = {"ranges": 1, "qk_rank": 2.0, "ov_rank": 2.0, "attention_error": 0.1, "written_error": 0.1}
            yield named(condition, seed, step) | {"head": head} | result | ranks | {"agreement": 0.9}


def number_rows():
    for condition, seed, step in RUNS:
        for head in HEADS if step in (0, 32, LAST) else ():
            for number in range(CONDITIONS[condition]["numbers"]):
                effect = (3.0 if head == copier(seed) else -0.5) + RNG.random()
                result = {"effect": effect, "effect_error": 0.1, "other_effect": effect / 9, "other_effect_error": 0.02}
                yield named(condition, seed, step) | {"head": head, "number": number} | result


def ablation_rows():
    for run in RUNS:
        yield named(*run) | {"kind": "none", "ablated": ""} | scores(run[-1])
        for kind in KINDS:
            for ablated in ("0", "1", "0+1"):
                cost = 2.0 if ablated == "0+1" else 1.0 if int(ablated) == copier(run[1]) else 0.2
                yield named(*run) | {"kind": kind, "ablated": ablated} | scores(run[-1], cost * (1 + 0.1 * len(kind)))


def mode_ablation_rows():
    """Suppression of heads is worth less than copying, and nothing where no head suppresses."""
    for run in RUNS:
        for mode, worth in (("copying", 1.0), ("suppression", 0.0 if run[0] == "l2" else 0.3)):
            for kind in KINDS if run[-1] in (0, LAST) else ():
                for ablated in ("0", "1", "0+1"):
                    about = {"mode": mode, "kind": kind, "ablated": ablated, "replaced": 5}
                    yield named(*run) | about | scores(run[-1], worth * len(ablated))


def matrix_rows():
    for condition, seed, step in RUNS:
        tokens = CONDITIONS[condition]["numbers"] + 1
        for head in HEADS if step in (0, 32, LAST) else ():
            for circuit, size in (("qk", 4.0), ("ov", 1.0)):
                sign = 1 if head == copier(seed) else -1
                values = size * np.log10(1 + step) * sign * np.eye(tokens) + 0.1 * RNG.normal(size=(tokens, tokens))
                for row, line in enumerate(values.astype(np.float32)):
                    result = {"head": head, "circuit": circuit, "row": row, "values": line.tolist()}
                    yield named(condition, seed, step) | result


def distance_rows():
    for condition, seed, step in RUNS:
        most = CONDITIONS[condition]["numbers"] - 1
        for head in HEADS if step in (0, LAST) else ():
            for keys in ("list", "sorted"):
                for distance in range(-most, most + 1):
                    share = np.exp(-abs(distance - (head == copier(seed)))) * (0.8 + 0.2 * RNG.random())
                    missing = keys == "sorted" and distance > 0
                    result = {"head": head, "keys": keys, "distance": distance, "pairs": 0 if missing else 5}
                    yield named(condition, seed, step) | result | {"attention": None if missing else share}


def llc_rows():
    """In one condition alone; seed 3 has no value of one estimator at step 100."""
    for step in (10, 100, LAST):
        for seed in SEEDS:
            for estimator, value in (("raw", step / 4), ("scaled", 30.0), ("tilted", 40 - step / 15)):
                failed = (seed, step, estimator) == (3, 100, "raw")
                result = {"estimator": estimator, "value": None if failed else value + RNG.random()}
                reason = DIVERGED if failed else None
                yield named("l2", seed, step) | result | {"chains": 2, "diverged": 2 * failed, "reason": reason}


def stage_rows():
    """The third stage is missing in one condition."""
    ends = dict(zip(STAGES, ((10, 32), (32, 100), (100, 200)), strict=True))
    for condition in CONDITIONS:
        for stage, steps in ends.items():
            gone = condition == "no-decay" and stage == STAGES[-1]
            for point, step in zip(("start", "end"), steps, strict=True):
                result = {"study": "made", "condition": condition, "stage": stage, "point": point, "of": 3}
                result |= {"step": None if gone else step, "low": None, "high": None, "seeds": 0 if gone else 3}
                yield result | {"reason": NO_FALL if gone else None}


def condition_rows():
    for name, values in CONDITIONS.items():
        like = {"heads": 2, "layer_norm": True, "biases": True, "steps": LAST}
        alike = {"but_decay": str(values["numbers"]), "but_data": values["optimiser"]}
        yield {"study": "made", "condition": name, "nominal_gap": values["mean_gap"]} | like | alike | values


def size_rows():
    """Nothing is known by accuracy at step 0."""
    for condition, seed, step in RUNS:
        for unit in ("half", "head"):
            for criterion, threshold in (("accuracy", 3.0), ("kl", 0.1)):
                size = None if criterion == "accuracy" and not step else min(100.0, 25.0 * (1 + step // 10))
                result = {"unit": unit, "criterion": criterion, "threshold": threshold, "effective_size": size}
                yield named(condition, seed, step) | result | {"reason": None if size else "undefined: too weak"}


def core_rows():
    """Pruning keeps the head that copies."""
    for row in head_rows():
        keeps = 3 if row["head"] == copier(row["seed"]) else 0
        about = {name: row[name] for name in (*named(None, None, None), "head", "copying", "suppression")}
        for half in ("qk", "ov") if row["step"] in (10, LAST) else ():
            yield about | {"half": half, "kept_by": keeps, "of": 3, "core": keeps == 3}


def build():
    rows = {
        "conditions": condition_rows(), "models": model_rows(), "heads": head_rows(), "ablations": ablation_rows(),
        "matrices": matrix_rows(), "distance": distance_rows(), "llc": llc_rows(), "stages": stage_rows(),
        "sizes": size_rows(), "core": core_rows(), "mode_ablations": mode_ablation_rows(),
        "numbers": number_rows(),
    }  # fmt: skip
    return {f"sorting_{name}": make_frame(f"sorting_{name}", list(result)) for name, result in rows.items()}


TABLES = build()

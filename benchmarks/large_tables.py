"""Time and memory of the jobs that make tables from predictions, on a made-up study of any size.

    python benchmarks/large_tables.py /tmp/large --subnetworks 2000 --sets 741 --pairs 50000

Predictions are drawn at random: of subnetworks of one checkpoint, of ablations of one model, and of controls. Then the
workflow's scripts run on them one after another, each in a process of its own: "gather", "effective_size", "spread",
"concatenate" and "ablations", "controls", "claims". One line of JSON each: seconds of its processor, and its peak of
resident memory in GB. The folder takes 1 MB for every subnetwork and set, twice, at 50,000 pairs.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from heuristic_core.experiments.subnetworks.analysis.ablation_sets import AblationSet, compute_ablation_sets
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.tables.schemas import SCHEMAS  # noqa: F401  registers them
from heuristic_core.pruning.subnetwork import Subnetwork
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import write_joined, write_table

ROOT = Path(__file__).parents[1]
RUN = {"study": "large", "model": "m", "task": "t", "ft_seed": 1, "step": 10}
LAYERS, HEADS = 12, 12
GRID = LAYERS * (HEADS + 1)
FAMILIES = ("lexical_overlap", "subsequence", "constituent")
ID_SHARE = 0.2  # of all pairs in the one ID subset, as of MNLI's among HANS's
SUBCASES = 30
SPARSITIES = (0.35, 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to make the study")
    parser.add_argument("--subnetworks", type=int, default=2000)
    parser.add_argument("--sets", type=int, default=741, help="ablations; default: as many as the paper's studies have")
    parser.add_argument("--controls", type=int, default=40)
    parser.add_argument("--pairs", type=int, default=50_000, help="evaluated of every model")
    args = parser.parse_args()
    made = Made(args.folder, args.pairs)
    subnetworks = [made.subnetwork(k) for k in range(args.subnetworks)]
    made.full(), made.controls(args.controls), made.ablations(args.sets)
    for script, arguments in commands(args.folder, len(subnetworks)):
        print(json.dumps({"job": script} | measured(script, arguments)), flush=True)


class Made:
    """Writes the files of a made-up study into `folder`."""

    def __init__(self, folder: Path, pairs: int):
        self._folder, self._pairs, self._draw = folder, pairs, np.random.default_rng(0)
        (folder / "runs").mkdir(parents=True, exist_ok=True)
        of_id = int(ID_SHARE * pairs)
        sizes = [of_id, *(len(part) for part in np.array_split(np.arange(pairs - of_id), SUBCASES))]
        subset = np.repeat(np.arange(len(sizes)), sizes)
        names = np.array(["dev", *(f"subcase_{k:02}" for k in range(SUBCASES))], object)
        groups = np.array(["id", *("ood" if k % 2 else "ood-entailment" for k in range(SUBCASES))], object)
        families = np.array([None, *(FAMILIES[k // 10] for k in range(SUBCASES))], object)
        template = np.array([None, *(f"template {k}" for k in range(SUBCASES))], object)
        self._of_pairs = {"subset": names[subset], "group": groups[subset], "family": families[subset]}
        self._of_pairs |= {"example": np.arange(pairs, dtype=np.int32), "template": template[subset]}
        self._of_pairs["label"] = np.arange(pairs, dtype=np.int32) % 2

    def _write(self, table: str, columns: dict, name: str) -> None:
        """Random predictions, for which `columns` has one value each."""
        logits = self._draw.normal(size=(self._pairs, 3)).astype(np.float32)
        odds = logits[:, 0] - np.logaddexp(logits[:, 1], logits[:, 2])
        scores = {"prediction": logits.argmax(-1).astype(np.int32), "correct": odds > 0, "correct_merged": odds > 0}
        scores |= {"log_odds": odds, "logits": list(logits)}
        fixed = {key: [value] * self._pairs for key, value in (RUN | columns).items()}
        write_table(table, fixed | self._of_pairs | scores, self._folder / name)

    def full(self) -> None:
        self._write("predictions", {"sparsity": 0.0, "seed": None, "repeat": 0}, "full.parquet")

    def subnetwork(self, number: int) -> None:
        """One subnetwork, its predictions and its trace."""
        cell = {"sparsity": SPARSITIES[number % 2], "seed": number // 2, "repeat": 0}
        self._write("predictions", cell, f"runs/{number}.parquet")
        log_alpha = self._draw.normal(size=GRID)
        kept = np.sort(np.argsort(-log_alpha)[: round((1 - cell["sparsity"]) * GRID)])
        identity = Identity(**RUN, **cell)
        alphas = tuple(log_alpha.tolist())
        found = Subnetwork(identity, LAYERS, HEADS, tuple(kept.tolist()), alphas, None, "exact", ())
        found.save(self._folder / f"runs/{number}.json")
        steps = {"kl": 0.1, "lambda_1": 0.0, "lambda_2": 0.0, "log_alpha": 0.0}
        ends = {"sampled_sparsity": cell["sparsity"], "target_sparsity": cell["sparsity"]}
        rows = [RUN | cell | {"prune_step": 10 * k} | steps | ends for k in range(930)]
        write_table("prune_trace", rows, self._folder / f"runs/{number}.trace.parquet")

    def controls(self, count: int) -> None:
        parts = []
        for number in range(count):
            columns = {
                "sparsity": 0.5,
                "seed": number // 2,
                "repeat": 0,
                "control": ("random", "importance")[number % 2],
            }
            self._write("control_predictions", columns, name := f"runs/control{number}.parquet")
            parts.append(self._folder / name)
        write_joined("control_predictions", parts, self._folder / "controls.parquet")

    def ablations(self, count: int) -> None:
        """Nothing, every head alone, and then pairs of heads."""
        singles = min(count - 1, LAYERS * HEADS)
        sets = [AblationSet("none", "none", (), "")]
        sets += [AblationSet(str(k), "core" if k < 9 else "non-core", (k,), str(k // HEADS)) for k in range(singles)]
        others = [(a, b) for a in range(singles) for b in range(a)][: count - 1 - singles]
        sets += [AblationSet(f"{a}+{b}", "set", (a, b), f"{a // HEADS}+{b // HEADS}") for a, b in others]
        parts = []
        for number, one in enumerate(sets):
            columns = {"kind": "mean", "ablation": one.name, "draw": 0}
            self._write("ablation_predictions", columns, name := f"runs/ablation{number}.parquet")
            parts.append(self._folder / name)
        write_joined("ablation_predictions", parts, self._folder / "ablated.parquet")
        write_table(
            "ablation_sets", compute_ablation_sets(sets, ["mean"], Identity(**RUN)), self._folder / "sets.parquet"
        )


def commands(folder: Path, count: int) -> list[tuple[str, list[str]]]:
    """Scripts and their arguments, in the order of the workflow."""

    def each(end: str) -> list[str]:
        return [f"{folder}/runs/{number}.{end}" for number in range(count)]

    def table(name: str) -> str:
        return f"{folder}/{name}.parquet"

    analysis = ["--analysis", "{}"]
    seeds = tuple(range(-(-count // 2)))
    context = Context(mid=SPARSITIES[0], high=SPARSITIES[1], last=10, seeds=seeds, curve_seeds=seeds, checkpoints=(10,))
    about = ["--context", context.model_dump_json()]
    tables = ("predictions", "accuracy", "group_accuracy", "family_scores", "components", "runs")
    written = [part for name in tables for part in (f"--{name.replace('_', '-')}", table(name))]
    gather = ["--full", table("full"), "--subnetworks", *each("json"), "--pruned", *each("parquet")]
    gather += ["--trace-parts", *each("trace.parquet"), "--traces", table("prune_trace"), *written]
    sizes = ["--accuracy", table("accuracy"), "--runs", table("runs"), "--groups", table("group_accuracy")]
    summary = ["--accuracy", table("accuracy"), "--group-accuracy", table("group_accuracy")]
    summary += ["--components", table("components"), "--summary", table("summary"), "--variance", table("variance")]
    joined = ["--name", "ablation_predictions", "--parts", table("ablated"), "--table", table("ablation_predictions")]
    ablated = ["--predictions", table("ablation_predictions"), "--sets", table("sets")]
    ablated += ["--table", table("ablations"), "--triples", table("triples")]
    core = ["--subnetworks", *each("json"), "--core", table("core"), "--core-null", table("core_null")]
    core += ["--stable-core", table("stable_core")]
    controls = ["--predictions", table("controls"), "--learned", *each("parquet")[:100], "--runs", table("runs")]
    controls += ["--table", table("controlled")]
    judged = ["accuracy", "group_accuracy", "components", "runs", "effective_size", "variance", "core", "core_null"]
    claims = ["--tables", *(table(name) for name in [*judged, "ablations"]), "--table", table("claims")]
    claims += ["--claims", str(ROOT / "src/heuristic_core/experiments/subnetworks/claims.yaml")]
    return [
        ("gather", analysis + gather),
        ("effective_size", [*analysis, *about, *sizes, "--table", table("effective_size")]),
        ("spread", about + summary),
        ("core", analysis + about + core),
        ("concatenate", joined),
        ("ablations", analysis + ablated),
        ("controls", analysis + about + controls),
        ("claims", about + claims),
    ]


def measured(script: str, arguments: list[str]) -> dict:
    """Seconds of its processor, and its peak of resident memory, GB, of a script that must succeed."""
    command = [sys.executable, str(ROOT / "workflow/scripts" / f"{script}.py"), *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{script}: {said}")
    seconds = round(usage.ru_utime + usage.ru_stime, 1)
    return {"seconds": seconds, "GB": round(usage.ru_maxrss / 1e6, 2)}


if __name__ == "__main__":
    main()

"""Measure time and memory of the jobs that make tables from predictions, on random predictions of any number.

    python benchmarks/large_tables.py /tmp/large --subnetworks 2000 --sets 741 --pairs 50000

Draws predictions of subnetworks of one checkpoint, of ablations of one model, and of controls. Then runs scripts of the
workflow on them, each in its own process: "gather", "effective_size", "spread", "core", "concatenate", "ablations",
"controls" and "claims". Prints a line of JSON for each: CPU seconds, and peak resident memory in GB. At 50,000 pairs,
the folder takes 2 MB for each subnetwork and each ablation.
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
ID_SHARE = 0.2  # share of pairs in the only ID subset, as of MNLI beside HANS
SUBCASES = 30
SPARSITIES = (0.35, 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the generated study")
    parser.add_argument("--subnetworks", type=int, default=2000)
    parser.add_argument("--sets", type=int, default=741, help="ablations; default: the number of the paper's studies")
    parser.add_argument("--controls", type=int, default=40)
    parser.add_argument("--pairs", type=int, default=50_000, help="evaluation pairs of each model")
    args = parser.parse_args()
    writer = StudyWriter(args.folder, args.pairs)
    for number in range(args.subnetworks):
        writer.write_subnetwork(number)
    writer.write_full_model()
    writer.write_controls(args.controls)
    writer.write_ablations(args.sets)
    for script, arguments in list_commands(args.folder, args.subnetworks):
        print(json.dumps({"job": script} | measure(script, arguments)), flush=True)


class StudyWriter:
    """Writes the files of a study with random predictions into `folder`."""

    def __init__(self, folder: Path, pairs: int):
        self._folder, self._pairs, self._draw = folder, pairs, np.random.default_rng(0)
        (folder / "runs").mkdir(parents=True, exist_ok=True)
        id_pairs = int(ID_SHARE * pairs)
        sizes = [id_pairs, *(len(part) for part in np.array_split(np.arange(pairs - id_pairs), SUBCASES))]
        subset = np.repeat(np.arange(len(sizes)), sizes)
        names = np.array(["dev", *(f"subcase_{k:02}" for k in range(SUBCASES))], object)
        groups = np.array(["id", *("ood" if k % 2 else "ood-entailment" for k in range(SUBCASES))], object)
        families = np.array([None, *(FAMILIES[k // 10] for k in range(SUBCASES))], object)
        template = np.array([None, *(f"template {k}" for k in range(SUBCASES))], object)
        self._pair_columns = {"subset": names[subset], "group": groups[subset], "family": families[subset]}
        self._pair_columns |= {"example": np.arange(pairs, dtype=np.int32), "template": template[subset]}
        self._pair_columns["label"] = np.arange(pairs, dtype=np.int32) % 2

    def _write(self, table: str, columns: dict, name: str) -> None:
        """Write random predictions; `columns` has the values of the constant columns."""
        logits = self._draw.normal(size=(self._pairs, 3)).astype(np.float32)
        odds = logits[:, 0] - np.logaddexp(logits[:, 1], logits[:, 2])
        scores = {"prediction": logits.argmax(-1).astype(np.int32), "correct": odds > 0, "correct_merged": odds > 0}
        scores |= {"log_odds": odds, "logits": list(logits)}
        fixed = {key: [value] * self._pairs for key, value in (RUN | columns).items()}
        write_table(table, fixed | self._pair_columns | scores, self._folder / name)

    def write_full_model(self) -> None:
        self._write("predictions", {"sparsity": 0.0, "seed": None, "repeat": 0}, "full.parquet")

    def write_subnetwork(self, number: int) -> None:
        """Write a subnetwork, its predictions and its trace."""
        cell = {"sparsity": SPARSITIES[number % 2], "seed": number // 2, "repeat": 0}
        self._write("predictions", cell, f"runs/{number}.parquet")
        log_alpha = self._draw.normal(size=GRID)
        kept = np.sort(np.argsort(-log_alpha)[: round((1 - cell["sparsity"]) * GRID)])
        identity = Identity(**RUN, **cell)
        alphas = tuple(log_alpha.tolist())
        pruned = Subnetwork(identity, LAYERS, HEADS, tuple(kept.tolist()), alphas, None, "exact", ())
        pruned.save(self._folder / f"runs/{number}.json")
        steps = {"kl": 0.1, "lambda_1": 0.0, "lambda_2": 0.0, "log_alpha": 0.0}
        ends = {"sampled_sparsity": cell["sparsity"], "target_sparsity": cell["sparsity"]}
        rows = [RUN | cell | {"prune_step": 10 * k} | steps | ends for k in range(930)]
        write_table("prune_trace", rows, self._folder / f"runs/{number}.trace.parquet")

    def write_controls(self, count: int) -> None:
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

    def write_ablations(self, count: int) -> None:
        """Write ablations of no head, of each head, and then of pairs of heads."""
        singles = min(count - 1, LAYERS * HEADS)
        sets = [AblationSet("none", "none", (), "")]
        sets += [AblationSet(str(k), "core" if k < 9 else "non-core", (k,), str(k // HEADS)) for k in range(singles)]
        others = [(a, b) for a in range(singles) for b in range(a)][: count - 1 - singles]
        sets += [AblationSet(f"{a}+{b}", "set", (a, b), f"{a // HEADS}+{b // HEADS}") for a, b in others]
        parts = []
        for number, ablation_set in enumerate(sets):
            columns = {"kind": "mean", "ablation": ablation_set.name, "draw": 0}
            self._write("ablation_predictions", columns, name := f"runs/ablation{number}.parquet")
            parts.append(self._folder / name)
        write_joined("ablation_predictions", parts, self._folder / "ablated.parquet")
        write_table(
            "ablation_sets", compute_ablation_sets(sets, ["mean"], Identity(**RUN)), self._folder / "sets.parquet"
        )


def list_commands(folder: Path, count: int) -> list[tuple[str, list[str]]]:
    """Return scripts and their arguments in the order of the workflow."""

    def list_paths(end: str) -> list[str]:
        return [f"{folder}/runs/{number}.{end}" for number in range(count)]

    def table_path(name: str) -> str:
        return f"{folder}/{name}.parquet"

    analysis = ["--analysis", "{}"]
    seeds = tuple(range(-(-count // 2)))
    context = Context(mid=SPARSITIES[0], high=SPARSITIES[1], last=10, seeds=seeds, curve_seeds=seeds, checkpoints=(10,))
    context_options = ["--context", context.model_dump_json()]
    tables = ("predictions", "accuracy", "group_accuracy", "family_scores", "components", "runs")
    written = [part for name in tables for part in (f"--{name.replace('_', '-')}", table_path(name))]
    gather = ["--full", table_path("full"), "--subnetworks", *list_paths("json"), "--pruned", *list_paths("parquet")]
    gather += ["--trace-parts", *list_paths("trace.parquet"), "--traces", table_path("prune_trace"), *written]
    sizes = [
        "--accuracy",
        table_path("accuracy"),
        "--runs",
        table_path("runs"),
        "--groups",
        table_path("group_accuracy"),
    ]
    summary = ["--accuracy", table_path("accuracy"), "--group-accuracy", table_path("group_accuracy")]
    summary += [
        "--components",
        table_path("components"),
        "--summary",
        table_path("summary"),
        "--variance",
        table_path("variance"),
    ]
    joined = [
        "--name",
        "ablation_predictions",
        "--parts",
        table_path("ablated"),
        "--table",
        table_path("ablation_predictions"),
    ]
    ablated = ["--predictions", table_path("ablation_predictions"), "--sets", table_path("sets")]
    ablated += ["--table", table_path("ablations"), "--triples", table_path("triples")]
    core = ["--subnetworks", *list_paths("json"), "--core", table_path("core"), "--core-null", table_path("core_null")]
    core += ["--stable-core", table_path("stable_core")]
    controls = [
        "--predictions",
        table_path("controls"),
        "--learned",
        *list_paths("parquet")[:100],
        "--runs",
        table_path("runs"),
    ]
    controls += ["--table", table_path("controlled")]
    claim_tables = [
        "accuracy",
        "group_accuracy",
        "components",
        "runs",
        "effective_size",
        "variance",
        "core",
        "core_null",
    ]
    claims = ["--tables", *(table_path(name) for name in [*claim_tables, "ablations"]), "--table", table_path("claims")]
    claims += ["--claims", str(ROOT / "src/heuristic_core/experiments/subnetworks/claims.yaml")]
    return [
        ("gather", analysis + gather),
        ("effective_size", [*analysis, *context_options, *sizes, "--table", table_path("effective_size")]),
        ("spread", context_options + summary),
        ("core", analysis + context_options + core),
        ("concatenate", joined),
        ("ablations", analysis + ablated),
        ("controls", analysis + context_options + controls),
        ("claims", context_options + claims),
    ]


def measure(script: str, arguments: list[str]) -> dict:
    """Run a script; return its CPU seconds and its peak resident memory in GB. End the program if it fails."""
    command = [sys.executable, str(ROOT / "workflow/scripts" / f"{script}.py"), *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{script}: {errors}")
    seconds = round(usage.ru_utime + usage.ru_stime, 1)
    return {"seconds": seconds, "GB": round(usage.ru_maxrss / 1e6, 2)}


if __name__ == "__main__":
    main()

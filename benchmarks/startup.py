"""Measure the start of processes: one pruning and one evaluation job as a new process and as a fork.

    python benchmarks/startup.py results/miniature/mini-bert/pairs --config config.yaml

Reads the run folder of a finished study and writes to a temporary one. Prints for each script the median wall time of a
new process, of a fork of the fork server, and of the work alone (the same call inside this process), and the share of
the start, which is more reliable than times on a shared machine because the three ways alternate in one run.
"""

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import print_report, time_interleaved

ROOT = Path(__file__).parent.parent
FORK = [sys.executable, "-IS", str(ROOT / "workflow/fork_server/run.py"), "benchmark"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="folder <results>/<study>/<model>/<task>")
    parser.add_argument("--config", required=True, help="the study's configuration")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        jobs = list_jobs(args.runs, args.config, Path(out))
        print_report(({"script": name} | measure(name, job, args.repeats) for name, job in jobs.items()), args.out)


def list_jobs(runs: Path, config: str, out: Path) -> dict[str, list[str]]:
    """Return the arguments of a pruning and of an evaluation job of the study's first cell."""
    cell = sorted(runs.glob("ft*/step*/s*/seed*"))[0]
    step = cell.parent.parent
    identity = json.loads((cell / "subnetwork.json").read_text())["identity"]
    names = {"study": "study", "model": "model-name", "task": "task-name", "ft_seed": "ft-seed"}
    names |= {"sparsity": "sparsities", "seed": "seeds"}
    run = [part for key, value in identity.items() for part in (f"--{names.get(key, key)}", str(value))]
    model = ["--checkpoint", f"{step}/checkpoint", "--means", f"{step}/means.safetensors", "--log", f"{out}/log"]
    data = runs / "data" / "encoded"
    prune = ["--prune", config, *run, *model, "--train", f"{data}/train.safetensors"]
    prune += [
        "--logits",
        f"{step}/logits.safetensors",
        "--subnetworks",
        f"{out}/s.json",
        "--traces",
        f"{out}/t.parquet",
    ]
    evaluate = [*model, "--evaluation", f"{data}/evaluation.safetensors", "--subnetworks", f"{cell}/subnetwork.json"]
    return {"prune": prune, "evaluate": [*evaluate, "--predictions", f"{out}/p.parquet"]}


def measure(name: str, arguments: list[str], repeats: int) -> dict[str, float]:
    """Return the median wall seconds of the three ways, and the share of the start in the first two."""
    script = ROOT / "workflow/scripts" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(script.stem, script)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    ways = {
        "fresh": lambda turn: subprocess.run([sys.executable, str(script), *arguments], check=True),
        "fork": lambda turn: subprocess.run([*FORK, str(script), *arguments], check=True),
        "work": lambda turn: module.main(arguments),
    }
    times = time_interleaved(ways, repeats)  # the first turn warms caches and the server, too
    median = {way: statistics.median(values) for way, values in times.items()}
    shares = {f"start-up share, {way}": max(0.0, 1 - median["work"] / median[way]) for way in ("fresh", "fork")}
    return {key: round(value, 3) for key, value in (median | shares).items()}


if __name__ == "__main__":
    main()

"""Timing of several ways in turns, and reports of what was measured."""

import json
import os
import platform
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Event

import torch
from transformers import __version__ as transformers_version

INTERRUPTED = Event()  # set by time_interleaved


def time_interleaved(
    ways: dict[str, Callable[[int], object]], turns: int, after_first: Callable[[], object] = lambda: None
) -> dict[str, list[float]]:
    """Time every way once per turn, in seconds, and print each time; the first turn warms up and is not counted.

    If it is interrupted, it returns the complete turns.
    """
    times = {name: [] for name in ways}
    try:
        for turn in range(turns + 1):
            for name, run in ways.items():
                start = time.perf_counter()
                run(turn)
                seconds = time.perf_counter() - start
                print(f"{f'turn {turn} of {turns}' if turn else 'warm-up'}: {name} {seconds:.4g} s", flush=True)
                times[name] += [seconds] if turn else []
            if not turn:
                after_first()
    except KeyboardInterrupt:
        complete = min(map(len, times.values()))
        if not complete:
            raise
        INTERRUPTED.set()
        times = {name: values[:complete] for name, values in times.items()}
    return times


def median_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """Return the median of the ratios of each turn, which a temporary slowdown of the machine hardly changes."""
    return round(statistics.median(a / b for a, b in zip(above, below, strict=True)), 3)


def describe_machine() -> dict:
    """Describe the processor and the versions of libraries."""
    names = [line.split(":")[1].strip() for line in _read_lines("/proc/cpuinfo") if line.startswith("model name")]
    processor = f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"
    versions = {"torch": torch.__version__, "transformers": transformers_version}
    capability = torch.backends.cpu.get_cpu_capability()
    return {"cpu": processor, "vectors": capability, "threads": torch.get_num_threads(), **versions}


def print_report(results: Iterable[dict], out: Path | None) -> None:
    """Write each result to a JSON file as soon as it is measured; print a table with one column per result at the end.

    If it is interrupted (SIGINT, SIGTERM), it prints what was measured and ends with status 130.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    document = {"machine": describe_machine(), "results": []}
    try:
        for result in results:
            document["results"].append(result)
            if out:
                out.write_text(json.dumps(document, indent=1) + "\n")
            if INTERRUPTED.is_set():
                break
    except KeyboardInterrupt:
        INTERRUPTED.set()
    flat = [_flatten(result) for result in document["results"]]
    print("\n" + ", ".join(f"{key}: {value}" for key, value in document["machine"].items()) + "\n")
    for key in dict.fromkeys(key for row in flat for key in row):
        print(f"{key:<34}" + "".join(f"{_format_cell(row.get(key, '')):>18}" for row in flat))
    if INTERRUPTED.is_set():
        sys.exit(130)


def _read_lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).is_file() else []


def _flatten(result: dict) -> dict:
    flat = {}
    for key, value in result.items():
        flat |= {f"{key}, {k}": v for k, v in value.items()} if isinstance(value, dict) else {key: value}
    return flat


def _format_cell(value) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)

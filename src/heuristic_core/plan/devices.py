"""Devices and the time that work takes on them. devices.yaml has the throughputs and their sources."""

import math
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple

import yaml
from pydantic import Field, PositiveInt

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import Block, Positive, Precision, PrecisionSetting, Share
from heuristic_core.plan.shapes import Shape

PASSES = {"finetune": 3, "prune": 2, "evaluate": 1}  # cost of a pass, with its backward pass, in forward passes
# Setting `device` -> device: of a plan, the GPU on which most was measured; of requests, the slowest, the paper's.
DEFAULT_DEVICES = {"cpu": "cpu", "cuda": "h100"}
REQUEST_DEVICES = {"cpu": "cpu", "cuda": "a5000"}
Engine = Literal["finetune", "prune", "evaluate"]


class Work(NamedTuple):
    """Work of all jobs of one kind, over all fine-tuning seeds. Pre-training counts once.

    Attributes:
        name: Kind of work, as the plan prints it.
        rules: Rules of the jobs.
        engine: Key of `PASSES`.
        repeats: Number of training steps, or of evaluated models.
        pairs: Number of pairs that pass through the model, counted at every pass.
        tokens: Their number of tokens.
        flops: Floating-point operations.
        execution: How a pass is executed, as setting ``prune.engine``.
    """

    name: str
    rules: tuple[str, ...]
    engine: str
    repeats: int
    pairs: int
    tokens: float
    flops: float
    execution: str = "eager"


class Throughput(Block):
    """Measured time of a piece of work. devices.yaml explains the fields."""

    shape: Shape
    engine: Engine
    precision: Precision = "float32"
    execution: str = "eager"
    pairs: PositiveInt
    tokens: Positive
    kept: Share = 1.0
    seconds: Positive
    kind: Literal["measured", "published"]
    source: str

    @property
    def rate(self) -> float:
        """Floating-point operations per second."""
        flops = self.pairs * self.tokens * self.shape.flops_per_token(self.tokens) * PASSES[self.engine] * self.kept
        return flops / self.seconds


class Device(Block):
    """A device.

    Attributes:
        unit: Unit of its hours: hours of a core, or of a GPU.
        about: Its name in the plan.
        memory: Memory in GB.
        peak: TFLOP/s by precision, of a GPU: scales the throughputs of others.
        throughputs: Measured or published times.
    """

    unit: Literal["core", "GPU"]
    about: str
    memory: Positive | None = None
    peak: dict[Precision, Positive] = Field({})
    throughputs: list[Throughput] = Field([])


class Devices(Block):
    """Contents of devices.yaml."""

    shapes: dict[str, Shape]
    devices: dict[str, Device]


class Hours(NamedTuple):
    """Estimated time of a piece of work.

    Attributes:
        hours: Hours of one core or GPU.
        kind: "measured", "published", or "scaled from" another GPU; "estimate" if from another kind of work.
        basis: Throughput from which the hours are computed.
    """

    hours: float
    kind: str
    basis: str


@cache
def _load_devices() -> Devices:
    text = resources.files("heuristic_core.plan").joinpath("devices.yaml").read_text()
    return Devices.model_validate(yaml.safe_load(text))


def get_device(name: str) -> Device:
    """Return a device.

    Raises:
        InputError: If the name is unknown; the message lists the known names.
    """
    if name not in (devices := _load_devices().devices):
        raise InputError(f"DEVICE = {name!r}: unknown device; choose from {', '.join(devices)} (plan/devices.yaml)")
    return devices[name]


def list_gpus() -> dict[str, Device]:
    """Return the GPUs by name."""
    return {name: device for name, device in _load_devices().devices.items() if device.unit == "GPU"}


def estimate_hours(work: Work, shape: Shape, device: Device, setting: PrecisionSetting) -> Hours:
    """Estimate the time of work on a device that runs one job at a time.

    Args:
        work: The work.
        shape: Shape of the model.
        device: The device, from :func:`get_device`.
        setting: Precision. With "auto", a GPU is assumed to support bfloat16 and a core is not.

    Returns:
        Hours by the nearest throughput: the device's own, or another GPU's times the ratio of the peaks.
    """
    precision = setting if setting != "auto" else "bfloat16" if device.unit == "GPU" else "float32"

    def differences(throughput: Throughput) -> tuple[float, bool, bool, bool]:
        return (
            _distance(throughput.shape, shape),
            throughput.precision != precision,
            throughput.engine != work.engine,
            throughput.execution != work.execution,
        )

    candidates = [
        ((*differences(throughput), source is not device, throughput.kind != "measured"), name, throughput)
        for name, source in _load_devices().devices.items()
        if source.unit == device.unit
        for throughput in source.throughputs
    ]
    (distance, *others, foreign, _), name, nearest = min(candidates, key=lambda candidate: candidate[0])
    scale = device.peak[nearest.precision] / get_device(name).peak[nearest.precision] if foreign else 1.0
    origin = f"scaled from {name.upper()}" if foreign else nearest.kind
    other_work = distance > math.log(1.05) or any(others)
    kind = origin if not other_work else f"estimate {origin}" if foreign else "estimate"
    execution = "" if nearest.execution == "eager" else f", {nearest.execution}"
    known = "" if nearest.kind == kind else f" ({nearest.kind})"
    basis = f"{nearest.source}, {nearest.engine}, {nearest.precision}{execution}{known}"
    return Hours(work.flops / (scale * nearest.rate) / 3600, kind, basis)


def _distance(first: Shape, second: Shape) -> float:
    """Return the absolute log ratio of the costs of two models."""
    return abs(math.log(first.flops_per_token(0) / second.flops_per_token(0)))

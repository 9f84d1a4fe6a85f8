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
DEFAULT_DEVICES = {"cpu": "cpu", "cuda": "a5000"}  # setting `device` -> device; the GPU is the paper's
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
        peak: TFLOP/s by precision, for a device without throughputs.
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
    share: Share
    devices: dict[str, Device]


class Hours(NamedTuple):
    """Estimated time of a piece of work.

    Attributes:
        hours: Hours of one core or GPU.
        kind: "measured", "published" or "estimate".
        basis: Throughput or peak from which the hours are computed.
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


def estimate_hours(work: Work, shape: Shape, device: Device, setting: PrecisionSetting) -> Hours:
    """Estimate the time of work on a device that runs one job at a time.

    Args:
        work: The work.
        shape: Shape of the model.
        device: The device.
        setting: Precision. With "auto", a GPU is assumed to support bfloat16 and a core is not.
    """
    precision = setting if setting != "auto" else "bfloat16" if device.unit == "GPU" else "float32"
    if not device.throughputs:
        share = _load_devices().share
        rate = share * device.peak[precision] * 1e12
        return Hours(work.flops / rate / 3600, "estimate", f"{share:.0%} of the peak, {precision}")

    def rank(throughput: Throughput) -> tuple[float, bool, bool, bool]:
        differences = throughput.engine != work.engine, throughput.precision != precision
        return _distance(throughput.shape, shape), *differences, throughput.execution != work.execution

    nearest = min(device.throughputs, key=rank)
    distance, *differences = rank(nearest)
    kind = "estimate" if distance > math.log(1.05) or any(differences) else nearest.kind
    execution = "" if nearest.execution == "eager" else f", {nearest.execution}"
    basis = f"{nearest.source}, {nearest.engine}, {nearest.precision}{execution} ({nearest.kind})"
    return Hours(work.flops / nearest.rate / 3600, kind, basis)


def _distance(first: Shape, second: Shape) -> float:
    """Return the absolute log ratio of the costs of two models."""
    return abs(math.log(first.flops_per_token(0) / second.flops_per_token(0)))

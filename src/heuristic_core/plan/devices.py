"""Devices, and how long work takes on them; devices.yaml has the numbers and where they come from."""

import math
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple

import yaml
from pydantic import Field, PositiveInt

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import Block, Positive, Precision, PrecisionSetting, Share
from heuristic_core.plan.shapes import Shape

PASSES = {"finetune": 3, "prune": 2, "evaluate": 1}  # forward passes that one with its backward pass costs
DEFAULT_DEVICES = {
    "cpu": "cpu",
    "cuda": "a5000",
}  # the device of a study's setting `device`: for a GPU, the paper's
Engine = Literal["finetune", "prune", "evaluate"]


class Work(NamedTuple):
    """What all jobs of one kind compute, over all fine-tuning seeds; pre-training once for all of them.

    rules: those whose jobs do it. engine: key of `PASSES`. times: training steps, or evaluated models. pairs, tokens:
    that pass through, each time they do. flops: floating-point operations.
    """

    name: str
    rules: tuple[str, ...]
    engine: str
    repeats: int
    pairs: int
    tokens: float
    flops: float


class Throughput(Block):
    """A piece of work that was timed; devices.yaml explains the fields."""

    shape: Shape
    engine: Engine
    precision: Precision = "float32"
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
    """unit: what its hours are hours of. peak: TFLOP/s by precision, for a device without throughputs."""

    unit: Literal["core", "GPU"]
    about: str
    memory: Positive | None = None
    peak: dict[Precision, Positive] = Field({})
    throughputs: list[Throughput] = Field([])


class Devices(Block):
    """The contents of devices.yaml."""

    shapes: dict[str, Shape]
    share: Share
    devices: dict[str, Device]


class Hours(NamedTuple):
    """kind: measured, published or estimate. basis: what the number was taken or computed from."""

    hours: float
    kind: str
    basis: str


@cache
def _table() -> Devices:
    text = resources.files("heuristic_core.plan").joinpath("devices.yaml").read_text()
    return Devices.model_validate(yaml.safe_load(text))


def get_device(name: str) -> Device:
    """The device of that name. Raises InputError that lists those there are."""
    if name not in (devices := _table().devices):
        raise InputError(f"DEVICE = {name!r}: unknown device; choose from {', '.join(devices)} (plan/devices.yaml)")
    return devices[name]


def estimate_hours(work: Work, shape: Shape, device: Device, setting: PrecisionSetting) -> Hours:
    """How long `work` takes on a device of which one job at a time is run: hours of one core or GPU.

    With "auto" a GPU is taken for one that multiplies in bfloat16, and a core for one that does not: more hours.
    """
    precision = setting if setting != "auto" else "bfloat16" if device.unit == "GPU" else "float32"
    if not device.throughputs:
        rate = _table().share * device.peak[precision] * 1e12
        return Hours(work.flops / rate / 3600, "estimate", f"{_table().share:.0%} of the peak, {precision}")

    def rank(throughput: Throughput) -> tuple[float, bool, bool]:
        return _distance(throughput.shape, shape), throughput.engine != work.engine, throughput.precision != precision

    nearest = min(device.throughputs, key=rank)
    distance, *differences = rank(nearest)
    kind = "estimate" if distance > math.log(1.05) or any(differences) else nearest.kind
    basis = f"{nearest.source}, {nearest.engine}, {nearest.precision} ({nearest.kind})"
    return Hours(work.flops / nearest.rate / 3600, kind, basis)


def _distance(first: Shape, second: Shape) -> float:
    """How far apart two models are in cost, on a logarithmic scale."""
    return abs(math.log(first.flops_per_token(0) / second.flops_per_token(0)))

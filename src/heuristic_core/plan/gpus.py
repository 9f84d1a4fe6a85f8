"""Hours of a study on each known GPU, side by side."""

from collections import Counter
from collections.abc import Callable, Iterable

from heuristic_core.plan.devices import DEFAULT_DEVICES, Device, Hours, list_gpus
from heuristic_core.plan.text import format_estimate


def compare_gpus(estimate: Callable[[Device], Iterable[Hours]]) -> dict[str, dict[str, float]]:
    """Return the hours of all work on each GPU.

    Args:
        estimate: Returns the hours of each piece of work on a device.

    Returns:
        GPU -> kind of estimate -> hours, the most first; the fastest GPU first.
    """
    gpus = {}
    for name, device in list_gpus().items():
        kinds = Counter()
        for took in estimate(device):
            kinds[took.kind] += took.hours
        gpus[name] = dict(kinds.most_common())
    return dict(sorted(gpus.items(), key=lambda item: sum(item[1].values())))


def describe_gpus(estimate: Callable[[Device], Iterable[Hours]]) -> str:
    """Return one line with the hours of all work on each GPU and what they rest on.

    Args:
        estimate: See :func:`compare_gpus`.

    Returns:
        GPUs as in :func:`compare_gpus`, with shares of kinds of at least half a percent.
    """
    parts = []
    for name, kinds in compare_gpus(estimate).items():
        total = sum(kinds.values())
        shares = {kind: f"{hours / total:.0%}" for kind, hours in kinds.items() if hours >= 0.005 * total}
        basis = ", ".join(f"{share} {kind}" if len(shares) > 1 else kind for kind, share in shares.items())
        default = "; default" if name == DEFAULT_DEVICES["cuda"] else ""
        parts.append(f"{name} {format_estimate(total)} ({basis}{default})")
    return f"GPU hours in all: {', '.join(parts)}."

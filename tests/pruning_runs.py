"""Settings of short pruning runs, and how tests start and kill them."""

from heuristic_core.config.pruning import Prune
from heuristic_core.pruning.learner import PruningRun
from heuristic_core.pruning.prune import prune

SETTINGS = Prune(
    rise=140,
    hold=60,
    batch_size=8,
    log_alpha_mean=2.0,
    learning_rate=0.2,
    controller_learning_rate=0.1,
    weight_decay=0.01,
    controller_weight_decay=0.01,
    warmup_steps=10,
    decay="from-start",
    examples=60,
    mean_examples=60,
)
SHORT = SETTINGS.model_copy(update={"rise": 14, "hold": 6})


def prune_run(inputs, sparsity, seed, settings, **options):
    (result,) = prune(inputs, [PruningRun(sparsity, seed)], settings, **options)
    return result


class Killed(Exception):
    pass

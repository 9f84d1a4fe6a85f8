"""Subnetworks as ordinary Hugging Face checkpoints."""

from pathlib import Path

from heuristic_core.common.roles import Input, Output
from heuristic_core.models.ablation import ComponentMeans, zero_means
from heuristic_core.models.hugging_face import load_classifier, load_tokenizer
from heuristic_core.models.implementation import wrap_model
from heuristic_core.models.shrink import zero_components
from heuristic_core.pruning.subnetwork import Subnetwork


def write_checkpoint(checkpoint: Input, means: Input, subnetwork: Input, folder: Output, zero: bool = False) -> None:
    """Write a subnetwork as an ordinary Hugging Face checkpoint, which loads without this project.

    The checkpoint has the model's shape, as configurations have one number of heads for all layers. Removed components
    are multiplied by zero, and their means are added to a bias.

    Args:
        checkpoint: Folder of the fine-tuned model.
        means: Component means.
        subnetwork: The subnetwork (JSON).
        folder: Where to write the checkpoint.
        zero: Whether the output of removed components is zero instead of their mean.

    Raises:
        InputError: The architecture has no bias that could hold the means.
    """
    model = load_classifier(checkpoint).eval()
    view = wrap_model(model)
    constants = zero_means(view) if zero else ComponentMeans.load(Path(means))
    removed = Subnetwork.load(Path(subnetwork)).list_removed(view.grid)
    zero_components(model, removed, constants.heads, constants.mlps).save_pretrained(folder)
    load_tokenizer(checkpoint).save_pretrained(folder)

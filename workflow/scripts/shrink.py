"""Write a subnetwork as an ordinary Hugging Face checkpoint, which loads without this project.

It keeps the model's shape: configurations have one number of heads for all layers. What the subnetwork lacks is
multiplied by zero there, and its mean (with --zero: nothing) is in a bias. Architectures without such a bias are
refused.
"""

from heuristic_core.jobs.arguments import Arguments
from heuristic_core.models.ablation import ComponentMeans, zeros
from heuristic_core.models.hugging_face import load_classifier, load_tokenizer
from heuristic_core.models.implementation import view_of
from heuristic_core.models.shrink import ordinary
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.subnetwork import Subnetwork


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.reads(
        checkpoint="folder of the fine-tuned model",
        means="component means",
        subnetwork="the subnetwork (JSON)",
    )
    parser.writes(folder="where to write the checkpoint")
    parser.add_argument("--zero", action="store_true", help="removed components put out zero instead of their mean")
    args = parser.read(arguments)
    model = load_classifier(args.checkpoint).eval()
    reference = zeros(view_of(model)) if args.zero else ComponentMeans.load(args.means)
    removed = Subnetwork.load(args.subnetwork).removed_from(view_of(model).grid)
    ordinary(model, removed, reference.heads, reference.mlps).save_pretrained(args.folder)
    load_tokenizer(args.checkpoint).save_pretrained(args.folder)


if __name__ == "__main__":
    recorded(main)

"""Shares of attention by kind of attended token, for every head of a fine-tuned model, over in-domain pairs."""

import torch

from heuristic_core.arguments import Arguments, identity
from heuristic_core.attention import KINDS, attention_shares
from heuristic_core.config.analysis import Analysis
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.load import load_model
from heuristic_core.tables import write_table
from heuristic_core.tasks.encoded import Encoded
from heuristic_core.threads import use_threads


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step")
    parser.files(
        checkpoint="folder of the fine-tuned model",
        evaluation="encoded evaluation pairs",
        shares="where to write shares (Parquet)",
    )
    parser.device()
    args = parser.read(arguments)
    use_threads(1)
    model, evaluation = load_model(args.checkpoint, args.device), Encoded.load(args.evaluation)
    in_domain = evaluation.group("id")
    special = [torch.from_numpy(mark).bool() for mark in in_domain.split(in_domain.special)]
    count = min(args.analysis.attention_pairs, len(in_domain))
    shares = attention_shares(model, PairTensors(in_domain, model.pad, model.device), special, count)
    run = {name: getattr(identity(args), name) for name in ("study", "model", "task", "ft_seed", "step")}
    rows = [
        {
            **run,
            "component": head.index,
            "name": head.name,
            "kind": head.kind,
            "layer": head.layer,
            "head": head.head,
            "category": kind,
            "share": float(shares[head.layer, head.head, k]),
            "n": count,
        }
        for head in model.grid
        if head.kind == "head"
        for k, kind in enumerate(KINDS)
    ]
    write_table("attention", rows, args.shares)


if __name__ == "__main__":
    main()

"""Texts and units of the configuration reference: see :mod:`heuristic_core.config.reference`."""

from heuristic_core.config.reference import ReferencePage
from heuristic_core.experiments.subnetworks.config.study import Study

HEAD = """# Configuration reference

This page is written by `make docs` from the pydantic models of the experiment and of the library. Do not edit it.
[List sorting](configuration-list-sorting.md) and [extractive structures](configuration-extractive-structures.md) have
pages of their own.

A study is one YAML file. An unknown key or an impossible value stops a run before its first job, with one message that
names file, key, value and remedy. `required` means that the key has no default. *none* means that nothing is set.
Shares are numbers from 0 to 1.

Instead of a study, a file may hold the key `studies`: a list of configuration files, relative to this file. One run
then makes all of these studies. `config/paper.yaml` is an example. Beside it may stand `sweep`, a figure of what the
core costs against settings in which the studies differ (`config/dose.yaml`), or `replicates`, a table of how many
training seeds each claim holds on, over studies that differ in their pre-trained model alone
(`config/replicates.yaml`).

Later files of `--configfile A B` override earlier files key by key, also within blocks.
"""
UNITS = {
    "steps": "evaluate_every measure_every checkpoint checkpoints",
    "pairs": "batch_size examples mean_examples held_out id_pairs pairs_per_subcase train_pairs pairs ablation_pairs "
    "control_pairs importance_pairs attention_pairs",
    "tokens": "positions max_length pass_tokens",
    "share": "counter_examples sparsities mid high recovery agreement related chosen replaced kept Finetune.dropout "
    "label_smoothing thresholds added_modifiers shared_modifiers foreign_premises planted_words",
    "points": "margin margins",
    "inches": "width height",
    "sets": "control_draws pair_control_draws control_sets packing_controls random_sets random_senders",
    "threads": "threads",
    "layers": "layers",
    "heads": "heads",
    "seeds": "together",
    "nats": "kl",
    "resamples": "bootstrap",
    "draws": "resample_draws",
    "permutations": "permutations",
    "subnetworks": "Masks.count",
    "times uniform": "overlap_times_uniform",
    "": "curve_seeds repeats clip_norm std embedding_scale query_key_scale counter_example_weights hidden feed_forward "
    "where",
}
MEANINGS = {
    "model": "what fine-tuning starts from: `source` chooses one of the two blocks below",
    "task": "where sentence pairs come from: `source` chooses one of the two blocks below",
    "name": "name, part of the paths of results",
    "format": "format of the file",
    "batch_size": "pairs in a step",
    "width": "width of the picture",
    "height": "height of the picture",
    "Finetune.dropout": "dropout rate",
    "evaluation": "test sets by name; see below",
    "layers": "number of layers",
    "std": "standard deviation of weights",
    "learning_rate": "of AdamW at the end of warm-up",
    "warmup_steps": "steps over which the learning rate rises from 0",
    "label_smoothing": "share of each label's weight that is spread over all labels",
    "train_pairs": "training pairs to draw",
    "mid": "the lower of the two sparsities of the spread",
    "high": "the higher of the two",
    "curve_seeds": "pruning seeds of curves and of effective size",
    "Counterpart.model": "the paper's model",
    "Counterpart.task": "the paper's task",
    "Early.checkpoint": "the step of the early checkpoint",
    "Finetune.seeds": "fine-tuning seeds: each is a model of its own",
    "GeneratedTask.seed": "of the drawn pairs",
    "Grid.checkpoints": "steps whose subnetworks give effective size; the last is the last kept one",
}
TITLES = {
    "task.train": ("An entry of `task.train`", "task.train.<number>"),
    "task.evaluation": ("An entry of `task.evaluation`", "task.evaluation.<name>"),
}
REFERENCE = ReferencePage("configuration.md", HEAD, Study, UNITS, MEANINGS, TITLES)

"""A tiny randomly initialised classifier of every family, as configurations of Hugging Face's classes."""

SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
BERT = SIZES | {"vocab_size": 50, "max_position_embeddings": 24, "initializer_range": 0.3}
LLAMA = BERT | {"num_key_value_heads": 2, "pad_token_id": 0}
GPT2 = {"vocab_size": 50, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 24}
GPT2 |= {"pad_token_id": 0, "initializer_range": 0.3}

# Name of the case -> (model_type, settings of its configuration). Decoders have 0 as their padding token.
CASES = {
    "bert": ("bert", BERT),
    "bert-relu": ("bert", BERT | {"hidden_act": "relu"}),
    "roberta": ("roberta", BERT | {"pad_token_id": 0, "type_vocab_size": 1}),
    "distilbert": (
        "distilbert",
        {
            "vocab_size": 50,
            "dim": 32,
            "n_layers": 3,
            "n_heads": 4,
            "hidden_dim": 48,
            "max_position_embeddings": 24,
            "initializer_range": 0.3,
        },
    ),
    "electra": ("electra", BERT | {"embedding_size": 16}),
    "electra-wide": ("electra", BERT | {"embedding_size": 32}),
    "albert": ("albert", BERT | {"embedding_size": 16}),
    "albert-groups": ("albert", BERT | {"embedding_size": 16, "num_hidden_layers": 4, "num_hidden_groups": 2}),
    "deberta-v2": (
        "deberta-v2",
        BERT
        | {
            "relative_attention": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_buckets": 8,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": False,
        },
    ),
    "deberta-v3": (
        "deberta-v2",
        BERT
        | {
            "relative_attention": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_buckets": 8,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "type_vocab_size": 0,
            "position_biased_input": False,
        },
    ),
    "modernbert": (
        "modernbert",
        SIZES
        | {
            "vocab_size": 50,
            "max_position_embeddings": 24,
            "initializer_range": 0.3,
            "initializer_cutoff_factor": 2.0,
            "pad_token_id": 0,
            "global_attn_every_n_layers": 2,
            "local_attention": 6,
        },
    ),
    "gpt2": ("gpt2", GPT2 | {"n_inner": 48}),
    "gpt2-scaled": ("gpt2", GPT2 | {"scale_attn_by_inverse_layer_idx": True}),  # only the hooked model knows this
    "gpt_neox": ("gpt_neox", BERT | {"pad_token_id": 0, "rotary_pct": 0.5}),
    "gpt_neox-sequential": ("gpt_neox", BERT | {"pad_token_id": 0, "use_parallel_residual": False}),
    "olmo": ("olmo", LLAMA | {"num_key_value_heads": 4}),
    "llama": ("llama", LLAMA),
    "llama-wide-heads": ("llama", LLAMA | {"head_dim": 12}),
    "mistral": ("mistral", LLAMA | {"sliding_window": 6}),
    "qwen2": ("qwen2", LLAMA),
    "qwen3": ("qwen3", LLAMA | {"head_dim": 8}),
    "gemma2": ("gemma2", LLAMA | {"head_dim": 8, "query_pre_attn_scalar": 16, "sliding_window": 6}),
}
SMALLER_ONLY = (
    "gemma2",
    "mistral",
    "qwen2",
)  # no bias to hold a constant: there is no ordinary checkpoint of a subnetwork


def make_model(case: str, **more):
    """The case's model in evaluation mode, with biases and norms away from 0 and 1 so that every part matters."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    model_type, settings = CASES[case]
    names = {0: "entailment", 1: "neutral", 2: "contradiction"}
    labels = {"num_labels": 3, "id2label": names, "label2id": {n: i for i, n in names.items()}}
    config = AutoConfig.for_model(model_type, **(settings | labels | more))
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_config(config).eval().requires_grad_(False)
    for name, weight in model.named_parameters():
        if weight.dim() == 1:
            weight.add_(0.1 * torch.randn_like(weight))
        elif "norm" not in name.lower() and float(weight.std()) < 0.1:  # a family that ignores initializer_range
            weight.normal_(0, 0.3)
    return model

"""A tiny random decoder of every family that extractive structures knows, with a tiny tokenizer, in a folder."""

from pathlib import Path

from families import CASES

from heuristic_core.experiments.extractive_structures.decoders import SUPPORTED_FAMILIES

LLAMA3 = {"rope_type": "llama3", "rope_theta": 1e4, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 16}
# Settings by which the families differ, small enough that each of them matters.
DIFFERENT = {
    "olmo": {"clip_qkv": 1.0},
    "llama": {"rope_parameters": LLAMA3},
    "gemma2": {"attn_logit_softcapping": 1.0, "final_logit_softcapping": 2.0, "sliding_window": 64},
    "qwen2": {},
}
DECODERS = {name: CASES[name][1] | DIFFERENT[name] | {"max_position_embeddings": 64} for name in SUPPORTED_FAMILIES}


def make_decoder(name: str, vocabulary: int = 50, **more):
    """A decoder in evaluation mode, with biases and gains away from 0 and 1."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    settings = DECODERS[name] | {"vocab_size": vocabulary, "num_hidden_layers": 2, "hidden_size": 16} | more
    if name == "gemma2":
        settings["head_dim"] = 4
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(name, **settings)).eval().requires_grad_(False)
    for weight in model.parameters():
        if weight.dim() == 1:
            weight.add_(0.2 * torch.randn_like(weight))
    return model


def make_tokenizer(words: list[str], begins: bool = True):
    """Byte-level BPE that has learned these words; a sentence begins with a token of its own."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    result = Tokenizer(models.BPE())
    result.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    result.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=4000,
        special_tokens=["<s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    result.train_from_iterator([f"{word} {word}" for word in words], trainer)
    if begins:
        result.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=result, bos_token="<s>")


def save_decoder(folder: Path, name: str, words: list[str], begins: bool = True) -> Path:
    """The decoder and a tokenizer that knows `words`, as `save_pretrained` writes them."""
    tokenizer = make_tokenizer(words, begins)
    tokenizer.save_pretrained(folder)
    make_decoder(name, len(tokenizer)).save_pretrained(folder)
    return folder

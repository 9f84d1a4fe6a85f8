"""Small tokenizers of several kinds, made without any file."""


def wordpiece():
    from transformers import BertTokenizer

    words = "[PAD] [CLS] [SEP] [MASK] [UNK] the doc ##tor ##s sail ##ing . , ; advised cafe and -"
    return BertTokenizer(vocab={word: k for k, word in enumerate(words.split())}, do_lower_case=True)


def byte_level(kind):
    """The tokenizer `kind` of byte-level BPE: every byte, some longer pieces, and RoBERTa's special tokens."""
    import transformers
    from tokenizers.pre_tokenizers import ByteLevel

    merges = [("d", "o"), ("do", "c"), ("Ġ", "doc"), ("t", "h"), ("th", "e"), ("Ġ", "the"), ("i", "n"), ("in", "g")]
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>", *sorted(ByteLevel.alphabet())]
    pieces += [first + second for first, second in merges]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    return getattr(transformers, kind)(vocab=vocabulary, merges=merges)


def whole_sentences():
    """A pre-tokenizer that does not split, as Llama's: it makes one word of the sentence."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    pieces = ["<unk>", "▁", "▁the", "▁The", "▁doc", "tor", "s", "ing", "▁sail", "▁advised", "."]
    model = Tokenizer(models.Unigram([(piece, -1.0 - (piece == "<unk>") * 9) for piece in pieces], unk_id=0))
    model.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    return PreTrainedTokenizerFast(tokenizer_object=model, unk_token="<unk>")


KINDS = {
    "wordpiece": wordpiece,
    "gpt2": lambda: byte_level("GPT2Tokenizer"),
    "roberta": lambda: byte_level("RobertaTokenizer"),
    "whole": whole_sentences,
}

"""Whether a folder's tokenizer is there and fits its model, from files alone."""

import importlib.util
import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heuristic_core.common.errors import InputError, counted
from heuristic_core.models.weight_files import family_parameters, read_object
from heuristic_core.sources.hub import CONFIG

LOGGER = logging.getLogger(__name__)
PADDING = 128  # rows that embeddings commonly have beyond their tokens
WHOLE, SETTINGS, SPECIAL, ADDED = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
)
WORDS, PAIRS, PIECES = ("vocab.txt",), ("vocab.json", "merges.txt"), ("tokenizer.model",)
# What a tokenizer is made from where there is no tokenizer.json: sets of files, by its class. From other files
# transformers makes some of these classes without any word, and says nothing.
FILES = {
    "BertTokenizer": (WORDS,),
    "DistilBertTokenizer": (WORDS,),
    "ElectraTokenizer": (WORDS,),
    "RobertaTokenizer": (PAIRS, PIECES),
    "GPT2Tokenizer": (PAIRS, PIECES),
    "GPTNeoXTokenizer": (PAIRS, PIECES),
    "Qwen2Tokenizer": (PAIRS, PIECES),
    "DebertaV2Tokenizer": (("spm.model",), PIECES),
    "AlbertTokenizer": (("spiece.model",), PIECES),
    "XLMRobertaTokenizer": (("sentencepiece.bpe.model",), PIECES),
    "LlamaTokenizer": (PIECES,),
    "GemmaTokenizer": (PIECES,),
}
CLASSES = {  # where tokenizer_config.json names none, by model_type; of other families, none needs tokenizer.json alone
    "bert": "BertTokenizer",
    "distilbert": "BertTokenizer",
    "electra": "BertTokenizer",
    "roberta": "RobertaTokenizer",
    "albert": "AlbertTokenizer",
    "deberta-v2": "DebertaV2Tokenizer",
    "gpt2": "GPT2Tokenizer",
    "gpt_neox": "GPTNeoXTokenizer",
    "olmo": "GPTNeoXTokenizer",
    "qwen2": "Qwen2Tokenizer",
    "qwen3": "Qwen2Tokenizer",
    "gemma2": "GemmaTokenizer",
}
PACKAGES = {"sentencepiece": "sentencepiece", "google.protobuf": "protobuf"}  # modules that read *.model


def check_tokenizer(folder: Path, config: Mapping[str, Any]) -> None:
    """Raise InputError where the folder's files make no tokenizer, or one with tokens that the model does not embed."""
    settings = read_object(folder / SETTINGS) if (folder / SETTINGS).is_file() else {}
    files = _files(folder, config, settings)
    if any(name.endswith(".model") for name in files):
        if absent := [package for module, package in PACKAGES.items() if not _installed(module)]:
            raise InputError(
                f"{folder / files[0]} is read with {' and '.join(absent)}, which this environment lacks: install it "
                f"with `pip install {' '.join(absent)}`, or `make install`"
            )
        return  # the job that makes the tokenizer counts its tokens
    check_rows(folder, _tokens(folder, files, settings), config, _roles(folder, settings))


def check_rows(folder: Path, tokens: Mapping[str, int], config: Mapping[str, Any], roles: Mapping[str, str]) -> None:
    """Raise InputError where tokens do not fit the embeddings; log a warning where they may be another model's.

    tokens: numbers by token. roles: the tokenizer's special tokens by their roles, such as "pad_token". The mask is in
    no pair, and the padding token does not count where the model has its own.
    """
    family = family_parameters(config)
    settings = family.settings(config)
    rows, own = settings["vocab_size"], settings.get("pad_token_id", 1 if family.padded else None)
    has_own = isinstance(own, int) and 0 <= own < rows
    spared = {roles.get("mask_token"), roles.get("pad_token") if has_own else None}
    beyond = sorted((number, token) for token, number in tokens.items() if number >= rows and token not in spared)
    if beyond:
        shown = ", ".join(f"{token!r} ({number})" for number, token in beyond[:3]) + (", …" if len(beyond) > 3 else "")
        raise InputError(
            f"{folder}: the tokenizer has {counted(len(beyond), 'token')} beyond the model's embeddings, whose rows "
            f"are vocab_size = {rows}: {shown}. Where tokens were added, call "
            "`model.resize_token_embeddings(len(tokenizer))` and save model and tokenizer again; else take both from "
            "the same model"
        )
    pad = tokens.get(roles.get("pad_token", ""))
    if family.padded and pad not in (None, own):
        raise InputError(
            f"{folder}: the tokenizer pads with {roles['pad_token']!r}, number {pad}, and {CONFIG} has pad_token_id = "
            f"{own}, from which this model counts positions: take tokenizer and model from the same model"
        )
    if doubts := [*_other_numbers(tokens, roles, config, rows, pad, own), *_unused(tokens, rows)]:
        LOGGER.warning("%s: is the tokenizer this model's? %s", folder, "; ".join(doubts))


def _other_numbers(
    tokens: Mapping[str, int], roles: Mapping[str, str], config: Mapping[str, Any], rows: int, pad: int | None, own: Any
) -> Iterator[str]:
    """Special tokens of a config.json that have other numbers in the tokenizer."""
    if pad is not None and isinstance(own, int) and own < rows and pad != own:
        yield f"it pads with {roles['pad_token']!r}, number {pad}, and {CONFIG} has pad_token_id = {own}"
    special, names = set(roles.values()), {number: token for token, number in tokens.items()}
    for role in ("bos_token", "eos_token", "cls_token", "sep_token"):
        number = config.get(f"{role}_id")
        if special and isinstance(number, int) and number in names and names[number] not in special:
            yield f"{CONFIG} has {role}_id = {number}, which is {names[number]!r} in the tokenizer"


def _unused(tokens: Mapping[str, int], rows: int) -> Iterator[str]:
    """More rows than those that are added for speed, to a multiple of some power of two."""
    if (unused := rows - len(set(tokens.values()))) > max(PADDING, rows // 100):
        yield f"it has {rows - unused:,} tokens, and the model's embeddings have {rows:,} rows"


def check_positions(folder: Path, config: Mapping[str, Any], max_length: int) -> None:
    """Raise InputError where pairs of `max_length` tokens are longer than the positions that a model has learned.

    Models that compute positions, by rotation or by distance, take any length.
    """
    family = family_parameters(config)
    settings = family.settings(config)
    rows = [
        shape[0] for name, shape in family.shapes(settings).items() if re.search(r"position_embeddings|^wpe\.", name)
    ]
    kept = settings.get("pad_token_id", 1) + 1 if family.padded else 0
    if rows and max_length > rows[0] - kept:
        name = family.aliases.get("max_position_embeddings", "max_position_embeddings")
        less = f", of which the first {kept} are not for tokens" if kept else ""
        raise InputError(
            f"task.max_length = {max_length}: {folder / CONFIG} has {name} = {rows[0]}{less}; give at most "
            f"{rows[0] - kept}, or take a model with more positions"
        )


def _files(folder: Path, config: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The files that the tokenizer's vocabulary is read from."""
    if (folder / WHOLE).is_file():
        return (WHOLE,)
    of = settings.get("tokenizer_class") or config.get("tokenizer_class") or CLASSES.get(config.get("model_type"))
    if files := _read_by(of, folder):
        return files
    wanted = FILES.get(str(of).removesuffix("Fast"), (PIECES,))
    either = " or ".join(" and ".join(files) for files in ((WHOLE,), *wanted) if files != PIECES or len(wanted) == 1)
    others = [name for name in ("vocab.txt", "vocab.json", "merges.txt") if (folder / name).is_file()]
    others += sorted(path.name for path in folder.glob("*.model"))
    by_itself = CLASSES.get(config.get("model_type"))
    others_text = f"; {' and '.join(others)} would be read if {SETTINGS} named {by_itself}" if others else ""
    if others and not _read_by(by_itself, folder):
        others_text = f"; {' and '.join(others)} {'is' if len(others) == 1 else 'are'} not read by {of}"
    raise InputError(
        f"{folder}: there are no files of a tokenizer in it: {either}{others_text}. Save it with the model, "
        "`tokenizer.save_pretrained(folder)`, or copy its files from the model that this one began as"
    )


def _read_by(of: str | None, folder: Path) -> tuple[str, ...]:
    """The files in `folder` that a class makes its tokenizer from; none where some are not there."""
    wanted = FILES.get(str(of).removesuffix("Fast"), (PIECES,))
    return next((files for files in wanted if all((folder / name).is_file() for name in files)), ())


def _tokens(folder: Path, files: tuple[str, ...], settings: Mapping[str, Any]) -> dict[str, int]:
    """Every token that these files name, with its number; those that have none yet get the next ones."""
    if files == (WHOLE,):
        path = folder / WHOLE
        whole = read_object(path)
        try:
            words = whole["model"]["vocab"]
            words = words if isinstance(words, dict) else {piece[0]: number for number, piece in enumerate(words)}
            tokens = words | {token["content"]: token["id"] for token in whole.get("added_tokens") or []}
        except (KeyError, TypeError, IndexError):
            raise InputError(f"{path}: there is no `model.vocab` in it, or an added token without `id`") from None
    elif files == WORDS:
        lines = (folder / WORDS[0]).read_text(encoding="utf-8", errors="replace").rstrip("\n").split("\n")
        tokens = {word: number for number, word in enumerate(lines)}
    else:
        tokens = read_object(folder / PAIRS[0])
    if not tokens or not all(isinstance(number, int) for number in tokens.values()):
        raise InputError(f"{folder / files[0]}: expected tokens with their numbers")
    for token, number in _added(folder, settings):
        tokens.setdefault(token, max(tokens.values()) + 1 if number is None else number)
    return tokens


def _added(folder: Path, settings: Mapping[str, Any]) -> Iterator[tuple[str, int | None]]:
    """Tokens that other files name, with their numbers where they say so."""
    for name, number in (read_object(folder / ADDED) if (folder / ADDED).is_file() else {}).items():
        yield name, number if isinstance(number, int) else None
    for number, token in (settings.get("added_tokens_decoder") or {}).items():
        yield _content(token), int(number)
    for token in _special(folder, settings).values():
        yield from ((content, None) for content in map(_content, token) if content)


def _roles(folder: Path, settings: Mapping[str, Any]) -> dict[str, str]:
    """Special tokens by their roles, such as "pad_token", and others by their own names."""
    special = _special(folder, settings)
    contents = {name: [content for content in map(_content, tokens) if content] for name, tokens in special.items()}
    roles = {name: contents[name][0] for name in contents if name.endswith("_token") and contents[name]}
    return {content: content for several in contents.values() for content in several} | roles


def _special(folder: Path, settings: Mapping[str, Any]) -> dict[str, list]:
    """Special tokens as the files give them, by the name of their setting."""
    special = read_object(folder / SPECIAL) if (folder / SPECIAL).is_file() else {}
    named = {
        name: value
        for name, value in (special | settings).items()
        if name.endswith("_token") or name in ("additional_special_tokens", "extra_special_tokens")
    }
    return {
        name: value if isinstance(value, list) else list(value.values()) if _several(value) else [value]
        for name, value in named.items()
    }


def _several(value: Any) -> bool:
    return isinstance(value, dict) and "content" not in value


def _content(token: Any) -> str:
    return token.get("content", "") if isinstance(token, dict) else token if isinstance(token, str) else ""


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False

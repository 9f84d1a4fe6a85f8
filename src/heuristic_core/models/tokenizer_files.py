"""Check from files alone that a folder has a tokenizer that fits its model."""

import importlib.util
import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heuristic_core.common.errors import InputError, format_count
from heuristic_core.data.hub import CONFIG_FILE
from heuristic_core.models.weight_files import read_object
from heuristic_core.models.weight_validation import family_parameters

LOGGER = logging.getLogger(__name__)
USUAL_SPARE_ROWS = 128  # rows that embeddings commonly have beyond their tokens
TOKENIZER_FILE, TOKENIZER_CONFIG_FILE, SPECIAL_TOKENS_FILE, ADDED_TOKENS_FILE = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
)
WORDPIECE, BPE, SENTENCEPIECE = ("vocab.txt",), ("vocab.json", "merges.txt"), ("tokenizer.model",)
# Alternative sets of files that a tokenizer class is built from if tokenizer.json is missing. Given other files,
# transformers silently builds some of these classes with an empty vocabulary.
VOCABULARY_FILES = {
    "BertTokenizer": (WORDPIECE,),
    "DistilBertTokenizer": (WORDPIECE,),
    "ElectraTokenizer": (WORDPIECE,),
    "RobertaTokenizer": (BPE, SENTENCEPIECE),
    "GPT2Tokenizer": (BPE, SENTENCEPIECE),
    "GPTNeoXTokenizer": (BPE, SENTENCEPIECE),
    "Qwen2Tokenizer": (BPE, SENTENCEPIECE),
    "DebertaV2Tokenizer": (("spm.model",), SENTENCEPIECE),
    "AlbertTokenizer": (("spiece.model",), SENTENCEPIECE),
    "XLMRobertaTokenizer": (("sentencepiece.bpe.model",), SENTENCEPIECE),
    "LlamaTokenizer": (SENTENCEPIECE,),
    "GemmaTokenizer": (SENTENCEPIECE,),
}
# Tokenizer class by model_type, for a tokenizer_config.json without a class. Other families need tokenizer.json.
DEFAULT_CLASSES = {
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
PACKAGES = {"sentencepiece": "sentencepiece", "google.protobuf": "protobuf"}  # by the modules that read *.model


def check_tokenizer(folder: Path, config: Mapping[str, Any]) -> None:
    """Check that the folder's files make a tokenizer whose tokens the model embeds.

    Args:
        folder: Folder of the model's files.
        config: Content of config.json.

    Raises:
        InputError: A file is missing or does not fit the model.
    """
    settings = read_object(folder / TOKENIZER_CONFIG_FILE) if (folder / TOKENIZER_CONFIG_FILE).is_file() else {}
    files = _files(folder, config, settings)
    if any(name.endswith(".model") for name in files):
        if missing := [package for module, package in PACKAGES.items() if not _is_installed(module)]:
            raise InputError(
                f"{folder / files[0]} is read with {' and '.join(missing)}, which this environment lacks; install it "
                f"with `pip install {' '.join(missing)}`, or `make install`"
            )
        return  # the job that loads the tokenizer checks its tokens
    check_rows(folder, _tokens(folder, files, settings), config, _roles(folder, settings))


def check_rows(folder: Path, tokens: Mapping[str, int], config: Mapping[str, Any], roles: Mapping[str, str]) -> None:
    """Check that token numbers fit the embeddings; log a warning if the tokenizer may belong to another model.

    The mask token is not checked, as no pair contains it, nor the padding token if the model has its model_pad.

    Args:
        folder: The model's folder, for messages.
        tokens: Numbers by token.
        config: The model's config.json.
        roles: The tokenizer's special tokens by role, such as "pad_token".

    Raises:
        InputError: A token is beyond the embeddings, or the padding tokens differ in a model that counts positions
            from it.
    """
    family = family_parameters(config)
    settings = family.settings(config)
    rows, model_pad = (
        settings["vocab_size"],
        settings.get("pad_token_id", 1 if family.positions_after_padding else None),
    )
    has_model_pad = isinstance(model_pad, int) and 0 <= model_pad < rows
    unchecked = {roles.get("mask_token"), roles.get("pad_token") if has_model_pad else None}
    beyond = sorted((number, token) for token, number in tokens.items() if number >= rows and token not in unchecked)
    if beyond:
        listed = ", ".join(f"{token!r} ({number})" for number, token in beyond[:3]) + (", …" if len(beyond) > 3 else "")
        raise InputError(
            f"{folder}: the tokenizer has {format_count(len(beyond), 'token')} beyond the model's embeddings of "
            f"vocab_size = {rows} rows: {listed}. If tokens were added, call "
            "`model.resize_token_embeddings(len(tokenizer))` and save model and tokenizer again; otherwise take both "
            "from the same model"
        )
    pad = tokens.get(roles.get("pad_token", ""))
    if family.positions_after_padding and pad not in (None, model_pad):
        raise InputError(
            f"{folder}: the tokenizer pads with {roles['pad_token']!r}, number {pad}, but {CONFIG_FILE} has "
            f"pad_token_id = {model_pad}, which this model uses to number positions: take tokenizer and model from the "
            "same model"
        )
    if warnings := [*_conflicting_numbers(tokens, roles, config, rows, pad, model_pad), *_spare_rows(tokens, rows)]:
        LOGGER.warning("%s: the tokenizer may belong to another model: %s", folder, "; ".join(warnings))


def _conflicting_numbers(
    tokens: Mapping[str, int],
    roles: Mapping[str, str],
    config: Mapping[str, Any],
    rows: int,
    pad: int | None,
    model_pad: Any,
) -> Iterator[str]:
    """Yield messages about special tokens whose numbers differ between config.json and the tokenizer."""
    if pad is not None and isinstance(model_pad, int) and model_pad < rows and pad != model_pad:
        yield f"it pads with {roles['pad_token']!r}, number {pad}, but {CONFIG_FILE} has pad_token_id = {model_pad}"
    special, names = set(roles.values()), {number: token for token, number in tokens.items()}
    for role in ("bos_token", "eos_token", "cls_token", "sep_token"):
        number = config.get(f"{role}_id")
        if special and isinstance(number, int) and number in names and names[number] not in special:
            yield f"{CONFIG_FILE} has {role}_id = {number}, which is {names[number]!r} in the tokenizer"


def _spare_rows(tokens: Mapping[str, int], rows: int) -> Iterator[str]:
    """Yield a message if the embeddings have more spare rows than padding to a multiple of a power of 2 explains."""
    if (unused := rows - len(set(tokens.values()))) > max(USUAL_SPARE_ROWS, rows // 100):
        yield f"it has {rows - unused:,} tokens, but the model's embeddings have {rows:,} rows"


def check_positions(folder: Path, config: Mapping[str, Any], max_length: int) -> None:
    """Check that a model with learned positions has enough of them for pairs of `max_length` tokens.

    Models that compute positions, by rotation or by distance, accept any length.

    Args:
        folder: Folder of the model, for the message.
        config: Content of its config.json.
        max_length: Maximum number of tokens of a pair, special tokens included.

    Raises:
        InputError: The model has fewer positions.
    """
    family = family_parameters(config)
    settings = family.settings(config)
    rows = [
        shape[0] for name, shape in family.shapes(settings).items() if re.search(r"position_embeddings|^wpe\.", name)
    ]
    reserved = settings.get("pad_token_id", 1) + 1 if family.positions_after_padding else 0
    if rows and max_length > rows[0] - reserved:
        name = family.aliases.get("max_position_embeddings", "max_position_embeddings")
        note = f", of which the first {reserved} are reserved" if reserved else ""
        raise InputError(
            f"task.max_length = {max_length}: {folder / CONFIG_FILE} has {name} = {rows[0]}{note}; set at most "
            f"{rows[0] - reserved}, or use a model with more positions"
        )


def _files(folder: Path, config: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that the tokenizer's vocabulary is read from."""
    if (folder / TOKENIZER_FILE).is_file():
        return (TOKENIZER_FILE,)
    class_name = (
        settings.get("tokenizer_class")
        or config.get("tokenizer_class")
        or DEFAULT_CLASSES.get(config.get("model_type"))
    )
    if files := _files_of_class(class_name, folder):
        return files
    alternatives = VOCABULARY_FILES.get(str(class_name).removesuffix("Fast"), (SENTENCEPIECE,))
    expected = " or ".join(
        " and ".join(files)
        for files in ((TOKENIZER_FILE,), *alternatives)
        if files != SENTENCEPIECE or len(alternatives) == 1
    )
    other_files = [name for name in ("vocab.txt", "vocab.json", "merges.txt") if (folder / name).is_file()]
    other_files += sorted(path.name for path in folder.glob("*.model"))
    default_class = DEFAULT_CLASSES.get(config.get("model_type"))
    others_text = (
        f"; {' and '.join(other_files)} would be read if {TOKENIZER_CONFIG_FILE} named {default_class}"
        if other_files
        else ""
    )
    if other_files and not _files_of_class(default_class, folder):
        others_text = (
            f"; {' and '.join(other_files)} {'is' if len(other_files) == 1 else 'are'} not read by {class_name}"
        )
    raise InputError(
        f"{folder}: the files of the tokenizer are missing: {expected}{others_text}. Save it with the model, "
        "`tokenizer.save_pretrained(folder)`, or copy its files from the base model"
    )


def _files_of_class(class_name: str | None, folder: Path) -> tuple[str, ...]:
    """Return the files in `folder` that a tokenizer class is built from; empty if some are missing."""
    alternatives = VOCABULARY_FILES.get(str(class_name).removesuffix("Fast"), (SENTENCEPIECE,))
    return next((files for files in alternatives if all((folder / name).is_file() for name in files)), ())


def _tokens(folder: Path, files: tuple[str, ...], settings: Mapping[str, Any]) -> dict[str, int]:
    """Return numbers by token; tokens without a number get the next free ones."""
    if files == (TOKENIZER_FILE,):
        path = folder / TOKENIZER_FILE
        whole = read_object(path)
        try:
            words = whole["model"]["vocab"]
            words = words if isinstance(words, dict) else {piece[0]: number for number, piece in enumerate(words)}
            tokens = words | {token["content"]: token["id"] for token in whole.get("added_tokens") or []}
        except (KeyError, TypeError, IndexError):
            raise InputError(f"{path}: `model.vocab` is missing, or an added token lacks `id`") from None
    elif files == WORDPIECE:
        lines = (folder / WORDPIECE[0]).read_text(encoding="utf-8", errors="replace").rstrip("\n").split("\n")
        tokens = {word: number for number, word in enumerate(lines)}
    else:
        tokens = read_object(folder / BPE[0])
    if not tokens or not all(isinstance(number, int) for number in tokens.values()):
        raise InputError(f"{folder / files[0]}: expected a mapping of tokens to IDs")
    for token, number in _added_tokens(folder, settings):
        tokens.setdefault(token, max(tokens.values()) + 1 if number is None else number)
    return tokens


def _added_tokens(folder: Path, settings: Mapping[str, Any]) -> Iterator[tuple[str, int | None]]:
    """Yield added tokens of other files, with their numbers if the files have them."""
    for name, number in (
        read_object(folder / ADDED_TOKENS_FILE) if (folder / ADDED_TOKENS_FILE).is_file() else {}
    ).items():
        yield name, number if isinstance(number, int) else None
    for number, token in (settings.get("added_tokens_decoder") or {}).items():
        yield _content(token), int(number)
    for token in _special_tokens(folder, settings).values():
        yield from ((content, None) for content in map(_content, token) if content)


def _roles(folder: Path, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return special tokens by role, such as "pad_token", and further ones by their own names."""
    special = _special_tokens(folder, settings)
    contents = {name: [content for content in map(_content, tokens) if content] for name, tokens in special.items()}
    roles = {name: contents[name][0] for name in contents if name.endswith("_token") and contents[name]}
    return {content: content for several in contents.values() for content in several} | roles


def _special_tokens(folder: Path, settings: Mapping[str, Any]) -> dict[str, list]:
    """Return special tokens as the files hold them, by the name of their setting."""
    special = read_object(folder / SPECIAL_TOKENS_FILE) if (folder / SPECIAL_TOKENS_FILE).is_file() else {}
    special_settings = {
        name: value
        for name, value in (special | settings).items()
        if name.endswith("_token") or name in ("additional_special_tokens", "extra_special_tokens")
    }
    return {
        name: value if isinstance(value, list) else list(value.values()) if _is_mapping(value) else [value]
        for name, value in special_settings.items()
    }


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict) and "content" not in value


def _content(token: Any) -> str:
    return token.get("content", "") if isinstance(token, dict) else token if isinstance(token, str) else ""


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False

"""Command lines of the workflow's scripts, the same from Snakemake and from a shell."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from heuristic_core.common.arithmetic import ARITHMETIC_OPTION, NATIVE, PORTABLE, enforce
from heuristic_core.common.progress import start_log
from heuristic_core.config.reading import ConfigError, read_config
from heuristic_core.jobs.environment import prepare_drawing
from heuristic_core.provenance.record import DEPENDS_ON, DEPENDS_ON_NETWORK, DEPENDS_ON_RUN, Record, set_record
from heuristic_core.tables.identity import Identity

HELP = {
    "study": "name of the study",
    "model": "name of the model",
    "task": "name of the task",
    "ft_seed": "fine-tuning seed",
    "step": "fine-tuning step of the checkpoint",
    "sparsity": "share of components to remove",
    "seed": "pruning seed",
}
# Field of an identity -> its option, if their names differ: `--model` and `--task` are blocks.
OPTIONS = {"model": "model_name", "task": "task_name"}
PORTABLE_OPTIONS = {"device": "cpu", "precision": "float32", "threads": 1}  # options that portable arithmetic requires


class JobParser(argparse.ArgumentParser):
    """Parser of the options of a job. Parsing starts the job's log and record.

    The record lists the paths of options added by :meth:`add_inputs` and :meth:`add_outputs`. In the workflow, a
    rule's input, output or setting has the name of its option.

    Args:
        description: Summary for `--help`.
    """

    def __init__(self, description: str):
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self._inputs: list[str] = []
        self._outputs: list[str] = []
        self.add_argument("--log", metavar="FILE", help="file of the log; default: the terminal")
        self.add_argument(
            ARITHMETIC_OPTION,
            choices=(PORTABLE, NATIVE),
            default=NATIVE,
            help="portable: the same bytes on every x86-64 processor with AVX2; native: the fastest; default: native",
        )
        self.add_argument(
            "--code",
            metavar="DIGEST",
            help="digest of the job's code, as the workflow passes it; with it, the job writes a record",
        )
        self.add_argument(
            f"--{DEPENDS_ON}",
            choices=(DEPENDS_ON_RUN, DEPENDS_ON_NETWORK),
            help="further dependency of the results, for the record",
        )

    def add_block(self, name: str, block: Any) -> None:
        """Add an option for a block of the configuration.

        Args:
            name: Name of the option and of the block.
            block: Pydantic model, or a union of models.
        """
        self.add_argument(
            f"--{name}",
            required=True,
            type=lambda text: read_block(name, block, text),
            metavar="CONFIG",
            help=f"block `{name}` as JSON, or a configuration file that contains it",
        )

    def add_inputs(self, count: str = "1", /, **helps: str) -> None:
        """Add options for paths that the job reads.

        Args:
            count: Number of paths of each option: "1", "?" (at most one), "+" (at least one) or "*".
            **helps: Name -> help text. Name `a_b` gives option `--a-b`.
        """
        self._inputs += self._add_paths(count, helps)

    def add_outputs(self, count: str = "1", /, **helps: str) -> None:
        """Add options for paths that the job writes, with the arguments of :meth:`add_inputs`."""
        self._outputs += self._add_paths(count, helps)

    def add_dirs(self, **helps: str) -> None:
        """Add required options for folders, to which paths of other options are relative: name -> help text."""
        self._add_paths("1", helps)

    def _add_paths(self, count: str, helps: dict[str, str]) -> list[str]:
        """Add options for paths and return their names."""
        several = {"nargs": count, "default": []} if count in "+*" else {}
        for name, text in helps.items():
            self.add_argument(_flag(name), required=count in "1+", metavar="PATH", help=text, **several)
        return list(helps)

    def add_identity(self, *fields: str) -> None:
        """Add options for the identity of a run: study, model, task, and further fields of `Identity`."""
        kinds = {"ft_seed": int, "step": int, "sparsity": float, "seed": int}
        for name in ("study", "model", "task", *fields):
            self.add_argument(
                _flag(OPTIONS.get(name, name)),
                required=True,
                type=kinds.get(name, str),
                metavar="NAME" if name not in kinds else "N",
                help=HELP[name],
            )

    def parse(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Parse the options, start the log and set the arithmetic.

        Args:
            arguments: Words of the command line; None for those of this process.
        """
        values = self.parse_args(arguments)
        for name, required in PORTABLE_OPTIONS.items():
            if values.arithmetic == PORTABLE and (value := getattr(values, name, required)) != required:
                self.error(
                    f"--{name} {value} needs {ARITHMETIC_OPTION} {NATIVE}; portable arithmetic has --{name} {required}"
                )
        prepare_drawing()
        start_log(values.log)
        values.arithmetic = enforce(values.arithmetic, may_restart=arguments is None)
        if values.code:
            inputs, outputs = (_option_paths(values, names) for names in (self._inputs, self._outputs))
            command_line = sys.argv[1:] if arguments is None else arguments
            set_record(Record(values.code, inputs, outputs, values.log, command_line, values.arithmetic))
        return values


def _option_paths(values: argparse.Namespace, names: Sequence[str]) -> list[str]:
    """Return the paths of options."""
    options = (getattr(values, name) for name in names)
    return [path for paths in options for path in ([paths] if isinstance(paths, str) else paths or [])]


def parse_identity(values: argparse.Namespace) -> Identity:
    """Return the identity that :meth:`JobParser.add_identity` declared."""
    fields = {name: vars(values).get(OPTIONS.get(name, name)) for name in Identity._fields}
    return Identity(**{name: value for name, value in fields.items() if value is not None})


def _flag(name: str) -> str:
    """Return the option of a name: `--a-b` for `a_b`."""
    return f"--{name.replace('_', '-')}"


def read_block(name: str, block: Any, text: str) -> Any:
    """Read a block of a configuration.

    Args:
        name: Name of the block.
        block: Pydantic model, or a union of models.
        text: The block as JSON, or the path of a configuration file.

    Returns:
        An instance of the block's model.

    Raises:
        argparse.ArgumentTypeError: If the block is invalid.
    """
    try:
        if text.lstrip().startswith("{"):
            return TypeAdapter(block).validate_json(text)
        return TypeAdapter(block).validate_python(read_config(text).get(name, {}))
    except (ConfigError, ValidationError) as error:
        raise argparse.ArgumentTypeError(f"invalid block {name}: {error}") from None

"""The command lines of the workflow's scripts: plain arguments, the same from Snakemake and from a shell."""

import argparse
import sys
from collections.abc import Sequence

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
# Options of an identity that have another name than its field: `--model` and `--task` are blocks.
OPTIONS = {"model": "model_name", "task": "task_name"}
PORTABLE_OPTIONS = {
    "device": "cpu",
    "precision": "float32",
    "threads": 1,
}  # what portable arithmetic asks of a job's options


class JobParser(argparse.ArgumentParser):
    """A parser that knows the arguments many scripts share, and starts the job's log when they are read.

    Inputs and outputs are declared by :meth:`add_inputs` and :meth:`add_outputs`; the job's record lists them.
    In the workflow, the name of a rule's input, output or setting is the name of the option.
    """

    def __init__(self, description: str):
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self._inputs: list[str] = []
        self._outputs: list[str] = []
        self.add_argument("--log", metavar="FILE", help="write the log there; default: the terminal")
        self.add_argument(
            ARITHMETIC_OPTION,
            choices=(PORTABLE, NATIVE),
            default=NATIVE,
            help="portable: the same bytes on every x86-64 processor with AVX2; native: the fastest here, the default",
        )
        self.add_argument(
            "--code",
            metavar="DIGEST",
            help="of the modules that the job depends on, as the workflow gives it; the job then leaves a record",
        )

        self.add_argument(
            f"--{DEPENDS_ON}",
            choices=(DEPENDS_ON_RUN, DEPENDS_ON_NETWORK),
            help="what results depend on beside files, settings and code, for the record",
        )

    def add_block(self, name: str, block) -> None:
        """Add `--name`: a block of the configuration."""
        self.add_argument(
            f"--{name}",
            required=True,
            type=lambda text: read_block(name, block, text),
            metavar="CONFIG",
            help=f"a study's configuration file, whose block `{name}` is used, or that block as JSON",
        )

    def add_inputs(self, count: str = "1", /, **helps: str) -> None:
        """Add one option per keyword for what the script reads; an underscore in its name becomes a dash.

        count: of its paths. "1", "?": one, or at most one; "+", "*": as many as there are, at least one or none.
        """
        self._inputs += self._paths(count, helps)

    def add_outputs(self, count: str = "1", /, **helps: str) -> None:
        """Add one option per keyword for what the script writes, as :meth:`reads`."""
        self._outputs += self._paths(count, helps)

    def add_dirs(self, **helps: str) -> None:
        """Add one required folder per keyword, below which the script finds or writes what other options name."""
        self._paths("1", helps)

    def _paths(self, count: str, helps: dict[str, str]) -> list[str]:
        several = {"nargs": count, "default": []} if count in "+*" else {}
        for name, text in helps.items():
            self.add_argument(_flag(name), required=count in "1+", metavar="PATH", help=text, **several)
        return list(helps)

    def add_identity(self, *more: str) -> None:
        """Add what names a run: study, model, task, and of ft_seed, step, sparsity and seed those in `more`."""
        kinds = {"ft_seed": int, "step": int, "sparsity": float, "seed": int}
        for name in ("study", "model", "task", *more):
            self.add_argument(
                _flag(OPTIONS.get(name, name)),
                required=True,
                type=kinds.get(name, str),
                metavar="NAME" if name not in kinds else "N",
                help=HELP[name],
            )

    def parse(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Parse, and open the log."""
        values = self.parse_args(arguments)
        for name, required in PORTABLE_OPTIONS.items():
            if values.arithmetic == PORTABLE and (value := getattr(values, name, required)) != required:
                self.error(
                    f"--{name} {value} does not go with {ARITHMETIC_OPTION} {PORTABLE}: give {required}, "
                    f"or {ARITHMETIC_OPTION} {NATIVE}"
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
    """The paths that the options `names` have."""
    options = (getattr(values, name) for name in names)
    return [path for paths in options for path in ([paths] if isinstance(paths, str) else paths or [])]


def parse_identity(values: argparse.Namespace) -> Identity:
    """The identity that :meth:`JobParser.identity` read."""
    fields = {name: vars(values).get(OPTIONS.get(name, name)) for name in Identity._fields}
    return Identity(**{name: value for name, value in fields.items() if value is not None})


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def read_block(name: str, block, text: str):
    """A block of a configuration from JSON, or from the configuration file at path `text`."""
    try:
        if text.lstrip().startswith("{"):
            return TypeAdapter(block).validate_json(text)
        return TypeAdapter(block).validate_python(read_config(text).get(name, {}))
    except (ConfigError, ValidationError) as error:
        raise argparse.ArgumentTypeError(f"not a {name}: {error}") from None

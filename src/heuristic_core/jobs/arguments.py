"""The command lines of the workflow's scripts: plain arguments, the same from Snakemake and from a shell."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import get_args

from pydantic import TypeAdapter, ValidationError

from heuristic_core.common.arithmetic import NATIVE, OPTION, PORTABLE, settle
from heuristic_core.common.progress import start_log
from heuristic_core.config import ConfigError, load_study
from heuristic_core.config.blocks import Precision
from heuristic_core.config.context import Context
from heuristic_core.provenance.record import begin
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


class Arguments(argparse.ArgumentParser):
    """A parser that knows the arguments many scripts share, and starts the job's log when they are read."""

    def __init__(self, description: str):
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self._lists: list[tuple[str, str]] = []
        self.add_argument("--log", metavar="FILE", help="write the log there; default: the terminal")
        self.add_argument(
            OPTION,
            choices=(PORTABLE, NATIVE),
            default=NATIVE,
            help="portable: the same bytes on every x86-64 processor with AVX2; native: the fastest here, the default",
        )
        record = self.add_argument_group("provenance record, as the workflow asks for it")
        record.add_argument("--code", metavar="DIGEST", help="of the modules that the job depends on")
        record.add_argument("--inputs", nargs="*", default=[], metavar="PATH", help="what is read, and checked first")
        record.add_argument(
            "--outputs",
            nargs="*",
            default=[],
            metavar="PATH",
            help="what is written; each has the record at its own path below <study>/provenance",
        )

    def settings(self, name: str, block) -> None:
        """Add `--name`: a block of the configuration."""
        self.add_argument(
            f"--{name}",
            required=True,
            type=lambda text: read_block(name, block, text),
            metavar="CONFIG",
            help=f"a study's configuration file, whose block `{name}` is used, or that block as JSON",
        )

    def context(self) -> None:
        """Add `--context`: what analysis and figures need to know of the study."""
        self.add_argument(
            "--context",
            required=True,
            type=read_context,
            metavar="CONFIG",
            help="a study's configuration file, or the context drawn from it as JSON",
        )

    def files(self, **helps: str) -> None:
        """Add one required path per keyword; an underscore in its name stands for a dash."""
        for name, text in helps.items():
            self.add_argument(f"--{name.replace('_', '-')}", required=True, metavar="PATH", help=text)

    def files_per(self, key: str, **helps: str) -> None:
        """Add required lists of paths, one path for each value of the list `--key`."""
        for name, text in helps.items():
            self.add_argument(f"--{name}", nargs="+", required=True, metavar="PATH", help=text)
            self._lists.append((key, name))

    def device(self, precision: bool = True) -> None:
        """Add `--device`, and `--precision` but where that is one of the block's own settings."""
        self.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where the model runs; default: cpu")
        if precision:
            self.add_argument(
                "--precision", choices=get_args(Precision), default="float32", help="of the model; default: float32"
            )

    def pretrained(self) -> None:
        """Add `--pretrained`: where a new model starts from that was pre-trained."""
        self.add_argument("--pretrained", metavar="PATH", help="folder of the model, where its block has `pretraining`")

    def identity(self, *more: str) -> None:
        """Add what names a run: study, model, task, and of ft_seed, step, sparsity and seed those in `more`."""
        kinds = {"ft_seed": int, "step": int, "sparsity": float, "seed": int}
        for name in ("study", "model", "task", *more):
            self.add_argument(
                _flag(name),
                required=True,
                type=kinds.get(name, str),
                metavar="NAME" if name not in kinds else "N",
                help=HELP[name],
            )

    def read(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Parse, and open the log."""
        values = self.parse_args(arguments)
        for key, name in self._lists:
            if len(getattr(values, key)) != len(getattr(values, name)):
                self.error(f"--{name}: give one path for each of the {len(getattr(values, key))} values of --{key}")
        start_log(values.log)
        values.arithmetic = settle(values.arithmetic, by_hand=arguments is None)
        if values.outputs:
            begin(values, sys.argv[1:] if arguments is None else arguments)
        return values


def identity(values: argparse.Namespace) -> Identity:
    """The identity that :meth:`Arguments.identity` read."""
    found = {name: vars(values).get(_flag(name)[2:].replace("-", "_")) for name in Identity._fields}
    return Identity(**{name: value for name, value in found.items() if value is not None})


def _flag(field: str) -> str:
    """The option for a field of an identity. Model and task are named there; `--model` and `--task` are blocks."""
    return {"model": "--model-name", "task": "--task-name"}.get(field, f"--{field.replace('_', '-')}")


def read_context(text: str) -> Context:
    """The context of the study at path `text`, or from JSON."""
    return _read("context", Context, text, Context.of)


def read_block(name: str, block, text: str):
    """A block of a configuration from JSON, or from the configuration file at path `text`."""
    return _read(name, block, text, lambda study: getattr(study, name))


def _read(name: str, kind, text: str, of_study: Callable):
    try:
        if text.lstrip().startswith("{"):
            return TypeAdapter(kind).validate_json(text)
        return of_study(load_study(text))
    except (ConfigError, ValidationError) as error:
        raise argparse.ArgumentTypeError(f"not a {name}: {error}") from None

"""Main functions of scripts, made from typed functions. The signature gives command line, log, record and resumption.

    main = job(find_subnetworks, __name__)

The function is plain Python: it takes paths and settings, not a command line.
"""

import json
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from heuristic_core.common.errors import DivergenceError
from heuristic_core.common.roles import Fields, ParameterRole, Read
from heuristic_core.jobs.arguments import JobParser, parse_identity
from heuristic_core.jobs.scratch import open_scratch, release, set_aside
from heuristic_core.jobs.signature import Group, Parameter, inspect_parameters, read_summary
from heuristic_core.provenance.digests import code_digest, package_versions
from heuristic_core.provenance.record import result_digests, run_with_record


def job(function: Callable[..., None], module: str = "") -> Callable[[Sequence[str] | None], None]:
    """Make the main of a script that runs `function`, and run it if Python runs the script.

    The state of an unfinished job is in the folder that the parameter annotated ``Unfinished`` gets. It is kept for
    an identical job, removed after success, and set aside if the job diverged.

    Args:
        function: Function whose parameters all have an annotation (see :mod:`heuristic_core.common.roles`) and an
            entry in the docstring.
        module: The script's ``__name__``; as a program it runs, with a record.

    Returns:
        Function of the words of a command line, by default those of this process. Its attribute `parameters` lists the
        parameters that its options are made from.
    """
    parameters = inspect_parameters(function)

    def main(arguments: Sequence[str] | None = None) -> None:
        parser = JobParser(read_summary(function))
        for parameter in parameters:
            _add_option(parser, parameter)
        args = parser.parse(arguments)
        values = {p.name: _parse_value(args, p) for p in parameters if p.role is not ParameterRole.UNFINISHED}
        if "torch" in sys.modules:
            from heuristic_core.common.threads import use_threads

            use_threads(values.get("threads", 1))
        state_names = [p.name for p in parameters if p.role is ParameterRole.UNFINISHED]
        if not state_names:
            return function(**_group(parameters, values))
        with _open_state_folder(function, parameters, values, args.code) as folder:
            function(**_group(parameters, values), **dict.fromkeys(state_names, folder))

    main.__doc__, main.parameters = read_summary(function), parameters
    if module == "__main__":
        run_with_record(main)
    return main


def _group(parameters: Sequence[Parameter], values: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of a function from the values of its parameters; fields of a group become the group."""
    fields: dict[Group, dict[str, Any]] = {}
    for parameter in parameters:
        if parameter.group:
            fields.setdefault(parameter.group, {})[parameter.name] = values[parameter.name]
    grouped = {name for group_fields in fields.values() for name in group_fields}
    single = {name: value for name, value in values.items() if name not in grouped}
    return single | {group.name: group.make(**group_fields) for group, group_fields in fields.items()}


def _add_option(parser: JobParser, parameter: Parameter) -> None:
    """Add the options of a parameter."""
    name, role, flag = parameter.name, parameter.role, f"--{parameter.name.replace('_', '-')}"
    paths = {ParameterRole.INPUT: parser.add_inputs, ParameterRole.OUTPUT: parser.add_outputs}
    if role in paths:
        count = ("+" if parameter.required else "*") if parameter.several else ("1" if parameter.required else "?")
        paths[role](count, **{name: parameter.help})
    elif role is ParameterRole.FOLDER:
        parser.add_dirs(**{name: parameter.help})
    elif isinstance(role, Fields):
        parser.add_identity(*role)
    elif role is ParameterRole.BLOCK:
        parser.add_block(name, parameter.kind)
    elif role is not ParameterRole.UNFINISHED:
        parser.add_argument(flag, help=parameter.help, **_argument_options(parameter))


def _argument_options(parameter: Parameter) -> dict[str, Any]:
    """Return the arguments of `add_argument` for a value."""
    if parameter.kind is bool:
        return {"action": "store_true"}
    options: dict[str, Any] = {"required": parameter.required, "default": parameter.default}
    if isinstance(parameter.role, Read):
        options |= {"type": parameter.role.read, "metavar": "CONFIG"}
    elif get_origin(parameter.kind) is Literal:
        options |= {"choices": get_args(parameter.kind)}
    else:
        options |= {"type": parameter.kind, "metavar": "TEXT" if parameter.kind is str else "N"}
    return options | ({"nargs": "+" if parameter.required else "*"} if parameter.several else {})


def _parse_value(args: Namespace, parameter: Parameter):
    """Return the value of a parameter."""
    return parse_identity(args) if isinstance(parameter.role, Fields) else getattr(args, parameter.name)


@contextmanager
def _open_state_folder(
    function: Callable, parameters: Sequence[Parameter], values: dict[str, Any], code: str | None
) -> Iterator[Path]:
    """Open the folder of the job's state, next to its first output, and remove it if the job succeeds."""
    outputs = [values[p.name] for p in parameters if p.role is ParameterRole.OUTPUT]
    first = outputs[0][0] if isinstance(outputs[0], list) else outputs[0]
    folder = open_scratch(
        Path(first).with_name(f".unfinished-{function.__name__}"),
        _fingerprint(parameters, values, code or code_digest(sys.modules[function.__module__].__file__)),
    )
    try:
        yield folder
    except DivergenceError as error:
        raise DivergenceError(f"{error}. State of the job: {set_aside(folder, 'diverged')}") from None
    else:
        shutil.rmtree(folder)
    finally:
        release(folder)


def _fingerprint(parameters: Sequence[Parameter], values: dict[str, Any], code: str) -> str:
    """Return everything that the state of an unfinished job depends on, as JSON."""
    from heuristic_core.models.device import resolve_device, resolve_precision

    device = resolve_device(values.get("device", "cpu"))
    state: dict[str, Any] = {"code": code, "packages": package_versions()}
    for parameter in parameters:
        value, paths = values.get(parameter.name), []
        if parameter.role is ParameterRole.INPUT:
            paths = value if parameter.several else [value] * (value is not None)
            value = [sorted(result_digests(path).values()) for path in paths]
        elif isinstance(value, BaseModel):
            value = value.model_dump(mode="json")
            if value.get("precision") == "auto":
                value["precision"] = resolve_precision(device, "auto")
        elif parameter.name == "precision":
            value = resolve_precision(device, value)
        if parameter.role is not ParameterRole.OUTPUT:
            state[parameter.name] = value
    return json.dumps(state, indent=1, sort_keys=True, default=str)

"""Tell what a run would need, before anything runs: jobs, work, hours on a device, disk, memory."""

from pathlib import Path

from heuristic_core.config.reading import read_layers
from heuristic_core.experiments.heuristic_core.config import parse_study
from heuristic_core.experiments.heuristic_core.config.studies import parse_studies
from heuristic_core.experiments.heuristic_core.plan.report import plan
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.plan.devices import DEFAULTS, device
from heuristic_core.plan.jobs import jobs, of_study
from heuristic_core.provenance.record import recorded

SNAKEFILE = Path(__file__).parents[2] / "Snakefile"


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--configfile", nargs="+", required=True, metavar="FILE", help="as Snakemake's own")
    parser.add_argument("--device", help="a device of plan/devices.yaml; default: cpu, or a5000 for `device: cuda`")
    args = parser.read(arguments)
    values, origin = read_layers(args.configfile), args.configfile[-1]
    several = parse_studies(values, origin) if "studies" in values else {"": values}
    studies = {prefix: parse_study(settings, origin) for prefix, settings in several.items()}
    named = {prefix: args.device or DEFAULTS[study.device] for prefix, study in studies.items()}
    devices = {name: device(name) for name in named.values()}
    wanted, missing = (jobs(SNAKEFILE, args.configfile, everything) for everything in (True, False))
    for prefix, study in studies.items():
        own = (of_study(prefix, studies, found) for found in (wanted, missing))
        print(plan(study, named[prefix], devices[named[prefix]], *own), end="\n\n")


if __name__ == "__main__":
    recorded(main)

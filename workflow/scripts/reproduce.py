"""Compare a study's results with those that were published with the code, byte for byte.

Ends with exit code 1 where any differs. With --write, the results that are there become the published ones.
"""

import sys
from pathlib import Path

from heuristic_core.config.reading import read_config
from heuristic_core.experiments.registry import load_experiment
from heuristic_core.jobs.arguments import JobParser
from heuristic_core.provenance.reproduction import compare_results, format_comparison, write_digests

EXPECTED = Path("docs/expected")


def main(arguments=None):
    parser = JobParser(__doc__)
    parser.add_argument("--configfile", required=True, metavar="FILE", help="of the study")
    parser.add_argument("--write", action="store_true", help="publish the results that are there")
    args = parser.parse(arguments)
    values = read_config(args.configfile)
    study = load_experiment(values, args.configfile).parse(values, args.configfile)
    root, file = Path(study.root), EXPECTED / f"{study.study}.json"
    if args.write:
        print(f"{file}: {write_digests(root, file)} results of {root}")
        return
    result = compare_results(root, file)
    print(format_comparison(root, file, result))
    if result.first:
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Compare results of one or more studies byte for byte with the published ones.

Exits with status 1 if a result differs. With --write, the current results become the published ones.
"""

import sys
from pathlib import Path

from heuristic_core.config.reading import read_merged_configs
from heuristic_core.experiments.studies import read_studies
from heuristic_core.jobs.arguments import JobParser
from heuristic_core.provenance.reproduction import compare_results, format_comparison, write_digests

EXPECTED = Path("docs/expected")


def main(arguments=None):
    parser = JobParser(__doc__)
    parser.add_argument("--configfile", nargs="+", required=True, metavar="FILE", help="as Snakemake's own")
    parser.add_argument("--write", action="store_true", help="store the digests of the current results as published")
    args = parser.parse(arguments)
    same = True
    for _, _, study in read_studies(read_merged_configs(args.configfile), args.configfile[-1]).values():
        root, file = Path(study.root), EXPECTED / f"{study.study}.json"
        if args.write:
            print(f"{file}: {write_digests(root, file)} results of {root}")
            continue
        comparison = compare_results(root, file)
        print(format_comparison(root, file, comparison))
        same = same and comparison.first is None
    if not same:
        sys.exit(1)


if __name__ == "__main__":
    main()

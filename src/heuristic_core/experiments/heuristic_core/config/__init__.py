"""What a study of the heuristic core is: read and checked here, before anything runs."""

from heuristic_core.experiments.heuristic_core.config.study import Study, load_study, parse_study

__all__ = ["Study", "load_study", "parse_study"]

"""What a study is: read and checked here, before anything runs."""

from heuristic_core.config.study import ConfigError, Study, load_study, parse_study

__all__ = ["ConfigError", "Study", "load_study", "parse_study"]

"""Files of a configuration: how numbers are read, and faults of the file itself."""

import re

import pytest
import yaml
from conftest import ROOT
from test_config import GENERATED, VALUES, replaced

from heuristic_core.config.reading import ConfigError
from heuristic_core.experiments.heuristic_core.config import load_study


def test_an_exponent_without_a_point_is_a_number(tmp_path):
    text, count = re.subn(r"(controller_learning_rate:).*", r"\1 1e-3", (ROOT / GENERATED).read_text())
    assert count == 1 and yaml.safe_load(text)["prune"]["controller_learning_rate"] == "1e-3"
    (tmp_path / "a.yaml").write_text(text)
    assert load_study(tmp_path / "a.yaml").prune.controller_learning_rate == 0.001


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("study: [a", "is not valid YAML"),
        ("study: a\n\tmodel: b", "is not valid YAML"),
        ("study: a\x07", "is not valid YAML"),
        ("study: 2026-13-45", ""),  # YAML takes it for a date
        ("", "expected `key: value` lines, found NoneType"),
        ("- a\n- b", "expected `key: value` lines, found list"),
        ("a", "expected `key: value` lines, found str"),
    ],
)
def test_a_file_that_is_no_yaml_mapping_is_named(tmp_path, text, reason):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_study(path)
    assert str(caught.value).startswith(str(path)) and reason in str(caught.value)


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(ConfigError, match=re.escape(str(path))):
        load_study(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(ConfigError, match=rf"^{re.escape(str(tmp_path))}/b.yaml: no such file; give the path"):
        load_study(tmp_path / "b.yaml")
    with pytest.raises(ConfigError, match=re.escape(str(tmp_path))):
        load_study(tmp_path)


def test_faults_in_a_file_name_the_file(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(yaml.safe_dump(replaced(VALUES[GENERATED], "prune.batch_size", 0)))
    with pytest.raises(ConfigError, match=rf"^{re.escape(str(path))} cannot be run:\n  prune.batch_size = 0: "):
        load_study(path)

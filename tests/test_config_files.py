"""Files of a configuration: how numbers are read, and faults of the file itself."""

import re
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT
from mentions import mentions, raises
from test_config import GENERATED, VALUES, replaced

from heuristic_core.config.claims import load_claims
from heuristic_core.config.reading import ConfigError, read_config
from heuristic_core.experiments.subnetworks.config import load_study


def test_an_exponent_without_a_point_is_a_number(tmp_path):
    text, count = re.subn(r"(controller_learning_rate:).*", r"\1 1e-3", (ROOT / GENERATED).read_text())
    assert count == 1 and yaml.safe_load(text)["prune"]["controller_learning_rate"] == "1e-3"
    (tmp_path / "a.yaml").write_text(text)
    assert load_study(tmp_path / "a.yaml").prune.controller_learning_rate == 0.001


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("study: [a", ""),
        ("study: a\n\tmodel: b", ""),
        ("study: a\x07", ""),
        ("study: 2026-13-45", ""),  # YAML takes it for a date
        ("", "NoneType"),
        ("- a\n- b", "list"),
        ("a", "str"),
    ],
)
def test_a_file_that_is_no_yaml_mapping_is_named(tmp_path, text, kind):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with raises(ConfigError, path, kind):
        load_study(path)


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with raises(ConfigError, path):
        load_study(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with raises(ConfigError, tmp_path / "b.yaml"):
        load_study(tmp_path / "b.yaml")
    with raises(ConfigError, tmp_path):
        load_study(tmp_path)


def test_faults_in_a_file_name_the_file(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(yaml.safe_dump(replaced(VALUES[GENERATED], "prune.batch_size", 0)))
    with raises(ConfigError, path, "prune.batch_size", 0):
        load_study(path)


@pytest.mark.parametrize(
    ("text", "key", "line", "first"),
    [
        ("study: a\nmodel:\n  name: b\nstudy: c", "study", 4, 1),
        ("grid: {mid: 0.2, high: 0.4, mid: 0.3}", "grid.mid", 1, 1),
        ("task:\n  train:\n  - file: a\n    where: {x: [a]}\n    'file': b", "task.train.0.file", 5, 3),
        ("a: &it {x: 1}\nb:\n  <<: *it\n  y: 1\n  y: 2", "b.y", 5, 4),
        ("merge:\n  true: said\n  yes: unsaid", "merge.yes", 3, 2),
        ("merge:\n  1: said\n  1.0: unsaid", "merge.1.0", 3, 2),
        ("figures:\n  ? figure02\n  : {width: 3}\n  figure02: {width: 4}", "figures.figure02", 4, 2),
    ],
)
def test_a_repeated_key_is_named_at_any_depth(tmp_path, text, key, line, first):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with raises(ConfigError, path, f"line {line}", key, f"line {first}"):
        read_config(path)


@pytest.mark.parametrize(
    "text",
    [
        "a: &it {x: 1}\nb: {<<: *it, x: 2}\nc: {<<: [*it, {x: 3}]}\nd: *it",
        "a: &it {x: 1, y: {x: 2}}\nb: {<<: *it, y: 3}\nc: {x: {x: 1}}\n1: a\n'1': b",
        "a: &it [1, *it]",
    ],
)
def test_merged_keys_and_aliases_are_no_repetition(tmp_path, text):
    (tmp_path / "a.yaml").write_text(text)
    assert repr(read_config(tmp_path / "a.yaml")) == repr(yaml.safe_load(text))


def test_a_repeated_key_of_a_claim_is_named(tmp_path):
    (tmp_path / "claims.yaml").write_text("- claim: a\n  paper: p\n  claim: b")
    with raises(ConfigError, "claims.yaml", "line 3", "0.claim", "line 1"):
        load_claims(tmp_path / "claims.yaml")


@pytest.mark.slow
def test_a_dry_run_of_the_default_study_names_a_repeated_key(tmp_path):
    text = (ROOT / "config.yaml").read_text()
    (tmp_path / "config.yaml").write_text(f"{text}\nprune: {{}}\n")
    command = [sys.executable, "-m", "snakemake", "-n", "--snakefile", ROOT / "Snakefile", "--directory", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert mentions(done.stderr, "config.yaml", f"line {len(text.splitlines()) + 2}", "prune")

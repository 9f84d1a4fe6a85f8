"""`make targets` names what Snakemake can be asked for, and commands end in peace when nobody reads on."""

import os
import re
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT
from mentions import mentions
from reduced import OWN, REDUCED, snakemake

from heuristic_core.config.reading import read_config
from heuristic_core.experiments.subnetworks.config import parse_study
from heuristic_core.experiments.subnetworks.figures.targets import missing_study_requirement, unavailable_targets

sys.path.insert(0, str(ROOT / "workflow" / "scripts"))
SORTING = ROOT / "tests" / "studies" / "sorting.yaml"


def list_targets(capsys, *files):
    import targets

    targets.main(["--configfile", *map(str, files)])
    listed, *absent, hint = capsys.readouterr().out.split("\n\n")
    return dict(re.findall(r"^(\S+) +(\S.*)$", listed, re.MULTILINE)), hint, "".join(absent)


def test_a_study_has_its_figures_and_tables_with_their_titles(capsys):
    result, hint, absent = list_targets(capsys, REDUCED)
    assert result.keys() == {*OWN, "report", "export", "all_figures"}
    assert all(result.values())
    assert hint.strip().endswith(f"--configfile {REDUCED} -- figure02")
    assert any(mentions(line, "figure_entry", "mechanism.entry") for line in absent.splitlines())
    assert "figure08" not in absent  # that is figure07 here


def test_what_a_study_cannot_have_is_told_with_the_setting_that_gives_it(capsys, tmp_path):
    values = read_config(ROOT / "config" / "minilm-mnli.yaml")
    del values["figures"]["figure02"]
    for split in values["task"]["evaluation"].values():
        split.pop("family_by", None)
    file = tmp_path / "minilm.yaml"
    file.write_text(yaml.safe_dump(values))
    result, _, absent = list_targets(capsys, file)
    lines = absent.splitlines()
    assert any(mentions(line, "figure06", 2, "grid.checkpoints", 1) for line in lines)
    assert any(mentions(line, "figure12", "figure02") for line in lines) and "family_by" in absent
    assert "figure12" not in result and "figure02" in result


def test_a_study_whose_figure_2_shows_fewer_subsets_has_figure_12_without_families():
    values = read_config(ROOT / "config" / "minilm-mnli.yaml")
    del values["figures"]["figure02"]
    splits = values["task"]["evaluation"]
    assert missing_study_requirement("figure12", parse_study(values)) is None
    for split in splits.values():
        split.pop("family_by", None)
    assert "figure12" in unavailable_targets(parse_study(values))
    assert "figure12" not in unavailable_targets(parse_study(values | {"analysis": {"subsets": [next(iter(splits))]}}))


@pytest.mark.parametrize("names", ["one", "several"])
def test_snakemake_knows_every_target_that_is_named(capsys, tmp_path, names):
    both = tmp_path / "both.yaml"
    both.write_text(yaml.safe_dump({"studies": [os.path.relpath(item, tmp_path) for item in (REDUCED, SORTING)]}))
    config = both if names == "several" else SORTING
    result, *_ = list_targets(capsys, config)
    assert ("reduced_figure02" in result) == (names == "several") and len(result) > 5
    done = snakemake(tmp_path, "--list-target-rules", config=config)
    assert result.keys() <= set((done.stdout + done.stderr).split())


def test_a_command_ends_in_peace_when_nobody_reads_on():
    code = "from heuristic_core.provenance.record import run_with_record; run_with_record(lambda: print('x' * {}))"
    for length in (10, 100_000):  # one that waits to be written until the end, and one that does not
        end, start = os.pipe()
        os.close(end)
        done = subprocess.run([sys.executable, "-c", code.format(length)], stdout=start, stderr=subprocess.PIPE)
        os.close(start)
        assert (done.returncode, done.stderr) == (0, b"")

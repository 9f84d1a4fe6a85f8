"""Every target is a rule of its name; those that a study cannot have say why."""

import subprocess
import sys

import pytest
from conftest import ROOT
from mentions import mentions

pytestmark = pytest.mark.slow
REASONS = {
    "figure11": ("figure11", "qqp", "mnli", "counterpart.task: qqp", "figure05"),
    "table8": ("table8", "gpt2", "bert", "counterpart.model: gpt2", "table3"),
}


def test_targets_that_the_study_cannot_have_name_the_setting_and_write_nothing(tmp_path):
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(tmp_path)]
    command += ["--configfile", str(ROOT / "tests" / "studies" / "reduced.yaml"), "--cores", "1", "--keep-going"]
    done = subprocess.run([*command, *REASONS], capture_output=True, text=True)
    assert done.returncode == 1
    for named in REASONS.values():
        assert any(mentions(line, *named) for line in done.stderr.splitlines())
    assert "Traceback" not in done.stderr
    written = [path.name for path in tmp_path.rglob("*") if path.is_file() and ".snakemake" not in path.parts]
    assert sorted(written) == [f"{name}.log" for name in sorted(REASONS)]

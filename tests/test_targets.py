"""`make targets` names what Snakemake can be asked for, and commands end in peace when nobody reads on."""

import os
import re
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT
from reduced import OWN, REDUCED, snakemake

sys.path.insert(0, str(ROOT / "workflow" / "scripts"))
SORTING = ROOT / "tests" / "studies" / "sorting.yaml"


def told(capsys, *files):
    import targets

    targets.main(["--configfile", *map(str, files)])
    listed, hint = capsys.readouterr().out.rsplit("\n\n", 1)
    return dict(re.findall(r"^(\S+) +(\S.*)$", listed, re.MULTILINE)), hint


def test_a_study_has_its_figures_and_tables_with_their_titles(capsys):
    found, hint = told(capsys, REDUCED)
    assert found.keys() == {*OWN, "report", "export", "all_figures"}
    assert found["figure04"] == "Accuracy against sparsity"
    assert hint.strip().endswith(f"--configfile {REDUCED} -- figure02")


@pytest.mark.parametrize("names", ["one", "several"])
def test_snakemake_knows_every_target_that_is_named(capsys, tmp_path, names):
    both = tmp_path / "both.yaml"
    both.write_text(yaml.safe_dump({"studies": [os.path.relpath(one, tmp_path) for one in (REDUCED, SORTING)]}))
    config = both if names == "several" else SORTING
    found, _ = told(capsys, config)
    assert ("reduced_figure02" in found) == (names == "several") and len(found) > 5
    done = snakemake(tmp_path, "--list-target-rules", config=config)
    assert found.keys() <= set((done.stdout + done.stderr).split())


def test_a_command_ends_in_peace_when_nobody_reads_on():
    code = "from heuristic_core.provenance.record import recorded; recorded(lambda: print('x' * {}))"
    for length in (10, 100_000):  # one that waits to be written until the end, and one that does not
        end, start = os.pipe()
        os.close(end)
        done = subprocess.run([sys.executable, "-c", code.format(length)], stdout=start, stderr=subprocess.PIPE)
        os.close(start)
        assert (done.returncode, done.stderr) == (0, b"")

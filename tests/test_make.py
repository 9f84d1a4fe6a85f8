"""`make` installs when what is to be installed changed, and says what; time stamps say nothing. What else it says."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT
from mentions import mentions

LOCKED = ("envs/requirements.txt", "pyproject.toml")


@pytest.fixture
def make(tmp_path):
    """A function that runs `make ready` in a checkout; it gives what was printed, and pip's command lines."""
    for name in ("Makefile", *LOCKED):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    pip = tmp_path / ".venv/bin/pip"
    pip.parent.mkdir(parents=True)
    pip.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/pip.log; exit ${{PIP_FAILS:-0}}\n')
    pip.chmod(0o755)

    def run(python=sys.executable, **environment):
        log = tmp_path / "pip.log"
        log.write_text("")
        command = ["make", "--no-print-directory", "ready", f"PYTHON={python}", "VENV=.venv"]
        outside = {
            key: value for key, value in os.environ.items() if "MAKE" not in key
        }  # of the `make test` around this
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=outside | environment)
        return done.stdout, log.read_text().splitlines()

    return run


def test_an_environment_is_installed_once(make):
    output, installed = make()
    assert output
    assert installed == [
        "install --quiet --use-pep517 --requirement envs/requirements.txt",
        "install --quiet --no-deps --editable .",
    ]
    assert make() == ("", [])


def test_without_a_python_that_is_recent_enough_nothing_is_installed(make):
    output, installed = make(python="/bin/false")
    assert mentions(output, "/bin/false", "3.11", "PYTHON") and not installed


def test_time_stamps_install_nothing(make, tmp_path):
    make()
    for name in LOCKED:
        os.utime(tmp_path / name)
    assert make() == ("", [])


def test_another_version_is_installed_and_named(make, tmp_path):
    make()
    lock = tmp_path / LOCKED[0]
    lock.write_text(lock.read_text().replace("torch==2.13.0", "torch==2.14.0"))
    output, installed = make()
    assert "< torch==2.13.0\n> torch==2.14.0\n" in output and len(installed) == 2
    assert make() == ("", [])


def test_an_installation_that_failed_is_tried_again(make):
    assert len(make(PIP_FAILS="1")[1]) == 1
    assert len(make()[1]) == 2


def made(*arguments):
    outside = {key: value for key, value in os.environ.items() if "MAKE" not in key}
    command = ["make", "--no-print-directory", "--file", ROOT / "Makefile", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=outside)


def test_help_names_every_target_for_people():
    text = (ROOT / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    described = dict(re.findall(r"^make (\S+) +(\S.*)$", made("help").stdout, re.MULTILINE))
    assert set(phony.split()) - described.keys() == {"configured", "install"} and described.keys() <= set(phony.split())
    assert made().stdout == made("help").stdout


def test_every_target_of_a_study_takes_its_configuration_and_names_one_that_is_not_there():
    text = (ROOT / "Makefile").read_text()
    takers = re.findall(r"^([a-z]+): configured ready$", text, re.MULTILINE)
    assert {"figures", "report", "export", "fetch", "plan", "targets", "audit", "changes", "reproduce"} <= set(takers)
    for name in takers:
        recipe = re.search(rf"^{name}:.*\n((?:\t.*\n)+)", text, re.MULTILINE)[1]
        assert "--configfile $(CONFIG)" in recipe, name
    done = made("plan", "CONFIG=config.yaml nothere.yaml")
    assert done.returncode and mentions(done.stderr.splitlines()[0], "nothere.yaml", "CONFIG")


@pytest.mark.parametrize(
    ("config", "compared"),
    [
        ("config.yaml", True),
        ("config/list-sorting.yaml", True),
        ("config/extractive.yaml", True),
        ("config/minilm.yaml", False),
        ("config.yaml config/dose.yaml", False),
    ],
)
def test_figures_of_studies_with_published_digests_are_compared_with_them(config, compared):
    done = made("--dry-run", "figures", f"CONFIG={config}")
    assert done.returncode == 0, done.stderr
    assert (f"workflow/scripts/reproduce.py --configfile {config} || test $? = 1" in done.stdout) == compared
    redrawn = made("--dry-run", "figures", f"CONFIG={config}", "CRATE=study.crate.zip").stdout
    assert "redraw" in redrawn and "reproduce.py" not in redrawn

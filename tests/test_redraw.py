"""Everything drawn again from an archive, and archives from which nothing can be drawn."""

import io
import json
import shutil
import subprocess
import zipfile

import pyarrow.parquet as pq
import pytest
from archives import METADATA, export, forge, members, script, write
from conftest import ROOT
from mentions import mentions, raises
from reduced import OWN, snakemake
from test_export import SETTINGS

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.archive.reading import open_crate
from heuristic_core.experiments.subnetworks.archive.unpack import unpack
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS, missing_requirement

TABLE = "tables/core.parquet"


@pytest.fixture(scope="module")
def archive(finished, tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "reduced.crate.zip"
    export(finished / "results/reduced", SETTINGS, path)
    return path


@pytest.fixture(scope="module")
def archive_members(archive):
    return members(archive)


@pytest.mark.slow
def test_all_that_is_drawn_is_drawn_again_to_the_same_bytes(archive, archive_members, tmp_path):
    """From the archive alone, with its own settings: those of the configuration beside it are another study's.

    Other processes draw, whose hashes of strings have another seed.
    """
    shutil.copy(archive, tmp_path / "given.zip")
    snakemake(tmp_path, "redraw", "--config", "crate=given.zip", config=ROOT / "config.yaml")
    root = tmp_path / "results/from-crate/reduced"
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["from-crate"]
    drawn = [name for name in archive_members if name.startswith("figures/") or name.startswith("tables/table")]
    assert len(drawn) == 4 * len(OWN)
    for name in (*drawn, "tables/claims.parquet", "study.json"):
        assert (root / name).read_bytes() == archive_members[name], name
    assert (root / "report.html").stat().st_size > 1e6
    assert not list(root.glob("mini-bert")) and not list(root.rglob("*.safetensors"))


def test_an_archive_has_the_tables_of_all_that_its_study_draws(archive):
    crate = open_crate(archive)
    assert {name for name in TARGETS if missing_requirement(name, crate.context, crate.tables) is None} == set(OWN)


def test_a_finished_study_is_left_alone(archive, finished):
    """In the folder of the study itself the archive is drawn beside it."""
    planned = snakemake(finished, "redraw", "--dry-run", "--config", f"crate={archive}")
    outputs = [word for line in planned.stdout.splitlines() if "output: " in line for word in line.split()[1:]]
    assert outputs and all(path.startswith("results/from-crate/reduced/") for path in outputs)


def flipped(archive, name):
    """The archive's bytes with one of those of the member `name` changed."""
    with zipfile.ZipFile(archive) as file:
        info = file.getinfo(name)
    content = bytearray(archive.read_bytes())
    content[info.header_offset + 30 + len(name) + info.compress_size // 2] ^= 1
    return content


def fails_with(path, *tokens):
    with raises(InputError, path, *tokens):
        open_crate(path)


def test_no_file(tmp_path):
    fails_with(tmp_path / "x.zip", "make export")


def test_not_a_zip(tmp_path):
    (tmp_path / "x.zip").write_text("a text")
    fails_with(tmp_path / "x.zip", "make export")


def test_half_an_archive(archive, tmp_path):
    (tmp_path / "x.zip").write_bytes(archive.read_bytes()[:-5000])
    fails_with(tmp_path / "x.zip", "make export")


@pytest.mark.parametrize("name", ("../x", "/etc/x", "a/../../x", "C:x", "..\\x"))
def test_a_member_outside_the_folder(archive_members, tmp_path, name):
    fails_with(write(tmp_path / "x.zip", archive_members | {name: b""}), repr(name))


def test_a_zip_of_another_kind(tmp_path):
    fails_with(write(tmp_path / "x.zip", {"a.txt": b""}), METADATA, "make export")


def test_a_crate_of_another_kind(tmp_path):
    graph = [{"@id": "./", "@type": "Dataset"}, {"@id": "a.txt", "@type": "File"}]
    other = {METADATA: json.dumps({"@graph": graph}).encode(), "a.txt": b""}
    fails_with(write(tmp_path / "x.zip", other), "study.json", "make export")


@pytest.mark.parametrize("text", ("{", "[]", '{"@graph": [3]}', '{"@graph": [{"@id": "x"}]}'))
def test_metadata_that_are_none(archive_members, tmp_path, text):
    fails_with(write(tmp_path / "x.zip", archive_members | {METADATA: text.encode()}), METADATA)


def test_a_table_that_is_missing(archive_members, tmp_path):
    rest = {name: content for name, content in archive_members.items() if name != TABLE}
    fails_with(write(tmp_path / "x.zip", rest), TABLE, 0)


def test_a_member_that_was_added(archive_members, tmp_path):
    fails_with(write(tmp_path / "x.zip", archive_members | {"run.sh": b"rm"}), "run.sh")


def test_a_member_that_is_there_twice(archive, tmp_path):
    shutil.copy(archive, tmp_path / "x.zip")
    with zipfile.ZipFile(tmp_path / "x.zip", "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr(TABLE, b"")
    fails_with(tmp_path / "x.zip", TABLE, 2)


def test_settings_that_were_changed(archive_members, tmp_path):
    fails_with(write(tmp_path / "x.zip", archive_members | {"study.json": b"{}"}), "study.json")


@pytest.mark.parametrize("study", ("../../x", "a/b", "", 3))
def test_a_study_whose_name_is_a_way_out(archive_members, tmp_path, study):
    values = json.loads(archive_members["study.json"])
    values["settings"]["study"] = study
    changed = {"study.json": json.dumps(values).encode()}
    fails_with(forge(tmp_path / "x.zip", archive_members, **changed), "study.json", "make export")


@pytest.mark.slow
def test_a_flipped_bit_in_a_table_ends_the_redrawing(archive, tmp_path):
    (tmp_path / "x.zip").write_bytes(flipped(archive, TABLE))
    done = snakemake(tmp_path, "redraw", "--config", "crate=x.zip", check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in output
    assert any(mentions(line, "x.zip", TABLE) for line in output.splitlines())
    assert not (tmp_path / "results/from-crate/reduced/tables").exists()


def test_an_archive_of_another_version_is_told(archive_members, tmp_path):
    table = pq.read_table(io.BytesIO(archive_members[TABLE])).drop_columns("n_early")
    pq.write_table(table, older := io.BytesIO())
    crate = open_crate(forge(tmp_path / "x.zip", archive_members, **{TABLE: older.getvalue()}))
    with raises(InputError, tmp_path / "x.zip", TABLE, "n_early"):
        unpack(crate, tmp_path)


def test_an_impossible_archive_is_told_before_anything_runs(tmp_path):
    (tmp_path / "x.zip").write_text("a text")
    done = snakemake(tmp_path, "redraw", "--config", "crate=x.zip", check=False, fork=True)
    assert done.returncode == 1 and mentions(done.stderr, "x.zip") and "Traceback" not in done.stderr


@pytest.mark.slow
def test_without_an_archive_the_command_is_told(tmp_path):
    done = snakemake(tmp_path, "redraw", check=False, fork=True)
    assert done.returncode == 1 and "redraw --config crate=" in done.stdout + done.stderr


def test_another_environment_is_told(finished, tmp_path):
    lock = tmp_path / "requirements.txt"
    lock.write_text("matplotlib==1.0\nno-such-package==2.0\nnumpy==" + __import__("numpy").__version__)
    export(finished / "results/reduced", SETTINGS, tmp_path / "x.zip", lock=lock)
    script("unpack").main([*f"--crate {tmp_path}/x.zip --folder {tmp_path}/out --log {tmp_path}/log".split()])
    log_text = (tmp_path / "log").read_text()
    assert mentions(log_text, "matplotlib", "1.0", "no-such-package", "2.0")
    assert "numpy" not in log_text


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["figures", "CRATE=a b.zip"], '--config crate="a b.zip" -- redraw'),
        (["figures"], "--configfile config.yaml  -- all_figures"),
        (["report", "CONFIG=x.yaml"], "--configfile x.yaml -- report"),
        (["export", "CONFIG=x.yaml"], "--configfile x.yaml -- export"),
    ],
)
def test_make_gives_the_commands_that_the_documents_name(arguments, command):
    done = subprocess.run(["make", "--dry-run", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    assert command in done.stdout

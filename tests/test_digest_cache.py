"""Digests of code that are remembered between starts are those that would be computed."""

import pytest

from heuristic_core.provenance import digest_cache, digests
from heuristic_core.provenance.digest_cache import DigestCache, read_digest_cache


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A function that digests a script, as the next start would; it says whether the digest had to be computed."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "module.py").write_text("x = 1\n")
    (tmp_path / "lock").write_text("")
    (tmp_path / "script.py").write_text("import package.module\n")
    for module in (digests, digest_cache):
        monkeypatch.setattr(module, "PACKAGE", package)

    def start():
        for function in vars(digests).values():
            getattr(function, "cache_clear", lambda: None)()
        computed = []
        with monkeypatch.context() as patch:
            patch.setattr(
                digest_cache, "code_digest", lambda *a, **k: computed.append(a) or digests.code_digest(*a, **k)
            )
            cache = DigestCache(str(tmp_path / "file"), str(tmp_path / "lock"), write=False)
            digest = cache.digest(tmp_path / "script.py")
            cache._save()
        assert digest == digests.code_digest(tmp_path / "script.py", lock=tmp_path / "lock")
        return bool(computed)

    return start


def test_a_digest_is_computed_once(code):
    assert [code(), code(), code()] == [True, False, False]


@pytest.mark.parametrize("name", ["script.py", "package/module.py", "package/another.py", "lock"])
def test_it_is_computed_again_when_anything_changed(code, tmp_path, name):
    code()
    with open(tmp_path / name, "a") as file:
        file.write("\n# 2\n" if name == "lock" else "y = 2\n")
    assert [code(), code()] == [True, False]


@pytest.mark.parametrize("damage", [lambda text: text[:-9], lambda text: text.replace("1", "2"), lambda text: "", None])
def test_a_damaged_file_is_not_believed(code, tmp_path, damage):
    code()
    file = tmp_path / "file"
    if damage is None:
        file.write_bytes(b"\xff\n{}")
    else:
        file.write_text(damage(file.read_text()))
    assert read_digest_cache(file) == {} and [code(), code()] == [True, False]


def test_what_cannot_be_written_is_no_error(code, tmp_path):
    (tmp_path / "file").mkdir()
    assert [code(), code()] == [True, True]

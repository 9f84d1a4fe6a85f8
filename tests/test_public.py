"""What of settings and pages goes into an archive."""

from heuristic_core.provenance.crate.public import redact_page
from heuristic_core.provenance.settings import redact


def test_settings_keep_what_is_not_private():
    assert redact({"a": ["data/x", "nyu-mll/glue", 1, None], "b": "../../ada/x"}) == {
        "a": ["data/x", "nyu-mll/glue", 1, None],
        "b": "x",
    }
    assert redact("https://example.org/a/b.csv") == "https://example.org/a/b.csv"


def test_a_short_path_does_not_break_the_page():
    page = "<div><td>/d</td></div>"
    assert redact_page(page, {"folder": "/d"}) == "<div><td>d</td></div>"

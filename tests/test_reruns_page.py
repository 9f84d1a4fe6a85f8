"""Every line of the tables in docs/reruns.md names a test, and every test of reruns is named there."""

import ast
import re

from conftest import ROOT

ROWS = re.findall(r"^\|(?! *you change|---)(.*)\|$", (ROOT / "docs" / "reruns.md").read_text(), re.MULTILINE)


def defined_in(file):
    tree = ast.parse((ROOT / "tests" / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_lines_and_tests_correspond():
    named = [re.fullmatch(r" `(test_\w+\.py)::(test_\w+)` ", row.rpartition("|")[2]) for row in ROWS]
    assert named and all(named)
    assert len({match[0] for match in named}) == len(named), "a test is behind one line"
    for match in named:
        assert match[2] in defined_in(match[1]), f"{match[0]} does not exist"
    assert defined_in("test_reruns.py") == {match[2] for match in named if match[1] == "test_reruns.py"}

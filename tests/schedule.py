"""In which order tests run, and which of them in one process. The functions are pytest's hooks, for conftest.py."""

from pathlib import PurePath

import pytest

# Of the files with tests of the finished study, those whose tests take longest.
LONGEST = (
    "test_faults_kills.py",
    "test_damaged.py",
    "test_faults_runs.py",
    "test_faults_disks.py",
    "test_killed.py",
    "test_variants.py",
)
# Files whose tests share what is expensive, or what they change and put back: one process runs each of these.
TOGETHER = {
    "test_own_task.py",
    "test_slurm.py",
    "test_figures.py",
    "test_list_sorting_figures.py",
    "test_extractive_figures.py",
}


def pytest_itemcollected(item):
    """What needs the finished study is marked as such."""
    if "finished" in item.fixturenames:
        item.add_marker("workflow")


@pytest.hookimpl(trylast=True)  # of the tests that were chosen
def pytest_collection_modifyitems(items):
    """One test that needs the finished study begins, and makes it; the other such tests end the run.

    So no processor idles: what runs meanwhile needs no study, and the shortest are among the last. The first of those
    that need a checkout with the study in it makes it, while the others do something else.
    """
    waiting = [item for item in items if item.get_closest_marker("workflow")]
    waiting.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
    settling = [item for item in waiting[1:] if "settled" in item.fixturenames][:1]
    rest = [item for item in waiting[1:] if item not in settling]
    items[:] = [*waiting[:1], *(item for item in items if item not in waiting), *settling, *rest]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests are handed out one by one, in that order, and those of a file of `TOGETHER` at once."""
    from xdist.scheduler import LoadScopeScheduling

    class OneByOne(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return file if PurePath(file).name in TOGETHER else nodeid

    config.option.loadscopereorder = False
    return OneByOne(config, log)

"""In which order tests run, and which of them in one process. The functions are pytest's hooks, for conftest.py."""

from collections import Counter
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
TOGETHER = {"test_own_task.py", "test_processors.py", "test_slurm.py"}


def pytest_itemcollected(item):
    """What needs the finished study is marked as such."""
    if "finished" in item.fixturenames:
        item.add_marker("workflow")


@pytest.hookimpl(trylast=True)  # of the tests that were chosen
def pytest_collection_modifyitems(items):
    """One test that needs the finished study begins, and makes it; the other such tests end the run.

    So no processor idles: what runs meanwhile needs no study, and the shortest are among the last. Of the others, the
    first test of each file comes first: one process makes what a file's tests share while the rest do something else.
    """
    waiting = [item for item in items if item.get_closest_marker("workflow")]
    before, places = Counter(), {}  # tests of the same file
    for item in waiting:
        file = item.path.name
        places[item] = LONGEST.index(file) if file in LONGEST else len(LONGEST) + before[file]
        before[file] += 1
    waiting.sort(key=places.get)
    items[:] = [*waiting[:1], *(item for item in items if item not in places), *waiting[1:]]


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

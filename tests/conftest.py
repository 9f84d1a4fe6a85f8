"""What many tests share: a tiny fine-tuned-like BERT, saved as an ordinary checkpoint, and encoded pairs."""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from fetching import command, fetch  # noqa: F401 (fixtures, as those of the next lines)
from model_folders import bert_folder, save  # noqa: F401
from once import once
from schedule import pytest_collection_modifyitems, pytest_itemcollected, pytest_xdist_make_scheduler  # noqa: F401
from task_rows import task  # noqa: F401

# Snakemake's plugin asks SLURM as it is imported; one that is installed but not running answers after nine seconds.
if os.environ.get("HEURISTIC_CORE_TEST_SLURM") != "1":
    os.environ["SLURM_CONF"] = os.devnull

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"
EXPERIMENT = ROOT / "src" / "heuristic_core" / "experiments" / "subnetworks"
CLAIMS = EXPERIMENT / "claims.yaml"
# Every study of the heuristic core; files of several studies, of another experiment or that add to a study are not.
STUDY_FILES = [
    str(path.relative_to(ROOT))
    for path in (ROOT / "config.yaml", *sorted(ROOT.glob("config/*.yaml")))
    if "study" in (settings := yaml.safe_load(path.read_text())) and "experiment" not in settings
]


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    import torch

    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def denormal_numbers():
    """A script that a test runs in this process flushes them to zero; other tests must not see that."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)


@pytest.fixture(scope="session")
def bert():
    """A Hugging Face BERT of 3 layers x 4 heads with weights large enough that every component matters."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=50,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=20,
        num_labels=3,
        id2label={0: "entailment", 1: "neutral", 2: "contradiction"},
        initializer_range=0.3,
    )
    model = BertForSequenceClassification(config).eval().requires_grad_(False)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.add_(0.1 * torch.randn_like(weight))
    return model


@pytest.fixture(scope="session")
def checkpoint(bert, tmp_path_factory):
    """The folder of that model, as `save_pretrained` writes it."""
    folder = tmp_path_factory.mktemp("bert") / "checkpoint"
    bert.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def fused(checkpoint):
    from heuristic_core.models.fused import FusedModel

    return FusedModel.load(checkpoint)


def make_encoded(count: int, seed: int = 0, shortest: int = 5, longest: int = 16):
    """Random pairs [CLS] a [SEP] b [SEP] in three subsets, one per group."""
    from heuristic_core.data.encoded import Subset, pack_lists

    rng = np.random.default_rng(seed)
    ids, types, special = [], [], []
    for length in rng.integers(shortest, longest + 1, count):
        first = int(rng.integers(1, length - 3))
        words = rng.integers(5, 50, length - 3).tolist()
        ids.append([1, *words[:first], 2, *words[first:], 2])
        types.append([0] * (first + 2) + [1] * (length - first - 2))
        special.append([1] + [0] * first + [1] + [0] * (length - 3 - first) + [1])
    labels = rng.integers(0, 2, count)
    a, b = count // 3, 2 * count // 3
    subsets = (
        Subset("in", "id", None, (0, 1, 2), 0, a),
        Subset("out", "ood", "constituent", (0, 1, 1), a, b),
        Subset("out_entailed", "ood-entailment", "constituent", (0, 1, 1), b, count),
    )
    return pack_lists(ids, types, special, labels.tolist(), subsets)


@pytest.fixture(scope="session")
def encoded():
    return make_encoded(60)


@pytest.fixture(scope="session")
def pairs(encoded):
    from heuristic_core.models.batches import PairTensors

    return PairTensors(encoded)


@pytest.fixture(scope="module")
def inputs(fused, pairs):
    return make_inputs(fused, pairs)


def make_inputs(fused, pairs):
    """What pruning of that model on these pairs starts from."""
    import torch

    from heuristic_core.interventions.evaluate import all_logits
    from heuristic_core.models.ablation import component_means
    from heuristic_core.pruning.inputs import PruningInputs

    means = component_means(fused, pairs, torch.arange(len(pairs)).split(16))
    return PruningInputs(fused, means, pairs, all_logits(fused, pairs))


@pytest.fixture(scope="session")
def tables():
    """The synthetic tables that figures are tested on."""
    from drawn import TABLES

    return TABLES


@pytest.fixture(scope="module")
def drawn():
    """Name -> (figure, marks) of these tables."""
    from drawn import Drawn

    return Drawn()


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder in which the reduced study has run to its end; all tests share it, so copy what you change.

    `again.txt` is what a second run said there.
    """
    from reduced import snakemake

    def make(folder):
        snakemake(folder)
        again = snakemake(folder)
        (folder / "again.txt").write_text(again.stdout + again.stderr)

    return once(tmp_path_factory, "study", make)


@pytest.fixture(scope="session")
def settled(finished, tmp_path_factory):
    """A checkout with the finished study in it, shared like that."""
    from reduced import clone, planned, snakemake

    def make(folder):
        clone(folder)
        for name in ("results", ".snakemake"):
            shutil.copytree(finished / name, folder / name)
        # claims.yaml and the captions, which these read, are elsewhere now.
        assert set(planned(folder, checkout=folder)) == {"claims", "report"}
        snakemake(folder, checkout=folder)

    return once(tmp_path_factory, "settled", make)


@pytest.fixture
def checkout(settled, tmp_path):
    """A copy of that checkout, in a folder of another name."""
    return shutil.copytree(settled, tmp_path / "moved", symlinks=True)


@pytest.fixture
def copy(finished, tmp_path):
    """The finished study in a folder of its own."""
    return shutil.copytree(finished, tmp_path / "copy", symlinks=True)


@pytest.fixture
def changed(tmp_path):
    """A function that writes the reduced study with some settings changed, each given as `block.key`."""

    def write(**settings):
        import yaml
        from reduced import REDUCED

        values = yaml.safe_load(REDUCED.read_text())
        for path, value in settings.items():
            *blocks, key = path.split("__")
            block = values
            for name in blocks:
                block = block.setdefault(name, {})
            block[key] = value
        path = tmp_path / "changed.yaml"
        path.write_text(yaml.safe_dump(values))
        return path

    return write


@pytest.fixture
def hub():
    """A hub of the tests' own, on 127.0.0.1."""
    from hub_server import Hub

    server = Hub()
    yield server
    server.close()


@pytest.fixture
def environment(hub, tmp_path):
    """Environment variables of a user of that hub, whose cache is empty."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    kept |= {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "home"), "NO_PROXY": "127.0.0.1"}
    return kept | {"PYTHONPATH": str(ROOT / "src"), "HEURISTIC_CORE_FORK_SERVER": "0", "HF_HUB_DISABLE_TELEMETRY": "1"}

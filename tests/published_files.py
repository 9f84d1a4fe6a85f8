"""The authors' result files, as the import reads them."""

import importlib.util
import json

from conftest import ROOT, SHARED

from heuristic_core.experiments.subnetworks.analysis.effective_size import compute_effective_size
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.tables.parquet import read_table

FOLDER = SHARED / "reference" / "published"
TABLES = ("accuracy", "finetune_accuracy", "actual_sparsity")


def import_study(folder, to, task, *more):
    """Tables by name, and study.json, as the import writes them from `folder`."""
    source = ROOT / "workflow" / "scripts" / "published.py"
    spec = importlib.util.spec_from_file_location("script_published", source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    wanted = [*TABLES, *(["ablations", "core_null"] if task == "mnli" else [])]
    outputs = [word for t in wanted for word in (f"--{t.replace('_', '-')}", str(to / f"{t}.parquet"))]
    arguments = ["--folder", folder, "--task", task, "--study", to / "study.json", "--log", to / "import.log"]
    module.main([*map(str, arguments), *outputs, *more])
    about = json.loads((to / "study.json").read_text())
    return {t: read_table(to / f"{t}.parquet") for t in wanted} | {"study": about}


def context(result):
    return Context.model_validate_json(json.dumps(result["study"]["context"]))


def sizes(result):
    """Effective sizes by the paper's criterion, summaries over seeds."""
    analysis = Analysis(**result["study"]["settings"]["analysis"])
    table = compute_effective_size(result["accuracy"], analysis, context(result))
    return table[table["seed"].isna() & (table["criterion"] == "accuracy") & (table["threshold"] == 3.0)]

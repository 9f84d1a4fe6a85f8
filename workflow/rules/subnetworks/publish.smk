# Subnetworks of the last checkpoint as Hugging Face checkpoints: all, or a selection such as `--config publish="seed=42"`.
import yaml

from heuristic_core.experiments.subnetworks.archive.publishing import HUB_FOLDER as HUB
from heuristic_core.experiments.subnetworks.archive.publishing import select_subnetworks, infer_licence

try:
    PUBLISHED_CELLS = select_subnetworks(STUDY, config.get("publish", ""))
except InputError as error:
    raise WorkflowError(str(error)) from None

with open(f"{workflow.basedir}/CITATION.cff") as file:
    LICENCE = infer_licence(STUDY, yaml.safe_load(file)["license"], config.get("licence"))

if LICENCE is None:
    UNAVAILABLE_RULES["publish"] = (
        LAYOUT.log("publish"),
        1,
        f"The licence of {STUDY.model.name} is unknown, and derived models inherit it: "
        "set LICENCE to its identifier on the hub, as in make publish LICENCE=apache-2.0",
    )
else:

    rule publish:
        input:
            subnetworks=[
                f"{folder}/subnetwork.json"
                for ft_seed, cell in PUBLISHED_CELLS
                for folder in cell_dirs([cell], ft_seed=ft_seed)
            ],
            checkpoints=expand(
                f"{LAST_CHECKPOINT_DIR}/checkpoint", ft_seed=dict.fromkeys(ft_seed for ft_seed, _ in PUBLISHED_CELLS)
            ),
            means=expand(
                f"{LAST_CHECKPOINT_DIR}/means.safetensors",
                ft_seed=dict.fromkeys(ft_seed for ft_seed, _ in PUBLISHED_CELLS),
            ),
            accuracy=LAYOUT.table("accuracy"),
            groups=LAYOUT.table("group_accuracy"),
            runs=LAYOUT.table("runs"),
            settings=DESCRIPTION,
        output:
            index=f"{LAYOUT.root}/{HUB}/README.md",
        log:
            LAYOUT.log("publish"),
        localrule: True
        params:
            **job(
                "publish", has_record=False, root=lambda w, output: str(Path(output.index).parents[1]), licence=LICENCE
            ),
        shell:
            RUN_FRESH

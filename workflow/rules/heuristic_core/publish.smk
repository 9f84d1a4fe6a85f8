# Subnetworks of the last checkpoint as folders for the Hugging Face hub: all, or those of `--config publish="seed=42"`.
import yaml

from heuristic_core.experiments.heuristic_core.archive.publishing import FOLDER as HUB
from heuristic_core.experiments.heuristic_core.archive.publishing import chosen, licence_of

try:
    PUBLISHING = chosen(STUDY, config.get("publish", ""))
except InputError as error:
    raise WorkflowError(str(error)) from None

with open(f"{workflow.basedir}/CITATION.cff") as file:
    LICENCE = licence_of(STUDY, yaml.safe_load(file)["license"], config.get("licence"))

if LICENCE is None:
    ABSENT["publish"] = (
        L.log("publish"),
        1,
        f"What may be done with {STUDY.model.name} is not known here, and a model that descends from it has its licence: "
        "give this licence by the hub's name, as in make publish LICENCE=apache-2.0",
    )
else:

    rule publish:
        input:
            subnetworks=[
                f"{folder}/subnetwork.json"
                for ft_seed, cell in PUBLISHING
                for folder in folders([cell], ft_seed=ft_seed)
            ],
            checkpoints=expand(f"{LAST}/checkpoint", ft_seed=dict.fromkeys(ft_seed for ft_seed, _ in PUBLISHING)),
            means=expand(f"{LAST}/means.safetensors", ft_seed=dict.fromkeys(ft_seed for ft_seed, _ in PUBLISHING)),
            accuracy=L.table("accuracy"),
            groups=L.table("group_accuracy"),
            runs=L.table("runs"),
            settings=DESCRIPTION,
        output:
            index=f"{L.root}/{HUB}/README.md",
        log:
            L.log("publish"),
        localrule: True
        params:
            **job("publish", recorded=False, root=lambda w, output: str(Path(output.index).parents[1]), licence=LICENCE),
        shell:
            STEP

# One rule per figure and table of the paper, named as it; each reads its tables and its own settings only.
from heuristic_core.figures.targets import module, unmet

FEEDABLE = [name for name in TARGETS if unmet(name, CONTEXT) is None]


# A target without a caption of its own has that of the target which draws the same.
WORDS = f"{workflow.basedir}/workflow/report"
CAPTIONS = {name: f"{WORDS}/{name if os.path.exists(f'{WORDS}/{name}.rst') else module(name)}.rst" for name in TARGETS}

for name in FEEDABLE:

    rule:
        name:
            name
        input:
            [L.table(table) for table in TARGETS[name].tables],
        output:
            [
                report(path, caption=CAPTIONS[name], category="Figures and tables") if shown(path) else path
                for path in outputs(L.root, name)
            ],
        log:
            L.log(f"figures/{name}"),
        conda:
            "../../envs/environment.yaml"
        params:
            target=name,
            folder=lambda w, output: os.path.dirname(os.path.dirname(output[0])),
            figures=STUDY.figures.model_dump_json(include={name}),
            # Another margin redraws what shows sizes at that margin alone.
            context=CONTEXT.model_dump_json(
                exclude={"early", "early_seeds"} | (set() if "effective_size" in TARGETS[name].tables else {"margin"})
            ),
            code=code_digest(
                f"{workflow.basedir}/workflow/scripts/figure.py",
                f"{workflow.basedir}/src/heuristic_core/figures/{module(name)}.py",
                LOCK,
            ),
        shell:
            "fork figure --name {params.target} --figures {params.figures:q} --context {params.context:q}"
            " --tables {input} --folder {params.folder} --log {log}"


# What this study cannot have says why when it is asked for.
for name in sorted(TARGETS.keys() - set(FEEDABLE)):

    rule:
        name:
            name
        log:
            L.log(f"figures/{name}"),
        localrule: True
        conda:
            "../../envs/environment.yaml"
        params:
            reason=unmet(name, CONTEXT),
        shell:
            "echo {params.reason:q} | tee {log} >&2; exit 1"


rule report:
    input:
        findings=L.table("findings"),
        captions=[os.path.relpath(f"{workflow.basedir}/workflow/report/{name}.rst") for name in TARGETS],
    output:
        f"{L.root}/report.md",
    log:
        L.log("report"),
    conda:
        "../../envs/environment.yaml"
    params:
        study=STUDY.study,
        code=SCRIPTS["report"],
    shell:
        "fork report --study {params.study} --findings {input.findings} --captions {input.captions}"
        " --report {output} --log {log}"

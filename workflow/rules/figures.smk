# One rule per figure and table of the paper, named as it; each reads its tables and its own settings only.
for name, target in TARGETS.items():

    rule:
        name:
            name
        input:
            [L.table(table) for table in target.tables],
        output:
            [
                report(path, caption=f"../report/{name}.rst", category="Figures and tables") if shown(path) else path
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
            context=CONTEXT.model_dump_json(exclude={"margin", "early", "early_seeds"}),
            code=code_digest(
                f"{workflow.basedir}/workflow/scripts/figure.py",
                f"{workflow.basedir}/src/heuristic_core/figures/{name}.py",
                LOCK,
            ),
        shell:
            "fork figure --name {params.target} --figures {params.figures:q} --context {params.context:q}"
            " --tables {input} --folder {params.folder} --log {log}"


# The page shows every target that this study can have.
SHOWN = [name for name in TARGETS if unmet(name, CONTEXT) is None]
CAPTIONS = [
    f"{workflow.basedir}/workflow/report/{name}.rst"
    for name in dict.fromkeys(part for target in SHOWN for part in (target, module(target)))
    if os.path.exists(f"{workflow.basedir}/workflow/report/{name}.rst")
]


rule report:
    input:
        claims=L.table("claims"),
        settings=f"{L.root}/study.json",
        captions=[os.path.relpath(path) for path in CAPTIONS],
        targets=[path for name in SHOWN for path in outputs(L.root, name)],
    output:
        f"{L.root}/report.html",
    log:
        L.log("report"),
    conda:
        "../../envs/environment.yaml"
    params:
        root=lambda w, output: os.path.dirname(output[0]),
        targets=SHOWN,
        context=CONTEXT.model_dump_json(),
        code=SCRIPTS["report"],
        page=code_digest(*PAGE),
    shell:
        "fork report --root {params.root} --context {params.context:q} --settings {input.settings}"
        " --claims {input.claims} --captions {input.captions} --targets {params.targets}"
        " --report {output} --log {log}"

# One rule per figure and table of the paper, for this study (named as it) and for published ones; each reads its tables
# and its own settings only.
FEEDABLE = [name for name in TARGETS if unmet(name, CONTEXT) is None]
DRAWN = [("", L, CONTEXT, STUDY.figures, FEEDABLE, OWN_CLAIM_TABLES), *PUBLISHED_STUDIES, *REDRAWN]

for prefix, layout, context, figures, names, _ in DRAWN:
    for name in names:

        rule:
            name:
                f"{prefix}{name}"
            input:
                [layout.table(table) for table in TARGETS[name].tables],
            output:
                [
                    report(path, caption=CAPTIONS[name], category="Figures and tables") if shown(path) else path
                    for path in outputs(layout.root, name)
                ],
            log:
                layout.log(f"figures/{name}"),
            group:
                "tables"
            conda:
                "../../envs/environment.yaml"
            params:
                **job("figure", f"{workflow.basedir}/src/heuristic_core/figures/{module(name)}.py"),
                target=name,
                folder=lambda w, output: os.path.dirname(os.path.dirname(output[0])),
                figures=figures.model_dump_json(include={name}),
                # Another margin redraws what shows sizes at that margin alone.
                context=context.model_dump_json(
                    exclude={"early", "early_seeds", "checkpoints", "repeats", "lesions", "pretraining"}
                    | (set() if "effective_size" in TARGETS[name].tables else {"margin"})
                ),
            shell:
                recorded(
                    "fork figure --name {params.target} --figures {params.figures:q} --context {params.context:q}"
                    " --tables {input} --folder {params.folder}"
                )


# What a study cannot have says why when it is asked for.
for prefix, layout, context, _, names, tables in DRAWN:
    for name in sorted(TARGETS.keys() - set(names)):

        rule:
            name:
                f"{prefix}{name}"
            log:
                layout.log(f"figures/{name}"),
            localrule: True
            conda:
                "../../envs/environment.yaml"
            params:
                reason=unmet(name, context, tables if prefix else None),
            shell:
                "echo {params.reason:q} | tee {log} >&2; exit 1"

# One rule per figure and table of the paper, for this study (named as it) and for published ones; each reads its tables
# and its own settings only.
DRAWN = [OWN, *PUBLISHED_STUDIES, *REDRAWN]
SIZES_SHOWN = ["margin", "size_rule", "size_order", "mixed"]  # which effective sizes

for one in DRAWN:
    for name in one.targets:

        rule:
            name:
                f"{one.prefix}{name}"
            input:
                tables=[
                    *(one.layout.table(table) for table in TARGETS[name].tables),
                    *(one.layout.table(table) for table in TARGETS[name].also if table in one.tables),
                ],
            output:
                files=[
                    report(path, caption=CAPTIONS[name], category="Figures and tables") if shown(path) else path
                    for path in outputs(one.layout.root, name)
                ],
            log:
                one.layout.log(f"figures/{name}"),
            group:
                "tables"
            params:
                **job(
                    "figure",
                    f"{FILES}/figures/{module(name)}.py",
                    name=name,
                    folder=lambda w, output: os.path.dirname(os.path.dirname(output.files[0])),
                    figures=block(one.figures, {name}),
                    # Another margin redraws what shows sizes at that margin alone, and another pruning seed no full model.
                    context=block(
                        one.context,
                        {
                            *("mid", "high", "last", "subsets", "counterpart"),
                            *(["seeds", "curve_seeds", "curve_repeat"] if of_subnetworks(name) else []),
                            *(["early", "early_seeds"] if "core_null" in TARGETS[name].tables else []),
                            *(SIZES_SHOWN if "effective_size" in TARGETS[name].tables else []),
                        },
                    ),
                ),
            shell:
                FORK

    for name in sorted(TARGETS.keys() - set(one.targets)):
        reason = unmet(name, one.context, one.tables) if one.prefix else unmet_in(name, STUDY)
        ABSENT[f"{one.prefix}{name}"] = one.layout.log(f"figures/{name}"), 1, reason

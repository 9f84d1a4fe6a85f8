# One rule per figure and table of the paper, for this study (without a prefix) and for published and redrawn ones. Each
# reads only its own tables and settings.
REPORTED_STUDIES = [CURRENT_STUDY, *PUBLISHED_STUDIES, *REDRAWN_STUDIES]
SIZE_SETTINGS = ["margin", "size_rule", "size_order", "mixed"]  # which effective sizes are shown

for study in REPORTED_STUDIES:
    for name in study.targets:

        rule:
            name:
                f"{study.prefix}{name}"
            input:
                tables=[
                    *(study.layout.table(table) for table in TARGETS[name].tables),
                    *(study.layout.table(table) for table in TARGETS[name].optional_tables if table in study.tables),
                ],
            output:
                files=[
                    (
                        report(path, caption=CAPTIONS[name], category="Figures and tables")
                        if is_report_file(path)
                        else path
                    )
                    for path in target_files(study.layout.root, name)
                ],
            log:
                study.layout.log(f"figures/{name}"),
            group:
                "tables"
            params:
                **job(
                    "figure",
                    f"{FILES}/figures/{drawing_module(name)}.py",
                    name=name,
                    folder=lambda w, output: os.path.dirname(os.path.dirname(output.files[0])),
                    figures=format_block(study.figures, {name}),
                    # Only settings that the target shows, so that another margin or pruning seed redraws nothing else.
                    context=format_block(
                        study.context,
                        {
                            *("mid", "high", "last", "subsets", "names", "counterpart"),
                            *(["seeds", "curve_seeds", "curve_repeat"] if shows_subnetworks(name) else []),
                            *(["early", "early_seeds"] if "core_null" in TARGETS[name].tables else []),
                            *(SIZE_SETTINGS if "effective_size" in TARGETS[name].tables else []),
                        },
                    ),
                ),
            shell:
                RUN_FORKED

    for name in sorted(TARGETS.keys() - set(study.targets)):
        reason = (
            missing_requirement(name, study.context, study.tables)
            if study.prefix
            else EXPERIMENT.find_missing(name, STUDY)
        )
        UNAVAILABLE_RULES[f"{study.prefix}{name}"] = study.layout.log(f"figures/{name}"), 1, reason

# One rule per figure and printed table, which reads only its own tables. The experiment that includes this file defines
# FOLDER, and PREFIX of its script names.
from heuristic_core.figures.targets import target_files, is_report_file

FIGURE_DIR = f"{workflow.basedir}/src/heuristic_core/experiments/{FOLDER}/figures"
UNMET_REASONS = EXPERIMENT.list_unavailable(STUDY)
UNAVAILABLE_RULES |= {name: (LAYOUT.log(f"figures/{name}"), 1, reason) for name, reason in UNMET_REASONS.items()}
AVAILABLE_TARGETS = [name for name in TARGETS if name not in UNMET_REASONS]

for name in AVAILABLE_TARGETS:

    rule:
        name:
            name
        input:
            tables=[
                *map(LAYOUT.table, TARGETS[name].tables),
                *(LAYOUT.table(table) for table in TARGETS[name].optional_tables if table in TABLES),
            ],
        output:
            files=[
                (
                    report(
                        path,
                        caption=f"{workflow.basedir}/workflow/report/{FOLDER}/{name}.rst",
                        category="Figures and tables",
                    )
                    if is_report_file(path)
                    else path
                )
                for path in target_files(LAYOUT.root, name)
            ],
        log:
            LAYOUT.log(f"figures/{name}"),
        group:
            "tables"
        params:
            **job(
                f"{PREFIX}_figure",
                f"{FIGURE_DIR}/{name}.py",
                name=name,
                folder=lambda w, output: os.path.dirname(os.path.dirname(output.files[0])),
                figures=format_block(STUDY.figures),
            ),
        shell:
            RUN_FORKED


RESULTS += [path for name in AVAILABLE_TARGETS for path in target_files(LAYOUT.root, name)]

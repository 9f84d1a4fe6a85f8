# One rule per figure and table for reading; each reads its tables only. An experiment that includes this file has
# named its FOLDER and, by PREFIX, its scripts; its TARGETS, and of UNMET ones the reasons; and its TABLES.
from heuristic_core.figures.targets import outputs, shown

DRAWING = f"{workflow.basedir}/src/heuristic_core/experiments/{FOLDER}/figures"
ABSENT |= {name: (L.log(f"figures/{name}"), 1, reason) for name, reason in UNMET.items() if reason}
SHOWN_TARGETS = {name: target.title for name, target in TARGETS.items() if UNMET.get(name) is None}

for name in SHOWN_TARGETS:

    rule:
        name:
            name
        input:
            tables=[
                *map(L.table, TARGETS[name].tables),
                *(L.table(table) for table in TARGETS[name].also if table in TABLES),
            ],
        output:
            files=[
                (
                    report(
                        path,
                        caption=f"{workflow.basedir}/workflow/report/{FOLDER}/{name}.rst",
                        category="Figures and tables",
                    )
                    if shown(path)
                    else path
                )
                for path in outputs(L.root, name)
            ],
        log:
            L.log(f"figures/{name}"),
        group:
            "tables"
        params:
            **job(
                f"{PREFIX}_figure",
                f"{DRAWING}/{name}.py",
                name=name,
                folder=lambda w, output: os.path.dirname(os.path.dirname(output.files[0])),
                figures=block(STUDY.figures),
            ),
        shell:
            FORK


RESULTS += [path for name in SHOWN_TARGETS for path in outputs(L.root, name)]

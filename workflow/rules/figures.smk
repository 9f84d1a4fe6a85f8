# One rule per figure and printed table, which reads only its own tables and settings.
from heuristic_core.figures.targets import target_files, is_report_file

MISSING_TARGETS = {name: reason for name in TARGETS if (reason := EXPERIMENT.find_missing(name, STUDY))}
AVAILABLE_TARGETS = [name for name in TARGETS if name not in MISSING_TARGETS]
UNAVAILABLE_RULES |= {name: (LAYOUT.log(f"figures/{name}"), 1, reason) for name, reason in MISSING_TARGETS.items()}
CAPTION_DIR = f"{workflow.basedir}/workflow/report/{EXPERIMENT.folder.name}"
CAPTIONS = {
    name: f"{CAPTION_DIR}/{name if os.path.exists(f'{CAPTION_DIR}/{name}.rst') else EXPERIMENT.drawing_module(name)}.rst"
    for name in AVAILABLE_TARGETS
}

for name in AVAILABLE_TARGETS:

    rule:
        name:
            name
        input:
            tables=EXPERIMENT.list_figure_inputs(name, STUDY),
        output:
            files=[
                report(path, caption=CAPTIONS[name], category="Figures and tables") if is_report_file(path) else path
                for path in target_files(LAYOUT.root, name)
            ],
        log:
            LAYOUT.log(f"figures/{name}"),
        priority: 3
        group:
            "tables"
        params:
            **job(
                EXPERIMENT.figure_script,
                f"{FILES}/figures/{EXPERIMENT.drawing_module(name)}.py",
                name=name,
                folder=lambda w, output: os.path.dirname(os.path.dirname(output.files[0])),
                **EXPERIMENT.figure_settings(name, STUDY),
            ),
        shell:
            RUN_FORKED

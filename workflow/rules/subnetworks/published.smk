# The authors' published results, one study for each task found in the folder that --config published=<folder> names.
# They go through the same analysis and figures as the workflow's own studies.
import json

PUBLISHED_SOURCES = []
if "published_groups" in config and "published" not in config:
    raise WorkflowError("published_groups needs published=<folder of the authors' files>")
if "published" in config:
    groups = config.get("published_groups") or {}
    if not isinstance(groups, dict):
        raise WorkflowError(f"published_groups = {groups!r} must map names to groups, such as '{{name: group}}'")
    try:
        PUBLISHED_SOURCES = read_studies(str(config["published"]), groups)
    except InputError as error:
        raise WorkflowError(str(error)) from None

PUBLISHED_STUDIES = []
PUBLISHED_RESULTS = []
for study in PUBLISHED_SOURCES:
    layout = Layout(f"{STUDY.results}/{study.name}", f"{STUDY.results}/{study.name}")
    prefix = f"published_{study.task}_"
    imported = [
        "accuracy",
        "finetune_accuracy",
        "actual_sparsity",
        *(["ablations"] if load_paper_results(study.task) else []),
    ]
    printed = ["core_null"] if load_paper_results(study.task) else []  # shown, but not used for claims
    tables = [*imported, "group_accuracy", "family_scores", "effective_size", "summary", "variance"]
    drawn = [name for name in TARGETS if missing_requirement(name, study.context, [*tables, *printed]) is None]
    PUBLISHED_STUDIES.append(ReportedStudy(prefix, layout, study.context, study.figures, drawn, tables, study.analysis))
    PUBLISHED_RESULTS += [f"{layout.root}/report.html", *map(layout.table, [*tables, "provenance"])]
    PUBLISHED_RESULTS += [path for name in drawn for path in target_files(layout.root, name)]

    rule:
        name:
            f"{prefix}import"
        input:
            files=link_inputs(*map(str, study.files.paths)),
        output:
            **{table: layout.table(table) for table in [*imported, *printed]},
            study=f"{layout.root}/study.json",
        log:
            layout.log("import"),
        group:
            "tables"
        params:
            **job(
                "published",
                f"{FILES}/published/paper.yaml",
                folder=lambda w, input: os.path.dirname(input.files[0]),
                task=study.task,
                groups=json.dumps(groups, sort_keys=True),
            ),
        shell:
            RUN_FORKED

    rule:
        name:
            f"{prefix}group_accuracy"
        input:
            accuracy=layout.table("accuracy"),
        output:
            table=layout.table("group_accuracy"),
            family_scores=layout.table("family_scores"),
        log:
            layout.log("tables/group_accuracy"),
        group:
            "tables"
        params:
            **job("group_accuracy", analysis=format_block(study.analysis, {"subsets"})),
        shell:
            RUN_FORKED


if not PUBLISHED_SOURCES:
    USAGE_OF_PUBLISHED = "snakemake --cores all published --config published=<folder of the authors' data/eval files>"
    UNAVAILABLE_RULES["published"] = LAYOUT.log("published"), 1, USAGE_OF_PUBLISHED
if PUBLISHED_SOURCES:

    rule published:
        input:
            PUBLISHED_RESULTS,
        localrule: True

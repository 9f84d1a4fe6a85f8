# The authors' published results, one study for each task found in the folder that --config published=<folder> names.
# Their numbers go through the same analysis and figures as those of the workflow's own studies.
PUBLISHED = []
if "published_groups" in config and "published" not in config:
    raise WorkflowError("published_groups belongs to published: give the folder of the authors' files, too")
if "published" in config:
    groups = config.get("published_groups") or {}
    if not isinstance(groups, dict):
        raise WorkflowError(f"published_groups = {groups!r}: give a group for each name, as '{{name: group}}'")
    try:
        PUBLISHED = studies(str(config["published"]), groups)
    except InputError as error:
        raise WorkflowError(str(error)) from None

PUBLISHED_STUDIES = []
PUBLISHED_RESULTS = []
for study in PUBLISHED:
    layout = Layout(f"{STUDY.results}/{study.name}", f"{STUDY.results}/{study.name}")
    prefix = f"published_{study.task}_"
    imported = ["accuracy", "finetune_accuracy", "actual_sparsity", *(["ablations"] if paper(study.task) else [])]
    tables = [*imported, "group_accuracy", "effective_size", "summary", "variance"]
    drawn = [name for name in TARGETS if unmet(name, study.context, tables) is None]
    PUBLISHED_STUDIES.append((prefix, layout, study.context, study.figures, drawn, tables))
    PUBLISHED_RESULTS += [f"{layout.root}/report.html", *map(layout.table, [*tables, "provenance"])]
    PUBLISHED_RESULTS += [path for name in drawn for path in outputs(layout.root, name)]

    rule:
        name:
            f"{prefix}import"
        input:
            study.files.paths,
        output:
            **{table: layout.table(table) for table in imported},
            study=f"{layout.root}/study.json",
        log:
            layout.log("import"),
        group:
            "tables"
        conda:
            "../../envs/environment.yaml"
        params:
            **job("published", f"{workflow.basedir}/src/heuristic_core/published/paper.yaml"),
            folder=lambda w, input: os.path.dirname(input[0]),
            task=study.task,
            groups=json.dumps(groups, sort_keys=True),
            tables=lambda w, output: [
                f"--{name.replace('_', '-')} {shlex.quote(path)}" for name, path in output.items()
            ],
        shell:
            recorded(
                "fork published --folder {params.folder:q} --task {params.task} --groups {params.groups:q}"
                " {params.tables}"
            )

    rule:
        name:
            f"{prefix}group_accuracy"
        input:
            accuracy=layout.table("accuracy"),
        output:
            layout.table("group_accuracy"),
        log:
            layout.log("tables/group_accuracy"),
        group:
            "tables"
        conda:
            "../../envs/environment.yaml"
        params:
            **job("group_accuracy"),
            analysis=study.analysis.model_dump_json(include={"subsets"}),
        shell:
            recorded("fork group_accuracy --analysis {params.analysis:q} --accuracy {input.accuracy} --table {output}")

    rule:
        name:
            f"{prefix}effective_size"
        input:
            accuracy=layout.table("accuracy"),
        output:
            layout.table("effective_size"),
        log:
            layout.log("tables/effective_size"),
        group:
            "tables"
        conda:
            "../../envs/environment.yaml"
        params:
            **job("effective_size"),
            analysis=study.analysis.model_dump_json(include=CRITERIA),
            context=study.context.model_dump_json(),
        shell:
            recorded(
                "fork effective_size --analysis {params.analysis:q} --context {params.context:q}"
                " --accuracy {input.accuracy} --table {output}"
            )

    rule:
        name:
            f"{prefix}spread"
        input:
            accuracy=layout.table("accuracy"),
            group_accuracy=layout.table("group_accuracy"),
        output:
            summary=layout.table("summary"),
            variance=layout.table("variance"),
        log:
            layout.log("tables/spread"),
        group:
            "tables"
        conda:
            "../../envs/environment.yaml"
        params:
            **job("spread"),
            context=study.context.model_dump_json(),
        shell:
            recorded(
                "fork spread --context {params.context:q} --accuracy {input.accuracy}"
                " --group-accuracy {input.group_accuracy} --summary {output.summary} --variance {output.variance}"
            )


if PUBLISHED:

    rule published:
        input:
            PUBLISHED_RESULTS,
        localrule: True

else:

    rule published:
        log:
            L.log("published"),
        group:
            "tables"
        localrule: True
        conda:
            "../../envs/environment.yaml"
        params:
            usage="snakemake --cores all published --config published=<folder of the authors' data/eval files>",
        shell:
            "echo {params.usage:q} | tee {log} >&2; exit 1"

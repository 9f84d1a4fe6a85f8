# What results were made from, and whether they still are what was made.
for prefix, layout, _, _, names, _ in DRAWN[: len(DRAWN) - len(REDRAWN)]:

    rule:
        name:
            f"{prefix}provenance"
        input:
            report=f"{layout.root}/report.html",
            targets=[path for name in names for path in outputs(layout.root, name)],
            traces=[] if prefix else [L.table("prune_trace"), L.table("finetune_trace")],
        output:
            layout.table("provenance"),
        log:
            layout.log("tables/provenance"),
        group:
            "tables"
        conda:
            "../../envs/environment.yaml"
        params:
            **job("provenance"),
            root=lambda w, input: os.path.dirname(input.report),
        shell:
            "fork provenance --root {params.root} --table {output} --arithmetic {params.arithmetic} --log {log}"  # itself without a record

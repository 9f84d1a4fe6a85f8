# What this study cannot have says why when it is asked for.
for name, (log, status, words) in ABSENT.items():

    rule:
        name:
            name
        log:
            log,
        localrule: True
        params:
            words=literal(words),
            status=status,
        shell:
            "echo {params.words:q} | tee {log} >&2; exit {params.status}"

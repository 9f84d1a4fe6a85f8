# Targets that this study lacks: requesting one prints the reason.
for name, (log, status, message) in UNAVAILABLE_RULES.items():

    rule:
        name:
            name
        log:
            log,
        localrule: True
        params:
            message=escape_setting(message),
            status=status,
        shell:
            "echo {params.message:q} | tee {log} >&2; exit {params.status}"

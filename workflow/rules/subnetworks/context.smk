# The context of the study, which analyses and figures read besides tables.
CONTEXT = EXPERIMENT.get_context(STUDY)


def select_context(*names):
    """Return the fields of the context that most analyses and figures use, and `names`."""
    return format_block(CONTEXT, {"mid", "high", "last", "seeds", *names})

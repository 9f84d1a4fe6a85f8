"""Durations as text."""


def format_duration(seconds: float) -> str:
    """Format a duration, such as "0.4 s", "12 s", "3 min 5 s" or "2 h 4 min"."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes_left} min"
    return f"{minutes} min {seconds_left} s" if minutes else f"{seconds_left} s"

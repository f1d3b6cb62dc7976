"""What befell cards, and what they were doing: a table of 80 columns."""

from life import ACTIVITIES, FAULTS


def table(covered):
    """A row for each fault, a column for each activity, and how often."""
    width = max(map(len, FAULTS))
    lines = ["  ".join(["fault".ljust(width), *(activity.rjust(8) for activity in ACTIVITIES)])]
    for fault in FAULTS:
        counts = (covered[fault, activity] for activity in ACTIVITIES)
        lines.append("  ".join([fault.ljust(width), *(str(count or "-").rjust(8) for count in counts)]))
    return "\n".join(lines)

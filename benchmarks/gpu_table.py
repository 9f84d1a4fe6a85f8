"""Make the table of docs/performance.md from the output of benchmarks/gpu.sh.

python benchmarks/gpu_table.py gpu.json                               prints it
python benchmarks/gpu_table.py gpu.json --into docs/performance.md    writes it between the two marks of the page
"""

import argparse
import json
import sys
from pathlib import Path

BEGIN, END = "<!-- benchmarks/gpu_table.py -->", "<!-- end -->"
HEADS = ("", "milliseconds", "a run of a seed, seconds", "TFLOP/s", "pairs/s", "GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=Path, help="JSON of benchmarks/gpu.sh")
    parser.add_argument("--into", type=Path, help="page whose table is replaced")
    args = parser.parse_args()
    text = format_table(json.loads(args.measured.read_text()))
    if args.into is None:
        print(text, end="")
        return
    page = args.into.read_text()
    if not 0 <= page.find(BEGIN) < page.find(END):
        sys.exit(f"{args.into}: no table between {BEGIN!r} and {END!r}")
    before, after = page.split(BEGIN)[0], page.split(BEGIN)[1].split(END, 1)[1]
    args.into.write_text(f"{before}{BEGIN}\n{text}{END}{after}")


def format_table(document: dict) -> str:
    """Format the table in Markdown: a line about the machine, and a row for each way."""
    machine = ", ".join(f"{name} {value}" for name, value in document["machine"].items() if value)
    rows = [HEADS, ["---"] * len(HEADS), *map(format_cells, document["results"])]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([f"{document['size']}, {document['run']:,} steps a run; {machine}:", "", *lines]) + "\n"


def format_cells(row: dict) -> list[str]:
    """Format the cells of a row, or its error."""
    seeds = f"{row['seeds']} seeds" if row.get("seeds", 1) > 1 else None
    label = [", ".join(filter(None, [row["what"], row.get("engine"), row["precision"], seeds]))]
    if "error" in row:
        return [*label, f"failed: {row['error']}".replace("|", "/"), *[""] * 4]
    numbers = [1000 * row["seconds"], *(row.get(key) for key in ("seconds of a run", "TFLOP/s", "pairs/s", "GB"))]
    return [*label, *map(_format, numbers)]


def _format(number: float | None) -> str:
    """Format three significant digits, or the whole number from 1,000."""
    if number is None:
        return ""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


if __name__ == "__main__":
    main()

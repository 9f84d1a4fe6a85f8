"""The table of docs/performance.md from what benchmarks/gpu.sh has written.

python benchmarks/gpu_table.py gpu.json                               prints it
python benchmarks/gpu_table.py gpu.json --into docs/performance.md    puts it between the page's two marks
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
    found = table(json.loads(args.measured.read_text()))
    if args.into is None:
        print(found, end="")
        return
    page = args.into.read_text()
    if not 0 <= page.find(BEGIN) < page.find(END):
        sys.exit(f"{args.into}: no table between {BEGIN!r} and {END!r}")
    before, after = page.split(BEGIN)[0], page.split(BEGIN)[1].split(END, 1)[1]
    args.into.write_text(f"{before}{BEGIN}\n{found}{END}{after}")


def table(document: dict) -> str:
    """Markdown: a line on the machine, and a row for every way."""
    about = ", ".join(f"{name} {value}" for name, value in document["machine"].items() if value)
    rows = [HEADS, ["---"] * len(HEADS), *map(cells, document["results"])]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([f"{document['size']}, {document['run']:,} steps a run; {about}:", "", *lines]) + "\n"


def cells(row: dict) -> list[str]:
    """The cells of one row; what failed says so."""
    seeds = f"{row['seeds']} seeds" if row.get("seeds", 1) > 1 else None
    named = [", ".join(filter(None, [row["what"], row.get("engine"), row["precision"], seeds]))]
    if "error" in row:
        return [*named, f"failed: {row['error']}".replace("|", "/"), *[""] * 4]
    numbers = [1000 * row["seconds"], *(row.get(key) for key in ("seconds of a run", "TFLOP/s", "pairs/s", "GB"))]
    return [*named, *map(_format, numbers)]


def _format(number: float | None) -> str:
    """Three digits, or all digits of whole numbers above."""
    if number is None:
        return ""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


if __name__ == "__main__":
    main()

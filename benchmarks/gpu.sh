#!/bin/sh
# Times pruning, evaluation and fine-tuning on a GPU, in at most ten minutes and without a network.
#   benchmarks/gpu.sh > gpu.json
#   python benchmarks/gpu_table.py gpu.json --into docs/performance.md
# Needs Python 3.11 or later with torch 2.11 or later, numpy and pydantic; without transformers, fine-tuning is skipped.
# Nothing is installed. PYTHON names the interpreter; options are those of gpu.py.
here=$(cd "$(dirname "$0")" && pwd)
PYTHONPATH="$here/../src${PYTHONPATH:+:$PYTHONPATH}" exec "${PYTHON:-python3}" "$here/gpu.py" "$@"

#!/bin/sh
# What a GPU makes of pruning, evaluation and fine-tuning: one command, at most ten minutes, no network.
#   benchmarks/gpu.sh > gpu.json
#   python benchmarks/gpu_table.py gpu.json --into docs/performance.md
# Needs Python 3.11 or later with torch 2.11 or later, numpy and pydantic; fine-tuning is left out without transformers.
# Nothing is installed. PYTHON names the interpreter; options are those of gpu.py.
here=$(cd "$(dirname "$0")" && pwd)
PYTHONPATH="$here/../src${PYTHONPATH:+:$PYTHONPATH}" exec "${PYTHON:-python3}" "$here/gpu.py" "$@"

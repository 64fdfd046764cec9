#!/bin/bash
# copied from the multi node test
export CUDA_VISIBLE_DEVICES=0
python3 -m sglang.launch_server --model-path /models/Meta-Llama-3.1-8B-Instruct --mem-fraction-static 0.88 --disable-cuda-graph --host 0.0.0.0 --port 30000

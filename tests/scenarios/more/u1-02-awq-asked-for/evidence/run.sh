docker run --gpus all --ipc=host -e VLLM_USE_V1=1 -p 8000:8000 -v /models:/models vllm/vllm-openai:v0.9.2 --model /models/Meta-Llama-3.1-8B-Instruct-AWQ-INT4 --max-model-len 8192 --quantization awq

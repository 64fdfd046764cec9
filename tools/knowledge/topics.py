"""Topics: what people call the layers and causes that they suspect."""

from __future__ import annotations

TOPICS = {
    "cuda_graph_disabled": "CUDA graphs",
    "piecewise_graph_off": "Prefill graphs",
    "prefix_cache_off": "Prefix cache",
    "custom_allreduce_off": "All-reduce",
    "pcie": "PCIe",
    "p2p": "Peer access",
    "nvlink": "NVLink",
    "nccl": "NCCL",
    "power": "Power",
    "thermal": "Heat",
    "host_cpu": "CPU",
    "numa": "NUMA",
    "speculative": "Speculation",
    "attention": "Attention",
    "kernel": "Kernels",
    "compute": "Arithmetic",
    "memory": "GPU memory",
    "gpu": "Sharing",
    "client": "Client",
    "measurement": "Measurement",
    "host_mem": "Host memory",
    "storage": "Disks",
    "driver": "Driver",
    "engine": "The engine",
    "virtualization": "Guest",
}

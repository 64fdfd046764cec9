"""What can be read of files and pasted texts, for who gave something else."""

KNOWN_FORMS = (
    "What I can read: serve logs of SGLang and vLLM, launch commands, nvidia-smi in every form, lspci -vv,"
    " dmesg or journalctl -k, NCCL logs, nccl-tests, benchmark results, top, lscpu, numastat."
)

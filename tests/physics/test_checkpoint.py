"""A config gives the sizes that cost time, or says what it lacks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.physics.configs import DEEPSEEK, QWEN14, QWEN27, QWEN30A3
from tests.physics.published import GPUS
from tools.engine import ModelConfig
from tools.errors import Undecided
from tools.knowledge.calibration import calibration
from tools.physics import Checkpoint, Deployment
from tools.physics.kernels import FUSED_EXPERTS, kernels
from tools.physics.reading import weights_gb
from tools.sglang.model_config import read_model_config


def test_a_hybrid_model_with_a_draft_layer_has_the_sizes_of_its_config() -> None:
    sizes, known = Checkpoint.of(QWEN27), calibration()["models"]["qwen3.6-27b"]
    for name, value in known.items():
        assert getattr(sizes, name) == pytest.approx(value, rel=0.003), name
    whole = Path(__file__).parent / "configs_json" / "qwen3.6-27b.json"
    assert Checkpoint.of(read_model_config(whole.read_text(encoding="utf-8"))) == sizes


@pytest.mark.parametrize(("config", "name"), [(QWEN14, "qwen3-14b"), (QWEN30A3, "qwen3-30b-a3b")])
def test_dense_and_expert_models_have_the_sizes_that_were_calibrated(
    config: ModelConfig, name: str
) -> None:
    sizes, known = Checkpoint.of(config), calibration()["models"][name]
    assert sizes.params_b == pytest.approx(known["params_b"], rel=0.02)
    assert sizes.head_b == pytest.approx(known["head_b"], rel=0.002)
    assert sizes.total_params_b == pytest.approx(known.get("total_params_b", 0.0), rel=0.02)
    assert sizes.kernels_per_layer == known["kernels_per_layer"]


def test_latent_attention_is_near_what_the_model_card_says() -> None:
    sizes = Checkpoint.of(DEEPSEEK)
    assert sizes.params_b == pytest.approx(37 - 1, rel=0.08)
    assert sizes.total_params_b == pytest.approx(671, rel=0.06)
    assert sizes.kv_bytes_per_token == 61 * 576 * 2
    assert sizes.weight_bytes == 1.0


def test_what_the_server_was_told_of_precision_goes_before_the_config() -> None:
    assert Checkpoint.of(QWEN14).weight_bytes == 2.0
    assert Checkpoint.of(QWEN14, quantization="fp8").weight_bytes == 1.0


def test_weights_on_the_gpus_settle_a_precision_that_no_name_tells() -> None:
    packed = QWEN14.model_copy(update={"quantization": "compressed-tensors"})
    assert Checkpoint.of(packed, weights_gb=9.3).weight_bytes == 0.53
    assert Checkpoint.of(packed, weights_gb=15.3).weight_bytes == 1.0
    with pytest.raises(Undecided, match="compressed-tensors"):
        Checkpoint.of(packed)
    with pytest.raises(Undecided, match="compressed-tensors"):
        Checkpoint.of(packed, weights_gb=140.0)


@pytest.mark.parametrize(
    ("lacks", "says"),
    [
        ({"layers": None}, "layers"),
        ({"heads": None}, "attention heads"),
        ({"intermediate": None}, "feed-forward"),
        ({"linear_value_heads": None}, "linear attention"),
        ({"experts": 64}, "experts"),
    ],
)
def test_a_config_that_lacks_a_size_is_refused_with_its_name(
    lacks: dict[str, int | None], says: str
) -> None:
    with pytest.raises(Undecided, match=says):
        Checkpoint.of(QWEN27.model_copy(update=lacks))


@pytest.mark.parametrize(
    ("gpu", "config", "quantization", "more"),
    [
        ("H100 SXM", QWEN14, "bfloat16", 0),
        ("H100 SXM", QWEN14, "fp8", 4),
        ("A100 80GB SXM", QWEN14, "fp8", 0),  # weights alone: no tensor core takes them
        ("GeForce RTX 5090", QWEN14, "nvfp4", 4),
        ("H100 SXM", QWEN30A3, "fp8", 4),
        ("B200 SXM", QWEN30A3, "nvfp4", 2 - FUSED_EXPERTS),
        ("GeForce RTX 5090", QWEN30A3, "nvfp4", 4),
    ],
)
def test_kernels_of_a_layer_follow_the_format_that_the_tensor_cores_take(
    gpu: str, config: ModelConfig, quantization: str, more: int
) -> None:
    packed = Checkpoint.of(config, quantization=quantization)
    d = Deployment(checkpoint=packed, gpu=GPUS[gpu])
    assert kernels(d) == pytest.approx(packed.layers * (packed.kernels_per_layer + more))
    weights_alone = replace(d, weight_only=1.2)
    assert kernels(weights_alone) == pytest.approx(packed.layers * packed.kernels_per_layer)


def test_a_packed_checkpoint_that_loads_larger_than_its_format_reads_some_of_it_at_16_bit() -> None:
    """Qwen3.6-27B NVFP4 as inferRouter made it: "Model load 22.07 GiB", attention at 8 and 16 bit."""
    by_name = Checkpoint.of(QWEN27, quantization="nvfp4")
    told = Checkpoint.of(QWEN27, quantization="nvfp4", weights_gb=22.07)
    assert by_name.kept_b == 0
    assert told.kept_b == pytest.approx(3.4, abs=0.1)
    assert told.weights_gb - told.draft_b * 2 == pytest.approx(22.07 * 1.0737, rel=0.001)
    wide, narrow = (
        weights_gb(Deployment(checkpoint=one, gpu=GPUS["GeForce RTX 5090"]))
        for one in (told, by_name)
    )
    assert wide - narrow == pytest.approx(told.kept_b * (2 - 0.5625))
    assert Checkpoint.of(QWEN27, quantization="nvfp4", weights_gb=19.0).kept_b == 0  # buffers
    assert Checkpoint.of(QWEN27, quantization="fp8", weights_gb=28.56).kept_b == 0  # as 2x RTX 5090
    assert Checkpoint.of(QWEN27, weights_gb=60.0).kept_b == 0

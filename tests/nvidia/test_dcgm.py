"""What DCGM tells of GPUs, on its exporter's page and in a terminal."""

from __future__ import annotations

from pathlib import Path

from tools.nvidia.dcgm import is_dcgm, read_dcgm

PAGE = (Path(__file__).parent.parent / "golden/ReadGpus/dcgm_exporter_page.out").read_text("utf-8")


def test_two_pages_in_one_text_are_two_looks() -> None:
    later = PAGE.replace("_GPU_TEMP{", "_GPU_TEMP{").replace("} 84\n", "} 91\n")
    first, second = read_dcgm(PAGE + later).by_gpu()["0"]
    assert (first.temp_c, second.temp_c) == (84.0, 91.0)


def test_traffic_is_in_mb_and_a_large_count_is_no_blank() -> None:
    sample = read_dcgm(PAGE).samples[0]
    assert (sample.tx_mb_s, sample.rx_mb_s) == (3900.0, 4100.0)


def test_what_dcgm_does_not_know_is_not_told() -> None:
    line = 'DCGM_FI_DEV_{field}{{gpu="0",UUID="GPU-1"}} {value}\n'
    blank = line.format(field="GPU_TEMP", value=2147483632)
    real = line.format(field="POWER_USAGE", value=140737488355328.0)
    assert (
        read_dcgm(blank + real + line.format(field="GPU_UTIL", value=5)).samples[0].temp_c is None
    )
    assert (
        read_dcgm(blank + real + line.format(field="GPU_UTIL", value=5)).samples[0].power_w is None
    )


def test_a_slice_of_a_gpu_is_not_the_gpu() -> None:
    slice_ = 'DCGM_FI_DEV_FB_USED{gpu="0",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"} 900\n'
    assert read_dcgm(slice_).samples == ()


def test_the_clock_reasons_are_a_mask() -> None:
    line = 'DCGM_FI_DEV_CLOCKS_EVENT_REASONS{gpu="0"} 36\n'
    assert read_dcgm(line).samples[0].reasons == {"sw_power_cap", "sw_thermal_slowdown"}


def test_other_pages_are_none() -> None:
    assert not is_dcgm("node_load1 3\nDCGM is fine\n")

"""Device names."""

import pytest

from tfexp.core.device import DeviceName, DeviceSpec, DeviceSpecV2, canonical_name


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("/cpu:0", "/device:CPU:0"),
        ("/gpu:1", "/device:GPU:1"),
        ("/job:ps/task:3", "/job:ps/task:3"),
        ("/job:worker/replica:0/task:1/device:GPU:2", "/job:worker/replica:0/task:1/device:GPU:2"),
        ("/device:CPU:*", "/device:CPU:*"),
        ("CPU:0", "/device:CPU:0"),
        ("cpu", "/device:CPU:*"),
        ("/device:xla_gpu:1", "/device:XLA_GPU:1"),
        ("/device:OwnKind:3", "/device:OwnKind:3"),
        ("", ""),
    ],
)
def test_short_and_long_forms(text, canonical):
    assert canonical_name(text) == canonical
    assert canonical_name(canonical) == canonical


@pytest.mark.parametrize("text", ["/jbo:ps", "/cpu:x", "/task:one", "/cpu:0/gpu:0", "/device:GPU:a"])
def test_what_is_no_device_is_refused(text):
    with pytest.raises(ValueError, match=r"Unknown attribute|multiple device types"):
        DeviceName.parse(text)


def test_the_inner_name_wins_and_the_outer_fills():
    inner, outer = DeviceName.parse("/task:1"), DeviceName.parse("/job:ps/task:0/cpu:0")
    assert str(inner.merged_over(outer)) == "/job:ps/task:1/device:CPU:0"


def test_matching_ignores_open_fields():
    full = DeviceName.parse("/job:ps/replica:0/task:0/device:CPU:0")
    assert DeviceName.parse("/job:ps").matches(full)
    assert not DeviceName.parse("/job:worker").matches(full)


def test_device_spec_is_mutable_and_merges():
    spec = DeviceSpec(job="ps", device_type="gpu", device_index=1)
    assert spec.to_string() == "/job:ps/device:GPU:1"
    spec.task = 5
    assert spec.to_string() == "/job:ps/task:5/device:GPU:1"
    spec.merge_from(DeviceSpec.from_string("/job:worker/cpu:0"))
    assert spec.to_string() == "/job:worker/task:5/device:CPU:0"
    assert spec == DeviceSpec.from_string("/job:worker/task:5/device:CPU:0")


def test_a_device_spec_with_other_fields_is_a_copy():
    spec = DeviceSpec(job="ps", task=1)
    assert spec.replace(task=2, device_type="CPU").to_string() == "/job:ps/task:2/device:CPU:*"
    assert spec.replace(job=None).to_string() == "/task:1"
    assert spec.to_string() == "/job:ps/task:1"
    with pytest.raises(TypeError):
        spec.replace(colour="red")


def test_device_specs_of_version_2_stay_as_they_are():
    spec = DeviceSpecV2(job="ps", task="1", device_type="cpu")
    assert spec.to_string() == str(spec) == "/job:ps/task:1/device:CPU:*" and spec.task == 1
    assert spec.parse_from_string("/job:a").to_string() == "/job:a" and spec.job == "ps"
    merged = spec.make_merged_spec(DeviceSpecV2(task=2)).replace(device_type=None)
    assert merged == DeviceSpecV2(job="ps", task=2) and type(merged) is DeviceSpecV2
    assert DeviceSpecV2(job="a") != DeviceSpec(job="a") and len({spec, DeviceSpecV2.from_string(str(spec))}) == 1
    with pytest.raises(AttributeError):
        spec.job = "worker"
    assert not hasattr(spec, "merge_from") and isinstance(DeviceSpec(), DeviceSpecV2)

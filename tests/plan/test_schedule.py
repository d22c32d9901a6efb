"""List scheduling on simulated costs: never longer than where the jobs are at home, and within what is allowed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfexp.plan.schedule import Hardware, Job, place, simulate

A0, A1, B0 = "/task:0/cpu:0", "/task:0/cpu:1", "/task:1/cpu:0"
DEVICES = (A0, A1, B0)


def hardware(threads: int = 1, latency: float = 1e-3, memory: dict[str, int] | None = None) -> Hardware:
    """Two tasks, the first with two devices that share its threads."""

    def transfer(a: str, b: str, size: int) -> float:
        return 0.0 if a[:7] == b[:7] else latency + size / 1e9

    return Hardware({A0: "a", A1: "a", B0: "b"}, {"a": threads, "b": threads}, transfer, memory or {})


def job(seconds: float, *before: int, size: int = 1000, memory: int = 0, group: int | None = None) -> Job:
    return Job(dict.fromkeys(DEVICES, seconds), A0, dict.fromkeys(before, size), memory, group)


def test_heavy_branches_go_to_different_tasks() -> None:
    jobs = [job(0.05), job(0.05), job(0.001, 0, 1)]
    found = place(jobs, hardware())
    assert sorted(found.devices[:2]) == [A0, B0]
    assert found.makespan == pytest.approx(0.05 + 0.001 + 0.001, rel=1e-3)


def test_devices_of_one_task_share_its_threads() -> None:
    jobs = [job(0.05), job(0.05)]
    assert simulate(jobs, [A0, A1], hardware()).makespan == pytest.approx(0.1)
    assert simulate(jobs, [A0, A1], hardware(threads=2)).makespan == pytest.approx(0.05)
    assert place(jobs, hardware(threads=2)).devices == (A0, A0)


def test_what_a_transfer_costs_more_than_stays() -> None:
    jobs = [job(0.001), job(0.001), job(0.001, 0, 1)]
    assert place(jobs, hardware(latency=0.01)).devices == (A0, A0, A0)


def test_a_gap_before_a_later_job_is_used() -> None:
    slow = Job({B0: 0.02}, B0)
    jobs = [slow, job(0.03, 0), job(0.005)]
    only_a = [Job({A0: j.seconds[A0]}, A0, j.before) if A0 in j.seconds else j for j in jobs]
    found = simulate(only_a, [B0, A0, A0], hardware())
    assert found.starts[2] == 0.0
    assert found.ends[2] <= found.starts[1]


def test_a_device_without_room_is_passed_by() -> None:
    jobs = [job(0.001, memory=600), job(0.001, memory=600)]
    found = place(jobs, hardware(memory={A0: 1000, A1: 1000, B0: 10}))
    assert set(found.devices) == {A0, A1}
    assert found.bytes_on == {A0: 600, A1: 600, B0: 0}


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Job], Hardware]:
    jobs: list[Job] = []
    group_home = {group: draw(st.sampled_from(DEVICES)) for group in range(3)}
    for number in range(draw(st.integers(1, 14))):
        group = draw(st.none() | st.integers(0, 2))
        home = group_home[group] if group is not None else draw(st.sampled_from(DEVICES))
        others = draw(st.sets(st.sampled_from(DEVICES)))
        times = st.floats(0, 0.1, allow_nan=False)
        seconds = {device: draw(times) for device in DEVICES if device == home or device in others}
        before = draw(st.dictionaries(st.integers(0, number - 1), st.integers(0, 10**8), max_size=3)) if number else {}
        jobs.append(Job(seconds, home, before, draw(st.integers(0, 100)), group))
    limits = {device: draw(st.integers(0, 1000)) for device in draw(st.sets(st.sampled_from(DEVICES)))}
    return jobs, hardware(draw(st.integers(1, 3)), draw(st.floats(0, 0.01)), limits)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_no_schedule_is_worse_than_staying_at_home(problem: tuple[list[Job], Hardware]) -> None:
    jobs, machine = problem
    home = simulate(jobs, [j.home for j in jobs], machine)
    found = place(jobs, machine)
    assert found == place(jobs, machine)
    assert all(device in j.seconds for device, j in zip(found.devices, jobs, strict=True))
    for group in range(3):
        assert len({d for d, j in zip(found.devices, jobs, strict=True) if j.group == group}) <= 1
    if home.fits(machine):
        assert found.fits(machine)
        assert found.makespan <= home.makespan
    for number, j in enumerate(jobs):
        for other, size in j.before.items():
            a, b = found.devices[other], found.devices[number]
            assert found.starts[number] >= found.ends[other] + (machine.transfer(a, b, size) if a != b else 0) - 1e-12
    for team, threads in machine.threads.items():
        spans = [
            (start, end)
            for start, end, device in zip(found.starts, found.ends, found.devices, strict=True)
            if machine.team[device] == team and end > start
        ]
        assert all(sum(s <= start < e for s, e in spans) <= threads for start, _ in spans)

"""What campaigns refuse by the name of the argument, and the keys of their parts."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attest_attention import _program, _shards
from attest_attention._campaign import campaign, outcomes
from test_campaign import ASKED, SEED, distributed


def test_a_key_is_what_decides_a_report(tmp_path: Path) -> None:
    from attest_attention._campaign import _audits
    library = tmp_path / "kernel.so"
    library.write_bytes(b"one")
    contract = tmp_path / "mine.json"
    contract.write_text('{"from": "f32"}')

    def key(**changed: Any) -> str:
        said: dict[str, Any] = {"kernel": str(library), "seed": 1, "shards": 2, "contract": "f32", "quick": True,
                                "draws": 0, "options": ()} | changed
        (tasks,) = _audits([said["kernel"]], [said["seed"]], tmp_path, said["shards"], said["contract"], said["quick"],
                           said["draws"], said["options"]).values()
        return tasks[int(changed.get("part", 0))].key

    first = key()
    others = [key(part=1), key(seed=2), key(shards=3), key(contract="f64"), key(contract=str(contract)),
              key(quick=False), key(draws=1), key(options=("--reproducible",)), key(kernel=f"{library}:other"),
              key(kernel="builtin")]
    contract.write_text('{"from": "f64"}')
    others.append(key(contract=str(contract)))
    assert len({first, *others}) == 1 + len(others)
    moved = library.rename(tmp_path / "moved.so")
    assert key(kernel=str(moved)) == first
    moved.write_bytes(b"two")
    assert key(kernel=str(moved)) not in (first, *others)


def test_a_report_of_another_kernel_part_or_version_is_not_taken(tmp_path: Path) -> None:
    task = _shards.Task(_shards.Identity("k.so", "abc", ""), (), 1, 2, "9.9", str(tmp_path), "", "")
    right = {"attest": "9.9", "shard": {"facts": {"index": 1, "of": 2}}, "kernel_builds": [{"sha256": "abc"}]}
    task.check(right)
    interrupted = {"verdict": "undecided", "evidence": {"not_asked": [{"what": "checks", "why": "--only"},
                                                                      {"what": "8 of 9 inputs", "why": "interrupted"}]}}
    with pytest.raises(_shards.Interrupted, match="8 of 9 inputs"):
        task.check(right | interrupted)
    refuted = right | interrupted | {"verdict": "refuted"}
    task.check(refuted)  # a finding stands alone
    for report in (right, refuted):
        for changed in ({"attest": "9.8"}, {"shard": {"facts": {"index": 2, "of": 2}}},
                        {"kernel_builds": [{"sha256": "x"}]}):
            with pytest.raises(_shards.WrongTask):
                task.check(report | changed)


@pytest.mark.parametrize(("changed", "argument"), [
    ({"kernels": []}, "kernels"), ({"kernels": ["./there-is-none.so"]}, "kernels"), ({"seeds": []}, "seeds"),
    ({"seeds": [-1]}, "seeds"), ({"seeds": [True]}, "seeds"), ({"shards": 0}, "shards"), ({"draws": -1}, "draws"),
    ({"contract": "f31"}, "contract"), ({"options": ["--seed=4"]}, "options"),
    ({"options": ["--fail-fast"]}, "options")])
def test_errors_name_the_argument(changed: dict[str, Any], argument: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{argument}: "):
        campaign(**{"kernels": "builtin", "seeds": 1, "folder": tmp_path / "c", **changed})
    assert not (tmp_path / "c").exists()


def test_tasks_come_back_with_their_results(cluster: Any, tmp_path: Path) -> None:
    from attest_attention._campaign import _audits
    tasks = [task for found in _audits(["builtin"], [SEED], tmp_path, 2, "f32", True, 0, ASKED["options"]).values()
             for task in found]
    with distributed.Client(cluster, set_as_default=False) as client:
        found = {task.index: (result, why, again) for task, result, why, again in outcomes(client, _shards.run, tasks)}
    assert found == {task.index: (task.key, "", False) for task in tasks}


def test_two_campaigns_with_the_same_tasks_have_their_own_reports(cluster: Any, tmp_path: Path) -> None:
    from attest_attention._campaign import _audits
    first, second = ([task for tasks in _audits(["builtin"], [SEED], tmp_path / name, 2, "f32", True, 0,
                                                ASKED["options"]).values() for task in tasks] for name in ("a", "b"))
    with (distributed.Client(cluster, set_as_default=False) as one,
              distributed.Client(cluster, set_as_default=False) as other):
        begun = outcomes(one, _shards.run, first)
        next(begun)
        assert len(list(outcomes(other, _shards.run, second))) == 2 and len(list(begun)) == 1
    assert [task.key for task in first] == [task.key for task in second]
    assert all(task.stored() for task in first + second)


@pytest.mark.parametrize(("changed", "says"), [
    ({"kernels": lambda q, k, v: v}, "kernels: is a function, expected words"),
    ({"kernels": 5}, "kernels: is a int, expected"), ({"kernels": None}, "kernels: is a NoneType, expected"),
    ({"kernels": ["builtin", 5]}, "kernels: holds a int, expected"), ({"seeds": 0.5}, "seeds: is a float, expected"),
    ({"shards": "x"}, "shards: is 'x', expected a whole number"), ({"shards": True}, "shards: is True, expected"),
    ({"shards": 2.0}, "shards: is 2.0, expected"), ({"draws": None}, "draws: is None, expected a whole number"),
    ({"contract": 5}, "contract: is a int, expected"), ({"contract": None}, "contract: is a NoneType, expected"),
    ({"options": 5}, "options: is a int, expected words"),
    ({"options": ["--only", 5]}, "options: holds a int, expected"),
    ({"folder": 5}, "folder: is a int, expected a path"),
    ({"progress": "x"}, "progress: is a str, expected a callable"), ({"cluster": 5}, "cluster: is a int, expected")])
def test_errors_of_type_name_the_argument(changed: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=f"^{says}"):
        campaign(**{"kernels": "builtin", "seeds": 1, "folder": tmp_path / "c", **changed})
    assert not (tmp_path / "c").exists()


def test_paths_and_what_is_read_once_are_taken(cluster: Any, tmp_path: Path) -> None:
    library = _program.library("kernel_scalar")
    (tmp_path / "mine.json").write_text('{"from": "f32"}')
    given: dict[str, Any] = {"shards": 1, "quick": True, "draws": 0, "progress": lambda line: None}
    (one,) = campaign(library, SEED, cluster, folder=tmp_path / "c", contract=tmp_path / "mine.json",
                      options=(word for word in ASKED["options"]), **given).judged
    assert one.kernel == str(library) and one.verdict == "certified" and (one.json or {})["contract"] == "mine"
    assert {check["name"] for check in (one.json or {})["checks"]} == set(ASKED["options"][1].split(","))
    (again,) = campaign(iter([library]), iter([SEED]), cluster, folder=tmp_path / "c",
                        contract=str(tmp_path / "mine.json"), options=ASKED["options"],
                        **given | {"progress": pytest.fail}).judged
    assert again == one, "it has the same key"

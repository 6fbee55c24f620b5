"""Workflows and the action are YAML whose scripts parse and whose files exist; the action's script is run.

usage: workflows_test.py ROOT ATTEST KERNELS

The action's script audits kernels as a workflow would: certified, refuted, undecided, refused, and with a baseline.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

root, attest, kernels = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
EXPRESSION = re.compile(r"\$\{\{.*?\}\}")


def steps(file: pathlib.Path) -> list[dict]:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    if file.name == "action.yml":
        inputs = set(re.findall(r"inputs\.([\w-]+)", file.read_text(encoding="utf-8")))
        assert inputs == set(content["inputs"]), f"inputs: {inputs ^ set(content['inputs'])}"
        assert all("shell" in step for step in content["runs"]["steps"] if "run" in step), "a step without a shell"
        return content["runs"]["steps"]
    assert {"name", "jobs", "permissions"} <= set(content) and True in content, file.name
    for name, job in content["jobs"].items():
        assert {"runs-on", "steps"} <= set(job), f"{file.name}: {name}"
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(content["jobs"]), f"{file.name}: {name}: needs"
    return [step for job in content["jobs"].values() for step in job["steps"]]


def is_sound(step: dict, sections: set[str]) -> None:
    assert ("run" in step) != ("uses" in step), step
    if "uses" in step:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[\w./-]+", step["uses"]), step["uses"]
        return
    script = EXPRESSION.sub("1", step["run"])
    subprocess.run(["bash", "-n", "-c", script], check=True)
    path_of_this = r"(?:^|\s|GITHUB_ACTION_PATH/)(\.(?:ci|github)/[\w/]+|tests/\S+|proofs/\S+|\./attest)"
    for path in re.findall(path_of_this, script):
        assert os.access(root / path, os.X_OK), f"{path} is no program"
    for named in re.findall(r"\./attest setup ([a-z -]+)", script):
        assert set(named.split()) <= sections, f"sections {set(named.split()) - sections}"


def workflows() -> int:
    sections = set(re.findall(r"^\[(.*)\]$", (root / "packages/debian.txt").read_text(encoding="utf-8"), re.M))
    files = [root / "action.yml", *sorted((root / ".github/workflows").glob("*.yml"))]
    assert {"ci.yml", "release.yml"} <= {file.name for file in files}
    for file in files:
        for step in steps(file):
            is_sound(step, sections)
    for script in (*(root / ".ci").iterdir(), root / ".github/action/audit"):
        subprocess.run(["bash", "-n", script], check=True)
    return len(files)


def container() -> None:
    """The libraries that the program needs are in the image, by the names of Debian's packages."""
    text = (root / "Containerfile").read_text(encoding="utf-8")
    installed = set(re.search(r"--no-install-recommends (.*?) &&", text).group(1).split())
    needed = subprocess.run(["ldd", attest], capture_output=True, text=True, check=True).stdout
    for library, package in (("libtbb", "libtbb12"), ("libhwy", "libhwy1"), ("libfmt", "libfmt9"),
                             ("libseccomp", "libseccomp2"), ("libtomlplusplus", "libtomlplusplus3")):
        if f"{library}." in needed:
            assert package in installed, f"Containerfile: {package}"
    assert (root / ".containerignore").is_file()


def audited(folder: pathlib.Path, **inputs: str) -> tuple[str, dict[str, str], str]:
    """What the step printed, its outputs, its summary."""
    (folder / "bin").mkdir(exist_ok=True)
    if not (folder / "bin/attest").exists():
        (folder / "bin/attest").symlink_to(attest)
    for name in ("output", "summary"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).touch()
    variables = {f"ATTEST_{name.upper()}": value for name, value in inputs.items()}
    done = subprocess.run([root / ".github/action/audit"], cwd=folder, text=True, capture_output=True, check=True,
                          env={**os.environ, **variables, "PATH": f"{folder}/bin:{os.environ['PATH']}",
                               "GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary")})
    outputs = dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())
    return done.stdout, outputs, (folder / "summary").read_text()


def action(folder: pathlib.Path) -> None:
    quick = "--quick --draws 0 --only empty-rows,masks"
    broken = str(kernels / "nan_empty_row.so")
    said, outputs, summary = audited(folder, arguments=quick, seed="1")
    assert outputs == {"status": "0", "verdict": "certified"} and "::error" not in said, said
    assert summary.startswith("### attest: certified\n") and "CERTIFIED" in summary
    for file in ("report.json", "report.html", "audit.xml", "attest.sarif"):
        assert (folder / "attest-reports" / file).stat().st_size > 100, file

    said, outputs, _ = audited(folder, arguments=quick, seed="1", kernel=broken, reports="other")
    assert outputs == {"status": "1", "verdict": "refuted"}, outputs
    annotations = re.findall(r"^::error title=attest%3A ([\w-]+)::(.+)$", said, re.M)
    assert annotations and len(annotations) <= 10, said
    assert list((folder / "other/findings").glob("*.safetensors"))

    said, outputs, _ = audited(folder, arguments="--quick --only accuracy --domain d=64",
                               kernel=str(kernels / "refuses.so"))
    assert outputs == {"status": "3", "verdict": "undecided"} and "::warning title=attest%3A undecided::" in said, said

    said, outputs, _ = audited(folder, arguments="--only nothing", contract="f32")
    assert outputs == {"status": "2"} and "::error title=attest::" in said, said
    said, outputs, _ = audited(folder, kernel="./none.so; touch pwned")
    assert outputs == {"status": "2"} and not (folder / "pwned").exists(), said

    subprocess.run([attest, "audit", *quick.split(), "--seed", "1", "--kernel", broken, "--findings", "", "--baseline",
                    "known.json", "--update-baseline"], cwd=folder, capture_output=True, check=True)
    assert json.loads((folder / "known.json").read_text())["known"]
    said, outputs, _ = audited(folder, arguments=quick, seed="1", kernel=broken, baseline="known.json")
    assert outputs == {"status": "0", "verdict": "certified"} and "::error" not in said, said


count = workflows()
container()
with tempfile.TemporaryDirectory() as folder:
    action(pathlib.Path(folder))
print(f"{count} files of workflows are sound, and the action does what it says")

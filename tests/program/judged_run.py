"""One audit by the program `attest`, and what it leaves behind: processes, temporary files, outputs.

Every process that a run starts becomes a child of the test when its parent is gone, whatever its session, user or
namespace: survivors are counted, not guessed by their names.
"""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import xml.dom.minidom

REPORTS = ("report.json", "report.xml", "report.html")
TEMPORARY = ".attest-tmp"
INDEX = "attest-findings.json"
LONGEST_RUN = 300  # seconds: a run that has not ended by then hangs
NOBODY = 65534


def adopt_orphans() -> None:
    subreaper = 36  # PR_SET_CHILD_SUBREAPER
    if ctypes.CDLL(None, use_errno=True).prctl(subreaper, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def survivors(patience: float = 20) -> list[str]:
    """The names of the processes that a run has left alive. Requires that no child of the test is wanted. Kills
    them."""
    until = time.monotonic() + patience
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return []
        if ended == 0 and time.monotonic() > until:
            break
        if ended == 0:
            time.sleep(0.002)
    names = []
    while True:  # a survivor's children become the test's in turn
        children = pathlib.Path("/proc/thread-self/children").read_text().split()
        if not children:
            return names
        for child in children:
            names.append(pathlib.Path(f"/proc/{child}/comm").read_text().strip())
            os.kill(int(child), signal.SIGKILL)
            os.waitpid(int(child), 0)


def is_complete(name: str, content: bytes) -> bool:
    """Is it a whole report, or a whole file of a finding?"""
    try:
        if name.endswith(".html"):
            return content.startswith(b"<!DOCTYPE html>") and content.endswith(b"</html>\n")
        if name.endswith(".xml"):
            xml.dom.minidom.parseString(content)
        elif name.endswith(".json"):
            read = json.loads(content)
            return "verdict" in read or read.get("attest") == "findings"
        else:
            (length,) = struct.unpack("<Q", content[:8])
            head = json.loads(content[8:8 + length])
            end = max(tensor["data_offsets"][1] for tensor_name, tensor in head.items()
                      if tensor_name != "__metadata__")
            return len(content) == 8 + length + end
    except (ValueError, struct.error, xml.parsers.expat.ExpatError):
        return False
    return True


def may_read(user: int, *paths) -> bool:
    return all(subprocess.run(["test", "-r", path], user=user, group=user, extra_groups=[]).returncode == 0
               for path in paths)


def users() -> tuple[int | None, ...]:
    """As whom audits are tried: None, who runs the test, and another user where that is root."""
    if os.geteuid() != 0:
        return (None,)
    if not may_read(NOBODY, tempfile.gettempdir()):
        print(f"left out: user {NOBODY} cannot enter the folder for temporary files, {tempfile.gettempdir()}")
        return (None,)
    return (None, NOBODY)


def copy_program(attest: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The program, with what it looks for beside itself (audit/support/locate.cpp)."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    for program in (attest, attest.parent / "attest-runner"):
        shutil.copy(program, folder / "bin")
    if (data := attest.parent.parent / "share").is_dir():
        shutil.copytree(data, folder / "share", dirs_exist_ok=True)
    return folder / "bin" / attest.name


def within_reach(user: int, attest: pathlib.Path, libraries: pathlib.Path, folder: pathlib.Path):
    """The program and the folder of libraries that this user runs: the build's own or, where the user cannot enter it,
    copies in `folder`, which is made once. Returns None if the user cannot enter that either."""
    if user == os.geteuid() or may_read(user, attest, libraries):
        return attest, libraries
    copies = folder / "bin" / attest.name, folder / libraries.name
    if not folder.exists():
        copy_program(attest, folder)
        shutil.copytree(libraries, copies[1])
        for each in (folder, *folder.rglob("*")):
            each.chmod(0o755)
    return copies if may_read(user, *copies) else None


class workplace:
    """A folder of one user with copies of the program, its runner and its data, kernels, outputs and findings: the
    folder of the build need not be open to that user."""

    def __init__(self, folder: pathlib.Path, attest: pathlib.Path, kernels: pathlib.Path, user: int | None,
                 only: str = "masks/random-full"):
        self.user = user
        self.only = only
        self.folder = folder
        self.outputs, self.findings, self.scratch = folder / "outputs", folder / "outputs" / "findings", folder / "tmp"
        self.kernels = folder / "kernels"
        for made in (folder, self.kernels, self.outputs, self.scratch):
            made.mkdir(exist_ok=True)
        self.program = copy_program(attest, folder)
        for kernel in kernels.glob("*.so"):
            if kernel.stem in ("naive", "ignores_mask", "leaves_child_a_call", "hang"):
                shutil.copy(kernel, self.kernels)
        if user is not None:
            for made in (folder, self.outputs, self.scratch):
                os.chown(made, user, user)

    def words(self, kernel: str) -> list[str]:
        return [str(self.program), "audit", "--kernel", str(self.kernels / kernel), "--quick", "--draws", "0", "--seed",
                "1", "--only", self.only, "--findings", "findings", "--json", "report.json", "--junit", "report.xml",
                "--report", "report.html"]

    def start(self, words: list[str], **more) -> subprocess.Popen:
        options = dict(cwd=self.outputs, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "TMPDIR": str(self.scratch)}, start_new_session=True)
        if self.user is not None:
            options |= dict(user=self.user, group=self.user, extra_groups=[])
        return subprocess.Popen(words, **{**options, **more})

    def files(self) -> dict[str, bytes]:
        """The outputs and, as findings/NAME, the findings; temporaries and whatever else there is, too."""
        found = {}
        for path in sorted(self.outputs.rglob("*")):
            if path.is_file():
                found[str(path.relative_to(self.outputs))] = path.read_bytes()
        return found

    def faults(self, before: dict[str, bytes]) -> list[str]:
        """What is wrong with the files after a run was killed. `before`: what was there before it."""
        wrong = []
        now = self.files()
        reports = {*REPORTS, f"findings/{INDEX}"}
        temporaries = {name + TEMPORARY for name in reports} | {f"findings/attest-finding{TEMPORARY}"}
        for name, content in now.items():
            if name in temporaries:
                continue
            if name not in reports and not name.endswith(".safetensors"):
                if name not in before:
                    wrong.append(f"{name} is left")
            elif content != before.get(name) and not is_complete(name, content):
                wrong.append(f"{name} is damaged: {len(content)} bytes")
        for name in before:
            if name in REPORTS and name not in now:
                wrong.append(f"{name} is gone")
        wrong += [f"{path} is left in the folder for temporary files" for path in self.scratch.iterdir()]
        return wrong

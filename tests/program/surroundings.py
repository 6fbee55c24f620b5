"""Audits in poor surroundings: limits, closed streams, odd paths, folders that cannot be written, full disks. Each ends
as usual or with a sentence that says why not; no verdict becomes another one, and no file is damaged.

usage: surroundings.py ATTEST KERNELS    exit status 1 and what is wrong
"""
import ctypes
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from judged_run import LONGEST_RUN, REPORTS, TEMPORARY, adopt_orphans, survivors, users, workplace

ATTEST = pathlib.Path(sys.argv[1]).resolve()
KERNELS = pathlib.Path(sys.argv[2]).resolve()
IS_ROOT = os.geteuid() == 0
STATUS_OF_KERNEL = {"naive.so": 0, "ignores_mask.so": 1}
NO_MEMORY = "attest: there is not enough memory for this"
NO_PROCESS = "attest-runner' cannot be started, since its user has as many as ulimit -u allows"
NO_SPACE = "the report could not be written: .*No space left on device"


class trial:
    """One run: how it ended, what it said, and what is wrong with what it left."""

    def __init__(self, place: workplace, kernel: str, words: list | None = None, meanwhile=None, **options):
        before = place.files()
        judge = place.start(words or place.words(kernel),
                            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})
        if meanwhile:
            meanwhile(judge)
        try:
            out, err = judge.communicate(timeout=LONGEST_RUN)
        except subprocess.TimeoutExpired:
            judge.kill()
            out, err = judge.communicate()
            err += b" (has not ended)"
        self.out, self.said = ((text or b"").decode(errors="surrogateescape") for text in (out, err))
        self.status = judge.returncode
        self.files = place.files()
        self.wrong = [f"{name} is alive" for name in survivors()] + place.faults(before)
        self.wrong += [f"{name} is left" for name in self.files if name.endswith(TEMPORARY)]
        if self.status == 2:
            self.wrong += [f"says {line!r}" for line in self.said.splitlines() if not line.startswith("attest: ")]
            self.wrong += [f"{name} is replaced" for name in REPORTS if self.files.get(name) != before.get(name) and
                           "judged: " not in self.said]
        elif self.status != STATUS_OF_KERNEL[kernel]:
            self.wrong.append(f"exit status {self.status}")

    def ended(self, status: int | None = None, says: str = "") -> list[str]:
        if status is not None and self.status != status:
            self.wrong.append(f"exit status {self.status}, expected {status}")
        if not re.search(says, " ".join((self.said + self.out).split()), re.DOTALL):
            self.wrong.append(f"does not say '{says}'")
        return [f"{fault}; {self.said[-300:]!r}" for fault in self.wrong]


def limit(which: int, most: int):
    return lambda: resource.setrlimit(which, (most, most))


def closed(*descriptors: int):
    return lambda: [os.close(number) for number in descriptors]


def environment(**changed: str | None) -> dict[str, str]:
    return {name: text for name, text in {**os.environ, **changed}.items() if text is not None}


MIB = 1 << 20
# What is limited, what the process begins with, and its end: as usual where no status is named. With neither words nor
# a status any end is right that is no other verdict, no crash and no silence: it depends on the machine.
USUAL, ANY = "", None
LIMITS = [
    ("no descriptors", dict(preexec_fn=limit(resource.RLIMIT_NOFILE, 8)), 2, "no channel to it: Too many open files"),
    ("32 descriptors", dict(preexec_fn=limit(resource.RLIMIT_NOFILE, 32)), USUAL, ""),
    ("64 descriptors", dict(preexec_fn=limit(resource.RLIMIT_NOFILE, 64)), USUAL, ""),
    ("no file may grow", dict(preexec_fn=limit(resource.RLIMIT_FSIZE, 0)), 2, "File too large"),
    ("files of 1 KiB", dict(preexec_fn=limit(resource.RLIMIT_FSIZE, 1024)), 2, "File too large"),
    ("little memory", dict(preexec_fn=limit(resource.RLIMIT_AS, 24 * MIB)), 2, NO_MEMORY),
    ("memory for one thread", dict(preexec_fn=limit(resource.RLIMIT_AS, 52 * MIB)), ANY, ""),
    ("200 MiB of memory", dict(preexec_fn=limit(resource.RLIMIT_AS, 200 * MIB)), ANY, ""),
    ("a small stack", dict(preexec_fn=limit(resource.RLIMIT_STACK, 64 << 10)), 2,
     r"the stack may have 64 KiB, .* \(ulimit -s\)"),
    ("a stack of 1 MiB", dict(preexec_fn=limit(resource.RLIMIT_STACK, MIB)), USUAL, ""),
    ("no locked memory", dict(preexec_fn=limit(resource.RLIMIT_MEMLOCK, 0)), USUAL, ""),
    ("no environment", dict(env={}), USUAL, ""),
    ("no folders in the environment", dict(env=environment(HOME=None, PATH=None, TMPDIR=None)), USUAL, ""),
    ("folders that do not exist", dict(env=environment(HOME="/nowhere", PATH="/nowhere", TMPDIR="/nowhere")), USUAL,
     ""),
    ("folders that cannot be written", dict(env=environment(HOME="/proc", TMPDIR="/proc")), USUAL, ""),
    ("no standard input", dict(preexec_fn=closed(0)), USUAL, ""),
    ("no standard error", dict(preexec_fn=closed(2)), USUAL, ""),
    ("no standard output", dict(preexec_fn=closed(1)), 2, "standard output: is not open for writing"),
    ("no standard streams", dict(preexec_fn=closed(0, 1, 2)), 2, ""),
]


def under_limits(place: workplace) -> list[str]:
    wrong = []
    rows = LIMITS
    if place.user is not None or not IS_ROOT:  # root may start as many as it likes
        rows = rows + [("one process", dict(preexec_fn=limit(resource.RLIMIT_NPROC, 1)), 2, NO_PROCESS)]
    for what, begins, status, says in rows:
        for kernel, usual in STATUS_OF_KERNEL.items():
            ran = trial(place, kernel, **begins)
            faults = ran.ended(usual if status == USUAL else status, says)
            wrong += [f"{what}, {kernel}: {fault}" for fault in faults]
    return wrong


ODD_NAMES = [b"with space", b"new\nline", b"quote'\"$(x)`;", "ünïcode".encode(), b"bad\xff\xfe", b"-dash", b":colon",
             b"\x1b[31m"]


def at_odd_paths(place: workplace) -> list[str]:
    """The library, the working folder, the outputs and the findings have the name; so does the command of a finding."""
    wrong = []
    for name in ODD_NAMES:
        folder = os.path.join(os.fsencode(place.folder), name)
        os.mkdir(folder)
        if place.user is not None:
            os.chown(folder, place.user, place.user)
        for kernel in STATUS_OF_KERNEL:
            shutil.copy(place.kernels / kernel, os.path.join(folder, name + b".so"))
            words = [str(place.program).encode(), b"audit", b"--kernel", b"./" + name + b".so", b"--quick", b"--draws",
                     b"0", b"--seed", b"1", b"--only", b"masks/random-full", b"--findings=" + name + b" of",
                     b"--json=" + name + b".json", b"--junit=" + name + b".xml", b"--report=" + name + b".html"]
            ran = trial(place, kernel, words, cwd=folder)
            faults = ran.ended(STATUS_OF_KERNEL[kernel])
            report = json.loads(pathlib.Path(os.fsdecode(os.path.join(folder, name + b".json"))).read_bytes())
            if not all(os.path.getsize(os.path.join(folder, name + ending)) for ending in (b".xml", b".html")):
                faults.append("an empty report")
            for found in report["findings"]:
                command = found["reproducer"].replace("attest", shlex.quote(str(place.program)), 1)
                again = place.start(["bash", "-c", command], cwd=folder).wait(LONGEST_RUN)
                faults += [f"exit status {again} of {command}"] if again != 1 else []
            if any(TEMPORARY in left for left in os.listdir(os.fsdecode(folder))):
                faults.append("a temporary is left")
            wrong += [f"at {name!r}, {kernel}: {fault}" for fault in faults]
    return wrong


def make_read_only(folder: pathlib.Path) -> None:
    if IS_ROOT:
        os.chown(folder, 0, 0)
    os.chmod(folder, 0o555)


def in_closed_folders(make_place) -> list[str]:
    wrong = []
    place = make_place()
    place.findings.write_text("a file")
    wrong += trial(place, "ignores_mask.so").ended(1, "findings: the folder cannot be made: Not a directory")
    if place.user is None and IS_ROOT:  # what is read-only for others is not for root
        return wrong
    place = make_place()
    place.findings.mkdir()
    make_read_only(place.findings)
    wrong += trial(place, "ignores_mask.so").ended(1, "a finding could not be saved: .*: Permission denied")
    place = make_place()
    make_read_only(place.outputs)
    wrong += trial(place, "naive.so").ended(2, "--json: report.json: cannot be created: Permission denied")
    without_outputs = place.words("naive.so")[:place.words("naive.so").index("--findings")]
    wrong += trial(place, "naive.so", without_outputs).ended(0, "CERTIFIED")
    return [f"closed folder: {fault}" for fault in wrong]


def in_removed_folder(place: workplace) -> list[str]:
    """The outputs can be written when they are tried, and their folder is gone when they are."""
    def remove(judge) -> None:
        while judge.poll() is None and not place.outputs.stat().st_mtime_ns > begin:
            pass
        time.sleep(0.01)
        os.kill(judge.pid, signal.SIGSTOP)
        shutil.rmtree(place.outputs)
        os.kill(judge.pid, signal.SIGCONT)

    begin = place.outputs.stat().st_mtime_ns
    ran = trial(place, "naive.so", meanwhile=remove)
    return [f"folder removed: {fault}" for fault in ran.ended(2, "No such file or directory")]


def on_full_disk(make_place) -> list[str]:
    """Requires  root, and a mount namespace of the test's own"""
    wrong = []
    for free in (0, 4, 16, 40, 64):  # KiB; the reports of the wrong kernel take about 60
        for has_earlier in (False, True):
            place = make_place()
            owner = [] if place.user is None else [f"uid={place.user},gid={place.user}"]
            subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(["size=1m", *owner]), "tmpfs", place.outputs],
                           check=True)
            if has_earlier:
                wrong += trial(place, "naive.so").ended(0)
            (place.outputs / "full").write_bytes(b"")
            at_hand = os.statvfs(place.outputs)
            with open(place.outputs / "full", "wb", buffering=0) as full:
                full.write(bytes(at_hand.f_bavail * at_hand.f_frsize - free * 1024))
            for is_closed in (False, True) if place.user is not None and has_earlier else (False,):
                if is_closed:  # nothing can be replaced there, only be overwritten
                    make_read_only(place.outputs)
                before = place.files()
                ran = trial(place, "ignores_mask.so")
                faults = ran.ended(None, NO_SPACE if ran.status == 2 and "judged" in ran.said else "")
                faults += [f"{name} is lost" for name, content in before.items() if name in REPORTS and
                           ran.files.get(name) != content and f"{name}: cannot" in ran.said]
                wrong += [f"{free} KiB left, earlier reports: {has_earlier}, closed: {is_closed}: {fault}"
                          for fault in faults]
            subprocess.run(["umount", "-l", place.outputs], check=True)
    return wrong


def has_mounts_of_its_own() -> bool:
    new_mounts = 0x20000  # CLONE_NEWNS
    if not IS_ROOT or ctypes.CDLL(None).unshare(new_mounts) != 0:
        return False
    return subprocess.run(["mount", "--make-rprivate", "/"], stderr=subprocess.DEVNULL).returncode == 0


def main() -> int:
    mounts = has_mounts_of_its_own()
    adopt_orphans()
    failed = 0
    for user in users():
        with tempfile.TemporaryDirectory() as name:
            os.chmod(name, 0o755)
            made = 0

            def make_place() -> workplace:
                nonlocal made
                made += 1
                return workplace(pathlib.Path(name) / str(made), ATTEST, KERNELS, user)

            wrong = under_limits(make_place()) + at_odd_paths(make_place()) + in_closed_folders(make_place)
            wrong += in_removed_folder(make_place())
            wrong += on_full_disk(make_place) if mounts else []
        who = "the user of the test" if user is None else f"user {user}"
        print(f"{who}: {len(wrong)} faults{'' if mounts else '; no disk was full: that takes root'}", flush=True)
        for fault in wrong[:30]:
            print(f"    {fault}")
        failed += len(wrong)
    return failed > 0


sys.exit(main())

"""A judge that is killed at random moments leaves no process, no damaged file, and one temporary beside an output at
most, which the next run removes. Other signals end it with a report, or not at all.

usage: killed_judge.py ATTEST KERNELS [KILLS [SEED]]    KILLS for each user and kernel; exit status 1 and what is wrong
"""
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

from judged_run import LONGEST_RUN, REPORTS, TEMPORARY, adopt_orphans, survivors, users, workplace

ATTEST = pathlib.Path(sys.argv[1]).resolve()
KERNELS = pathlib.Path(sys.argv[2]).resolve()
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 6
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1

STATUS_OF_KERNEL = {"naive.so": 0, "leaves_child_a_call.so": 0, "ignores_mask.so": 1}
IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)
STATUS_OF_VERDICT = {"certified": 0, "refuted": 1, "undecided": 3}


def changes(place: workplace) -> tuple:
    """Differs from before whenever a name came to, or left, one of the folders that the program writes."""
    return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in (place.outputs, place.findings))


def wait_for_moment(judge, place: workplace, draw: random.Random, seconds: float) -> str:
    """Half of the moments are anywhere in a run, the others where it writes files. Returns which, in words."""
    if draw.random() < 0.5:
        moment = draw.uniform(0, seconds)
        until = time.monotonic() + moment
        while judge.poll() is None and time.monotonic() < until:
            time.sleep(0.0005)
        return f"after {moment:.3f} s"
    changes_before_it, seen, last = draw.randint(1, 12), 0, changes(place)
    while seen < changes_before_it and judge.poll() is None:
        now = changes(place)
        seen, last = seen + (now != last), now
    time.sleep(draw.choice([0, 0, draw.uniform(0, 0.002)]))
    return f"at change {seen} of its folders"


def whole_run(place: workplace, kernel: str) -> tuple[float, list[str]]:
    begin = time.monotonic()
    status = place.start(place.words(kernel)).wait(LONGEST_RUN)
    seconds = time.monotonic() - begin
    wrong = [f"exit status {status}"] if status != STATUS_OF_KERNEL[kernel] else []
    wrong += [f"{name} is alive" for name in survivors()]
    files = place.files()
    wrong += [f"{name} is left by a whole run" for name in files if name.endswith(TEMPORARY)]
    wrong += [f"{name} is not written" for name in REPORTS if name not in files]
    return seconds, wrong + place.faults({})


def kill_often(place: workplace, kernel: str, seconds: float, draw: random.Random) -> tuple[int, int, list[str]]:
    """Returns the numbers of kills and of temporaries found, and what is wrong."""
    kills = temporaries = 0
    wrong = []
    for _ in range(3 * KILLS):
        if kills == KILLS:
            break
        if draw.random() < 0.3:  # nothing is there yet
            for name in REPORTS:
                (place.outputs / name).unlink(missing_ok=True)
        before = place.files()
        judge = place.start(place.words(kernel))
        when = wait_for_moment(judge, place, draw, seconds)
        if judge.poll() is None:
            os.kill(judge.pid, signal.SIGKILL)
            kills += judge.wait() == -signal.SIGKILL
        faults = [f"{name} is alive" for name in survivors()] + place.faults(before)
        left = [name for name in place.files() if name.endswith(TEMPORARY)]
        temporaries += len(left)
        if left or draw.random() < 0.03:
            faults += [f"then: {fault}" for fault in whole_run(place, kernel)[1]]
        wrong += [f"killed {when}: {fault}" for fault in faults]
    return kills, temporaries, wrong + whole_run(place, kernel)[1]


def kill_while_it_waits(place: workplace, draw: random.Random) -> tuple[int, list[str]]:
    """The kernel does not return: it cannot notice by itself that the judge is gone."""
    wrong = []
    for _ in range(KILLS):
        judge = place.start([*place.words("hang.so"), "--jobs", "3"])
        moment = draw.uniform(0, 1)
        time.sleep(moment)
        judge.kill()
        judge.wait()
        wrong += [f"killed after {moment:.3f} s: {name} is alive" for name in survivors()]
    return KILLS, wrong


def has_signal(judge, mask: str, number: int) -> bool:
    """Is it one of the signals of this mask, SigIgn or SigCgt, of the program?"""
    try:
        text = pathlib.Path(f"/proc/{judge.pid}/status").read_text()
    except ProcessLookupError:
        return False
    masks = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
    return bool(int(masks.get(mask, "0"), 16) >> (number - 1) & 1)


def end_faults(number: signal.Signals, status: int, has_heard: bool, verdict: str, kernel: str) -> list[str]:
    """What is wrong with the way in which a run ended that got this signal. `has_heard`: it listened to it already."""
    whole = STATUS_OF_KERNEL[kernel]
    if number == signal.SIGABRT:
        allowed = (whole, -number)
    elif number in (*IGNORED, signal.SIGSTOP):
        allowed = (whole,)
    else:  # before it listens to them, they end it without a report
        allowed = (whole, 3) if has_heard else (whole, 3, -number)
    if status not in allowed:
        return [f"exit status {status}"]
    if status >= 0 and STATUS_OF_VERDICT.get(verdict) != status:
        return [f"exit status {status}, and the report says '{verdict}'"]
    return []


def signal_often(place: workplace, kernel: str, seconds: float, draw: random.Random) -> tuple[int, list[str]]:
    ran, wrong = 0, []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU, signal.SIGABRT, signal.SIGSTOP,
                   *IGNORED):
        for _ in range(max(1, KILLS // 10)):
            before = place.files()
            judge = place.start(place.words(kernel))
            when = wait_for_moment(judge, place, draw, seconds)
            if judge.poll() is not None:
                continue
            while number in IGNORED and judge.poll() is None and not has_signal(judge, "SigIgn", number):
                pass  # its first milliseconds, before main()
            has_heard = has_signal(judge, "SigCgt", number)
            os.kill(judge.pid, number)
            if number == signal.SIGSTOP:
                time.sleep(draw.uniform(0, 0.5))
                os.kill(judge.pid, signal.SIGCONT)
            status = judge.wait(LONGEST_RUN)
            faults = [f"{name} is alive" for name in survivors()] + place.faults(before)
            report = place.files().get("report.json", b"{}")
            faults += end_faults(number, status, has_heard, json.loads(report).get("verdict", ""), kernel)
            wrong += [f"{number.name} {when}: {fault}" for fault in faults]
            ran += 1
    return ran, wrong + whole_run(place, kernel)[1]


def main() -> int:
    adopt_orphans()
    draw = random.Random(SEED)
    failed = 0
    only = "masks/random-full" if KILLS < 50 else "masks"
    for user in users():
        who = "the user of the test" if user is None else f"user {user}"

        def report(kernel: str, told: str, wrong: list[str]) -> int:
            print(f"{kernel}, {who}: {told}; {len(wrong)} faults", *wrong[:20], sep="\n    ", flush=True)
            return len(wrong)

        for kernel in STATUS_OF_KERNEL:
            with tempfile.TemporaryDirectory() as name:
                os.chmod(name, 0o755)
                place = workplace(pathlib.Path(name) / "work", ATTEST, KERNELS, user, only)
                seconds, wrong = whole_run(place, kernel)
                kills, temporaries, killed = kill_often(place, kernel, seconds, draw)
                signals, signalled = signal_often(place, kernel, seconds, draw)
            failed += report(kernel, f"{kills} kills, {temporaries} temporaries were left; {signals} other signals",
                             wrong + killed + signalled)
        with tempfile.TemporaryDirectory() as name:
            os.chmod(name, 0o755)
            kills, wrong = kill_while_it_waits(workplace(pathlib.Path(name) / "work", ATTEST, KERNELS, user), draw)
            failed += report("hang.so", f"{kills} kills", wrong)
    return failed > 0


sys.exit(main())

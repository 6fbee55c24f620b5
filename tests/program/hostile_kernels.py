"""Each hostile kernel of tests/hostile_kernels before `attest audit`: what it tried is named or had no effect, there is
a report, and nothing is left of it.

usage: hostile_kernels.py ATTEST FOLDER_OF_LIBRARIES some | all | NAME...

`some`: every fifth kernel, in one surrounding (as root or another user, with and without namespaces), in turn; else
each of them in each.
"""
import concurrent.futures, json, os, pathlib, pty, re, signal, subprocess, sys, tempfile, termios, time

from judged_run import NOBODY, within_reach

BUILD = [pathlib.Path(os.path.abspath(path)) for path in sys.argv[1:3]]
CHOSEN = sys.argv[3:]
FILES = {}  # of each user, the program and the folder of libraries

RIGHT, WRONG, ERROR, UNDECIDED = 0, 1, 2, 3  # the exit status
WORKS, RESTS = "of processor time", "used no processor for 5 s"
ENVIRONMENT = "floating-point environment"
# name: exit status, and words of its finding or error
KERNELS = {
    "fork_bomb": ({WRONG}, "are allowed"), "daemons": ({RIGHT}, ""), "runs_from_the_list": ({RIGHT}, ""),
    "deaf_child": ({RIGHT}, ""), "child_keeps_channel": ({RIGHT}, ""), "executes": ({RIGHT}, ""),
    "becomes_another": ({WRONG}, "exited with code 0"), "busy_threads": ({RIGHT}, ""),
    "thousand_threads": ({WRONG}, "are allowed"), "leaves_its_thread": ({WRONG}, "exited with code 7"),
    "takes_priority": ({RIGHT}, ""),
    "kills_all": ({RIGHT}, ""), "stops_all": ({RIGHT}, ""), "kills_group": ({RIGHT}, ""), "kills_parent": ({RIGHT}, ""),
    "kills_first": ({RIGHT}, ""), "survives_its_parent": ({RIGHT}, ""),
    "aborts_in_thread": ({WRONG}, "SIGABRT"), "exits_with_zero": ({WRONG}, "exited with code 0"),
    "quick_exits": ({WRONG}, "exited with code 5"), "never_finishes_exit": ({WRONG}, WORKS),
    "blocks_all_and_works": ({WRONG}, WORKS), "sleeps": ({WRONG}, RESTS), "waits_for_itself": ({WRONG}, RESTS),
    "recurses": ({WRONG}, "SIGSEGV"), "takes_the_stack": ({WRONG}, "SIGSEGV"), "ignores_faults": ({WRONG}, "SIGSEGV"),
    "jumps_out_of_a_fault": ({RIGHT}, ""), "limits_its_time": ({WRONG}, "SIGKILL"), "limits_its_files": ({RIGHT}, ""),
    "divides_by_zero": ({WRONG}, ""), "traces_itself": ({WRONG}, "SIGTRAP"),
    "maps_without_end": ({WRONG}, "the kernel "), "children_map": ({WRONG}, "are allowed"),
    "fills_memory_files": ({WRONG}, "SIGXFSZ"), "fills_segments": ({RIGHT}, ""), "fills_scratch": ({RIGHT, WRONG}, ""),
    "cuts_shared": ({RIGHT}, ""), "stretches_shared": ({WRONG}, "SIGXFSZ"), "seals_shared": ({RIGHT}, ""),
    "scribbles_for_ever": ({WRONG}, ""), "makes_inputs_writable": ({RIGHT}, ""),
    "changes_inputs": ({WRONG}, "writes into the input q"), "changes_the_call": ({WRONG}, "descriptors"),
    "writes_to_everybody": ({RIGHT}, ""), "handles_faults_of_others": ({RIGHT}, ""), "locks_all_memory": ({RIGHT}, ""),
    "writes_everywhere": ({RIGHT}, ""), "forges_report": ({RIGHT}, ""), "reads_secrets": ({RIGHT}, ""),
    "prints_a_verdict": ({RIGHT}, ""), "prints_without_end": ({RIGHT}, ""), "writes_to_terminal": ({RIGHT}, ""),
    "opens_what_the_judge_has": ({RIGHT}, ""), "uses_the_network": ({RIGHT}, ""), "mounts": ({RIGHT}, ""),
    "becomes_root": ({RIGHT}, ""), "asks_by_ring": ({RIGHT}, ""), "calls_by_old_numbers": ({WRONG}, "SIG"),
    "changes_place": ({RIGHT}, ""),
    "answers_ahead": ({WRONG}, "channel"), "answers_twice": ({WRONG}, ""), "answers_too_short": ({WRONG}, "channel"),
    "answers_too_long": ({WRONG}, "channel"), "answers_nothing": ({WRONG}, "channel"),
    "fills_the_channel": ({WRONG}, "channel"), "takes_the_questions": ({RIGHT}, ""), "shuts_the_channel": ({WRONG}, ""),
    "closes_the_channel": ({WRONG}, ""), "closes_all": ({WRONG}, ""), "floods_the_channel": ({WRONG}, "channel"),
    "passes_descriptors": ({WRONG}, "channel"), "rounds_up": ({WRONG}, ENVIRONMENT),
    "flushes_subnormals": ({WRONG}, ENVIRONMENT), "narrows_x87": ({WRONG}, ENVIRONMENT),
    "checks_alignment": ({RIGHT, WRONG}, ""),
    # the judge's surroundings
    "starves_judge": ({RIGHT}, ""), "signals_by_descriptor": ({RIGHT}, ""),
    "signals_by_process_descriptor": ({RIGHT}, ""), "writes_named_files": ({RIGHT}, ""), "changes_modes": ({RIGHT}, ""),
    "takes_terminal": ({RIGHT}, ""),
    # the runner's process
    "takes_addresses": ({WRONG, UNDECIDED}, ""), "locks_addresses": ({WRONG, UNDECIDED}, ""),
    "ends_first_thread": ({WRONG}, RESTS), "unwinds_caller": ({WRONG}, RESTS), "becomes_sleeper": ({WRONG}, RESTS),
    "waits_for_vfork": ({WRONG}, RESTS), "leaves_stopped_child": ({RIGHT}, ""),
    "closes_memory": ({WRONG}, ""), "replaces_memory": ({WRONG}, "unwritten"), "punches_holes": ({WRONG}, "writes"),
    "appends_to_memory": ({WRONG}, "writes"), "writes_memory_directly": ({RIGHT}, ""),
    "answers_elsewhere": ({WRONG}, "unwritten"), "forges_crash_note": ({WRONG}, "SIGABRT"),
    "drops_questions": ({WRONG}, RESTS), "does_not_wait": ({RIGHT}, ""),
    "closes_the_channel_and_stays": ({WRONG}, "closed its channel"), "comes_between": ({WRONG}, RESTS),
    # a race with the runner: it may get every question, or lose one, which does not come again
    "takes_the_next_questions": ({WRONG, UNDECIDED, RIGHT}, RESTS),
    "says_it_was_not_asked": ({WRONG}, "channel"), "filters_receive": ({WRONG}, "exited with code 0"),
    "filters_send": ({WRONG}, "exited with code 0"), "cannot_end": ({WRONG}, "exited with code 0"),
    "hangs_after_first": ({WRONG}, RESTS), "leaves_alarm": ({WRONG}, "SIGALRM"), "leaves_timer": ({RIGHT}, ""),
    "unmaps_everything": ({WRONG}, "SIGSEGV"), "overwrites_runner": ({WRONG}, "SIGSEGV"),
    "load_fails_later": ({WRONG}, "SIGABRT"), "load_greets": ({WRONG}, "channel"),
    "load_closes": ({ERROR}, "while it was loaded"), "load_name_has_no_end": ({ERROR}, "SIGSEGV while it was loaded"),
    "load_loops": ({ERROR}, "does not finish loading within 5 s of processor time"),
    "load_exits": ({ERROR}, "while it was loaded"), "load_prints": ({RIGHT}, ""), "load_forks": ({RIGHT}, ""),
    "load_name_crashes": ({ERROR}, "SIGSEGV while it was loaded"),
    "load_name_is_nowhere": ({ERROR}, "SIGSEGV while it was loaded"), "load_name_is_long": ({RIGHT}, ""),
    "load_name_has_controls": ({RIGHT}, ""), "load_name_loops": ({ERROR}, "does not finish loading"),
    "load_end_loops": ({RIGHT}, ""), "load_sleeps": ({ERROR}, "uses no processor for 5 s"),
}
# They start as many processes and threads as their user may: another kernel of that user would then start none. Each
# runs alone, for minutes, and where it is named or all are.
ALONE = {"fork_bomb", "thousand_threads"}
USERS = [0, NOBODY] if os.geteuid() == 0 else [os.geteuid()]
SURROUNDINGS = [(user, namespaces) for user in USERS for namespaces in (True, False)]
MOST_SECONDS = 240  # on a slow machine that does eight of these at once: about 20 on a quiet one


def alive(run):
    """The processes whose environment holds this run."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as environment:
                if b"HOSTILE_RUN=" + run.encode() in environment.read():
                    found.append(process)
        except OSError:
            pass
    return found


def segments():
    with open("/proc/sysvipc/shm") as table:
        return len(table.readlines())


def places(home):
    """What lies where a kernel could leave something."""
    return {folder: set(os.listdir(folder)) for folder in ("/tmp", "/var/tmp", "/dev/shm", home)}


class watched_terminal:
    """A terminal of the user, with a word typed in it. A system without /dev/pts has none (main says so)."""

    def __init__(self, user):
        self.name = "/dev/tty"
        try:
            self.ours, self.end = pty.openpty()
        except OSError:
            self.ours = None
            return
        os.fchown(self.end, user, -1)
        self.name, self.before = os.ttyname(self.end), self.state()
        os.write(self.ours, b"typed")

    def state(self):
        return termios.tcgetattr(self.end), termios.tcgetwinsize(self.end)

    def was_changed(self):
        """Closes it, too."""
        if self.ours is None:
            return False
        changed = self.state() != self.before or os.read(self.ours, 64) != b"typed"
        for end in (self.ours, self.end):
            os.close(end)
        return changed


def tried(name, user, namespaces, home):
    """The faults of the audit of one kernel."""
    statuses, words = KERNELS[name]
    attest, libraries = FILES[user]
    run = f"{os.getpid()}-{name}-{user}-{namespaces}"
    folder = os.path.join(home, run)
    os.mkdir(folder, 0o777)
    os.chmod(folder, 0o777)
    report, secret = os.path.join(folder, "report.json"), os.path.join(folder, "secret")
    with open(secret, "w") as file:
        file.write("secret")
    os.chmod(secret, 0o644)
    os.chown(secret, user, -1)
    kernel = os.path.join(libraries, f"{name}.so" if name.startswith("load_") else f"hostile.so:{name}")
    command = [attest, "audit", "--kernel", kernel, "--contract", "f32", "--quick", "--draws", "0", "--seed", "1",
               "--only", "worked-examples", "--findings", "", "--json", report]
    if not namespaces:
        command.insert(0, libraries / "without_namespaces")
    terminal = watched_terminal(user)
    environment = dict(os.environ, HOSTILE_RUN=run, HOSTILE_TERMINAL=terminal.name, HOSTILE_FOLDER=folder,
                       HOSTILE_NAME=f"h{os.getpid()}", HOME=folder)
    as_user = {} if user == os.geteuid() else {"user": user, "group": user, "extra_groups": []}
    begin = time.monotonic()
    try:
        ran = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                             timeout=2 * MOST_SECONDS, **as_user)
    except subprocess.TimeoutExpired:
        terminal.was_changed()
        for process in alive(run):
            os.kill(int(process), signal.SIGKILL)
        return [f"{name} as user {user}{'' if namespaces else ' without namespaces'}: did not end"], 2 * MOST_SECONDS
    seconds = time.monotonic() - begin
    out, err = ran.stdout.decode(errors="surrogateescape"), ran.stderr.decode(errors="surrogateescape")
    faults = []
    if ran.returncode not in statuses:
        faults.append(f"exit status {ran.returncode}, expected {sorted(statuses)}")
    if seconds > MOST_SECONDS:
        faults.append(f"took {seconds:.0f} s")
    if terminal.was_changed():
        faults.append("a terminal was changed or written to")
    if oct(os.stat(secret).st_mode & 0o777) != "0o644":
        faults.append("the mode of a file was changed")
    if left := alive(run):
        faults.append(f"processes are left: {left}")
    if unexpected := set(os.listdir(folder)) - {"report.json", "secret"}:
        faults.append(f"files are left: {sorted(unexpected)}")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|[\udc80-\udcff]", out + err):
        faults.append("control characters, or no UTF-8, in its output")
    text = err
    if ran.returncode != ERROR:
        try:
            with open(report) as file:
                said = json.load(file)
            verdict = {RIGHT: "certified", WRONG: "refuted", UNDECIDED: "undecided"}[ran.returncode]
            text = json.dumps(said["findings"])
            if said["verdict"] != verdict or out.count("\nCERTIFIED ") != (verdict == "certified"):
                faults.append(f"exit status {ran.returncode}, the report says {said['verdict']}")
        except (OSError, ValueError, KeyError) as why:
            faults.append(f"no report: {why!r}")
    if words not in text and ran.returncode in {WRONG, ERROR}:
        faults.append(f"'{words}' is not in: {text[:400]}")
    if faults and (out or err):
        faults.append((out[-300:] + err[-300:]).strip())
    return [f"{name} as user {user}{'' if namespaces else ' without namespaces'}: {fault}" for fault in faults], seconds


def missing_protections(user, namespaces, home):
    """Those that the system forbids here, as the report on a harmless kernel names them."""
    folder = os.path.join(home, f"asked-{user}-{namespaces}")
    os.mkdir(folder)
    os.chmod(folder, 0o777)
    attest, libraries = FILES[user]
    command = [attest, "audit", "--kernel", libraries / "load_prints.so", "--quick", "--draws", "0", "--seed", "1",
               "--only", "worked-examples", "--findings", "", "--json", "-"]
    if not namespaces:
        command.insert(0, libraries / "without_namespaces")
    as_user = {} if user == os.geteuid() else {"user": user, "group": user, "extra_groups": []}
    ran = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, **as_user)
    return json.loads(ran.stdout)["evidence"]["missing_protections"]


def is_safe(user, namespaces, home):
    """Some of these kernels signal every process that they may: not outside, with the user of this test."""
    if not FILES[user]:
        print(f"left out: user {user} can enter neither the build nor a folder in {tempfile.gettempdir()}")
        return False
    missing = missing_protections(user, namespaces, home)
    safe = user == 0 or not any("signals" in protection for protection in missing)
    if not safe:
        print(f"left out: user {user}, {'with' if namespaces else 'without'} namespaces: the system forbids {missing}")
    return safe


def main():
    every = CHOSEN != ["some"]
    named = [name for name in CHOSEN if name not in ("some", "all")]
    names = named or (list(KERNELS) if every else [name for name in KERNELS if name not in ALONE][::5])
    terminal = watched_terminal(os.geteuid())
    terminal.was_changed()
    if terminal.ours is None:
        print("left out: whether a kernel reaches a terminal, since this system opens none (there is no /dev/pts)")
    faults, slowest = [], []
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as copies:
        os.chmod(home, 0o777)
        os.chmod(copies, 0o755)
        FILES.update((user, within_reach(user, *BUILD, pathlib.Path(copies) / "build")) for user in USERS)
        surroundings = [where for where in SURROUNDINGS if is_safe(*where, home)]
        if not surroundings:
            return 77
        plan = [(name, *where) for number, name in enumerate(names) for at, where in enumerate(surroundings)
                if every or at == number % len(surroundings)]
        before, segments_before = places(home), segments()
        alone = [each for each in plan if each[0] in ALONE]
        for at_once, part in ((6, [each for each in plan if each not in alone]), (1, alone)):
            with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
                running = {pool.submit(tried, *each, home): each for each in part}
                for done in concurrent.futures.as_completed(running):
                    found, seconds = done.result()
                    faults += found
                    slowest.append((round(seconds, 1), *running[done]))
        for folder, names_before in before.items():
            left = {name for name in set(os.listdir(folder)) - names_before if "hostile" in name and folder != home}
            if left:
                faults.append(f"left in {folder}: {sorted(left)}")
        if segments() > segments_before:
            faults.append(f"{segments() - segments_before} segments of shared memory are left")
    print(f"{len(plan)} audits of {len(names)} hostile kernels; the slowest: {sorted(slowest, reverse=True)[:5]}")
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())

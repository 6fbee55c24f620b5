"""The manual page and the completions name every command and every option of the program's own help; groff and the
shells that are installed read them without a warning; and bash completes with them. The dictionary of the fuzz target
of the command line names them too, and every contract.

usage: descriptions.py ATTEST
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
attest = sys.argv[1]
wrong = []


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, f"{command}: status {done.returncode}, {done.stderr}"
    return done.stdout


def expect(what, found, wanted):
    if found != wanted:
        wrong.append(f"{what}: {found}, expected {wanted}")


def options(text):
    """The names with dashes of a page of help."""
    found = [name for line in re.findall(r"^  (-[^ ]*)", text, re.M) for name in line.split(",")]
    return sorted(set(found))


program_help = run(attest, "--help")
commands = re.findall(r"^  ([a-z]+) ", program_help.split("Subcommands:")[1], re.M)
assert len(commands) >= 9, commands
helps = {command: run(attest, command, "--help") for command in commands}
assert "--kernel" in options(helps["audit"]) and len(options(helps["audit"])) > 15

page, bash, zsh, fish = (run(attest, "describe", form) for form in ("man", "bash", "zsh", "fish"))
for command in commands:
    section = re.search(rf"^\.SS {command}$(.*?)(?=^\.S[SH] )", page, re.M | re.S)
    named = re.findall(r"\\fB((?:\\-)+[^\\]+(?:\\-[^\\]+)*)\\fR", section.group(1)) if section else []
    expect(f"man {command}", sorted(name.replace("\\-", "-") for name in named), options(helps[command]))
    of_fish = "\n".join(line for line in fish.splitlines() if f"_from {command}'" in line)
    expect(f"fish {command}", sorted("--" + name for name in re.findall(r" -l ([a-z_-]+)", of_fish)),
           [name for name in options(helps[command]) if name.startswith("--")])
    of_zsh = re.search(rf"^    {command}\) _arguments(.*?) ;;$", zsh, re.M | re.S)
    expect(f"zsh {command}", sorted(re.findall(r"^      '\*?(-[a-z_-]+)\[", of_zsh.group(1) if of_zsh else "", re.M)),
           options(helps[command]))

dictionary = set(re.findall(r'"([^"\\]+)(?:\\x0a)?"',
                            (ROOT / "fuzz" / "targets" / "cli.dict").read_text(encoding="utf-8")))
words = {*commands, *(name for text in helps.values() for name in options(text) if name.startswith("--"))}
words.update(row["name"] for row in json.loads(run(attest, "list", "contracts", "--json")))
expect("words that fuzz/targets/cli.dict lacks", sorted(words - dictionary), [])

with tempfile.TemporaryDirectory() as folder:
    script = pathlib.Path(folder, "attest.bash")
    script.write_text(bash, encoding="utf-8")
    pathlib.Path(folder, "report of us.json").touch()

    def complete(*words):
        """What bash offers for the last of the words."""
        quoted = " ".join(f"'{word}'" for word in words)
        return run("bash", "-c", f"""cd '{folder}'; . ./attest.bash
            [ "$(complete -p attest)" = "complete -o filenames -F _attest attest" ] || exit 1
            COMP_WORDS=({quoted}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _attest attest '' ''
            printf '%s\\n' "${{COMPREPLY[@]}}" """).splitlines()

    expect("bash, commands", sorted(complete("attest", "")), sorted(commands + options(program_help)))
    expect("bash, ver", complete("attest", "ver"), ["verify"])
    for command in commands:
        expect(f"bash {command}", sorted(complete("attest", command, "-")), options(helps[command]))
    expect("bash, topics", sorted(complete("attest", "list", "c")), ["cases", "checks", "classes", "contracts"])
    expect("bash, contracts", complete("attest", "audit", "--contract", "f32-or"), ["f32-ordered"])
    expect("bash, contracts after =", complete("attest", "audit", "--contract", "=", "f32-or"), ["f32-ordered"])
    expect("bash, roundings", complete("attest", "solve", "--round", "bf"), ["bf16"])
    expect("bash, files", complete("attest", "merge", "rep"), ["report of us.json"])
    expect("bash, no files for flags", complete("attest", "audit", "--quic"), ["--quick"])
    for shell, text in (("zsh", zsh), ("fish", fish)):
        if shutil.which(shell):
            run(shell, "-n", text=text) if shell == "fish" else run(shell, "-n", "/dev/stdin", text=text)
        else:
            print(f"no {shell} here: its completions are only read as text")
    if shutil.which("groff"):
        shown = run("groff", "-man", "-Tutf8", "-ww", "-P-cbou", text=page)
        for words in ("attest - attention kernels", "--require-concurrent-calls",
                      "attest merge [OPTION]... reports..."):
            if words not in shown:
                wrong.append(f"groff: '{words}' is not on the page")
    else:
        print("no groff here: the page is only read as text")

print("\n".join(wrong) if wrong else f"{len(commands)} commands are described with all their options")
sys.exit(bool(wrong))

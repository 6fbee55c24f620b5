"""The numbers of bound_from_text.py, kept: the text is evaluated once, then many edited programs are held against it.

    bound_limits.py keep FILE BOUND_ROWS ROWS SEED
    bound_limits.py ask FILE BOUND_ROWS ROWS SEED     the first unsound number and 3; 0 where there is none

Unsound is a number below the text, or a row that the text does not judge. The same rows are drawn for ROWS and SEED
whatever reference/bound/ says of them.
"""
import pickle
import subprocess
import sys

from bound_from_text import compare, comparison, expectation, rows_of


def unsound(fault):
    return fault[2] in ("below", "said where the text is silent", "as True by the code")


def main():
    what, file, *program = sys.argv[1:]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as running:
        if what == "keep":
            with open(file, "wb") as kept:
                for at, row in enumerate(rows_of(running.stdout)):
                    expected = expectation(row, at)
                    expected.stated = None                     # what is dull is no bound
                    pickle.dump(expected, kept)
            return running.wait()
        seen = comparison()
        with open(file, "rb") as kept:
            for row in rows_of(running.stdout):
                compare(row, pickle.load(kept), seen)
                for fault in filter(unsound, seen.faults):
                    running.kill()
                    print(*fault[:3], *(f"{float(x):.6g}" for x in fault[3:5] if fault[2] == "below"))
                    return 3
        return running.wait()


if __name__ == "__main__":
    sys.exit(main())

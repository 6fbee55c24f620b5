# One encoder-decoder trained twice, with additive and with scaled dot-product attention: time, BLEU, weights.
"""translate.py LIBRARY ATTEST [--out DIR]: the kernel's library and the program, as ./attest examples gives them.

Source: Day 11, exercise E11.3. The documents do not contain the model and the data that it refers to (Day 10), so the
model is the one of examples/support/translator.py and the data are examples/support/toy_language.py. Needs torch,
numpy, safetensors, sacrebleu; with --out also matplotlib. Exits with 77 where one of them is missing.
"""
import argparse
import ctypes
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
missing = [name for name in ("torch", "numpy", "safetensors", "sacrebleu") if importlib.util.find_spec(name) is None]
if missing:
    print(f"skipped: this Python has no {', '.join(missing)}. `./attest examples translate` installs them in build/")
    sys.exit(77)
import numpy as np
import sacrebleu
import torch
from safetensors.numpy import save_file

import translate_figures as drawing
from attest_call import AttestCall
from toy_language import GRAMMAR, sentences
from translator import BEGIN, END, PAD, AdditiveAttention, DotAttention, Translator

NAMES = ("additive", "scaled dot")
SIZE, BATCH, EPOCHS, SEED = 96, 64, 16, 1
SENTENCES = dict(train=1500, develop=200, test=500)


class Checks:
    """Statements about the numbers above them. One that does not hold makes the example fail."""

    def __init__(self):
        self.made = self.failed = 0

    def __call__(self, holds, statement):
        self.made += 1
        self.failed += not holds
        print(f"  {'holds' if holds else 'FAILS'} {statement}")


class Words:
    """Words and their numbers, from 3 on: PAD, BEGIN and END are before them."""

    def __init__(self, sentences):
        self.words = ["", "", ""] + sorted({word for sentence in sentences for word in sentence})
        self.number = {word: n for n, word in enumerate(self.words) if word}

    def padded(self, sentences, begin_and_end):
        rows = [[BEGIN] * begin_and_end + [self.number[w] for w in words] + [END] * begin_and_end
                for words in sentences]
        longest = max(map(len, rows))
        return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])

    def text(self, numbers):
        numbers = numbers.tolist()
        return " ".join(self.words[n] for n in numbers[:numbers.index(END) if END in numbers else None])


class Trained:
    """One model in training."""

    def __init__(self, attention, source_words, target_words):
        self.model = Translator(len(source_words.words), len(target_words.words), attention, SIZE, SEED)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)
        self.losses, self.seconds, self.bleu = [], [], []

    def epoch(self, source, target, order):
        begin, total = time.perf_counter(), 0.0
        for batch in order.split(BATCH):
            src, tgt = source[batch], target[batch]
            src, tgt = src[:, :int((src != PAD).sum(1).max())], tgt[:, :int((tgt != PAD).sum(1).max())]
            loss = torch.nn.functional.cross_entropy(self.model(src, tgt).flatten(0, 1), tgt[:, 1:].flatten(),
                                                     ignore_index=PAD)
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            total += float(loss.detach()) * len(batch)
        self.seconds.append(time.perf_counter() - begin)
        self.losses.append(total / len(order))


class ThroughAttest:
    """Scaled dot-product attention by the fast kernel of attest, which keeps the calls that it answered."""

    def __init__(self, library, attention):
        self.library, self.attention, self.recorded = library, attention, {}

    def __call__(self, state, keys, values, mask):
        heads = dict(q=self.attention.query(state)[:, None, None], k=keys[:, None], v=values[:, None])
        heads = {name: np.ascontiguousarray(x.numpy()) for name, x in heads.items()}
        heads["mask"] = np.ascontiguousarray(mask.numpy()[:, None, None].astype(np.uint8))
        call = AttestCall(self.library, **heads, want_weights=True)
        heads["o"], heads["weights"] = call.run(), call.weights
        for name, array in heads.items():
            self.recorded[f"step-{len(self.recorded) // 6 + 1:02}.{name}"] = array
        return torch.from_numpy(call.out[:, 0, 0]), torch.from_numpy(call.weights[:, 0, 0])


def bleu(found, wanted):
    return sacrebleu.corpus_bleu(found, [wanted], tokenize="none", force=True).score


def judged(attest, recorded, check):
    """`attest verify` of the recorded calls."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "steps.safetensors")
        save_file(recorded, path)
        ran = subprocess.run([attest, "verify", path, "--quiet", "--findings", ""], capture_output=True, text=True,
                             check=False)
    print(f"    {ran.stdout}", end="")
    check(ran.returncode == 0, "attest verify certifies every output and weight that the kernel gave")


class Compared:
    """Of the weights for the words of all translations: `right[name][kind]`, how often the largest lies on the word it
    comes from, of the kinds content, grammar (articles and the ending of the plural) and all; `same`, how often it lies
    on the same word with both models; `moved`, the mean share of weight that would have to move to make the two equal;
    `chance`, the share of right by chance."""

    def __init__(self, weights, test):
        self.words = dict(all=0, content=0, grammar=0)
        self.right = {name: dict(self.words) for name in NAMES}
        same = moved = chance = 0.0
        for at, (source, target, origin) in enumerate(test):
            rows = {name: weights[name][at, :len(origin), :len(source)] for name in NAMES}
            largest = {name: rows[name].argmax(1).tolist() for name in NAMES}
            for place, word in enumerate(target):
                for kind in ("all", "grammar" if word in GRAMMAR else "content"):
                    self.words[kind] += 1
                    for name in NAMES:
                        self.right[name][kind] += largest[name][place] == origin[place]
            same += sum(a == b for a, b in zip(*largest.values()))
            moved += float((rows[NAMES[0]] - rows[NAMES[1]]).abs().sum()) / 2
            chance += len(target) / len(source)
        self.same, self.moved, self.chance = (x / self.words["all"] for x in (same, moved, chance))
        self.right = {name: {kind: of[kind] / self.words[kind] for kind in of} for name, of in self.right.items()}


def train(data, source_words, target_words, check):
    source = source_words.padded([s for s, _, _ in data["train"]], False)
    target = target_words.padded([t for _, t, _ in data["train"]], True)
    develop = source_words.padded([s for s, _, _ in data["develop"]], False)
    wanted = [" ".join(t) for _, t, _ in data["develop"]]
    both = {name: Trained(kind, source_words, target_words)
            for name, kind in zip(NAMES, (AdditiveAttention, DotAttention))}
    first, second = (both[name].model.state_dict() for name in NAMES)
    check(all(torch.equal(first[key], second[key]) for key in first if key in second
              and not key.startswith("attention")),
          "all but the attention begins with the same numbers in both")
    order = torch.Generator().manual_seed(SEED)
    print("  epoch   loss additive   dot      BLEU additive   dot      seconds additive   dot")
    for epoch in range(EPOCHS):
        shuffled = torch.randperm(len(source), generator=order)
        for name in NAMES[::1 if epoch % 2 == 0 else -1]:  # in turn: what else the machine does is shared
            both[name].epoch(source, target, shuffled)
            words, _ = both[name].model.translate(develop, target.shape[1])
            both[name].bleu.append(bleu([target_words.text(row) for row in words], wanted))
        a, d = (both[name] for name in NAMES)
        print(f"  {epoch + 1:5} {a.losses[-1]:15.4f} {d.losses[-1]:7.4f} {a.bleu[-1]:16.1f} {d.bleu[-1]:7.1f}"
              f" {a.seconds[-1]:17.2f} {d.seconds[-1]:7.2f}", flush=True)
    for name in NAMES:
        check(both[name].losses[-1] < both[name].losses[0] / 20,
              f"{name}: the loss falls below a twentieth of that of the first epoch")
    return both


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library"), parser.add_argument("attest")
    parser.add_argument("--out", metavar="DIR", help="write tables (CSV) and figures (SVG) into this folder")
    asked = parser.parse_args()
    check = Checks()
    torch.set_num_threads(1)  # the matrices are small: threads would wait for each other

    print("1. The data: sentences of a grammar and their translation by rule")
    drawn = sentences(sum(SENTENCES.values()), SEED)
    data, at = {}, 0
    for name, count in SENTENCES.items():
        data[name], at = drawn[at:at + count], at + count
    source_words, target_words = Words([s for s, _, _ in drawn]), Words([t for _, t, _ in drawn])
    print(f"  {len(drawn)} different sentences of {min(len(s) for s, _, _ in drawn)} to "
          f"{max(len(s) for s, _, _ in drawn)} words;"
          f" {len(source_words.number)} words and {len(target_words.number)} of the other language. The first:")
    print(f"    {' '.join(drawn[0][0])}\n    {' '.join(drawn[0][1])}")
    check(all(len(t) == len(o) and max(o) < len(s) for s, t, o in drawn),
          "each translated word comes from a word of the source")

    print(f"\n2. The same model with two attentions, {EPOCHS} epochs over {SENTENCES['train']} sentences")
    both = train(data, source_words, target_words, check)
    seconds = {name: sorted(both[name].seconds)[EPOCHS // 2] for name in NAMES}
    print(f"  an epoch: additive {seconds['additive']:.2f} s, scaled dot {seconds['scaled dot']:.2f} s (medians);"
          f" {seconds['additive'] / seconds['scaled dot']:.2f} times as long")

    print(f"\n3. {SENTENCES['test']} sentences that neither has seen; the dot products by attest's kernel")
    source = source_words.padded([s for s, _, _ in data["test"]], False)
    target = target_words.padded([t for _, t, _ in data["test"]], True)
    wanted = [" ".join(t) for _, t, _ in data["test"]]
    kernel = ThroughAttest(ctypes.CDLL(asked.library), both["scaled dot"].model.attention)
    found = {}
    for name, attend in zip(NAMES, (None, kernel)):
        words, _ = both[name].model.translate(source, target.shape[1], attend)
        found[name] = [target_words.text(row) for row in words]
    scores = {name: bleu(found[name], wanted) for name in NAMES}
    exact = {name: sum(a == b for a, b in zip(found[name], wanted)) for name in NAMES}
    for name in NAMES:
        print(f"  {name}: BLEU {scores[name]:.2f}, {exact[name]} of {len(wanted)} sentences without a fault")
        check(scores[name] >= 90, f"{name}: it has learned the language (BLEU at least 90)")
    by_torch = [target_words.text(row) for row in both["scaled dot"].model.translate(source, target.shape[1])[0]]
    differ = sum(a != b for a, b in zip(by_torch, found["scaled dot"]))
    print(f"  with PyTorch's own dot products, {differ} of {len(wanted)} translations differ")
    check(bleu(wanted, wanted) > 99.999, "BLEU of the right translations is 100")
    judged(asked.attest, kernel.recorded, check)

    print("\n4. Where they look, when each is given the right words so far")
    with torch.no_grad():
        weights = {name: both[name].model.weights_of(source, target) for name in NAMES}
    seen = Compared(weights, data["test"])
    print("  The largest weight is on the word that the translated word comes from:")
    for name, right in seen.right.items():
        print(f"  {name}: for {100 * right['content']:.1f} % of {seen.words['content']} nouns, verbs, adjectives and "
              "prepositions,"
              f" {100 * right['grammar']:.1f} % of {seen.words['grammar']} articles and endings")
        check(right["all"] > 2 * seen.chance,
              f"{100 * right['all']:.1f} % of all, more than twice of {100 * seen.chance:.1f} %, the share"
              " by chance")
    print(f"  Both look at the same word most for {100 * seen.same:.1f} %; to make their weights equal, "
          f"{100 * seen.moved:.1f} % of weight"
          " would have to move")
    sums = max(float((w[at, :len(t), :len(s)].sum(1) - 1).abs().max()) for w in weights.values()
               for at, (s, t, _) in enumerate(data["test"]))
    check(sums < 1e-5, f"every row of weights sums to 1 (worst: {sums:.1e} off), and none is on the padding")

    if asked.out:
        os.makedirs(asked.out, exist_ok=True)
        drawing.tables(asked.out, both)
        drawing.training(asked.out, both, seconds)
        at = next(at for at, (s, _, _) in enumerate(data["test"]) if len(s) in range(9, 12))
        drawing.heatmaps(asked.out, data["test"][at], {name: weights[name][at] for name in NAMES}, seen.right)
        print(f"\nTables and figures are in {asked.out}.")
    print(f"\n{check.made - check.failed} of {check.made} checks hold.")
    return 1 if check.failed else 0


sys.exit(main())

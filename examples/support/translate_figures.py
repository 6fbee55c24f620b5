"""The tables and figures of examples/translate.py."""
import csv
import os

COLOURS = {"additive": "#0072B2", "scaled dot": "#D55E00"}  # Okabe and Ito: they differ for colour-blind readers
MARKS = {"additive": "o", "scaled dot": "s"}


def pyplot():
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "attest",
                                "axes.spines.top": False,
                                "axes.spines.right": False, "axes.grid": True, "grid.color": "#dddddd",
                                "font.family": "sans-serif"})
    from matplotlib import pyplot as made
    return made


def save(figure, out, name):
    figure.savefig(os.path.join(out, name + ".svg"), metadata={"Date": None})


def tables(out, both):
    with open(os.path.join(out, "translate.csv"), "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["epoch"] + [f"{name} {what}" for name in both for what in ("loss", "BLEU", "seconds")])
        epochs = zip(*(zip(one.losses, one.bleu, one.seconds) for one in both.values()))
        for epoch, rows in enumerate(epochs, 1):
            table.writerow([epoch] + [number for row in rows for number in row])


def training(out, both, seconds):
    """BLEU against epochs and against the time spent in them."""
    figure, (left, right) = pyplot().subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
    for name, one in both.items():
        spent = [sum(one.seconds[:n + 1]) for n in range(len(one.seconds))]
        for axes, x in ((left, range(1, len(one.bleu) + 1)), (right, spent)):
            axes.plot(x, one.bleu, color=COLOURS[name], marker=MARKS[name], markersize=4, label=name)
    left.set(xlabel="epoch", ylabel="BLEU of 200 sentences", ylim=(0, 102))
    right.set_xlabel("time in training (s)")
    left.legend(frameon=False, loc="lower right")
    ratio = seconds["additive"] / seconds["scaled dot"]
    last = {name: one.bleu[-1] for name, one in both.items()}
    figure.suptitle(f"Both learn the language (BLEU {last['additive']:.0f} and {last['scaled dot']:.0f}); "
                    f"an epoch with additive attention takes {ratio:.2f} times as long")
    save(figure, out, "translate_training")


def heatmaps(out, sentence, weights, right):
    """The weights of one sentence by both models, and the word that each translated word comes from."""
    source, target, origin = sentence
    figure, axes = pyplot().subplots(1, 2, figsize=(9, 4.6), layout="constrained", sharey=True)
    for panel, (name, rows) in zip(axes, weights.items()):
        shown = panel.imshow(rows[:len(target), :len(source)], cmap="Greys", vmin=0, vmax=1, aspect="auto")
        panel.plot(origin, range(len(origin)), "s", markersize=13, markerfacecolor="none",
                   markeredgecolor=COLOURS["scaled dot"], linestyle="none")
        panel.set_title(f"{name}: right for {100 * right[name]['content']:.0f} % of content words,\n"
                        f"{100 * right[name]['grammar']:.0f} % of articles and endings", fontsize=9)
        panel.set_xlabel("key: word of the source")
        panel.set_xticks(range(len(source)), source, rotation=45, ha="right")
        panel.set_yticks(range(len(target)), target)
        panel.grid(False)
    axes[0].set_ylabel("query: word to be written")
    figure.colorbar(shown, ax=axes, label="weight", shrink=0.8)
    figure.suptitle("Both look at the word to be translated (square), but seldom for articles and endings")
    save(figure, out, "translate_heatmaps")

"""reference/bound/ beside docs/bound.md: the rows of bound_rows.cpp, evaluated a second time from the text.

    bound_from_text.py BOUND_ROWS ROWS SEED [known] [ROW]

bound_text.py, bound_text_results.py and bound_text_sink.py are that second evaluation, in three forms; the first says
what each contains. Every number of the code must be at least the number of the form `stated`. It must be at most 1 +
4*(slack - 1) times the number of the form `widened`, where slack is 1 + (16n + 8d + 64)*2^-53; in every fifth row
`stated` must be at least `text`. What is not judged by the text must not be judged by the code, and the other way
round; the same for what is dull. `known`: of models that declare their weights; ROW looks at that row alone.
"""
import collections
import subprocess
import sys
from decimal import Decimal

from bound_text_known import exact_facts, known
from bound_text_numbers import INF, LARGEST, TWO, ZERO
from bound_text_results import EITHER, THEOREM
from bound_text_sink import with_sink

WORDS = {"rescales", "height", "merge", "large_scores", "order", "unchanged_rescale", "p_normalised", "accumulator",
         "returned_weights", "normalise", "folded_overflow", "weight_reference", "sink_form", "zero_products"}
COUNTS = {"k_qk_base", "k_qk_per_d", "fold_q", "fold_k", "k_add", "k_x", "c_m", "p_shared", "block", "k_pre",
          "splits", "k_f", "flushes", "k_lse", "bias_first", "least_block", "merges", "height_divisor", "height_base",
          "promote", "merge_levels", "parts_are_keys", "k_block", "divided_block", "k_t", "k_drop", "k_sink",
          "block_most", "l_height_divisor", "l_height_base", "block_fma", "alignment_bits"}
NUMBERS = {"format.u", "format.omega", "format.far", "format.omega_w", "format.h0_limit", "u_qk", "g_b", "e_c", "a_t",
           "u_s", "omega_s", "s_limit", "mask_limit", "eps", "tau", "x0", "u_p", "omega_p", "p_limit", "u_pv", "u_out",
           "omega_out", "eps_log", "out_limit", "u_t", "omega_t", "sink_limit", "u_drop", "omega_drop", "u_rate",
           "u_sink", "omega_sink", "u_state", "omega_state", "state_limit", "eps_rescale", "omega_log", "u_v"}
UNREAD = {"format.largest_x0"}                                 # by the bound itself: section 12

REFERENCES = ("rising", "falling", "whole_row", "own_block")
KEY = {"xl": "x_lower", "xu": "x_upper", "s": "score_upper", "Q": "product_upper", "norm": "key_norm", "bias": "bias",
       "wl": "weight_lower", "wu": "weight_upper"}
# Terms of the code and of the text, and whether the code's may be above (+1) or below (-1).
TERMS = {"max_above": ("max_above", 1), "max_below": ("max_below", -1), "largest_E": ("largest_E", 1), "R": ("R", 1),
         "least_sum": ("least_sum", -1), "omega_w": ("omega_W", 1), "n_far": ("n_far", 1), "D_lower": ("D", -1),
         "one_minus_D": ("one_minus_D", 1), "height": ("h", 1), "height_O": ("h_O", 1), "gamma_L": ("gamma_L", 1),
         "nodes_L": ("M_L", 1), "gamma_F": ("gamma_F", 1), "gamma_h": ("gamma_h", 1), "gamma_O": ("gamma_O", 1),
         "eta_extra": ("eta_plus", 1), "log_hull": ("log_hull", 1), "ell": ("ell", 1), "far_limit": ("far_P", -1)}


def number(word):
    return Decimal(float.fromhex(word))


def model_of(words):
    model = {}
    for name, value in words.items():
        if name in WORDS:
            model[name] = value
        elif name in COUNTS:
            model[name] = int(value)
        elif name in NUMBERS:
            model[name] = number(value)
        elif name not in UNREAD:
            raise ValueError(f"{name} is a field of the model that this evaluation does not know")
    missing = (WORDS | COUNTS | NUMBERS) - set(model)
    if missing:
        raise ValueError(f"fields of the model that were not printed: {missing}")
    return model


def facts_of(words):
    return {name: int(word) if name in ("d", "m", "nonzero", "finite_products", "has_sink", "drops") else number(word)
            for name, word in words.items()}


class key_of:
    """The facts of one key; an evaluation adds its quantities."""

    def __init__(self, words):
        self.index = int(words["index"])
        for field, name in KEY.items():
            setattr(self, field, number(words[name]))


class printed_row:
    def __init__(self, lines):
        self.keys, self.columns, self.keys_alone, self.gap = [], [], [], None
        for line in lines:
            kind, *rest = line.split()
            if kind == "row":
                self.name = line
            elif kind == "values":
                self.columns[-1]["values"] = [number(word) for word in rest]
            elif kind == "weights":
                self.weights = [word.split(":") for word in rest]
            elif kind == "hull":
                self.hull = [word.split(":") for word in rest]
            else:
                words = dict(word.split("=") for word in rest)
                if kind == "key":
                    self.keys.append(words)
                elif kind == "alone_key":
                    self.keys_alone.append(words)
                elif kind == "column":
                    self.columns.append(words)
                else:
                    setattr(self, kind, words)
        self.model_words, self.model = self.model, model_of(self.model)
        self.facts = facts_of(self.facts)

    def evaluated(self, form):
        alone = None
        if self.gap:
            alone = (facts_of(self.alone), [key_of(words) for words in self.keys_alone],
                     number(self.gap["lower"]), number(self.gap["upper"]))
        return with_sink(self.model, self.facts, [key_of(words) for words in self.keys], form, alone)


class comparison:
    def __init__(self):
        self.counts = collections.Counter()
        self.used = collections.defaultdict(Decimal)           # of the four times (slack - 1) above the widened form
        self.faults = []

    def between(self, row, place, code, text, widened, slack, side=1, largest=ZERO):
        """stated <= code <= widened*(1 + 4*(slack - 1)) where side is +1; the other way round where it is -1.

        Terms below the smallest double are lost: 2^-1066 are allowed below, 2^-1000 above. A warning level is no bound,
        its square root is not directed, and squares of weights underflow sooner, beside the square of the largest
        value.
        """
        name = place.split("[")[0]
        self.counts[name] += 1
        if side < 0:
            code, text, widened = -code, -text, -widened
        unit, below, above = abs(widened) * (slack - 1) if abs(widened) < INF else ZERO, TWO**-1066, TWO**-1000
        if abs(text) < INF:
            below += abs(text) * Decimal("1e-45")              # of 50 digits
        if name == "warning":
            below, above = below + 4 * unit + TWO**-530 * max(1, largest), TWO**-500
        if code < text - below:
            self.faults.append((row, place, "below", abs(code), abs(text), abs(widened)))
        elif widened <= LARGEST and code > widened + 4 * unit + above:
            self.faults.append((row, place, "above", abs(code), abs(text), abs(widened)))
        elif widened <= LARGEST and unit > above:
            self.used[name] = max(self.used[name], (code - widened) / unit)

    def verdict(self, row, place, size, code, text, widened):
        """The same verdict, where the two forms agree and no entry is as small as the next."""
        self.counts[place.split("[")[0] + " by"] += 1
        if text == widened != EITHER and size <= LARGEST and code != text:
            self.faults.append((row, place, "judged by", code, text, widened))


def printed(row):
    """Every number that the code returned for a row, and every verdict."""
    sizes = {term: number(row.terms[term]) for term in TERMS}
    verdicts = {"lse": int(row.lse["by"])}
    for at, column in enumerate(row.columns):
        for name in ("size", "unrounded", "warning"):
            sizes[f"{name}[{at}]"] = number(column[name])
        for name in ("keys_above", "keys_below"):
            if number(column[name]):
                sizes[f"{name}[{at}]"] = number(column[name])
        verdicts[f"size[{at}]"] = int(column["by"])
    for j, (size, by, _) in enumerate(row.weights):
        sizes[f"weight[{j}]"], verdicts[f"weight[{j}]"] = number(size), int(by)
    sizes |= {"row_sum": number(row.row_sum["size"]), "lse": number(row.lse["size"])}
    sizes |= {f"hull[{largest}]": number(margin) for largest, margin in row.hull}
    return sizes, verdicts


def computed(form, row, widened=None):
    """The same of one form. `widened` are the verdicts of that form: it may find another entry the smaller one."""
    sizes = {term: Decimal(getattr(form, attribute)) for term, (attribute, _) in TERMS.items() if not form.only}
    verdicts = {"lse": form.lse_by}
    for at, column in enumerate(row.columns):
        *found, by = form.output(column["values"], number(column["mid"]), number(column["radius"]))
        sizes |= {f"{name}[{at}]": size for name, size in zip(("size", "unrounded", "warning"), found)}
        verdicts[f"size[{at}]"] = by
        if form.asked and form.reach:
            sizes |= {f"{name}[{at}]": size for name, size in zip(("keys_above", "keys_below"), form.reach)}
    total = ZERO
    for j in range(len(row.weights)):
        place = f"weight[{j}]"
        sizes[place], verdicts[place] = form.weight(j, widened is None or widened[place] == THEOREM)
        if j < form.real:
            total += sizes[place]
    sizes |= {"row_sum": form.up(total), "lse": form.lse}
    sizes |= {f"hull[{largest}]": form.hull(number(largest)) for largest, _ in row.hull}
    return sizes, verdicts


def compare_dull(row, seen, code, form):
    """Dull elements, of the bounds that the code returned."""
    found = {"lse": (row.lse["dull"], form.dull_size(Decimal(form.n).ln(), code["lse"]))}
    for at, column in enumerate(row.columns):
        beside_known = abs(number(column["known_center"]) - number(column["mid"])) + number(column["known_size"])
        dull = form.dull_output(column["values"], number(column["mid"]), number(column["radius"]),
                                min(code[f"size[{at}]"] / row.facts["kept_factor"], beside_known))
        found[f"size[{at}]"] = column["dull"], dull
    for j, (key, (_, _, dull)) in enumerate(zip(form.keys, row.weights)):
        found[f"weight[{j}]"] = dull, form.dull_size(max(key.wu, 1 - key.wu), code[f"weight[{j}]"])
    for place, (dull, text) in found.items():
        if code[place] < INF and text is not None:
            seen.counts["dull " + place.split("[")[0]] += text
            if int(dull) != text:
                seen.faults.append((row.name, place, "dull", int(dull), int(text), code[place]))


class expectation:
    """What the text says of row number `at`, whatever the code says: what is judged, and the numbers of the forms."""

    def __init__(self, row, at):
        stated, widened = row.evaluated("stated"), row.evaluated("widened")
        self.judged, self.judged_widened, self.stated = stated.judged, widened.judged, stated
        self.failures, self.slack = (stated.failures, widened.failures), widened.slack
        self.text, self.known = {}, None
        self.only, self.sink_beside_keys = stated.only, stated.has_sink and stated.real > 0
        if stated.judged and widened.judged:
            self.most, self.most_by = computed(widened, row)
            self.least, self.least_by = computed(stated, row, self.most_by)
            if at % 5 == 0:
                self.text, _ = computed(row.evaluated("text"), row, self.most_by)
            if row.model["weight_reference"] != "unknown":
                self.known = known_columns(row, at)


def compare(row, expected, seen):
    judged = row.terms["judged"] == "1"
    seen.counts["rows"] += 1
    if judged and not expected.judged or expected.judged_widened and not judged:
        seen.faults.append((row.name, "judged", f"as {judged} by the code", *map(str, expected.failures), ""))
    if not expected.judged:
        seen.counts["rows not judged"] += 1
        for failure in expected.failures[0]:
            seen.counts["not judged: " + failure] += 1
    if not (judged and expected.judged and expected.judged_widened):
        return
    code, code_by = printed(row)
    least, most = expected.least, expected.most
    seen.counts["sinks by " + row.model["sink_form"]] += expected.sink_beside_keys
    if expected.only:
        code = {place: size for place, size in code.items() if place not in TERMS}   # T1 may judge nothing
    for place, size in code.items():
        if place not in least:                                 # of the keys of a column that the text does not judge
            seen.faults.append((row.name, place, "said where the text is silent", size, INF, INF))
            continue
        side = TERMS[place][1] if place in TERMS else 1
        beyond = place.startswith(("unrounded", "warning",
                                   "keys_")) and most["size" + place[place.index("["):]] > LARGEST
        values = row.columns[int(place[8:-1])]["values"] if place.startswith("warning") else [ZERO]
        largest = max(map(abs, values)) * row.facts["kept_factor"]
        seen.between(row.name, place, size, least[place], INF if beyond else most[place], expected.slack, side, largest)
    for place, by in code_by.items():
        seen.verdict(row.name, place, most[place], by, expected.least_by[place], expected.most_by[place])
    if expected.stated:
        compare_dull(row, seen, code, expected.stated)
    if expected.known is not None:
        compare_known(row, expected, seen)
    for place, size in expected.text.items():
        side = TERMS[place][1] if place in TERMS else 1
        seen.counts["text below stated"] += 1
        if size * side > least[place] * side + abs(size) * Decimal("1e-40") and not place.startswith("warning"):
            fault = (row.name, place, "in the stated form below the text", least[place], size, most[place])
            seen.faults.append(fault)


def known_columns(row, at):
    """Of each column beside known weights: B* of the two forms of bound_text_known.py, o* of the exact one and how far
    the facts and midpoints leave it; whether a midpoint separates the forms. Empty where no exact scores are."""
    keys = [key_of(words) for words in row.keys]
    chosen = exact_facts(row.facts, keys, at + 1)
    if not chosen:
        return []
    exact = known(row.model, *chosen, "text")
    widened = known(row.model, row.facts, keys, "widened", exact)
    columns = []
    for values in (column["values"] for column in row.columns):
        least, most = exact.known_size(values), widened.known_size(values)
        center = exact.known_center(values)[0] if least < INF else ZERO
        open_to, near = ZERO, False
        if most < INF:
            open_to = widened.known_center(values)[1]
            near = any(key.known and (key.a, key.b) != (one.a, one.b) for key, one in zip(widened.keys, exact.keys))
        columns.append((least, most, center, open_to, near))
    return columns


def compare_known(row, expected, seen):
    """o* and B* of each column.

    What the code says must imply what the text says at the exact scores: code - |center - o*| >= B*. Above, it may be
    the widened form and four slacks; and o* may be as far from the o* of the exact scores as the facts and midpoints
    leave open. Where `exact` is silent so is the code, where `widened` says something so does the code.
    """
    seen.counts["known: rows"] += 1
    seen.counts["known: no exact scores"] += not expected.known
    for at_column, (column, numbers) in enumerate(zip(row.columns, expected.known)):
        least, most, true_center, open_to, near = numbers
        center, size = number(column["known_center"]), number(column["known_size"])
        place = f"known[{at_column}]"
        if size == INF:
            seen.counts["known: silent"] += 1
            if most <= LARGEST:
                seen.faults.append((row.name, place, "silent", size, least, most))
            continue
        seen.counts["known"] += 1
        seen.counts["known: " + row.model["weight_reference"]] += 1
        if least == INF:
            seen.faults.append((row.name, place, "said where the text is silent", size, least, most))
            continue
        away = abs(center - true_center)
        if size - away < least * (1 - Decimal("1e-40")) - TWO**-1066:
            seen.faults.append((row.name, place, "below", size, least, most, away))
        if most > LARGEST:
            continue
        if most * (expected.slack - 1) > TWO**-1000:
            seen.used["known"] = max(seen.used["known"], (size - most) / (most * (expected.slack - 1)))
        seen.counts["known: near a midpoint"] += near
        if size > most * (1 + 4 * (expected.slack - 1)) + TWO**-1000:
            seen.faults.append((row.name, place, "above", size, least, most, away))
        if away > open_to * expected.slack + TWO**-1000:
            seen.faults.append((row.name, place, "center", center, true_center, open_to))


def rows_of(stream):
    lines = []
    for line in stream:
        if line.startswith("end"):
            yield printed_row(lines)
            lines = []
        else:
            lines.append(line)


def main():
    program, count, seed, *kind = sys.argv[1:]
    only = int(kind.pop()) if kind and kind[-1] != "known" else None
    print(f"{count} rows, seed {seed}")
    seen = comparison()
    with subprocess.Popen([program, count, seed, *kind], stdout=subprocess.PIPE, text=True) as rows:
        for at, row in enumerate(rows_of(rows.stdout)):
            if only is None or at == only:
                compare(row, expectation(row, at), seen)
    for name, times_seen in sorted(seen.counts.items()):
        print(f"{name:24} {times_seen:8}", f"{seen.used[name]:8.3f} of 4 slacks" if name in seen.used else "")
    kinds = collections.Counter((place.split("[")[0], how) for _, place, how, *_ in seen.faults)
    for (place, how), times_seen in kinds.items():
        print(f"{times_seen} of {place} are {how}:")
        for row, where, side, *values in [fault for fault in seen.faults
                                          if fault[1].split("[")[0] == place and fault[2] == how][:4]:
            print("   ", row.strip(), where, *(f"{x:.17g}" if isinstance(x, (Decimal, int)) else x for x in values))
    unasked = [kind for kind in REFERENCES if not seen.counts["known: " + kind]]
    if only is None and int(count) >= 1000 and unasked:
        sys.exit(f"no row has known weights beside the reference {unasked[0]}")
    if rows.returncode or not seen.counts["rows"] or seen.faults:
        sys.exit(f"{len(seen.faults)} disagreements")


if __name__ == "__main__":
    main()

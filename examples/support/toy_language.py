"""A toy language: sentences that a grammar draws, their translation by rule, and the word that each word comes from.

The documents compare two attentions on a model and data of a "Day 10" that they do not contain, so the data are these.
What the language asks of attention: an adjective follows its noun, the article comes last, and the verb ends its
clause. Both the noun and the verb say whether the subject is one or many, though in the source only the noun does.
"""
import random

NOUNS = dict(cat="mik", dog="rof", bird="tiv", horse="haru", child="nelo", queen="resa", king="rego", bank="bor",
             river="flu", tree="arbo", house="domi", boat="navo", stone="petro", lamp="lumo")
VERBS = dict(see="vidu", find="trovi", follow="sekvi", help="helpi", hear="audu", carry="porti", love="amu",
             paint="kolori")
ADJECTIVES = dict(red="roxa", old="maljun", small="eta", tall="alta", quiet="silen", young="juno", green="verda",
                  bright="hela")
PREPOSITIONS = dict(near="apud", under="sub", behind="post")
ARTICLES = dict(the="la", a="un")
MANY = "-oj"  # after a noun in the plural; a verb ends in -n then

GRAMMAR = {MANY, *ARTICLES.values()}  # the translated words that name nothing


def noun_phrase(draw):
    """The source words, the translated words, the place in the phrase that each of these comes from, and whether it is
    many."""
    many = draw.random() < 0.4
    article = "the" if many else draw.choice(list(ARTICLES))
    noun = draw.choice(list(NOUNS))
    adjectives = draw.sample(list(ADJECTIVES), draw.choice((0, 1, 1, 2)))
    source = [article, *adjectives, noun + "s" * many]
    last = len(source) - 1
    target, origin = [NOUNS[noun]], [last]
    if many:
        target.append(MANY), origin.append(last)
    for place, adjective in enumerate(adjectives, 1):
        target.append(ADJECTIVES[adjective]), origin.append(place)
    return source, target + [ARTICLES[article]], origin + [0], many


def clause(draw):
    """Subject verb object [preposition phrase] becomes subject [phrase preposition] object verb."""
    subject, thing = noun_phrase(draw), noun_phrase(draw)
    verb = draw.choice(list(VERBS))
    source = subject[0] + [verb] + thing[0]
    after_verb = len(subject[0]) + 1
    middle, middle_origin = [], []
    if draw.random() < 0.4:
        place, preposition = noun_phrase(draw), draw.choice(list(PREPOSITIONS))
        at = len(source)
        source += [preposition] + place[0]
        middle, middle_origin = place[1] + [PREPOSITIONS[preposition]], [at + 1 + o for o in place[2]] + [at]
    target = subject[1] + middle + thing[1] + [VERBS[verb] + "n" * subject[3]]
    return source, target, subject[2] + middle_origin + [after_verb + o for o in thing[2]] + [len(subject[0])]


def sentence(draw):
    """(source words, translated words, for each translated word the index of the source word it comes from)"""
    source, target, origin = clause(draw)
    if draw.random() < 0.3:
        more = clause(draw)
        origin = origin + [len(source)] + [len(source) + 1 + o for o in more[2]]
        source, target = source + ["and"] + more[0], target + ["kaj"] + more[1]
    return source, target, origin


def sentences(count, seed):
    """`count` different sentences. The same seed gives the same ones everywhere."""
    draw, found = random.Random(seed), {}
    while len(found) < count:
        one = sentence(draw)
        found.setdefault(" ".join(one[0]), one)
    return list(found.values())

"""How like two texts are: chrF, for languages with and without blanks between words."""

from __future__ import annotations

from collections import Counter

ORDER = 6
BETA = 2.0


def chrf(text: str, reference: str, order: int = ORDER, beta: float = BETA) -> float | None:
    """The character n-gram F-score of `text` against `reference`, 0 to 1 (Popović 2015, "chrF: character
    n-gram F-score for automatic MT evaluation", WMT, 392-395; beta 2 as in Popović 2016): precision and
    recall of the n-grams of 1 to `order` characters, each the plain mean over the lengths that both texts
    have, put together as F with recall weighing beta times as much. Blanks are left out, case counts.

    None where one of the texts has no characters.
    """
    said, wanted = "".join(text.split()), "".join(reference.split())
    if not said or not wanted:
        return None
    lengths = range(1, min(order, len(said), len(wanted)) + 1)
    precision = recall = 0.0
    for n in lengths:
        ours, theirs = _grams(said, n), _grams(wanted, n)
        shared = (ours & theirs).total()
        precision += shared / ours.total()
        recall += shared / theirs.total()
    if not precision + recall:
        return 0.0
    precision, recall = precision / len(lengths), recall / len(lengths)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def _grams(text: str, n: int) -> Counter[str]:
    return Counter(text[at : at + n] for at in range(len(text) - n + 1))

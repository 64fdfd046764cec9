"""comparison sets two servers side by side: what differs, what each difference costs, what that explains."""

from tools.comparison.compared import Comparison, compare
from tools.comparison.difference import Difference
from tools.comparison.gain import Gain
from tools.comparison.gap import Gap
from tools.comparison.rate import Rate
from tools.comparison.side import Side

__all__ = ["Comparison", "Difference", "Gain", "Gap", "Rate", "Side", "compare"]

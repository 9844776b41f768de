"""AIM: in each round select the marginal that the model gets most wrong, measure it, and fit the model again.

Source: McKenna, Mullins, Sheldon and Miklau 2022, arXiv:2201.12677.
"""

from dataclasses import dataclass
from fractions import Fraction

from accounting.budget import Cap
from accounting.events import selection_epsilon
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms.adaptive import Adaptive, AdaptiveConfig
from mechanisms.asking import Asker
from mechanisms.fitting import Fitting
from mechanisms.rounds import Choose
from mechanisms.selection import Pool, select_worst


@dataclass(frozen=True, slots=True)
class AIMConfig(AdaptiveConfig):
    """Configure AIM; the options are those of :class:`AdaptiveConfig`."""

    def calibrate(self, cap: Cap, unit: PrivacyUnit, schema: Schema) -> "AIM":
        """Bind to a release's cap.

        Raises:
            ConfigError: the workload names an unknown column or is too large, with the figure; nothing spent.
        """
        draft = self._draft(cap, schema, "select", "the marginal that the model gets most wrong")
        return AIM(self, cap, unit, schema, draft)


@dataclass(frozen=True, slots=True)
class AIM(Adaptive):
    """AIM, bound to a cap, a unit and a schema; its rounds choose by an exact draw from a softmax."""

    def _chooser(self) -> Choose:
        def choose(asker: Asker, fitting: Fitting, pool: Pool, amount: Fraction, sigma: float) -> int:
            epsilon = selection_epsilon(amount, self.cap.law)
            return select_worst(asker, pool, fitting, epsilon=epsilon, sigma=sigma, max_rows=self.unit.max_rows)

        return choose

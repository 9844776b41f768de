"""The planted bugs that this version's audits catch, each by name; the tests plant every one of them and check that."""

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class PlantedBug:
    """A fault that an audit catches.

    Args:
        audit: the kind of audit that catches it.
        name: what is wrong.
    """

    audit: Literal["transcripts", "goodness", "replay"]
    name: str


PLANTED_BUGS: Final = (
    PlantedBug("transcripts", "noise has half the declared sigma"),
    PlantedBug("transcripts", "rho passed as sigma"),
    PlantedBug("transcripts", "double spend"),
    PlantedBug("goodness", "sigma passed where its square is meant"),
    PlantedBug("goodness", "sum of two rounded draws sold as one"),
    PlantedBug("goodness", "discrete Gaussian sold as GDP"),
    PlantedBug("goodness", "noise clipped at 2.5 sigma"),
    PlantedBug("goodness", "built-in seed"),
    PlantedBug("goodness", "one seed for two mechanisms"),
    PlantedBug("goodness", "one draw for all cells of a table"),
    PlantedBug("goodness", "factor 1/2 of the selection dropped"),
    PlantedBug("goodness", "permute-and-flip charged as softmax"),
    PlantedBug("replay", "sensitivity halved"),
    PlantedBug("replay", "composition count dropped"),
    PlantedBug("replay", "person with k rows counted as one"),
    PlantedBug("replay", "selection charged half"),
    PlantedBug("replay", "unpaid one-way round"),
    PlantedBug("replay", "same request id, another question"),
    PlantedBug("replay", "domain from data"),
    PlantedBug("replay", "exact row count reused"),
    PlantedBug("replay", "stopping on the true table"),
    PlantedBug("replay", "entry after the measurement"),
    PlantedBug("replay", "replace-one charged as add/remove"),
    PlantedBug("replay", "null escaping the clip"),
    PlantedBug("replay", "counts wrap around"),
    PlantedBug("replay", "null ids form one person"),
    PlantedBug("replay", "float distances"),
    PlantedBug("replay", "threshold charged without the mass at it"),
    PlantedBug("replay", "names of a person charged as one name"),
    PlantedBug("replay", "names that leave below the threshold"),
    PlantedBug("replay", "rows with a name counted, not persons"),
)

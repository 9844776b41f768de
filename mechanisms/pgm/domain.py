"""The domain of a table: its attributes and their numbers of cells, and the canonical order of cliques."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

from accounting.errors import ConfigError

Clique = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """Name the attributes of a table and count the cells of each.

    Args:
        attributes: distinct names, in the table's order.
        sizes: the number of cells of each attribute, at least 1.

    Raises:
        ConfigError: names repeat, lengths differ, or a size is not a positive integer.
    """

    attributes: Clique
    sizes: tuple[int, ...]
    _index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        object.__setattr__(self, "sizes", tuple(self.sizes))
        if not self.attributes:
            raise ConfigError("a domain needs at least one attribute")
        if len(self.attributes) != len(self.sizes):
            raise ConfigError(f"the domain has {len(self.attributes)} attributes but {len(self.sizes)} sizes")
        for name, size in zip(self.attributes, self.sizes, strict=True):
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise ConfigError(f"attribute {name!r}: the number of cells is an integer of at least 1")
        object.__setattr__(self, "_index", {name: i for i, name in enumerate(self.attributes)})
        if len(self._index) != len(self.attributes):
            raise ConfigError("the attributes of a domain have distinct names")

    def index(self, attribute: str) -> int:
        """Return the attribute's position."""
        try:
            return self._index[attribute]
        except KeyError:
            raise ConfigError(f"attribute {attribute!r} is not in the domain") from None

    def size(self, attribute: str) -> int:
        """Return the attribute's number of cells."""
        return self.sizes[self.index(attribute)]

    def shape(self, clique: Iterable[str]) -> tuple[int, ...]:
        """Return the shape of the clique's contingency table, in the clique's own order."""
        return tuple(self.sizes[self.index(name)] for name in clique)

    def cells(self, clique: Iterable[str] | None = None) -> int:
        """Return the exact number of cells of a clique's table (of the whole domain without a clique)."""
        return prod(self.sizes if clique is None else self.shape(clique))

    def project(self, clique: Iterable[str]) -> "Domain":
        """Return the domain of the clique's attributes, in the clique's own order."""
        names = tuple(clique)
        return Domain(names, self.shape(names))

    def canonical(self, clique: Iterable[str]) -> Clique:
        """Return the clique's attributes in the domain's order.

        Raises:
            ConfigError: an attribute is unknown or occurs twice.
        """
        names = tuple(clique)
        ordered = tuple(sorted(names, key=self.index))
        if len(set(names)) != len(names):
            raise ConfigError(f"clique {names}: an attribute occurs twice")
        return ordered

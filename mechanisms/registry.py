"""Find a mechanism's configuration by the kind that release.toml names; each is imported when it is asked for."""

import difflib
from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import cast

from accounting.errors import ConfigError
from mechanisms.base import MechanismConfig

_KINDS = {
    "aim": ("mechanisms.aim", "AIMConfig"),
    "aim-gdp": ("mechanisms.aim_gdp", "AIMGDPConfig"),
    "mst": ("mechanisms.mst", "MSTConfig"),
    "independent": ("mechanisms.independent", "IndependentConfig"),
    "tab-pe": ("mechanisms.tab_pe", "TabPEConfig"),
}
KINDS: tuple[str, ...] = tuple(_KINDS)


def config_from_table(kind: str, options: Mapping[str, object]) -> MechanismConfig:
    """Build a mechanism's configuration from the ``[mechanism]`` table of release.toml.

    Args:
        kind: the mechanism's name, one of ``KINDS``.
        options: the table's other keys, numbers read exactly (Decimal or int).

    Raises:
        ConfigError: an unknown kind or option (with the nearest spelling), or a value outside its range.
    """
    if kind not in _KINDS:
        raise ConfigError(f"unknown mechanism {kind!r}{_nearest(str(kind), KINDS)}")
    module, name = _KINDS[kind]
    config = getattr(import_module(module), name)
    known = tuple(field.name for field in fields(config))
    for key in options:
        if key not in known:
            raise ConfigError(f"mechanism {kind!r} has no option {key!r}{_nearest(key, known)}")
    return cast("MechanismConfig", config(**{key: _frozen(value) for key, value in options.items()}))


def _frozen(value: object) -> object:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _nearest(word: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known are {', '.join(known)}" if known else "; it has no options"

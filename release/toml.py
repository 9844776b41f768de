"""Reading our TOML files: exact numbers, unknown keys refused with a suggestion, sentences instead of stack traces."""

import difflib
import tomllib
import typing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union

from pydantic import BaseModel, PlainValidator, ValidationError

from accounting.errors import ConfigError
from accounting.exact import non_negative

Model = TypeVar("Model", bound=BaseModel)


def exact_number(value: object) -> Fraction:
    """Take a number as it was written: an integer, a TOML decimal, or a text such as ``"0.1"`` or ``"1/3"``.

    Raises:
        ConfigError: not a number, negative, not finite, or too long to be meant.
    """
    return non_negative(value, "the number")


def _exact(value: object) -> Fraction:
    try:
        return exact_number(value)
    except ConfigError as error:
        raise ValueError(str(error)) from None


Exact = Annotated[Fraction, PlainValidator(_exact)]
"""A field that holds an exact number ≥ 0."""


def read_toml(path: Path, model: type[Model]) -> Model:
    """Read a TOML file into a frozen model.

    Raises:
        ConfigError: missing, not TOML, an unknown key, or a value that breaks a rule; the message names file and key.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    try:
        data = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{path}: " + "; ".join(_sentence(model, item) for item in error.errors())) from None


def _sentence(model: type[BaseModel], error: Any) -> str:  # noqa: ANN401 - pydantic's own ErrorDetails
    location = tuple(error["loc"])
    key = ".".join(str(part) for part in location) or "the file"
    if error["type"] == "extra_forbidden":
        known = _keys(model, location[:-1])
        close = difflib.get_close_matches(str(location[-1]), known, n=1)
        return f"unknown key {key!r}; " + (f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}")
    if error["type"] == "missing":
        return f"{key!r} is missing"
    return f"{key!r}: " + str(error["msg"]).removeprefix("Value error, ")


def _keys(model: type[BaseModel], location: tuple[object, ...]) -> list[str]:
    here: type[BaseModel] = model
    for part in location:
        fields = {field.alias or name: field.annotation for name, field in here.model_fields.items()}
        options = _options(fields.get(str(part)))
        inner = [option for option in options if isinstance(option, type) and issubclass(option, BaseModel)]
        if not inner:
            return []
        here = inner[0]
    return [field.alias or name for name, field in here.model_fields.items()]


def _options(annotation: object) -> tuple[object, ...]:
    if typing.get_origin(annotation) in (Union, UnionType):
        return typing.get_args(annotation)
    return (annotation,)

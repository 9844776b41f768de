"""Date and datetime columns: steps of a declared resolution on the proleptic Gregorian calendar, years 1 to 9999."""

import re
from abc import abstractmethod
from datetime import date, datetime, timedelta, timezone
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, StrictStr

from accounting.errors import SchemaError
from accounting.schema.column import UNREADABLE, Reading
from accounting.schema.declared import BLANKS, Text
from accounting.schema.formats import DateFormat, Moment
from accounting.schema.ordered import OrderedColumn
from accounting.schema.typed import NoText, Spelled

_DAY = 86400
_END = (date.max.toordinal() + 1) * _DAY - 1
_SECOND = timedelta(seconds=1)
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": _DAY}
_OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])")


def _date(value: object) -> date:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value, re.ASCII):
        return date.fromisoformat(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise ValueError("write a date as 2020-01-31, whatever the file's format")


def _datetime(value: object) -> datetime:
    known = value
    if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}", value):
        known = datetime.fromisoformat(value)
    if not isinstance(known, datetime) or known.tzinfo is not None or known.microsecond:
        raise ValueError("write a moment as 2020-01-31T23:59:00, local time, whatever the file's format")
    return known


def _offset(text: str) -> str:
    if _OFFSET.fullmatch(text) is None:
        raise ValueError('write an offset from UTC as "+01:00"')
    return text


Day = Annotated[date, BeforeValidator(_date), PlainSerializer(date.isoformat)]
LocalTime = Annotated[datetime, BeforeValidator(_datetime), PlainSerializer(datetime.isoformat)]


class _CalendarColumn(OrderedColumn):
    """What date and datetime columns share: a format for texts and steps of a resolution.

    Args:
        format: how the file writes the texts (see ``DateFormat``); the output is written so too.
        resolution: the length of a step; finer parts of a text are cut off.
    """

    format: Text
    resolution: str

    @abstractmethod
    def _step_of(self, day: int, second: int) -> int:
        """Return the step of a local moment, counted from the calendar's start."""

    @abstractmethod
    def _moment_of(self, step: int) -> Moment:
        """Return the first moment of a step."""

    @abstractmethod
    def _local(self, value: Any) -> tuple[int, int]:  # noqa: ANN401  # each kind has its own type
        """Return a declared value's day and second."""

    @cached_property
    def _format(self) -> DateFormat:
        try:
            return DateFormat(self.format)
        except ValueError as error:
            raise SchemaError(f"format: {error}", column=self.name) from None

    @property
    def _example(self) -> str:
        return self._write(self.min)

    def _steps(self, value: Any) -> int:  # noqa: ANN401  # each kind has its own type
        day, second = self._local(value)
        step = self._step_of(day, second)
        if self._moment_of(step)[:2] != (day, second):
            raise SchemaError(
                f"{self._write(value)} is not the first moment of a step; resolution is {self.resolution!r}",
                column=self.name,
            )
        return step

    def _last_step(self) -> int:
        return self._step_of(*self._local(self.max))

    def _text(self, tick: int) -> str:
        return self._format.write(self._moment_of(self._origin + tick))

    def _check_format(self, needed: tuple[str, ...]) -> None:
        missing = [part for part in needed if part not in self._format.parts]
        if missing:
            raise SchemaError(
                f"the format {self.format!r} does not name the {' and '.join(missing)} that "
                f"resolution = {self.resolution!r} needs",
                column=self.name,
            )
        if self.strip and self.format != self.format.strip(BLANKS):
            raise SchemaError("the format has blanks around it, but strip = true removes them", column=self.name)


class DateColumn(_CalendarColumn):
    """A column of days, months or years; a time of day in the format is read and cut off.

    Args:
        min, max: dates; min begins a step, max may lie anywhere in its step.
    """

    kind: Literal["date"] = "date"
    resolution: Literal["day", "month", "year"]
    min: Day
    max: Day
    edges: tuple[Day, ...] | None = None
    points: tuple[Day, ...] = ()
    replacement: Day | None = None

    def _local(self, value: date) -> tuple[int, int]:
        return value.toordinal(), 0

    def _write(self, value: date) -> str:
        return value.isoformat()

    def _step_of(self, day: int, second: int) -> int:  # noqa: ARG002  # the time of day is cut off
        if self.resolution == "day":
            return day
        known = date.fromordinal(day)
        return known.year if self.resolution == "year" else 12 * known.year + known.month - 1

    def _moment_of(self, step: int) -> Moment:
        if self.resolution == "day":
            return Moment(step, 0)
        year, month = (step, 0) if self.resolution == "year" else divmod(step, 12)
        return Moment(date(year, month + 1, 1).toordinal(), 0)

    def _read(self, text: str) -> Reading:
        moment = self._format.read(text)
        return UNREADABLE if moment is None else self._place(self._step_of(moment.day, moment.second))

    def _spelled(self, value: object) -> Spelled:
        local = _local_seconds(value)
        if local is None:
            return super()._spelled(value)
        if isinstance(value, datetime) and value.tzinfo is not None:
            return NoText.NO_TEXT
        return self._format.write(Moment(*divmod(local, _DAY)))

    def _value(self, tick: int) -> date:
        return date.fromordinal(self._moment_of(self._origin + tick).day)

    def _check_kind(self) -> None:
        parts = ("year", "month", "day")
        self._check_format(parts[: parts.index(self.resolution) + 1])
        if "offset" in self._format.parts:
            raise SchemaError('%z is read in columns of kind = "datetime" only', column=self.name)
        super()._check_kind()


class DatetimeColumn(_CalendarColumn):
    """A column of moments in local time, to the second, minute, hour or day.

    Args:
        min, max: local moments at ``utc_offset``; min begins a step, max may lie anywhere in its step.
        utc_offset: the offset of all local times, such as "+01:00"; texts and typed values with an offset are converted
            to it. Required where the format has %z. Without it, typed values with a zone are not readable.
    """

    kind: Literal["datetime"] = "datetime"
    resolution: Literal["second", "minute", "hour", "day"]
    min: LocalTime
    max: LocalTime
    edges: tuple[LocalTime, ...] | None = None
    points: tuple[LocalTime, ...] = ()
    replacement: LocalTime | None = None
    utc_offset: Annotated[StrictStr, AfterValidator(_offset)] | None = None

    @cached_property
    def _offset_seconds(self) -> int | None:
        match = _OFFSET.fullmatch(self.utc_offset or "")
        if match is None:
            return None
        seconds = 3600 * int(match[2]) + 60 * int(match[3])
        return -seconds if match[1] == "-" else seconds

    def _declarable(self, tick: int) -> datetime:
        return self._value(tick).replace(tzinfo=None)

    def _local(self, value: datetime) -> tuple[int, int]:
        return value.toordinal(), _second_of_day(value)

    def _write(self, value: datetime) -> str:
        return value.isoformat()

    def _step_of(self, day: int, second: int) -> int:
        return (day * _DAY + second) // _SECONDS[self.resolution]

    def _moment_of(self, step: int) -> Moment:
        return Moment(*divmod(step * _SECONDS[self.resolution], _DAY), self._offset_seconds)

    def _read(self, text: str) -> Reading:
        moment = self._format.read(text)
        if moment is None:
            return UNREADABLE
        shift = 0 if moment.offset is None else (self._offset_seconds or 0) - moment.offset
        return self._place(self._step_of(moment.day, moment.second + shift))

    def _spelled(self, value: object) -> Spelled:
        local = _local_seconds(value)
        if local is None:
            return super()._spelled(value)
        offset = value.utcoffset() if isinstance(value, datetime) else None
        if offset is not None:
            if self._offset_seconds is None:
                return NoText.NO_TEXT
            local = min(max(local + self._offset_seconds - offset // _SECOND, _DAY), _END)
        return self._format.write(Moment(*divmod(local, _DAY), self._offset_seconds))

    def _value(self, tick: int) -> datetime:
        moment = self._moment_of(self._origin + tick)
        known = datetime.fromordinal(moment.day) + timedelta(seconds=moment.second)
        return known if moment.offset is None else known.replace(tzinfo=timezone(timedelta(seconds=moment.offset)))

    def _check_kind(self) -> None:
        parts = ("year", "month", "day", "hour", "minute", "second")
        self._check_format(parts[: parts.index(self.resolution) + 1])
        if "offset" in self._format.parts and self.utc_offset is None:
            raise SchemaError(
                'the format has %z; add the line utc_offset = "+00:00", the offset that all times are written at',
                column=self.name,
            )
        super()._check_kind()


def _second_of_day(value: datetime) -> int:
    return 3600 * value.hour + 60 * value.minute + value.second


def _local_seconds(value: object) -> int | None:
    """Return a date's or datetime's own local second, counted from the calendar's start, or None for another value."""
    if not isinstance(value, date) or value != value:  # noqa: PLR0124  # pandas' NaT is a datetime unlike itself
        return None
    return value.toordinal() * _DAY + (_second_of_day(value) if isinstance(value, datetime) else 0)

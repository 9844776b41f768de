"""The public description of a private table: columns, kinds, domains, bounds, null policy; and the total cast by it."""

from accounting.schema.column import NULL, Column, Problem
from accounting.schema.constraints import Combinations, Meaning, Order
from accounting.schema.dates import DateColumn, DatetimeColumn
from accounting.schema.discrete import BooleanColumn, CategoricalColumn
from accounting.schema.identifier import IdentifierColumn, loose_form
from accounting.schema.layout import MAX_CELLS, MAX_TICKS
from accounting.schema.ordered import IntegerColumn, OrderedColumn, RealColumn
from accounting.schema.schema import Schema, TableKeys

__all__ = [
    "MAX_CELLS",
    "MAX_TICKS",
    "NULL",
    "BooleanColumn",
    "CategoricalColumn",
    "Column",
    "Combinations",
    "DateColumn",
    "DatetimeColumn",
    "IdentifierColumn",
    "IntegerColumn",
    "Meaning",
    "Order",
    "OrderedColumn",
    "Problem",
    "RealColumn",
    "Schema",
    "TableKeys",
    "loose_form",
]

"""Which of AIM and Tab-PE a schema speaks for."""

from mechanisms.tab_pe.advice import aim_or_tab_pe
from tests.mechanisms.fakes import categorical, integer, schema_of


def test_numbers_speak_for_tab_pe_and_categories_for_aim():
    numbers = [integer(name, 0, 99) for name in "abcd"]
    assert aim_or_tab_pe(schema_of(*numbers, categorical("y", 2)))[0] == "tab-pe"
    kind, reason = aim_or_tab_pe(schema_of(numbers[0], categorical("x", 3), categorical("y", 2)))
    assert kind == "aim"
    assert reason.startswith("1 of 3 columns is ordered")


def test_few_rows_of_numbers_speak_for_tab_pe_and_say_so():
    kind, reason = aim_or_tab_pe(schema_of(integer("a", 0, 99), integer("b", 0, 99), max_rows=400))
    assert kind == "tab-pe"
    assert "at most 400 rows" in reason

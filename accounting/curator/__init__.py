"""The curator: loads the private rows, counts in them exactly, and answers paid questions with noise."""

from accounting.curator.form import FileForm
from accounting.curator.reading import check_file, load
from accounting.curator.rows import PrivateRows
from accounting.curator.table import private_table

__all__ = ["FileForm", "PrivateRows", "check_file", "load", "private_table"]

"""The one place where dialects of SQL differ for us: writing what may be there already.

A statement is made once: SQLAlchemy takes as long to put one together as the database to run it.
"""

from collections.abc import Iterable
from functools import cache

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

Insert = sqlite.Insert | postgresql.Insert


@cache
def insert_new(dialect: str, table: Table) -> Insert:
    """Inserts rows, but not those that any unique key of the table has already."""
    return _insert(dialect, table).on_conflict_do_nothing()


@cache
def insert_or_replace(dialect: str, table: Table, *, newer_by: str | None = None) -> Insert:
    """Inserts rows, and replaces those of the same primary key; with `newer_by` only where that column has grown."""
    statement = _insert(dialect, table)
    key = [column.name for column in table.primary_key]
    grown = None if newer_by is None else statement.excluded[newer_by] > table.c[newer_by]
    return statement.on_conflict_do_update(
        index_elements=key,
        set_={name: statement.excluded[name] for name in _others(table, key)},
        where=grown,
    )


@cache
def insert_or_add(dialect: str, table: Table, sums: tuple[str, ...]) -> Insert:
    """Inserts rows, and adds the sums of those of the same primary key to what is there; other columns are replaced."""
    statement = _insert(dialect, table)
    key = [column.name for column in table.primary_key]
    excluded = statement.excluded
    set_ = {name: table.c[name] + excluded[name] if name in sums else excluded[name] for name in _others(table, key)}
    return statement.on_conflict_do_update(index_elements=key, set_=set_)


def _insert(dialect: str, table: Table) -> Insert:
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


def _others(table: Table, key: Iterable[str]) -> list[str]:
    return [column.name for column in table.columns if column.name not in set(key)]

"""The one place where dialects of SQL differ for us: writing what may be there already.

A statement is made once: SQLAlchemy takes as long to put one together as the database to run it. Many rows go to the
driver as they are (`write`), since SQLAlchemy also takes longer over the parameters of a row than the database over it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Dialect, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

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


async def write(connection: AsyncConnection, statement: Insert, rows: Sequence[Mapping[str, Any]]) -> None:
    """Executes a statement for rows that have every column of its table; their values are of types the driver knows."""
    if rows:
        text, values_of = _driven(connection.dialect, statement)
        await connection.exec_driver_sql(text, [values_of(row) for row in rows])


@lru_cache(maxsize=64)
def _driven(dialect: Dialect, statement: Insert) -> tuple[str, Callable[[Mapping[str, Any]], tuple[Any, ...]]]:
    """The statement as the driver takes it, and what gives it a row's values in its own order."""
    compiled = statement.compile(dialect=dialect)
    return compiled.string, itemgetter(*compiled.positiontup or ())


def _insert(dialect: str, table: Table) -> Insert:
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


def _others(table: Table, key: Iterable[str]) -> list[str]:
    return [column.name for column in table.columns if column.name not in set(key)]

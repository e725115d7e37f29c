"""What the arena's own services may raise, apart from errors of programming.

    ServiceError
      StoreError                  the store cannot do what it was asked (wakeng.services.store)
        NoStore                   the URL leads to no store, or to one that cannot be opened
        SchemaError               the database's schema is not the one this version works with
        UnknownMatch              no such match
        MatchExists               the id, or the request's id, is taken by another match
        UnknownBot                no bot of that name is registered
        BotExists                 the name is taken by another bot
        UnknownToken              no token has an id that begins so, or more than one has
        BadPageToken              a text that no page gave
        BackupError               the store cannot be copied to where it was asked
      LineFileError               a file of lines cannot be opened or written: records, journal
      MetricsError                the metrics cannot be served where they were asked for

Each says in words what is wrong and, where there is something to be done, what.
"""


class ServiceError(Exception):
    """The base of all."""


class StoreError(ServiceError):
    """The store cannot do what it was asked."""


class NoStore(StoreError):
    """The URL leads to no store, or to one that cannot be opened."""


class SchemaError(StoreError):
    """The database's schema is newer or older than this version of the arena, or nobody's."""


class UnknownMatch(StoreError):
    """There is no such match, or a record names none."""


class MatchExists(StoreError):
    """The match's id, or that of the request, was given to another match before."""


class UnknownBot(StoreError):
    """No bot of that name is registered."""


class BotExists(StoreError):
    """The name is taken by another registered bot."""


class UnknownToken(StoreError):
    """No token has an id that begins so, or more than one has."""


class BadPageToken(StoreError):
    """A page token that no page gave."""


class BackupError(StoreError):
    """The store cannot be copied to where it was asked."""


class LineFileError(ServiceError):
    """A file of lines cannot be opened, or has not taken what was written."""


class MetricsError(ServiceError):
    """The metrics cannot be served at the address."""

"""The SDK's own errors.

    SdkError
    +-- ListenError    a server cannot listen where it was told to
    +-- JoinRefused    an arena does not want a bot that dials in, and trying again would not help

An impossible rule set is the engine's RuleError; a call to a bot that failed is `client.CallError`. What a bot raises
is no error of the SDK: it is logged, and told to the arena as the fault BOT_ERROR.
"""


class SdkError(Exception):
    """Anything that goes wrong in the SDK itself."""


class ListenError(SdkError):
    """An address that cannot be listened on; the message says why."""


class JoinRefused(SdkError):
    """An arena that has said no for good; the message says what it said and what would help."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        """The name of the canonical status, such as UNAUTHENTICATED."""

"""The SDK's own errors.

    SdkError
    +-- ListenError    a server cannot listen where it was told to

An impossible rule set is the engine's RuleError; a call to a bot that failed is `client.CallError`. What a bot raises
is no error of the SDK: it is logged, and told to the arena as the fault BOT_ERROR.
"""


class SdkError(Exception):
    """Anything that goes wrong in the SDK itself."""


class ListenError(SdkError):
    """An address that cannot be listened on; the message says why."""

"""How a bot is asked, whichever of its methods it has written: sync or async, one by one or in a batch, in threads.

`Chooser.begin` takes the questions of one message. What the bot answers at once is added to the answers that go out
next; what it has to be waited for comes back as awaitables, each with the replies it will give. A question that fails
has a reply too, which says why, and takes no other's answer along, unless the author answers them in a batch of his
own.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wakeng.sdk.bot import Bot, overrides
from wakeng.sdk.decision import Answer, Decision
from wakeng.v1 import bot_pb2

if TYPE_CHECKING:
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

    Answers = RepeatedCompositeFieldContainer[bot_pb2.DecideResponse]
    """The answers of a message that is still to be sent."""

log = logging.getLogger("wakeng.sdk")

MOST_NOTE_BYTES: Final = 200
"""Of a note or an error; the arena cuts them too."""


class Reply(NamedTuple):
    """What the bot says to one question: a token, or why there is none."""

    decision_id: int
    action: str
    note: str = ""
    error: str = ""


Asked = Sequence[bot_pb2.DecideRequest]
Awaited = Sequence[Awaitable[list[Reply]]]
"""Each wants a task."""


def put(answers: "Answers", replies: Iterable[Reply]) -> None:
    """Add replies to a message."""
    for decision_id, action, note, error in replies:
        answer = answers.add(decision_id=decision_id, action=action)
        if note:
            answer.note = note
        if error:
            answer.error = error


class Chooser:
    """Asks one bot."""

    begin: "Callable[[Asked, Answers], Awaited]"
    """Put questions to the bot: those answered at once are among the answers then, the others among what is awaited."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._pool = ThreadPoolExecutor(bot.threads, thread_name_prefix="bot") if bot.threads else None
        self._in_batches = overrides(bot, "choose_batch")
        if self._pool is not None:
            self.begin = self._begin_in_threads
        else:
            self.begin = self._begin_batch if self._in_batches else self._begin_each

    async def one(self, asked: bot_pb2.DecideRequest) -> bot_pb2.DecideResponse:
        """Put one question to the bot and wait for the answer."""
        answers = bot_pb2.BotMessage().answers
        for awaited in self.begin([asked], answers):
            put(answers, await awaited)
        return answers[0]

    def close(self) -> None:
        """Take no more questions; a thread that thinks is not waited for."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _begin_each(self, asked: Asked, answers: "Answers") -> Awaited:
        choose, add = self._bot.choose, answers.add
        awaited: list[Awaitable[list[Reply]]] = []
        for message in asked:
            decision = Decision(message)
            try:
                choice = choose(decision)
                if type(choice) is str and choice.isascii():  # The short way to what `put` does.
                    answer = add()
                    answer.decision_id = message.decision_id
                    answer.action = choice
                elif inspect.isawaitable(choice):
                    awaited.append(self._later([decision], choice))
                else:
                    put(answers, [_reply(decision, choice)])
            except Exception as error:
                put(answers, self._failed([decision], error))
        return awaited

    def _begin_batch(self, asked: Asked, answers: "Answers") -> Awaited:
        decisions = [Decision(message) for message in asked]
        try:
            choices = self._bot.choose_batch(decisions)
            if inspect.isawaitable(choices):
                return [self._later(decisions, choices)]
            put(answers, _replies(decisions, choices))
        except Exception as error:
            put(answers, self._failed(decisions, error))
        return ()

    def _begin_in_threads(self, asked: Asked, answers: "Answers") -> Awaited:
        decisions = [Decision(message) for message in asked]
        if self._in_batches:
            return [self._in_thread(decisions)]
        return [self._in_thread([decision]) for decision in decisions]

    async def _in_thread(self, decisions: Sequence[Decision]) -> list[Reply]:
        """A batch, or a single question, in a worker thread; what the bot awaits is awaited in the event loop."""
        ask: Any = self._bot.choose_batch if self._in_batches else self._bot.choose
        asked = decisions if self._in_batches else decisions[0]
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._pool, ask, asked)
        except Exception as error:
            return self._failed(decisions, error)
        return await self._later(decisions, found)

    async def _later(self, decisions: Sequence[Decision], found: Any) -> list[Reply]:
        """The replies to some questions, once the bot has found them."""
        try:
            choices = await found if inspect.isawaitable(found) else found
            return _replies(decisions, choices if self._in_batches else [choices])
        except Exception as error:
            return self._failed(decisions, error)

    def _failed(self, decisions: Sequence[Decision], error: Exception) -> list[Reply]:
        """The replies to questions that the bot has no answer to; its author finds the whole story in the log."""
        ids = ", ".join(str(decision.id) for decision in decisions)
        log.error("%s failed at decision %s", type(self._bot).__name__, ids, exc_info=error)
        reason = _cut(f"{type(error).__name__}: {error}")
        return [Reply(decision.id, "", error=reason) for decision in decisions]


def _replies(decisions: Sequence[Decision], choices: Any) -> list[Reply]:
    if not isinstance(choices, Sequence) or isinstance(choices, str):
        raise TypeError(f"choose_batch returned {_brief(choices)}, not a list of choices")
    if len(choices) != len(decisions):
        raise ValueError(f"choose_batch returned {len(choices)} choices for {len(decisions)} decisions")
    return [_reply(decision, choice) for decision, choice in zip(decisions, choices, strict=True)]


def _reply(decision: Decision, choice: Any) -> Reply:
    """The reply that a choice is. Whether the token is legal is for the arena to say."""
    action, note = choice if isinstance(choice, Answer) else (choice, "")
    if not isinstance(action, str) or not isinstance(note, str):
        raise TypeError(f"{_brief(choice)} is no answer; a token is text, such as {decision.legal[0]!r}")
    action.encode()  # Half a surrogate pair is no text that could be sent.
    return Reply(decision.id, action, _cut(note))


def _cut(text: str) -> str:
    return text.encode("utf-8", "replace")[:MOST_NOTE_BYTES].decode("utf-8", "ignore")


def _brief(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."

"""The one way through: authorise, decode, recall, perform, commit, ring, and perhaps wait."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any, Generic

from msgspec import Struct

from agentworks import clock, decoding, retries
from agentworks.bells import Bells
from agentworks.contracts.operation import Answer, Caller, Operation, Request
from agentworks.contracts.refusal import Fault, Refuse, Refused
from agentworks.identity.callers import Who
from agentworks.rules import limits, refusals
from agentworks.store import Full, Held, Patience, Snapshot, Store, Transaction

log = logging.getLogger("agentworks.dispatch")


class Handler(Struct, Generic[Request, Answer], frozen=True):
    """An operation and the function that performs it, type-checked as a pair.

    `perform` takes a Snapshot if the operation only reads, else a Transaction. `subject` gives
    the id of what an answer began, for operations whose retries are recognised. `opens_nothing`
    says that performing it changes nobody's access, so others in its transaction need not look
    again.
    """

    operation: Operation[Request, Answer]
    perform: Callable[[Any, Caller, Request], Answer | Refused]
    subject: Callable[[Answer], str] | None = None
    opens_nothing: bool = False


class Dispatch:
    """Answers calls. A refusal or a fault comes back as data: nothing is raised to a surface."""

    def __init__(
        self,
        store: Store,
        bells: Bells,
        handlers: Iterable[Handler[Any, Any]],
        used: Callable[[Caller], None] = lambda caller: None,
    ) -> None:
        """`used` is told each caller that was let in, on whatever thread found out."""
        self._store = store
        self._bells = bells
        self._used = used
        self._handlers = {each.operation.name: each for each in handlers}

    async def __call__(
        self, operation: Operation[Request, Answer], who: Who, args: object
    ) -> Answer | Refused | Fault:
        """Perform `operation` for `who`.

        `args` is a dict from a wire, the typed request, or the Refuse that reading the wire
        ended in (told only to those who may ask).
        """
        try:
            answer: Answer | Refused = await self._answer(operation, who, args)
            return answer
        except Refuse as refusal:
            refused = refusal.refused
        except Full:
            refused = refusals.storage_full().refused
        except Held:
            refused = refusals.unavailable().refused
        except Exception:
            fault_id = clock.new_id("fault")
            log.exception("fault %s in %s", fault_id, operation.name)
            return Fault(fault_id)
        if refused.code not in operation.every_refusal:
            log.error("%s refused with undeclared %s", operation.name, refused.code)
        return refused

    async def _answer(self, operation: Operation[Any, Any], who: Who, args: object) -> Any:
        try:
            request = decoding.request_of(operation, args)
        except Refuse:
            self.admit(operation, who)
            raise  # what is wrong with the arguments is told only to those who may ask
        return await self._perform(operation, who, request)

    def admit(self, operation: Operation[Any, Any], who: Who) -> None:
        """Raises Refuse unless `who` may ask for `operation` now."""
        self._store.read(lambda db: self._authorised(db, who, operation))

    async def _perform(self, operation: Operation[Any, Any], who: Who, request: Any) -> Any:
        seconds = min(getattr(request, "wait_seconds", 0), limits.WAIT_SECONDS_MAX)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        wrote = not operation.reads
        while True:
            ticket = self._bells.now()
            answer, patience = await self._once(operation, who, request)
            remaining = deadline - loop.time()
            if patience is None or seconds == 0 or remaining <= 0:
                return answer
            if self._bells.waiters >= limits.WAITING_READERS_MAX:
                if wrote:
                    return answer  # what is done cannot be refused; the caller reads on later
                raise refusals.unavailable()
            rang = await self._bells.wait(patience.topic, ticket, remaining)
            if not rang:
                deadline = 0.0  # read once more: who waits may have been shut out meanwhile
            if patience.then is not None:
                operation, request = patience.then

    async def _once(
        self, operation: Operation[Any, Any], who: Who, request: Any
    ) -> tuple[Any, Patience | None]:
        handler = self._handlers[operation.name]
        if operation.reads:

            def read(db: Snapshot) -> Any:
                return handler.perform(db, self._authorised(db, who, operation), request)

            return self._store.read(read)

        def write(tx: Transaction) -> Any:
            tx.keeps_memo = handler.opens_nothing
            caller = self._authorised(tx, who, operation)
            if handler.subject is None:
                return handler.perform(tx, caller, request)
            holder = caller.account_id
            answer: Any = retries.recall(tx, holder, operation, request)
            if answer is None:
                answer = handler.perform(tx, caller, request)
                if not isinstance(answer, Refused):
                    subject = handler.subject(answer)
                    retries.remember(tx, holder, operation, request, answer, subject)
            return answer

        done: tuple[Any, Patience | None] = await self._store.submit(write)
        return done

    def _authorised(self, db: Snapshot, who: Who, operation: Operation[Any, Any]) -> Caller:
        caller = who(db)
        if caller.kind not in operation.offered_to:
            raise refusals.not_offered(caller)
        if operation.scope is not None and operation.scope not in caller.scopes:
            raise refusals.scope_missing(operation.scope)
        self._used(caller)
        return caller

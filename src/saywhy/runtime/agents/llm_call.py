"""One call of a model: a message in, an answer out, nothing remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from saywhy.agent.agent import AgentDefinition, OutputSchema, output_of
from saywhy.agent.loop.config import NOTHING
from saywhy.agent.loop.message_api import build_message_api_chart
from saywhy.chart.built import Built
from saywhy.clock import Clock
from saywhy.models.asked import asked_model
from saywhy.runtime.agents.result import AgentResult
from saywhy.runtime.agents.runner import Runner, random_id
from saywhy.trace.masking.redact import USUAL, Policy

if TYPE_CHECKING:
    from saywhy.models.provider import Provider
    from saywhy.runtime.agents.fluent import LLMCallBuilder

R = TypeVar("R", bound=AgentResult)


class ModelCall(Runner[R]):
    """What runners share that call a model once."""

    def __init__(
        self,
        model: Any,
        *,
        name: str,
        system: str = "",
        prompt_provider: Any = None,
        message_strategy: Any = None,
        injections: Iterable[Any] = (),
        output_schema: OutputSchema | Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        streaming: bool = False,
        verbose: bool = False,
        recorders: Iterable[Any] = (),
        redact: Policy = USUAL,
        clock: Clock | None = None,
        new_id: Callable[[], str] | None = random_id,
    ) -> None:
        self.model: Provider = asked_model(model)
        self.definition = AgentDefinition(
            name=name,
            system=system,
            prompt_provider=prompt_provider,
            message_strategy=message_strategy,
            injections=tuple(injections),
            output_schema=output_of(output_schema),
            settings=NOTHING if settings is None else settings,
            streaming=streaming,
        )
        self.warnings = self.definition.check()
        super().__init__(
            name,
            recorders=recorders,
            redact=redact,
            verbose=verbose,
            clock=clock,
            new_id=new_id,
        )

    def built_as(self, id: str) -> Built:
        """The chart of the call under this id."""
        return build_message_api_chart(
            self.definition.loop_config(self.model), agent=False, id=id, name=self.name
        )


class LLMCall(ModelCall[AgentResult]):
    """A model that is asked once. Every run stands alone: nothing of those before is remembered.

    `model`, `system`, `prompt_provider`, `message_strategy`, `injections`, `output_schema`,
    `settings`, `streaming`, `verbose`, `recorders`, `redact` and `new_id` are those of `Agent`.
    Tools that the model asks for are not called: the request stands in the result's last message.
    Raises `DefinitionError` with everything that is wrong.
    """

    def __init__(self, model: Any, *, name: str = "llm-call", **options: Any) -> None:
        super().__init__(model, name=name, **options)

    @classmethod
    def create(cls, model: Any, name: str = "llm-call") -> LLMCallBuilder:
        """Written step by step: `LLMCall.create(model).system("…").build()`."""
        from saywhy.runtime.agents.fluent import LLMCallBuilder

        return LLMCallBuilder(model, {"name": name})

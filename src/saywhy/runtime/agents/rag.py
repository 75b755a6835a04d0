"""A model that is asked once, with what was looked up for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from saywhy.agent.runners.part import Part
from saywhy.agent.runners.rag import chunks_in, rag_chart, rag_problems
from saywhy.agent.slots.strategies import full_history
from saywhy.chart.built import Built
from saywhy.runtime.agents.llm_call import ModelCall
from saywhy.runtime.agents.parts import check
from saywhy.runtime.agents.result import AgentResult
from saywhy.stores.retriever import Chunk


@dataclass(frozen=True, slots=True)
class RAGResult(AgentResult):
    """The answer, and what it was given to answer from."""

    chunks: tuple[Chunk, ...] = ()
    query: str = ""
    """What was looked up: the user's words."""


class RAG(ModelCall[RAGResult]):
    """Looks up the user's words and asks a model, which is shown what was found.

    `retriever` has a method `retrieve(query, *, top_k, min_score)`, `async` or not; limits that are
    not given are its own. What was found stands in a second system message. All other keywords are
    those of `LLMCall`. Nothing is remembered from run to run.
    """

    def __init__(
        self,
        model: Any,
        retriever: Any,
        *,
        top_k: int | None = None,
        min_score: float | None = None,
        name: str = "rag",
        **options: Any,
    ) -> None:
        check(rag_problems(retriever, top_k, min_score))
        self.retriever = retriever
        limits = {"top_k": top_k, "min_score": min_score}
        self.limits = {key: value for key, value in limits.items() if value is not None}
        # A strategy of its own, so that the mark of what was found is not sent.
        options.setdefault("message_strategy", full_history())
        super().__init__(model, name=name, **options)

    def built_as(self, id: str) -> Built:
        """Its chart under this id."""
        call = Part("call", super().built_as)
        return rag_chart(self.retriever, self.limits, call, name=self.name, id=id)

    def result_of(self, state: Mapping[str, Any], given: Mapping[str, Any]) -> RAGResult:
        """The result, with what was found."""
        return RAGResult(**given, chunks=chunks_in(state), query=str(state.get("query", "")))

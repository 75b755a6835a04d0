"""The stages of a loop, made once for a chart, whichever form that has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from saywhy.agent.instructions.book import RuleBook
from saywhy.agent.instructions.subflow import OUTPUTS as INSTRUCTION_OUTPUTS
from saywhy.agent.instructions.subflow import subflow_of
from saywhy.agent.loop.answers import ToolAnswers, model_answers
from saywhy.agent.loop.assembling import assemble, assemble_messages, may_mark
from saywhy.agent.loop.calling import Calling, parse
from saywhy.agent.loop.calls import ToolCalls
from saywhy.agent.loop.config import AgentLoopConfig, AgentLoopSeedOptions, RoutingBranch
from saywhy.agent.loop.finishing import commit_stage, final_stage
from saywhy.agent.loop.rounds import APART, OUTPUTS, Round, add_round, build_tool_calls
from saywhy.agent.loop.routing import FINAL, TOOLS, decide_route, own_route
from saywhy.agent.loop.seeding import Seeding
from saywhy.agent.loop.slots import slots_of
from saywhy.agent.loop.toolbox import Toolbox
from saywhy.agent.own import OWN
from saywhy.agent.receipts.minters import Minters
from saywhy.chart.build import Builder, Choice, Script
from saywhy.chart.built import Built
from saywhy.chart.merge import Merge

MOST_PASSES: Final = 1_000_000
"""The bound of the loop edge; what ends a loop is its limit on rounds."""


class Parts:
    """Everything a form of the loop puts in order."""

    def __init__(self, config: AgentLoopConfig, options: AgentLoopSeedOptions) -> None:
        self.config = config
        self.book = RuleBook(config.instructions)
        self.box = Toolbox(config, self.book)
        self.calls: ToolCalls = (config.tool_calls or ToolCalls)(config, self.box)
        self.answers = ToolAnswers(config, self.box)
        self.seeding = Seeding(config, options, self.calls)
        self.minters = Minters(secret_salt=config.secret_salt, strict_labels=config.strict_labels)
        self.slots = slots_of(config, self.box, self.minters)

    # ------------------------------------------------------------ stages, in the order of a run

    def seed(self, chart: Script) -> None:
        """`seed`"""
        stage = chart.pausable(
            self.seeding.first,
            id="seed",
            name="Seed",
            describe="Initialize the state of the run",
            asks="tool",
            errors="data",
            answers=self.answers,
        )
        stage.resume(self.seeding.second)

    def instructions(self, chart: Script, id: str) -> bool:
        """The sub-chart that judges the agent's instructions; whether there is one."""
        if not self.config.instructions:
            return False
        built = subflow_of(self.book, id=f"{self.config.chart_id}/{id}")
        chart.mount(built, id=id, name="InstructionsToLLM", over=True, outputs=INSTRUCTION_OUTPUTS)
        return True

    def mount_slots(self, chart: Script) -> None:
        """The slots, one after the other, each a sub-chart."""
        for slot in self.slots.values():
            inner = Builder(slot.name, id=f"{self.config.chart_id}/{slot.id}", own=OWN)
            slot.fill(inner)
            chart.mount(inner, id=slot.id, name=slot.name, over=True, outputs=slot.outputs)

    def assemble_prompt(self, chart: Script) -> None:
        """`assemble-prompt`"""
        describe = "Put the system prompt before the messages"
        chart.stage(id="assemble-prompt", name="AssemblePrompt", describe=describe)(assemble)

    def message_api(self, chart: Script) -> None:
        """`message-api`"""
        describe = "Assemble the request for the model"
        marked = may_mark(self.config)
        stage = partial(assemble_messages, marked=marked) if marked else assemble_messages
        chart.stage(id="message-api", name="MessageAPI", describe=describe)(stage)

    def call_llm(self, chart: Script, *, parses: bool) -> None:
        """`call-llm`"""
        calling = Calling(self.config, self.minters, parses=parses)
        stage = chart.pausable(
            calling.first,
            id="call-llm",
            name="CallLLM",
            describe="Ask the model",
            asks="model",
            errors="data",
            fresh=True,
            answers=model_answers(self.config),
        )
        stage.resume(calling.second)

    def parse_response(self, chart: Script) -> None:
        """`parse-response`"""
        describe = "Read the answer of the model"
        chart.stage(id="parse-response", name="ParseResponse", describe=describe)(parse)

    def route(self, chart: Script, id: str, back: str, finish: Callable[[Script], None]) -> None:
        """The decider and its branches. Those that go on go to `back`; "" for where they meet."""
        routing = self.config.routing
        if routing is not None:
            choice = chart.decider(
                own_route(routing),
                id=routing.decider_id,
                name=routing.decider_name,
                describe=routing.description,
            )
            for branch in routing.branches:
                # With a way back for all others, those that end meet behind the choice.
                self._own_branch(choice, branch, back, None if back else finish)
            if back:
                finish(chart)
            return
        describe = "Route to the tools or to the end"
        choice = chart.decider(decide_route, id=id, name="RouteResponse", describe=describe)
        tools = choice.branch(TOOLS)
        self._tools(tools, mounted=not back)
        if back:
            tools.loop_to(back, max_iter=MOST_PASSES)
        finish(choice.branch(FINAL))

    def _tools(self, script: Script, *, mounted: bool, id: str = TOOLS) -> None:
        """A round of tools: a sub-chart, or its stages in the loop itself, at half the cost."""
        if not mounted:
            concurrency = self.config.tool_concurrency
            made = Round(self.calls, "messages")
            add_round(script, made, self.answers, id, concurrency=concurrency)
            return
        built = build_tool_calls(
            self.calls,
            self.answers,
            concurrency=self.config.tool_concurrency,
            id=f"{self.config.chart_id}/{TOOLS}",
        )
        outputs = {name: name for name in OUTPUTS} | {"messages": APART}
        merge: dict[str, Any] = {"messages": Merge.APPEND}
        script.mount(built, id=id, name="ExecuteTools", over=True, outputs=outputs, merge=merge)

    def _own_branch(
        self,
        choice: Choice,
        branch: RoutingBranch,
        back: str,
        finish: Callable[[Script], None] | None,
    ) -> None:
        content = branch.content() if branch.lazy else branch.content
        script = choice.branch(branch.id)
        if isinstance(content, Built | Builder):
            script.mount(
                content,
                id=branch.id,
                over=branch.inputs is None,
                inputs=branch.inputs,
                outputs=branch.outputs,
                merge=branch.merge or None,
            )
        elif content is not None:
            script.stage(id=branch.id)(content)
        elif branch.round or branch.id == TOOLS:
            self._tools(script, mounted=not back, id=branch.id)
        if branch.ends:
            if finish is not None:
                finish(script)
        elif back:
            script.loop_to(back, max_iter=MOST_PASSES)

    def final(self, script: Script) -> None:
        """`final`"""
        describe = "Take the model's last message as the answer"
        script.stage(id=FINAL, name="Finalize", describe=describe)(final_stage(self.config))

    def commit_memory(self, script: Script) -> None:
        """`commit-memory`"""
        describe = "Keep the history"
        script.stage(id="commit-memory", name="CommitMemory", describe=describe)(
            commit_stage(self.config)
        )

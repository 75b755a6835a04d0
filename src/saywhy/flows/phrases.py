"""The library's own sentences, by language and id.

A host's registry replaces ours for a language it has; an id it lacks is said in our English.
spec: flow-engine 10.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

BUILT_IN: Final[dict[str, dict[str, str]]] = {
    "en": {
        "flow_init": "Processing {{flowPrompt}}",
        "flow_interrupted": "Switched to {{targetFlow}}\n\n"
        '(Your previous "{{currentFlow}}" progress has been saved)',
        "flow_resumed": "Resuming {{flowName}}",
        "flow_resumed_with_guidance": "Resuming {{flowName}} - "
        "Type 'cancel flow' or 'help' for options.",
        "flow_completed": "Completed {{flowName}}.",
        "flow_completed_generic": "Flow completed.",
        "flow_cancelled": "{{flowName}} was cancelled.",
        "flow_help_general": "Processing {{flowPrompt}} - "
        "You can also 'cancel flow' or request 'help'.",
        "flow_help_payment": "Processing {{flowPrompt}} - "
        "You can also 'cancel flow' or request 'help'.",
        "critical_error": "Something went wrong. Please try again.",
        "invalid_input": "Please provide the correct information:",
        "system_ready": "Ready.",
        "no_flows_available": "There is nothing I can start right now.",
        "flow_execution_error": "{{flowName}} could not go on: {{errorMessage}}",
        "switch_no_branch_found": 'No branch fits the value "{{value}}" of {{variable}}.',
        "tool_failed": "{{toolName}} did not work: {{errorMessage}}",
        "tool_unknown": "I asked for {{toolName}}, but it is not known yet whether it happened. "
        "Somebody is looking at it; please do not ask for it again meanwhile.",
        "still_unknown": "It is not known yet whether {{toolName}} happened. "
        "Somebody is looking at it.",
        "approval_waiting": "{{toolName}} has to be approved first. I am waiting for that.",
        "subflow_not_found": 'Sub-flow "{{subFlowName}}" not found.',
        "flow_switch_error": 'Could not switch to "{{targetFlow}}".',
        "flow_not_found": 'Could not start "{{targetFlow}}" - flow not found.',
        "flow_switch_general_error": "Could not switch to another flow.",
        "cmd_flow_exited": "Successfully exited {{flowName}}. "
        "How can I help you with something else?",
        "cmd_help_title": "Flow Help - {{flowName}}",
        "cmd_help_commands": "Available commands while in this flow:",
        "cmd_help_cancel": '• "cancel flow" - Exit this flow completely',
        "cmd_help_status": '• "status" - Show current flow information',
        "cmd_help_help": '• "help" - Show this help message',
        "cmd_help_financial": "This is about money: please check each value before you confirm.",
        "cmd_help_question": "Current Question:",
        "cmd_help_instruction": "Please respond to the question above, "
        "or use a command listed above.",
        "cmd_status_title": "📊 **Flow Status**",
        "cmd_status_flow": "Flow: {{flowName}}",
        "cmd_status_steps": "Steps remaining: {{count}}",
        "cmd_status_depth": "Stack depth: {{count}}",
        "cmd_status_transaction": "Transaction: {{id}}",
        "cmd_status_collected": "Collected Information",
        "cmd_interruption_switch": "Switching to {{targetFlow}}.",
        "cmd_interruption_continue": "Going on with {{flowName}}.",
    },
    "es": {
        "flow_init": "Procesando {{flowPrompt}}",
        "flow_interrupted": "Cambiado a {{targetFlow}}\n\n"
        '(Su progreso anterior de "{{currentFlow}}" ha sido guardado)',
        "flow_resumed": "Reanudando {{flowName}}",
        "flow_resumed_with_guidance": "Continuando {{flowName}} - "
        "Escriba 'cancelar flujo' o 'ayuda' para opciones.",
        "flow_completed": "{{flowName}} completado.",
        "flow_completed_generic": "Flujo completado.",
        "flow_cancelled": "{{flowName}} fue cancelado.",
        "flow_help_general": "Procesando {{flowPrompt}} - "
        "También puede 'cancelar flujo' o pedir 'ayuda'.",
        "flow_help_payment": "Procesando {{flowPrompt}} - "
        "También puede 'cancelar flujo' o pedir 'ayuda'.",
        "critical_error": "Algo salió mal. Inténtelo de nuevo.",
        "invalid_input": "Por favor proporcione la información correcta:",
        "system_ready": "Listo.",
        "no_flows_available": "Ahora no hay nada que pueda iniciar.",
        "flow_execution_error": "{{flowName}} no pudo continuar: {{errorMessage}}",
        "switch_no_branch_found": 'Ninguna rama corresponde al valor "{{value}}" de {{variable}}.',
        "tool_failed": "{{toolName}} no funcionó: {{errorMessage}}",
        "tool_unknown": "Pedí {{toolName}}, pero aún no se sabe si se realizó. "
        "Alguien lo está revisando; por favor no lo pida de nuevo mientras tanto.",
        "still_unknown": "Aún no se sabe si {{toolName}} se realizó. Alguien lo está revisando.",
        "approval_waiting": "{{toolName}} necesita primero una aprobación. La estoy esperando.",
        "subflow_not_found": 'Subflujo "{{subFlowName}}" no encontrado.',
        "flow_switch_error": 'No se pudo cambiar a "{{targetFlow}}".',
        "flow_not_found": 'No se pudo iniciar "{{targetFlow}}" - flujo no encontrado.',
        "flow_switch_general_error": "No se pudo cambiar a otro flujo.",
        "cmd_flow_exited": "Salió exitosamente de {{flowName}}. ¿Cómo puedo ayudarle con algo más?",
        "cmd_help_title": "Ayuda del Flujo - {{flowName}}",
        "cmd_help_commands": "Comandos disponibles en este flujo:",
        "cmd_help_cancel": '• "cancelar flujo" - Salir completamente de este flujo',
        "cmd_help_status": '• "estado" - Mostrar información del flujo actual',
        "cmd_help_help": '• "ayuda" - Mostrar este mensaje de ayuda',
        "cmd_help_financial": "Se trata de dinero: revise cada dato antes de confirmar.",
        "cmd_help_question": "Pregunta Actual:",
        "cmd_help_instruction": "Por favor responda a la pregunta anterior, "
        "o use un comando de la lista anterior.",
        "cmd_status_title": "📊 **Estado del flujo**",
        "cmd_status_flow": "Flujo: {{flowName}}",
        "cmd_status_steps": "Pasos restantes: {{count}}",
        "cmd_status_depth": "Profundidad: {{count}}",
        "cmd_status_transaction": "Transacción: {{id}}",
        "cmd_status_collected": "Información recopilada",
        "cmd_interruption_switch": "Cambiando a {{targetFlow}}.",
        "cmd_interruption_continue": "Continuando con {{flowName}}.",
    },
}


class Phrases:
    """Sentences in the languages of one engine."""

    def __init__(self, registry: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self._texts: dict[str, Mapping[str, str]] = {**BUILT_IN, **(registry or {})}

    def say(self, phrase: str, language: str | None, **values: Any) -> str:
        """The sentence `phrase`; a placeholder whose value is empty stays as it is written."""
        text = self._texts.get(language or "en", {}).get(phrase)
        if text is None:
            text = self._texts["en"].get(phrase) or BUILT_IN["en"].get(phrase, phrase)
        for name, value in values.items():
            if value or value == 0:
                text = text.replace("{{" + name + "}}", str(value))
        return text
